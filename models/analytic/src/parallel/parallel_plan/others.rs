//! Pictures of plans compared with the judged one: all searched ones, and published ones.

use mlsys_lab::frame::{Better, Dimension as Axis, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::significant;
use mlsys_lab::{Frame, LabError, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::percent;

use super::Judgement;
use super::plan::Recompute;
use super::published::{self, Counted};
use super::search::Judged;

/// Rows of the table of layouts.
const BEST: usize = 16;

/// A layout this many times slower than the best, or larger than the memory, is left out of the picture.
const FAR: f64 = 8.0;

/// Published plans, what was measured, and what the model of time says.
///
/// # Errors
/// As for [`published::rows`].
pub(super) fn published(efficiency: f64) -> Result<Frame, LabError> {
    let row = |row: &published::Row| {
        let (measured, estimate) = (row.share_of_peak(), row.estimate());
        [
            Value::from(row.name),
            row.plan.layout.short().into(),
            significant(row.plan.bubble(), 2).into(),
            match row.counted {
                Counted::Model => "MFU".into(),
                Counted::Hardware => "HFU".into(),
            },
            percent(measured).into(),
            percent(estimate).into(),
            significant(estimate / measured, 3).into(),
        ]
    };
    Ok(picture::table(
        ["row", "TP.CP.PP.DP", "bubble", "counts", "measured", "estimated", "ratio"],
        published::rows(efficiency)?.iter().map(row).collect(),
    ))
}

impl Judgement {
    /// Memory against step time: this plan, and each layout run in its best way.
    pub(super) fn pareto(&self) -> Frame {
        let point = |judged: &Judged, label: String, series: usize| ScatterPoint {
            x: Some(judged.memory.bytes()),
            y: Some(judged.seconds),
            label,
            series,
        };
        let capacity = self.setting.cluster.capacity;
        let slowest = self
            .found
            .layouts
            .iter()
            .map(|judged| judged.seconds)
            .fold(self.step.seconds(), f64::min)
            * FAR;
        let near =
            |judged: &&Judged| judged.memory.bytes() <= FAR * capacity && judged.seconds <= slowest;
        let layouts = self.found.layouts.iter().filter(near);
        let mut points: Vec<ScatterPoint> = layouts
            .map(|judged| {
                let label = judged.plan.layout.short();
                point(judged, label, if judged.fits { 0 } else { 1 })
            })
            .collect();
        let own = ScatterPoint {
            x: Some(self.memory.bytes()),
            y: Some(self.step.seconds()),
            label: "this plan".to_owned(),
            series: 2,
        };
        points.push(own);
        if let Some(fastest) = &self.found.fastest_kept {
            points.push(point(fastest, "solves the puzzle".to_owned(), 3));
        }
        let of = |points: &[ScatterPoint]| {
            let values = points.iter().filter_map(|point| point.y);
            values.fold((f64::INFINITY, 0.0_f64), |(low, high), y| (low.min(y), high.max(y)))
        };
        let (low, high) = of(&points);
        let axis = |name: &str, unit: &str| Axis {
            name: name.to_owned(),
            unit: unit.to_owned(),
            scale: Scale::Log,
            better: Better::Less,
            ..Axis::default()
        };
        Frame::Scatter(Scatter {
            x: axis("memory of a device", "bytes"),
            y: axis("step", "seconds"),
            series: ["fits", "too large", "this plan", "fastest by the rules"]
                .map(str::to_owned)
                .to_vec(),
            points,
            lines: vec![ScatterLine {
                name: "capacity".to_owned(),
                points: vec![(capacity, low), (capacity, high)],
            }],
        })
    }

    /// The fastest layouts that fit, or the smallest ways if none does.
    pub(super) fn best(&self) -> Frame {
        let layouts = &self.found.layouts;
        if layouts.is_empty() {
            let text = "no layout: heads, tokens, layers and sequences do not divide among these devices, or there are too many to search";
            return Frame::Text(text.to_owned());
        }
        let row = |judged: &Judged| {
            let plan = &judged.plan;
            let recompute = match plan.recompute {
                Recompute::None => "",
                Recompute::Selective | Recompute::Full => plan.recompute.name(),
            };
            [
                Value::from(plan.layout.tensor),
                plan.layout.context.into(),
                plan.layout.pipeline.into(),
                plan.layout.data.into(),
                format!("{} x {}", plan.microbatches, plan.microbatch).into(),
                plan.chunks.into(),
                i64::from(plan.stage.number()).into(),
                recompute.into(),
                significant(plan.bubble(), 2).into(),
                significant(judged.memory.bytes() / 1e9, 3).into(),
                significant(judged.seconds, 3).into(),
                if judged.kept {
                    "keeps all rules"
                } else if judged.fits {
                    "fits"
                } else {
                    "too large"
                }
                .into(),
            ]
        };
        picture::table(
            [
                "TP",
                "CP",
                "PP",
                "DP",
                "microbatches",
                "chunks",
                "ZeRO",
                "recompute",
                "bubble",
                "GB",
                "seconds",
                "",
            ],
            layouts.iter().take(BEST).map(row).collect(),
        )
    }
}
