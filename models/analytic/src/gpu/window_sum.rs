//! Kind `window-sum`: the outputs of a stencil that sum shared memory which no thread wrote.

use mlsys_lab::{LabError, Run};
use mlsys_sim::integer::div_up;
use serde::Deserialize;

use crate::closed_form::Simulated;

/// Which bound the kernel's loads are guarded by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Guard {
    /// The input's end: `index < n + 2*radius`.
    Padded,
    /// The output's end, as on the slide: `index < n`.
    Elements,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Stencil {
    elements: i64,
    threads_per_block: i64,
    radius: i64,
    load_guard: Guard,
}

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let mut values = Simulated::default();
    values.list("bad_outputs", run.params.read::<Stencil>()?.bad_outputs());
    Ok(values)
}

impl Stencil {
    /// Outputs that read an unwritten slot: output base + t reads the slots t .. t + 2*radius. Written are the first
    /// slots of a block: thread t loads slot t, and, if t < 2*radius, slot T + t; both only below the guard's limit.
    fn bad_outputs(self) -> Vec<i64> {
        let Self { elements, threads_per_block: threads, radius, load_guard } = self;
        let limit = elements + if load_guard == Guard::Padded { 2 * radius } else { 0 };
        let bad_of = |block: i64| {
            let base = block * threads;
            let written = (threads + threads.min(2 * radius)).min(limit - base);
            let outputs = threads.min(elements - base);
            let good = (written - 2 * radius).clamp(0, outputs);
            base + good..base + outputs
        };
        (0..div_up(elements, threads)).flat_map(bad_of).collect()
    }
}
