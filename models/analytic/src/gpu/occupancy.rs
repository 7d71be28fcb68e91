//! Kind `occupancy`: how many blocks and warps fit on one multiprocessor, and which resource runs out first.

mod explain;
mod residency;

use mlsys_lab::frame::{Bar, Cell, CellRow, Cells, Tone};
use mlsys_lab::{Frame, LabError, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_lab::steps::percent;
use mlsys_sim::multiprocessor::Multiprocessor;
use residency::{Kernel, Residency};

/// Block sizes that the second picture compares.
const BLOCK_SIZES: [i64; 10] = [32, 64, 96, 128, 192, 256, 384, 512, 768, 1024];

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let sm = Multiprocessor::of(run.params.text("compute_capability")?)?;
    let kernel = Kernel {
        threads_per_block: run.params.int("threads_per_block")?,
        registers_per_thread: run.params.int("registers_per_thread")?,
        static_shared_bytes: run.params.int("static_shared_bytes")?,
        dynamic_shared_bytes: run.params.int("dynamic_shared_bytes")?,
    };
    let resident = Residency::of(&kernel, &sm)?;
    values.set("warps_per_block", resident.warps_per_block);
    values.set("blocks_per_sm", resident.blocks_per_sm);
    values.set("warps_per_sm", resident.warps_per_sm);
    values.set("occupancy", resident.occupancy);
    for (resource, blocks) in resident.limits() {
        values.set(&format!("limit_{}", resource.name()), blocks);
    }
    let limiters = resident.limiters().map(|resource| Value::from(resource.name()));
    values.set("limiters", Value::Array(limiters.collect()));
    picture::offer(run, "limits", || limits(&resident));
    picture::offer(run, "slots", || slots(&sm, &resident));
    picture::offer(run, "resources", || resources(&kernel, &sm, &resident));
    picture::offer(run, "block-sizes", || block_sizes(&kernel, &sm));
    picture::offer(run, "lifts", || explain::lifts(&kernel, &sm, &resident));
    picture::offer(run, "steps", || explain::steps(&kernel, &sm, &resident));
    Ok(values)
}

/// Blocks that each resource admits, the scarcest marked.
fn limits(resident: &Residency) -> Frame {
    let bar = |(resource, blocks): (residency::Resource, i64)| {
        let limiting = blocks == resident.blocks_per_sm;
        picture::bar(resource.name(), blocks as f64, if limiting { "limits" } else { "" })
    };
    picture::bars("blocks", resident.limits().map(bar).collect())
}

/// The warp slots of one multiprocessor, filled block by block.
fn slots(sm: &Multiprocessor, resident: &Residency) -> Frame {
    let (w, taken) = (resident.warps_per_block, resident.warps_per_sm);
    let across = (sm.max_warps / sm.sub_cores).max(1);
    let row = |core: i64| {
        // Warps go round the sub-cores.
        let slot = |place: i64| {
            let warp = place * sm.sub_cores + core;
            let cell = |block: i64| Cell { kind: (block % 2) as usize, text: block.to_string() };
            Some(if warp < taken { cell(warp / w) } else { Cell::of(2) })
        };
        CellRow {
            label: format!("sub-core {core}"),
            cells: (0..across).map(slot).collect(),
            remark: String::new(),
        }
    };
    let names: Vec<&str> = resident.limiters().map(residency::Resource::name).collect();
    Frame::Cells(Cells {
        across: "slot".to_owned(),
        group: 0,
        first: 0,
        kinds: picture::kinds([
            ("warp of a block, with its number", Tone::First),
            ("of the next", Tone::Second),
            ("empty", Tone::Faint),
        ]),
        rows: (0..sm.sub_cores).map(row).collect(),
        note: format!(
            "{} blocks of {w} warps take {taken} of {} slots: {}. What runs out first: {}.",
            resident.blocks_per_sm,
            sm.max_warps,
            percent(resident.occupancy),
            names.join(" and ")
        ),
        ..Cells::default()
    })
}

/// What the resident blocks take of each resource, as a share of what a multiprocessor has.
fn resources(kernel: &Kernel, sm: &Multiprocessor, resident: &Residency) -> Frame {
    let blocks = resident.blocks_per_sm;
    let limiting: Vec<residency::Resource> = resident.limiters().collect();
    let bar = |(resource, limit): (residency::Resource, i64)| {
        let (taken, of) = match resource {
            residency::Resource::Warps => (Some(resident.warps_per_sm), sm.max_warps),
            residency::Resource::Registers => {
                let each = kernel.registers_per_warp().ok();
                let taken = each.and_then(|each| each.checked_mul(resident.warps_per_sm));
                (taken, sm.registers)
            }
            residency::Resource::Shared => {
                let each = kernel.shared_per_block(sm).ok();
                (each.and_then(|each| each.checked_mul(blocks)), sm.shared_bytes)
            }
            residency::Resource::Blocks => (Some(blocks), sm.max_blocks),
        };
        let taken = taken?;
        let remark = if limiting.contains(&resource) {
            format!("{taken} of {of}: limits, {limit} blocks fit")
        } else {
            format!("{taken} of {of}, room for {limit} blocks")
        };
        Some(picture::bar(resource.name(), taken as f64 / of as f64, remark))
    };
    picture::bars("share taken", resident.limits().filter_map(bar).collect())
}

/// Occupancy of the same kernel at other block sizes, its own among them.
fn block_sizes(kernel: &Kernel, sm: &Multiprocessor) -> Frame {
    let own = kernel.threads_per_block;
    let mut sizes = BLOCK_SIZES.to_vec();
    if let Err(place) = sizes.binary_search(&own) {
        sizes.insert(place, own);
    }
    let bar = |threads_per_block: i64| -> Option<Bar> {
        let other = Kernel { threads_per_block, ..*kernel };
        let resident = Residency::of(&other, sm).ok()?;
        let remark = if threads_per_block == own { "this kernel" } else { "" };
        Some(picture::bar(format!("{threads_per_block} threads"), resident.occupancy, remark))
    };
    picture::bars("occupancy", sizes.into_iter().filter_map(bar).collect())
}
