//! Kind `prune`: weights zeroed by magnitude, the smallest overall or all but n of every m.

use mlsys_lab::{LabError, Run, Value};
use mlsys_sim::integer::too_large;
use mlsys_sim::pruning::mask;

use crate::closed_form::Simulated;
use crate::compression::nested::Nested;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let mut values = Simulated::default();
    let params = &run.params;
    let weights = Nested::read(params, "weights")?;
    let sizes: Vec<f64> = weights.flat.iter().map(|w| w.abs()).collect();
    // Of equal weights the earlier one stays.
    let kept = if params.text("method")? == "magnitude" {
        let zeroed = mask::removed(params.float("sparsity")?, sizes.len());
        mask::largest(&sizes, sizes.len() - zeroed)
    } else {
        let (keep, group) = (params.size("keep")?, params.size("group")?);
        if let Some(row) = weights.rows().into_iter().find(|row| row % group != 0) {
            let message =
                format!("a row has {row} weights, which is no multiple of the group's {group}");
            return Err(LabError::contradiction(["weights", "group"], message));
        }
        let ways = binomial(group, keep);
        let ways = ways.ok_or_else(|| too_large(["keep", "group"], "the ways to choose"))?;
        values.set("patterns_per_group", ways);
        mask::groups(&sizes, keep, group)
    };
    let pruned = weights.flat.iter().zip(&kept).map(|(w, kept)| if *kept { *w } else { 0.0 });
    values.set("pruned", weights.like(pruned));
    values.set("pruned_count", kept.iter().filter(|kept| !**kept).count() as i64);
    values.set("weight_count", kept.len() as i64);
    let weight = |at: usize| {
        let fields = [
            ("at", Value::Int(at as i64)),
            ("value", weights.flat[at].into()),
            ("stays", kept[at].into()),
        ];
        Value::Table(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let mut at = 0;
    let rows = weights.rows().into_iter().enumerate().map(|(row, length)| {
        let own = at..at + length;
        at += length;
        let stay = kept[own.clone()].iter().filter(|kept| **kept).count();
        let own = Value::Array(own.map(weight).collect());
        [Value::Int(row as i64), own, Value::Int(length as i64), Value::Int(stay as i64)]
    });
    values.records("rows", ["row", "weights", "length", "stay"], rows);
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    values.list("ranked", order.into_iter().map(weight));
    Ok(values)
}

/// The binomial coefficient; none beyond 64 bits.
fn binomial(all: usize, chosen: usize) -> Option<i64> {
    let fewer = chosen.min(all - chosen);
    let mut ways = 1_i128;
    for i in 0..fewer {
        ways = ways * (all - i) as i128 / (i + 1) as i128;
    }
    i64::try_from(ways).ok()
}
