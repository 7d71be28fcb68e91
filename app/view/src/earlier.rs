//! Runs that came before the one on the screen, kept to be put behind its curves and next to the counts of a kernel.

use std::sync::Arc;

use mlsys_lab::frame::kernel::Recipe;
use mlsys_lab::report::RunData;
use mlsys_lab::value::Value;

#[derive(Debug)]
pub struct Earlier {
    /// What it is called, such as "run 2".
    pub name: String,
    /// The parameters a person set for it; empty if they are not known.
    pub values: Vec<(String, Value)>,
    /// Its name and what sets it apart from the run on the screen.
    pub label: String,
    pub data: RunData,
}

/// The most runs that are kept, and that stand behind curves.
pub const MOST: usize = 6;
/// The most points of all kept runs but the newest: with 17 bytes each, some 100 MB.
const MOST_POINTS: usize = 6_000_000;

impl Earlier {
    pub fn new(name: String, values: Vec<(String, Value)>, data: RunData) -> Self {
        Self { label: name.clone(), name, values, data }
    }

    pub fn relabel(&mut self, now: &[(String, Value)]) {
        let values = self.values.iter();
        let values =
            values.filter(|(name, value)| now.iter().any(|(n, v)| n == name && v != value));
        let values = values.map(|(name, value)| format!("{name} {value}"));
        let changes = self.data.changes.iter();
        let changes =
            changes.map(|turn| format!("{} {} from step {}", turn.name, turn.value, turn.step));
        let differences: Vec<String> = values.chain(changes).collect();
        self.label = match differences.as_slice() {
            [] => self.name.clone(),
            differences => format!("{}: {}", self.name, differences.join(", ")),
        };
    }

    /// What is kept of a run that launched a kernel: its pictures of the launch, unless the newest kept run has the same.
    pub fn of_launch(data: &RunData, kept: &[Self]) -> Option<RunData> {
        let launch = launch(data)?;
        if kept.first().and_then(|run| self::launch(&run.data)) == Some(launch) {
            return None;
        }
        let kernels = data.frames.iter().filter(|(_, (_, frame))| frame.kernel().is_some());
        let frames = kernels.map(|(panel, frame)| (Arc::clone(panel), frame.clone())).collect();
        Some(RunData { frames, ..RunData::default() })
    }

    fn points(&self) -> usize {
        let series = self.data.series.values();
        series.map(|series| series.points().len()).sum()
    }
}

pub fn keep(kept: &mut Vec<Earlier>, run: Earlier) {
    kept.insert(0, run);
    let mut points = 0;
    let fitting = kept.iter().skip(1).take_while(|run| {
        points += run.points();
        points <= MOST_POINTS
    });
    let count = 1 + fitting.count();
    kept.truncate(count.min(MOST));
}

fn launch(data: &RunData) -> Option<&Recipe> {
    data.frames.values().find_map(|(_, frame)| Some(&frame.kernel()?.recipe))
}

/// The runs that a picture of these data is compared with: a launch not with itself, which it follows where it was only
/// run again.
pub fn before<'a>(kept: &'a [Earlier], now: &RunData) -> &'a [Earlier] {
    let Some(now) = launch(now) else { return kept };
    let same = kept.iter().take_while(|run| launch(&run.data) == Some(now)).count();
    &kept[same..]
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlay {
    #[default]
    Newest,
    All,
    Nothing,
}

impl Overlay {
    pub fn next(self) -> Self {
        match self {
            Self::Newest => Self::All,
            Self::All => Self::Nothing,
            Self::Nothing => Self::Newest,
        }
    }

    pub fn runs(self, kept: &[Earlier]) -> &[Earlier] {
        match self {
            Self::Newest => &kept[..kept.len().min(1)],
            Self::All => kept,
            Self::Nothing => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::frame::Frame;
    use mlsys_lab::frame::kernel::{Kernel, View, Whole};
    use mlsys_lab::report::{Change, Report, Series};

    fn values(rate: f64, width: i64) -> Vec<(String, Value)> {
        vec![
            ("learning_rate".to_owned(), Value::Float(rate)),
            ("width".to_owned(), Value::Int(width)),
        ]
    }

    #[test]
    fn a_label_names_what_differs_and_what_was_turned() {
        let mut run = Earlier::new("run 1".to_owned(), values(0.1, 32), RunData::default());
        run.relabel(&values(0.1, 32));
        assert_eq!(run.label, "run 1");
        run.relabel(&values(0.2, 64));
        assert_eq!(run.label, "run 1: learning_rate 0.1, width 32");
        run.data.apply(Report::Change(Change {
            step: 40,
            name: "learning_rate".to_owned(),
            value: Value::Float(0.5),
        }));
        run.relabel(&values(0.1, 64));
        assert_eq!(run.label, "run 1: width 32, learning_rate 0.5 from step 40");
    }

    #[test]
    fn the_newest_runs_are_kept_and_the_oldest_forgotten() {
        let run = |number: usize, points: u64| {
            let mut series = Series::default();
            (0..points).for_each(|step| series.push(step, 1.0));
            let mut data = RunData::default();
            data.series.insert("loss".into(), series);
            Earlier::new(format!("run {number}"), Vec::new(), data)
        };
        let mut kept = Vec::new();
        (1..=9).for_each(|number| keep(&mut kept, run(number, 10)));
        let names: Vec<&str> = kept.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["run 9", "run 8", "run 7", "run 6", "run 5", "run 4"]);
        keep(&mut kept, run(10, 4_000_000));
        keep(&mut kept, run(11, 4_000_000));
        assert_eq!(kept.len(), 6);
        keep(&mut kept, run(12, 1));
        assert_eq!(kept.len(), 2, "two of four million are too many");
    }

    #[test]
    fn a_launch_is_compared_with_another_and_kept_once() {
        let launched = |source: &str| {
            let recipe = Recipe { source: source.to_owned(), ..Recipe::default() };
            let kernel = Kernel { view: View::Source, recipe, whole: Whole::default() };
            let mut data = RunData::default();
            data.frames.insert("source".into(), (0, Frame::Kernel(Box::new(kernel))));
            data.frames.insert("note".into(), (0, Frame::Text(String::new())));
            data
        };
        let mut kept = Vec::new();
        for source in ["a", "a", "b", "b"] {
            if let Some(data) = Earlier::of_launch(&launched(source), &kept) {
                assert_eq!(data.frames.len(), 1, "its pictures of the launch alone");
                keep(&mut kept, Earlier::new(source.to_owned(), Vec::new(), data));
            }
        }
        let names =
            |now| before(&kept, &launched(now)).iter().map(|run| run.name.clone()).collect();
        let found: [Vec<String>; 2] = ["b", "c"].map(names);
        assert_eq!(found, [vec!["a"], vec!["b", "a"]]);
        assert!(Earlier::of_launch(&RunData::default(), &kept).is_none());
        assert_eq!(before(&kept, &RunData::default()).len(), 2);
    }
}
