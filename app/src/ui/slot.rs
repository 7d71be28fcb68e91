//! One lab of the open lesson: its knobs, its run, and what the run has shown.

use std::time::Duration;

use mlsys_lab::Schema;
use mlsys_lab::device::DeviceId;
use mlsys_lab::params::{Given, ParamError, Params, Settings};
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::{Draw, Param, Type};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;

use super::earlier::{self, Earlier, Overlay};
use super::history::{History, Turned};
use super::panel::{Focus, Origin, Scene, View};
use super::records::Replay;

/// A lab beside the text.
pub struct Slot {
    /// Its id in the lesson.
    pub id: String,
    /// What it is called above its panels.
    pub title: String,
    /// Its schema.
    pub schema: &'static Schema,
    /// What the lesson sets.
    pub settings: Settings,
    /// The panels the lesson names, or all of the schema's, by index into it.
    pub panels: Vec<usize>,
    /// Which of the panels is drawn large.
    pub panel: usize,
    /// The knobs, as the lesson declares them.
    pub knobs: Vec<Knob>,
    /// Which knob is marked.
    pub knob: usize,
    /// Where the run stands.
    pub state: State,
    /// What the newest run has reported.
    pub data: RunData,
    /// What it had reported when the view was frozen, while it is.
    pub frozen: Option<Box<RunData>>,
    /// The turns of its knobs that can be taken back.
    pub history: History,
    /// The runs before it, the newest first.
    pub earlier: Vec<Earlier>,
    /// Which of them stand behind the curves.
    pub overlay: Overlay,
    /// How each panel of the schema is looked at.
    pub views: Vec<View>,
    /// The step that all charts point at.
    pub cursor: Option<u64>,
    /// How many runs have become earlier ones.
    pub retired: u64,
    /// The knobs as the newest run began with them.
    pub begun_with: Vec<(String, Value)>,
    /// The last run that finished with the lesson's own values: what predictions and checks are held against.
    pub reference: Option<RunData>,
    /// The device of the newest run.
    pub device: Option<DeviceId>,
    /// The recorded run that is shown in place of one, which never counts.
    pub replay: Option<Replay>,
    /// Whether a knob has left the lesson's value in the newest run.
    pub explored: bool,
    /// The run's seed.
    pub seed: u64,
    /// Whether what is shown is the answer before the one under way.
    pub superseded: bool,
    /// How long the run has taken.
    pub elapsed: Duration,
    /// When, in the run's time, pictures were last asked for.
    pub pictured: Duration,
    /// Steps a second over the last second or so.
    pub rate: Rate,
}

/// A parameter the learner may turn.
pub struct Knob {
    /// The parameter.
    pub param: &'static Param,
    /// Its value now; absent if it is unset.
    pub value: Option<Value>,
    /// Its value in the lesson.
    pub initial: Option<Value>,
    /// The values it steps through, if they are a list.
    pub values: Vec<Value>,
    /// Smallest and largest value here.
    pub range: (Option<f64>, Option<f64>),
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// Never started.
    Ready,
    /// Going on.
    Running,
    /// Waiting for the learner.
    Paused,
    /// It reached its end.
    Finished,
    /// It diverged: a result, explained.
    Diverged(String),
    /// It was ended before its last step.
    Stopped,
    /// It failed, and what to do.
    Failed(String),
}

impl State {
    /// The word in the status line.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Finished => "finished",
            Self::Diverged(_) => "diverged",
            Self::Stopped => "stopped",
            Self::Failed(_) => "failed",
        }
    }
}

/// Steps a second, smoothed over about a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    window: Option<(Duration, u64)>,
    /// Steps a second; absent until it has been measured.
    pub per_second: Option<f64>,
}

impl Rate {
    /// Takes in how far the run is.
    pub fn update(&mut self, elapsed: Duration, steps: u64) {
        const WINDOW: Duration = Duration::from_millis(500);
        let (since, from) = *self.window.get_or_insert((elapsed, steps));
        let span = elapsed.saturating_sub(since);
        if span >= WINDOW {
            self.per_second = Some(steps.saturating_sub(from) as f64 / span.as_secs_f64());
            self.window = Some((elapsed, steps));
        }
    }
}

