//! What one multiprocessor has: a row of table `compute_capability`.

use mlsys_lab::params::{ParamError, Problem};
use mlsys_lab::{LabError, Tables, Value};

/// Threads of a warp.
pub const WARP: i64 = 32;

/// The resources of one multiprocessor, a row of table `compute_capability`.
pub struct Multiprocessor {
    pub max_warps: i64,
    pub max_blocks: i64,
    pub registers: i64,
    pub max_registers_per_thread: i64,
    pub sub_cores: i64,
    pub shared_bytes: i64,
    pub max_shared_bytes_per_block: i64,
    pub shared_reserved_bytes: i64,
    pub shared_granularity_bytes: i64,
    /// Sizes of shared memory that the driver can set up, ascending.
    pub carveouts: Vec<i64>,
}

impl Multiprocessor {
    /// The multiprocessor of a compute capability such as `8.0`.
    pub fn of(compute_capability: &str) -> Result<Self, LabError> {
        let field = |name: &str| {
            Tables::builtin()
                .field("compute_capability", compute_capability, name)
                .and_then(|value| value.as_f64())
                .map(|value| value as i64)
                .ok_or_else(|| {
                    LabError::Param(ParamError {
                        param: "compute_capability".to_owned(),
                        problem: Problem::Unset {
                            entry: Some(format!("compute_capability.{compute_capability}.{name}")),
                        },
                    })
                })
        };
        Ok(Self {
            max_warps: field("max_warps_per_sm")?,
            max_blocks: field("max_blocks_per_sm")?,
            registers: field("registers_per_sm")?,
            max_registers_per_thread: field("max_registers_per_thread")?,
            sub_cores: field("sub_cores")?,
            shared_bytes: field("shared_bytes_per_sm")?,
            max_shared_bytes_per_block: field("max_shared_bytes_per_block")?,
            shared_reserved_bytes: field("shared_reserved_bytes_per_block")?,
            shared_granularity_bytes: field("shared_granularity_bytes")?,
            carveouts: carveouts(compute_capability),
        })
    }
}

fn carveouts(compute_capability: &str) -> Vec<i64> {
    let found =
        Tables::builtin().field("compute_capability", compute_capability, "carveouts_bytes");
    match found {
        Some(Value::Array(list)) => {
            list.iter().filter_map(Value::as_f64).map(|x| x as i64).collect()
        }
        Some(_) | None => Vec::new(),
    }
}
