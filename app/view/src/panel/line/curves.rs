//! What a line chart shows: the curves of this run and of an earlier one, and the steps they span.

use mlsys_lab::report::{RunData, Series};
use mlsys_lab::schema::Scale;

use super::steps::extent;
use crate::panel::axis::Axis;
use crate::panel::trace::Trace;
use crate::panel::{Extent, Scene, Window, metrics};

/// One metric in a chart.
#[derive(Debug)]
pub(super) struct Curve<'a> {
    /// The metric.
    pub(super) name: &'a str,
    /// Its place in the legend.
    pub(super) place: usize,
    /// Its values.
    pub(super) kind: Kind<'a>,
}

/// The values of a curve.
#[derive(Debug)]
pub(super) enum Kind<'a> {
    /// Over steps.
    Series {
        /// All of them.
        series: &'a Series,
        /// What the chart can show of them.
        trace: Trace,
    },
    /// The same at every step.
    Level(f64),
}

impl Curve<'_> {
    /// The last finite value.
    pub(super) fn latest(&self) -> Option<f64> {
        match &self.kind {
            Kind::Series { series, .. } => series.last(),
            Kind::Level(value) => Some(*value),
        }
    }

    /// The value at the end of the part that is shown.
    pub(super) fn shown_end(&self) -> Option<f64> {
        match &self.kind {
            Kind::Series { trace, .. } => {
                let last = trace.buckets.last().map(|bucket| bucket.last.1);
                trace.leaves.or(last).or(trace.enters)
            }
            Kind::Level(value) => Some(*value),
        }
    }

    /// The smallest and largest value that can be shown.
    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        match &self.kind {
            Kind::Series { trace, .. } => Some(trace.bounds()).filter(|(low, high)| low <= high),
            Kind::Level(value) => Some((*value, *value)),
        }
    }

    /// Whether its newest value was not finite.
    pub(super) fn is_broken(&self) -> bool {
        match &self.kind {
            Kind::Series { series, .. } => series.ends_in_gap(),
            Kind::Level(_) => false,
        }
    }

    /// Values that a logarithmic axis cannot show.
    pub(super) fn hidden(&self) -> usize {
        match &self.kind {
            Kind::Series { trace, .. } => trace.hidden,
            Kind::Level(_) => 0,
        }
    }
}

/// The curves of a chart.
#[derive(Debug)]
pub(super) struct Curves<'a> {
    /// Of the run on the screen.
    pub(super) now: Vec<Curve<'a>>,
    /// Of the earlier runs, the newest first.
    pub(super) before: Vec<Vec<Curve<'a>>>,
    /// The metrics, by their place in the legend.
    pub(super) names: Vec<&'a str>,
    /// The first and the last step shown.
    pub(super) steps: (u64, u64),
    /// The axis of steps.
    pub(super) axis: Axis,
    /// The step pointed at, if it is among them.
    pub(super) cursor: Option<u64>,
    /// Which steps are shown, in words, if not all are.
    pub(super) shown: Option<String>,
}

impl<'a> Curves<'a> {
    /// Finds a panel's curves and reduces them to a number of columns.
    pub(super) fn gather(scene: &Scene<'a>, columns: usize) -> Self {
        let there = extent(scene).unwrap_or(Extent {
            first: 0,
            last: scene.data.step,
            newest: scene.data.step,
        });
        let window = scene.view.chart.window;
        let steps = window.steps(there);
        let of = |data| gather(scene, data, steps, columns);
        let now = of(scene.data);
        let mut before: Vec<Vec<Curve<'_>>> =
            scene.earlier.iter().map(|run| of(&run.data)).collect();
        // The same metric has the same letter in every run.
        let mut names: Vec<&str> = now.iter().map(|curve| curve.name).collect();
        for curve in before.iter_mut().flatten() {
            let known = names.iter().position(|name| *name == curve.name);
            curve.place = known.unwrap_or(names.len());
            if known.is_none() {
                names.push(curve.name);
            }
        }
        Self {
            now,
            before,
            names,
            steps,
            axis: match window {
                Window::All => Axis::steps(steps.0, steps.1),
                Window::Newest(_) | Window::Between(..) => {
                    Axis::exactly(steps.0 as f64, steps.1 as f64)
                }
            },
            cursor: scene.cursor.filter(|at| (steps.0..=steps.1).contains(at)),
            shown: window.said(there),
        }
    }

    /// Whether there is neither a curve of this run nor of an earlier one.
    pub(super) fn is_empty(&self) -> bool {
        self.now.is_empty() && self.before.iter().all(Vec::is_empty)
    }

    /// The smallest and largest value of all curves.
    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        let all = self.now.iter().chain(self.before.iter().flatten());
        all.filter_map(Curve::bounds).reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }

    /// The first step at which a value of this run was not finite.
    pub(super) fn first_gap(&self) -> Option<u64> {
        self.gaps().map(|(from, _)| from).min()
    }

    /// First and last step of the stretches in which values of this run were not finite.
    pub(super) fn gaps(&self) -> impl Iterator<Item = (u64, u64)> {
        self.now.iter().flat_map(|curve| match &curve.kind {
            Kind::Series { trace, .. } => trace.gaps.iter().copied(),
            Kind::Level(_) => [].iter().copied(),
        })
    }
}

fn gather<'a>(
    scene: &Scene<'a>,
    data: &'a RunData,
    steps: (u64, u64),
    columns: usize,
) -> Vec<Curve<'a>> {
    let names = metrics::expand(&scene.panel.metrics, data);
    let kinds = names.into_iter().filter_map(|name| {
        if let Some(series) = data.series.get(name) {
            let trace = Trace::new(series, steps, columns, &scene.view.chart);
            return Some((name, Kind::Series { series, trace }));
        }
        let level = data.scalars.get(name)?.as_f64().filter(|x| x.is_finite())?;
        let shown = match scene.view.chart.scale {
            Scale::Linear => true,
            Scale::Log => level > 0.0,
        };
        shown.then_some((name, Kind::Level(level)))
    });
    kinds.enumerate().map(|(place, (name, kind))| Curve { name, place, kind }).collect()
}