impl Slot {
    /// The parameters of the next run, knobs included.
    pub fn params(&self) -> Result<Params, Vec<ParamError>> {
        let mut knobs = Settings::new();
        for knob in &self.knobs {
            if let Some(value) = &knob.value
                && knob.value != knob.initial
            {
                knobs.push(&knob.param.name, Given::Value(value.clone()));
            }
        }
        let settings = self.settings.clone().overlaid(&knobs);
        Params::resolve(self.schema, &settings, Tables::builtin(), Some(self.seed))
    }

    /// How many steps the run will do: what a change during the run said last, else the parameter.
    pub fn steps(&self) -> Option<i64> {
        let changed = self
            .data
            .changes
            .iter()
            .rev()
            .find(|change| change.name == "steps");
        match changed {
            Some(change) => match change.value {
                Value::Int(steps) => Some(steps),
                Value::Bool(_)
                | Value::Float(_)
                | Value::Text(_)
                | Value::Array(_)
                | Value::Table(_) => None,
            },
            None => self.params().ok()?.int("steps").ok(),
        }
    }

    /// Makes the newest run an earlier one and the slot ready for the next.
    pub fn begin(&mut self) {
        if !self.data.series.is_empty() {
            self.retired += 1;
            let name = match &self.replay {
                Some(replay) => replay.origin.clone(),
                None => format!("run {}", self.retired),
            };
            let data = std::mem::take(&mut self.data);
            let values = std::mem::take(&mut self.begun_with);
            earlier::keep(&mut self.earlier, Earlier::new(name, values, data));
        }
        self.replay = None;
        let values = self.knobs.iter().map(|knob| {
            let value = knob.value.clone().unwrap_or_else(|| Value::from("unset"));
            (knob.param.name.clone(), value)
        });
        self.begun_with = values.collect();
        for run in &mut self.earlier {
            run.relabel(&self.begun_with);
        }
        if self.schema.is_live() {
            self.data = RunData::default();
        } else {
            // The answer to come is a moment away: until then the last one stays, so that nothing flickers.
            self.superseded = true;
        }
        self.frozen = None;
        self.state = State::Running;
        self.explored = self.knobs.iter().any(|knob| knob.value != knob.initial);
        self.elapsed = Duration::ZERO;
        self.pictured = Duration::ZERO;
        self.rate = Rate::default();
    }

    /// The panel drawn large, by index into the schema.
    pub fn chosen(&self) -> Option<usize> {
        let place = self.panel % self.panels.len().max(1);
        self.panels.get(place).copied()
    }

    /// How the panel drawn large is drawn.
    pub fn draws(&self) -> Option<Draw> {
        Some(self.schema.panels.get(self.chosen()?)?.draw)
    }

    /// The view of the panel drawn large.
    pub fn chosen_view(&mut self) -> Option<&mut View> {
        let index = self.chosen()?;
        self.views.get_mut(index)
    }

    /// What the pictures show: the newest reports, or those at which the view was frozen.
    pub fn shown(&self) -> &RunData {
        self.frozen.as_deref().unwrap_or(&self.data)
    }

