//! Kind `prune`: weights zeroed by magnitude, the smallest overall or all but n of every m.

use mlsys_lab::frame::{Cell, CellRow, Cells, Tone};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, LabError, Params, Run};

use crate::closed_form::Values;
use crate::compression::nested::Nested;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::integer::{index_bits, too_large};
use mlsys_sim::pruning::mask;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let weights = Nested::read(&run.params, "weights")?;
    let method = Method::read(&run.params, &weights)?;
    let kept = method.kept(&weights.flat);
    let zeroed = kept.iter().filter(|kept| !**kept).count();
    let pruned = weights.flat.iter().zip(&kept).map(|(w, kept)| if *kept { *w } else { 0.0 });
    values.set("pruned", weights.like(pruned));
    values.set("pruned_count", zeroed as i64);
    values.set("pruned_fraction", zeroed as f64 / kept.len() as f64);
    if let Method::Groups { keep, group, element } = method {
        values.set("storage_ratio", storage(keep, group, element));
        let ways = binomial(group, keep);
        values.set(
            "patterns_per_group",
            ways.ok_or_else(|| too_large(["keep", "group"], "the ways to choose"))?,
        );
    }
    picture::offer(run, "pattern", || pattern(&weights, &kept, &method));
    picture::offer(run, "weights", || ranked(&weights.flat, &kept));
    picture::offer(run, "steps", || method.steps(kept.len(), zeroed));
    Ok(values)
}

/// What stays.
enum Method {
    /// Removes the smallest, this many.
    Magnitude { zeroed: usize, sparsity: f64 },
    /// Keeps n of each group of m neighbours.
    Groups { keep: usize, group: usize, element: i64 },
}

impl Method {
    fn read(params: &Params, weights: &Nested) -> Result<Self, LabError> {
        if params.text("method")? == "magnitude" {
            let sparsity = params.float("sparsity")?;
            let zeroed = mask::removed(sparsity, weights.flat.len());
            return Ok(Self::Magnitude { zeroed, sparsity });
        }
        let (keep, group) = (params.size("keep")?, params.size("group")?);
        if keep > group {
            let message =
                format!("keep is {keep} and a group has {group} weights; keep at most {group}");
            return Err(LabError::contradiction(["keep", "group"], message));
        }
        if let Some(row) = weights.rows().into_iter().find(|row| row % group != 0) {
            let message =
                format!("a row has {row} weights, which is no multiple of the group's {group}");
            return Err(LabError::contradiction(["weights", "group"], message));
        }
        let element = params.int("element_bits")?;
        Ok(Self::Groups { keep, group, element })
    }

    /// Whether each weight stays. Of equal weights the earlier one does.
    fn kept(&self, weights: &[f64]) -> Vec<bool> {
        let sizes: Vec<f64> = weights.iter().map(|w| w.abs()).collect();
        match self {
            Self::Magnitude { zeroed, .. } => {
                mask::largest(&sizes, sizes.len() - zeroed.min(&sizes.len()))
            }
            Self::Groups { keep, group, .. } => mask::groups(&sizes, *keep, *group),
        }
    }

    fn steps(&self, count: usize, zeroed: usize) -> Frame {
        let mut steps = Steps::default();
        let share = zeroed as f64 / count as f64;
        match self {
            Self::Magnitude { sparsity, .. } => {
                let numbers = format!("round({}*{count})", number(*sparsity));
                steps.add("pruned_count", "round(sparsity*count)", numbers, zeroed as i64);
            }
            Self::Groups { keep, group, element } => {
                let numbers = format!("{count}*({group} - {keep})/{group}");
                steps.add("pruned_count", "count*(group - keep)/group", numbers, zeroed as i64);
                let bits = i64::from(index_bits(*group));
                steps.add(
                    "bits of a position",
                    "ceil(log2 group)",
                    format!("ceil(log2 {group})"),
                    bits,
                );
                steps.add(
                    "storage_ratio",
                    "keep*(element_bits + position bits)/(group*element_bits)",
                    format!("{keep}*({element} + {bits})/({group}*{element})"),
                    storage(*keep, *group, *element),
                );
                if let Some(ways) = binomial(*group, *keep) {
                    steps.add(
                        "patterns_per_group",
                        "binomial(group, keep)",
                        format!("binomial({group}, {keep})"),
                        ways,
                    );
                }
            }
        }
        steps.add("pruned_fraction", "pruned_count/weights", format!("{zeroed}/{count}"), share);
        steps.table()
    }
}

/// keep*(element_bits + ceil(log2 group))/(group*element_bits).
fn storage(keep: usize, group: usize, element: i64) -> f64 {
    let position = f64::from(index_bits(group));
    let (keep, group, element) = (keep as f64, group as f64, element as f64);
    keep * (element + position) / (group * element)
}

/// The binomial coefficient; none beyond 64 bits.
fn binomial(of: usize, chosen: usize) -> Option<i64> {
    let fewer = chosen.min(of - chosen);
    let mut ways = 1_i128;
    for i in 0..fewer {
        ways = ways * (of - i) as i128 / (i + 1) as i128;
    }
    i64::try_from(ways).ok()
}

fn pattern(weights: &Nested, kept: &[bool], method: &Method) -> Frame {
    let mut at = 0;
    let mut rows = Vec::new();
    for (place, length) in weights.rows().into_iter().enumerate() {
        let cell = |i: usize| Cell { kind: usize::from(!kept[i]), text: number(weights.flat[i]) };
        let stay = kept[at..at + length].iter().filter(|kept| **kept).count();
        rows.push(CellRow {
            label: format!("row {place}"),
            cells: (at..at + length).map(|i| Some(cell(i))).collect(),
            remark: format!("{stay} of {length} stay"),
        });
        at += length;
    }
    let group = match method {
        Method::Magnitude { .. } => 0,
        Method::Groups { group, .. } => *group,
    };
    Frame::Cells(Cells {
        across: "weight".to_owned(),
        group,
        kinds: picture::kinds([("kept", Tone::First), ("zeroed", Tone::Empty)]),
        rows,
        ..Cells::default()
    })
}

fn ranked(weights: &[f64], kept: &[bool]) -> Frame {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|a, b| weights[*b].abs().total_cmp(&weights[*a].abs()));
    let bar = |at: usize| {
        let remark = if kept[at] { "stays" } else { "zeroed" };
        picture::bar(format!("weight {at}: {}", number(weights[at])), weights[at].abs(), remark)
    };
    picture::bars("size", order.into_iter().map(bar).collect())
}
