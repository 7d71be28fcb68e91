//! How long the search over layouts takes: Llama 3 405B on 16,384 devices, and on numbers with more divisors.
//!
//! `cargo run --release -p mlsys-analytic --example plan_search --config 'profile.release.package.mlsys-analytic.opt-level=3'`

use std::sync::Arc;
use std::time::Instant;

use mlsys_analytic::ParallelPlan;
use mlsys_lab::control::{Control, Limits};
use mlsys_lab::{DeviceId, Lab, Params, Run, RunData, Settings, Tables};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let lab = ParallelPlan::new()?;
    for set in [
        ["devices=16384", "global_batch=2048"],
        ["devices=15120", "global_batch=15120"],
        ["devices=16777216", "global_batch=16777216"],
    ] {
        let layout = ["tensor=8", "context=1", "pipeline=1"];
        let settings = Settings::from_pairs(set.into_iter().chain(layout))?;
        let mut best = f64::INFINITY;
        let mut judged = String::new();
        for _ in 0..5 {
            let params = Params::resolve(lab.schema(), &settings, Tables::builtin(), None)
                .map_err(|errors| format!("{errors:?}"))?;
            let mut data = RunData::default();
            let start = Instant::now();
            lab.run(&mut Run {
                params,
                device: DeviceId::CPU,
                sink: &mut data,
                control: Control::free(Limits::default(), Arc::default()),
            })?;
            best = best.min(start.elapsed().as_secs_f64());
            judged =
                data.metric("plans_searched").map_or_else(String::new, |plans| plans.to_string());
        }
        println!("{set:?}: {judged} plans in {:.1} ms", 1e3 * best);
    }
    Ok(())
}