    /// What a panel of the schema is drawn from.
    pub fn scene(&self, index: usize) -> Option<Scene<'_>> {
        Some(Scene {
            schema: self.schema,
            panel: self.schema.panels.get(index)?,
            data: self.shown(),
            earlier: self.overlay.of(&self.earlier),
            view: self.views.get(index)?,
            cursor: self.cursor,
            focus: Focus::Aside,
            origin: self
                .replay
                .as_ref()
                .map_or(Origin::Here, |_| Origin::Recorded),
        })
    }

    /// Takes reports in.
    pub fn receive(&mut self, reports: Vec<Report>) {
        if std::mem::take(&mut self.superseded) {
            self.data = RunData::default();
        }
        for report in reports {
            self.data.apply(report);
        }
        self.rate.update(self.elapsed, self.data.step);
    }

    /// Turns the marked knob by so many notches and returns its name and new value, if it moved.
    pub fn turn(&mut self, notches: i32) -> Option<(String, Value)> {
        let index = self.knob;
        let knob = self.knobs.get_mut(index)?;
        let next = knob.after(notches)?;
        if knob.value.as_ref() == Some(&next) {
            return None;
        }
        let from = knob.value.replace(next.clone());
        let name = knob.param.name.clone();
        self.history.record(Turned {
            knob: index,
            from,
            to: Some(next.clone()),
        });
        Some((name, next))
    }

    /// Gives the marked knob a typed value.
    pub fn type_value(&mut self, text: &str) -> Result<(String, Value), String> {
        let index = self.knob;
        let Some(knob) = self.knobs.get_mut(index) else {
            return Err("this lab has no knobs".to_owned());
        };
        let value = knob.accepts(self.schema, Given::Text(text.trim().to_owned()))?;
        let from = knob.value.replace(value.clone());
        let name = knob.param.name.clone();
        if from.as_ref() != Some(&value) {
            self.history.record(Turned {
                knob: index,
                from,
                to: Some(value.clone()),
            });
        }
        Ok((name, value))
    }

    /// Checks a value for the knob at a place.
    pub fn accepts(&self, place: usize, value: Value) -> Result<Value, String> {
        let knob = self.knobs.get(place).ok_or("there is no such knob")?;
        knob.accepts(self.schema, Given::Value(value))
    }

    /// Puts every knob back to the lesson's value.
    pub fn reset_knobs(&mut self) {
        for knob in &mut self.knobs {
            knob.value = knob.initial.clone();
        }
        self.history = History::default();
    }
}

impl Knob {
    /// The value so many notches further, kept inside the range.
    ///
    /// Rates and widths are felt as ratios, so numbers that span decades go in steps of 1, 2, 5, 10.
    fn after(&self, notches: i32) -> Option<Value> {
        if !self.values.is_empty() {
            let at = self
                .values
                .iter()
                .position(|v| Some(v) == self.value.as_ref());
            let at = at.map_or(0, |at| at as i64 + i64::from(notches));
            let at = at.clamp(0, self.values.len() as i64 - 1);
            return self.values.get(at as usize).cloned();
        }
        let current = self.value.as_ref().and_then(Value::as_f64);
        match self.param.ty {
            Type::Bool => Some(Value::Bool(notches > 0)),
            Type::Int => {
                let next = whole_notch(current.unwrap_or(0.0) as i64, notches);
                Some(Value::Int(self.clamp(next as f64) as i64))
            }
            Type::Float => Some(Value::Float(
                self.clamp(notch(current.unwrap_or(0.0), notches)),
            )),
            Type::String | Type::Enum | Type::Array | Type::Table => None,
        }
    }

    fn clamp(&self, x: f64) -> f64 {
        let x = self.range.0.map_or(x, |low| x.max(low));
        self.range.1.map_or(x, |high| x.min(high))
    }

    /// Checks a value against the lab and against the lesson.
    fn accepts(&self, schema: &Schema, given: Given) -> Result<Value, String> {
        let value =
            Params::check(schema, &self.param.name, given).map_err(|error| error.to_string())?;
        if let Some(x) = value.as_f64()
            && (self.range.0.is_some_and(|low| x < low)
                || self.range.1.is_some_and(|high| x > high))
        {
            return Err(format!(
                "this lesson keeps {} within {}",
                self.param.name,
                self.range_text()
            ));
        }
        if !self.values.is_empty() && !self.values.contains(&value) {
            let values: Vec<_> = self.values.iter().map(ToString::to_string).collect();
            return Err(format!(
                "in this lesson {} is one of: {}",
                self.param.name,
                values.join(", ")
            ));
        }
        Ok(value)
    }

