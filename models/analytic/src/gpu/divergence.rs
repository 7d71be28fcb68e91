//! Kind `divergence`: a branch evaluated for every thread of a block: the warps that it splits.

use mlsys_lab::{LabError, Run, Value};
use mlsys_sim::pattern::{LANES, Pattern};

use crate::closed_form::Simulated;

const NAMES: [&str; 5] = ["tid", "lane", "warp", "warpSize", "s"];

const MOST_STEPS: usize = 4096;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let steps = steps(run.params.get("steps")).ok_or_else(|| {
        let message = format!("expected 1 to {MOST_STEPS} whole numbers, such as [1, 2, 4]");
        LabError::contradiction(["steps"], message)
    })?;
    let threads = run.params.int("threads")?;
    let pattern = Pattern::read("condition", run.params.text("condition")?, &NAMES)?;
    let outcome = |s: i64| {
        let taken = |tid| Ok(pattern.at(&[tid, tid % LANES, tid / LANES, LANES, s])? != 0);
        let taken = (0..threads).map(taken).collect::<Result<Vec<bool>, LabError>>()?;
        let warps = taken.chunks(LANES as usize);
        let diverges = |warp: &&[bool]| warp.contains(&true) && warp.contains(&false);
        let divergent = warps.clone().filter(diverges).count();
        let active = warps.clone().filter(|warp| warp.contains(&true)).count();
        let taking = taken.iter().filter(|taken| **taken).count();
        // By lane: 0 takes the branch, 1 does not, 2 is no thread of the block.
        let lane = |taken: Option<&bool>| Value::Int(taken.map_or(2, |taken| i64::from(!taken)));
        let lanes = |warp: &[bool]| (0..LANES as usize).map(|i| lane(warp.get(i))).collect();
        Ok([
            s.into(),
            Value::Array(warps.map(|warp| Value::Array(lanes(warp))).collect()),
            Value::Int(taking as i64),
            Value::Int(active as i64),
            Value::Int(divergent as i64),
        ])
    };
    let outcomes = steps.into_iter().map(outcome).collect::<Result<Vec<_>, LabError>>()?;
    let mut values = Simulated::default();
    let column = |at: usize| outcomes.iter().map(move |outcome| outcome[at].clone());
    values.list("taking_per_step", column(2));
    values.list("active_per_step", column(3));
    values.list("divergent_warps_per_step", column(4));
    values.records("outcomes", ["s", "warps", "taking", "active", "divergent"], outcomes);
    Ok(values)
}

/// The values of s, whole numbers, also written as floats.
fn steps(given: Option<&Value>) -> Option<Vec<i64>> {
    let Value::Array(list) = given? else { return None };
    let whole = |value: &Value| {
        let x = value.as_f64()?;
        (x.fract() == 0.0 && x.abs() <= (1_i64 << 53) as f64).then_some(x as i64)
    };
    let count = (1..=MOST_STEPS).contains(&list.len());
    list.iter().map(whole).collect::<Option<_>>().filter(|_| count)
}
