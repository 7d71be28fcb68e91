//! Kind `occupancy`: how many blocks and warps fit on one multiprocessor, and which resource runs out first.

mod explain;
mod residency;

use mlsys_lab::frame::Bar;
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Frame, Lab, LabError, Run, Value};

use crate::multiprocessor::Multiprocessor;
use crate::picture;
use residency::{Kernel, Residency};

/// Block sizes that the second picture compares.
const BLOCK_SIZES: [i64; 10] = [32, 64, 96, 128, 192, 256, 384, 512, 768, 1024];

/// The lab `occupancy`.
pub struct Occupancy {
    schema: Schema,
}

impl Occupancy {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("occupancy.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Occupancy {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let sm = Multiprocessor::of(run.params.text("compute_capability")?)?;
        let kernel = Kernel {
            threads_per_block: run.params.int("threads_per_block")?,
            registers_per_thread: run.params.int("registers_per_thread")?,
            static_shared_bytes: run.params.int("static_shared_bytes")?,
            dynamic_shared_bytes: run.params.int("dynamic_shared_bytes")?,
        };
        let resident = Residency::of(&kernel, &sm)?;
        run.scalar("warps_per_block", resident.warps_per_block);
        run.scalar("blocks_per_sm", resident.blocks_per_sm);
        run.scalar("warps_per_sm", resident.warps_per_sm);
        run.scalar("occupancy", resident.occupancy);
        for (resource, blocks) in resident.limits() {
            run.scalar(&format!("limit_{}", resource.name()), blocks);
        }
        let limiters = resident
            .limiters()
            .map(|resource| Value::from(resource.name()));
        run.scalar("limiters", Value::Array(limiters.collect()));
        picture::offer(run, "limits", || limits(&resident));
        picture::offer(run, "block-sizes", || block_sizes(&kernel, &sm));
        picture::offer(run, "lifts", || explain::lifts(&kernel, &sm, &resident));
        picture::offer(run, "steps", || explain::steps(&kernel, &sm, &resident));
        Ok(())
    }
}

/// Blocks that each resource admits, the scarcest marked.
fn limits(resident: &Residency) -> Frame {
    let bar = |(resource, blocks): (residency::Resource, i64)| {
        let limiting = blocks == resident.blocks_per_sm;
        picture::bar(
            resource.name(),
            blocks as f64,
            if limiting { "limits" } else { "" },
        )
    };
    picture::bars("blocks", resident.limits().map(bar).collect())
}

/// Occupancy of the same kernel at other block sizes, its own among them.
fn block_sizes(kernel: &Kernel, sm: &Multiprocessor) -> Frame {
    let own = kernel.threads_per_block;
    let mut sizes = BLOCK_SIZES.to_vec();
    if let Err(place) = sizes.binary_search(&own) {
        sizes.insert(place, own);
    }
    let bar = |threads_per_block: i64| -> Option<Bar> {
        let other = Kernel {
            threads_per_block,
            ..*kernel
        };
        let resident = Residency::of(&other, sm).ok()?;
        let remark = if threads_per_block == own {
            "this kernel"
        } else {
            ""
        };
        Some(picture::bar(
            format!("{threads_per_block} threads"),
            resident.occupancy,
            remark,
        ))
    };
    picture::bars("occupancy", sizes.into_iter().filter_map(bar).collect())
}