    /// The range in words.
    pub fn range_text(&self) -> String {
        use mlsys_lab::value::number;
        match self.range {
            (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
            (Some(low), None) => format!("{} and above", number(low)),
            (None, Some(high)) => format!("{} and below", number(high)),
            (None, None) => "any value".to_owned(),
        }
    }
}

/// The next count in a direction: by one while it is small, by doubling between powers of two, else as [`notch`].
pub fn whole_notch(n: i64, notches: i32) -> i64 {
    const SMALL: i64 = 8;
    let mut n = n;
    for _ in 0..notches.unsigned_abs() {
        let up = notches > 0;
        let doubles = n >= SMALL && u64::try_from(n).is_ok_and(u64::is_power_of_two);
        n = match (up, doubles) {
            (true, true) => n.saturating_mul(2),
            (false, true) => n / 2,
            (true, false) if n < SMALL => n + 1,
            (false, false) if n <= SMALL => n - 1,
            (_, false) => notch(n as f64, notches.signum()) as i64,
        };
    }
    n
}

/// The next of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ... in a direction; below a millionth it is zero.
pub fn notch(x: f64, notches: i32) -> f64 {
    const SMALLEST: f64 = 1e-6;
    const MANTISSAS: [f64; 3] = [1.0, 2.0, 5.0];
    if notches == 0 {
        return x;
    }
    if x < 0.0 {
        return -notch(-x, -notches);
    }
    let mut x = x;
    for _ in 0..notches.unsigned_abs() {
        let exponent = if x > 0.0 { x.log10().floor() } else { -6.0 };
        let ladder = (-1..=1).flat_map(|shift| {
            MANTISSAS
                .iter()
                .map(move |m| rounded(m * 10f64.powf(exponent + f64::from(shift))))
        });
        let near = x * 1e-9;
        x = if notches > 0 {
            ladder
                .filter(|&v| v > x + near && v >= SMALLEST)
                .fold(f64::INFINITY, f64::min)
        } else {
            ladder
                .filter(|&v| v < x - near && v >= SMALLEST)
                .fold(0.0, f64::max)
        };
    }
    x
}

/// Removes the last bits of rounding, so that a knob reads 0.2 and not 0.2000000001.
fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notches_walk_a_ladder_both_ways_and_end_at_zero() {
        let mut x = 0.01;
        let mut seen = Vec::new();
        for _ in 0..5 {
            x = notch(x, 1);
            seen.push(x);
        }
        assert_eq!(seen, [0.02, 0.05, 0.1, 0.2, 0.5]);
        for _ in 0..5 {
            x = notch(x, -1);
        }
        assert_eq!(x, 0.01);
        assert_eq!(notch(3.0, 1), 5.0);
        assert_eq!(notch(3.0, -1), 2.0);
        assert_eq!(notch(1e-6, -1), 0.0);
        assert_eq!(notch(0.0, 1), 1e-6);
    }

    #[test]
    fn counts_go_by_one_then_double() {
        let walk = |from: i64, notches: i32| {
            let mut n = from;
            std::iter::repeat_with(|| {
                n = whole_notch(n, notches);
                n
            })
            .take(4)
            .collect::<Vec<_>>()
        };
        assert_eq!(walk(6, 1), [7, 8, 16, 32]);
        assert_eq!(walk(32, -1), [16, 8, 4, 3]);
        assert_eq!(walk(2, -1), [1, 0, -1, -2]);
        assert_eq!(walk(400, 1), [500, 1000, 2000, 5000]);
    }

    #[test]
    fn the_rate_is_measured_over_half_a_second() {
        let mut rate = Rate::default();
        rate.update(Duration::ZERO, 0);
        rate.update(Duration::from_millis(100), 50);
        assert_eq!(rate.per_second, None);
        rate.update(Duration::from_millis(500), 250);
        assert_eq!(rate.per_second, Some(500.0));
    }
}
