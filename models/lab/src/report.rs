//! Reports: the stream of what a run finds, and their collection, which panels, checks and records read.

mod summary;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use summary::Levels;

use crate::frame::Frame;
use crate::value::Value;

pub use summary::{Among, Summary};

/// Something a run has to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// What is being waited for, such as "compiling kernels"; empty when nothing is.
    Status(String),
    /// A metric known once, or one that replaces its earlier value.
    Scalar {
        name: Arc<str>,
        /// Its value.
        value: Value,
    },
    /// One value of a series; a value that is not finite is kept as a mark and never as a number.
    Point {
        name: Arc<str>,
        /// Steps done when it was measured.
        step: u64,
        /// The value.
        value: f64,
    },
    /// A picture; the latest of a panel replaces the earlier ones.
    Frame {
        /// The panel.
        panel: Arc<str>,
        /// Steps done when it was made.
        step: u64,
        /// The picture.
        frame: Box<Frame>,
    },
    /// A knob took effect.
    Change(Change),
    /// The run diverged; the sentence says what was seen.
    Diverged {
        /// The step.
        step: u64,
        /// What became non-finite or too large.
        reason: String,
    },
    /// Something the learner should know, such as a cost of the chosen setting.
    Notice(String),
    /// What the run leaves for others; the latest replaces the earlier ones.
    Artifact(Arc<Artifact>),
}

/// Something that a run made, such as a trained network, which other runs can start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What it is, as schemas name it: `network`.
    pub kind: String,
    /// The ending of a file that holds nothing but the bytes, without the dot.
    pub ending: String,
    /// What it is in a few words with its sizes.
    pub about: String,
    /// Why it is not what its run was to make, where it is not: the run was stopped early, for one.
    pub unfinished: Option<String>,
    /// What it is made of.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// The name of a file that holds it.
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.kind, self.ending)
    }
}

/// Takes a run's reports.
pub trait Sink {
    /// Takes one report; must not block for longer than a lock held for microseconds.
    fn report(&mut self, report: Report);

    /// Whether a picture for this panel is worth making now. `last` is asked at the end of a run.
    fn wants_frame(&mut self, panel: &str, moment: FrameTrigger) -> bool;

    /// Told after the pictures of one step were offered, so that the next request is a new one.
    fn frames_done(&mut self) {}
}

/// When a picture is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameTrigger {
    /// Between two steps: made only if the panel is shown and its last frame is old enough.
    Running,
    /// Between two steps, by [`Command::Redraw`](crate::control::Command::Redraw): made if the panel is shown.
    Asked,
    /// The last one of the run, or the first.
    Final,
}

/// A collection is itself a sink that wants final pictures only, as headless runs do.
impl Sink for RunData {
    fn report(&mut self, report: Report) {
        self.apply(report);
    }

    fn wants_frame(&mut self, _panel: &str, moment: FrameTrigger) -> bool {
        match moment {
            FrameTrigger::Running | FrameTrigger::Asked => false,
            FrameTrigger::Final => true,
        }
    }
}

/// Values of one metric at ascending steps; marks where it was NaN or infinite.
///
/// It keeps summaries of blocks of points, so that [`Series::summary`] of any stretch costs the same for
/// a thousand points as for a million. They take an eighth of the points' memory and are built as the points come: adding
/// one stays constant work. A clone shares everything with the original until one of them grows.
#[derive(Clone, Debug, Default)]
pub struct Series {
    kept: Arc<SeriesData>,
}

#[derive(Clone, Debug, Default)]
struct SeriesData {
    points: Vec<(u64, f64)>,
    gaps: Vec<u64>,
    levels: Levels,
}

/// Two series are equal if they say the same; how they are summarised is not part of that.
impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        self.points() == other.points() && self.gaps() == other.gaps()
    }
}

impl SeriesData {
    #[inline]
    fn push(&mut self, step: u64, value: f64) {
        if value.is_finite() {
            self.points.push((step, value));
            self.levels.follow(&self.points);
        } else {
            self.gaps.push(step);
        }
    }
}

/// Adds many values, asking only once whether a clone shares those before them.
impl Extend<(u64, f64)> for Series {
    fn extend<T: IntoIterator<Item = (u64, f64)>>(&mut self, values: T) {
        let kept = Arc::make_mut(&mut self.kept);
        for (step, value) in values {
            kept.push(step, value);
        }
    }
}

impl Series {
    /// With room for this many finite values.
    pub fn with_capacity(count: usize) -> Self {
        let points = Vec::with_capacity(count);
        Self { kept: Arc::new(SeriesData { points, ..SeriesData::default() }) }
    }

    /// Adds a value; what is not finite becomes a gap.
    pub fn push(&mut self, step: u64, value: f64) {
        Arc::make_mut(&mut self.kept).push(step, value);
    }

    /// The finite values with their steps.
    pub fn points(&self) -> &[(u64, f64)] {
        &self.kept.points
    }

    /// The steps at which the value was NaN or infinite.
    pub fn gaps(&self) -> &[u64] {
        &self.kept.gaps
    }

    /// The last finite value.
    pub fn last(&self) -> Option<f64> {
        self.points().last().map(|&(_, value)| value)
    }

