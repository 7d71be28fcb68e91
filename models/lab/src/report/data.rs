//! Everything one run has reported so far.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Report;
use super::series::Series;
use crate::artifact::Artifact;
use crate::frame::Frame;
use crate::value::Value;

/// A knob turned during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Steps done when it took effect.
    pub step: u64,
    /// The parameter.
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

    fn point(step: u64, value: f64) -> Report {
        Report::Point { name: "loss".into(), step, value }
    }

    #[test]
    fn a_series_ends_at_its_last_finite_value_and_marks_the_rest() {
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