    /// Whether its newest entry is a gap.
    pub fn ends_in_gap(&self) -> bool {
        match (self.gaps().last(), self.points().last()) {
            (Some(gap), Some((step, _))) => gap >= step,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// A stretch of the points, by their places, as summaries one after the other, cut where blocks of points end.
    ///
    /// There are at least `pieces` of them, if there are as many points, and at most 32 times as many; a piece that holds
    /// none of those asked for is left out.
    pub fn pieces(
        &self,
        places: Range<usize>,
        pieces: usize,
        among: Among,
    ) -> impl Iterator<Item = Summary> + '_ {
        self.kept.levels.pieces(self.points(), places, pieces, among)
    }

    /// What a stretch of the points, by their places, holds; absent if none of those asked for lies in it.
    pub fn summary(&self, places: Range<usize>, among: Among) -> Option<Summary> {
        self.kept.levels.summary(self.points(), places, among)
    }
}

/// A knob turned during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Steps done when it took effect.
    pub step: u64,
    pub name: String,
    /// Its new value.
    pub value: Value,
}

/// The collected reports of one run: what panels draw, checks read, records keep and JSON prints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunData {
    /// Metrics known once.
    pub scalars: BTreeMap<Arc<str>, Value>,
    /// Metrics over steps.
    pub series: BTreeMap<Arc<str>, Series>,
    /// The latest picture of each panel with its step.
    pub frames: BTreeMap<Arc<str>, (u64, Frame)>,
    /// Knobs turned during the run, in order.
    pub changes: Vec<Change>,
    /// What is being waited for; empty when nothing is.
    pub status: String,
    /// Sentences for the learner, each once.
    pub notices: Vec<String>,
    /// Step and reason of a divergence.
    pub diverged: Option<(u64, String)>,
    /// What the run leaves for others.
    pub artifact: Option<Arc<Artifact>>,
    /// The newest step reported.
    pub step: u64,
}

impl RunData {
    /// Takes one report in.
    pub fn apply(&mut self, report: Report) {
        match report {
            Report::Status(text) => self.status = text,
            Report::Scalar { name, value } => {
                if value.is_finite() {
                    self.scalars.insert(name, value);
                } else {
                    // A value that became non-finite must not leave its old finite self standing.
                    self.scalars.remove(&name);
                }
            }
            Report::Point { name, step, value } => {
                self.step = self.step.max(step);
                match self.series.get_mut(&name) {
                    Some(series) => series.push(step, value),
                    None => {
                        let mut series = Series::default();
                        series.push(step, value);
                        self.series.insert(name, series);
                    }
                }
            }
            Report::Frame { panel, step, frame } => {
                self.step = self.step.max(step);
                self.frames.insert(panel, (step, *frame));
            }
            Report::Change(change) => self.changes.push(change),
            Report::Diverged { step, reason } => self.diverged = Some((step, reason)),
            Report::Notice(text) => {
                if !self.notices.contains(&text) {
                    self.notices.push(text);
                }
            }
            Report::Artifact(artifact) => self.artifact = Some(artifact),
        }
    }

    /// A metric's value: the scalar, or the last finite value of the series.
    pub fn metric(&self, name: &str) -> Option<Value> {
        match self.series.get(name) {
            Some(series) => series.last().map(Value::Float),
            None => self.scalars.get(name).cloned(),
        }
    }

    /// The metrics by name with their values, families flat, as the JSON output prints them.
    pub fn metrics(&self) -> BTreeMap<&str, Value> {
        let scalars = self.scalars.iter().map(|(n, v)| (n.as_ref(), v.clone()));
        let lasts =
            self.series.iter().filter_map(|(n, s)| Some((n.as_ref(), Value::Float(s.last()?))));
        scalars.chain(lasts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_does_not_change() {
        let mut series = Series::default();
        series.push(1, 0.5);
        let before = series.clone();
        series.push(2, 0.25);
        assert_eq!(before.points(), [(1, 0.5)]);
        assert_eq!(series.points(), [(1, 0.5), (2, 0.25)]);
        assert_ne!(series, before);
    }

    #[test]
    fn extend_equals_repeated_push() {
        let values = (0..1000_u64).map(|step| match step % 7 {
            0 => (step, f64::NAN),
            _ => (step, (step as f64).sin()),
        });
        let (mut many, mut single) = (Series::default(), Series::default());
        many.push(0, 0.5);
        let before = many.clone();
        single.push(0, 0.5);
        many.extend(values.clone());
        values.for_each(|(step, value)| single.push(step, value));
        assert_eq!(many, single);
        assert_eq!(before.points(), [(0, 0.5)]);
        for places in [0..many.points().len(), 5..700] {
            let (many, single) = (&many, &single);
            let of = |series: &Series| series.summary(places.clone(), Among::All);
            assert_eq!(of(many), of(single));
        }
    }

    fn point(step: u64, value: f64) -> Report {
        Report::Point { name: "loss".into(), step, value }
    }

    #[test]
    fn a_series_marks_values_after_divergence() {
        let mut data = RunData::default();
        for report in [point(1, 0.7), point(2, 0.5), point(3, f64::NAN), point(4, f64::INFINITY)] {
            data.apply(report);
        }
        assert_eq!(data.metric("loss"), Some(Value::Float(0.5)));
        assert_eq!(data.series["loss"].gaps(), [3, 4]);
        assert!(data.series["loss"].ends_in_gap());
        assert_eq!(data.step, 4);
    }

    #[test]
    fn a_scalar_that_becomes_nan_disappears() {
        let mut data = RunData::default();
        let scalar = |value: f64| Report::Scalar { name: "ratio".into(), value: value.into() };
        data.apply(scalar(2.0));
        data.apply(scalar(f64::NAN));
        assert_eq!(data.metric("ratio"), None);
    }
}
