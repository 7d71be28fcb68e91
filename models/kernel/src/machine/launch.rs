//! Launching: how many threads, on which buffers.
//!
//! Arguments and buffers as bytes, to run the same launch on a device.

use crate::bytecode::{Code, WARP, address};
use crate::machine::arguments::{Argument, buffer, whole};
use crate::machine::cell::Cell;
use crate::machine::fault::Findings;
use crate::machine::scheduler::Scheduler;
use crate::machine::{Buffer, Counts, Machine, NanWatch};
use crate::types::{Access, Scalar, Type};
use mlsys_lab::frame::kernel::Schedule;
use std::sync::Arc;

const MOST_THREADS: u64 = 1024;

/// Bytes of shared memory a block may have: compute capability 9.0, opted in.
const MOST_SHARED: u32 = 227 * 1024;

const MOST_BUFFERS: usize = 200;

/// Bytes that blocks in flight may take together: a launch is held twice for a picture, and a graded answer has 1 GiB.
const MOST_IN_FLIGHT: u64 = 256 << 20;

#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub grid_dim: [u32; 3],
    pub block_dim: [u32; 3],
    /// Bytes for `extern __shared__` arrays.
    pub dynamic_shared: u32,
    pub schedule: Schedule,
    pub concurrent_blocks: usize,
    pub seed: u64,
    /// Whether the first NaN of a computation is a finding.
    pub nan: NanWatch,
}

impl Launch {
    /// A one-dimensional launch with defaults for everything else.
    pub fn line(blocks: u32, threads: u32) -> Self {
        Self {
            grid_dim: [blocks, 1, 1],
            block_dim: [threads, 1, 1],
            dynamic_shared: 0,
            schedule: Schedule::default(),
            concurrent_blocks: 2,
            seed: 1,
            nan: NanWatch::Off,
        }
    }

    pub fn blocks(&self) -> u64 {
        self.grid_dim.iter().map(|&extent| u64::from(extent)).product()
    }

    pub fn threads_per_block(&self) -> u64 {
        self.block_dim.iter().map(|&extent| u64::from(extent)).product()
    }

    pub(crate) fn warps_per_block(&self) -> usize {
        (self.threads_per_block() as usize).div_ceil(WARP)
    }

    pub(crate) fn shared_bytes(&self, code: &Code) -> u32 {
        if self.dynamic_shared == 0 {
            return code.static_shared;
        }
        code.static_shared.next_multiple_of(16) + self.dynamic_shared
    }

    /// Bytes that a block takes while it runs, roughly: registers, arrays of its threads, shared memory and its shadow.
    pub(crate) fn block_bytes(&self, code: &Code) -> u64 {
        let shared = u64::from(self.shared_bytes(code));
        let cells = (shared >> code.shared_shift()) * size_of::<Cell>() as u64;
        let lane = 4 * code.narrow + 8 * code.wide + 2 * code.local;
        let warp = WARP * lane + 4 * code.slots + 512;
        shared + cells + self.warps_per_block() as u64 * warp as u64
    }

    pub(crate) fn bytes_in_flight(&self, code: &Code) -> u64 {
        let blocks = self.blocks().min(self.concurrent_blocks.max(1) as u64);
        blocks.saturating_mul(self.block_bytes(code))
    }

    fn check(&self, code: &Code) -> Result<(), LaunchError> {
        let error = |params, message: String| Err(LaunchError { params, message });
        let [x, y, z] = self.grid_dim;
        if self.grid_dim.contains(&0) || self.block_dim.contains(&0) {
            return error(
                &["grid_dim", "block_dim"],
                "every extent of a grid and of a block is at least 1".into(),
            );
        }
        // Each extent has 32 bits, so that three of them fit into 128.
        let product =
            |dim: [u32; 3]| dim.iter().map(|&extent| u128::from(extent)).product::<u128>();
        if product(self.block_dim) > u128::from(MOST_THREADS) || self.block_dim[2] > 64 {
            let threads = product(self.block_dim);
            return error(
                &["block_dim"],
                format!("a block of {threads} threads; at most {MOST_THREADS}, and 64 in z"),
            );
        }
        if x > i32::MAX as u32
            || y > 65_535
            || z > 65_535
            || product(self.grid_dim) > u128::from(u32::MAX - 1)
        {
            return error(
                &["grid_dim"],
                format!(
                    "a grid of {x} x {y} x {z} blocks is larger than a device takes: 2147483647 x 65535 x 65535, and 2^32 - 2 in all here"
                ),
            );
        }
        let shared = u64::from(code.static_shared) + u64::from(self.dynamic_shared) + 15;
        if shared > u64::from(MOST_SHARED) + 15 {
            return error(
                &["dynamic_shared_bytes"],
                format!(
                    "{} bytes of shared memory a block; a device has at most {MOST_SHARED}",
                    shared - 15
                ),
            );
        }
        let in_flight = self.bytes_in_flight(code);
        if in_flight > MOST_IN_FLIGHT {
            return error(
                &["concurrent_blocks", "block_dim"],
                format!(
                    "registers, arrays and shared memory of the blocks in flight take {} MiB here; at most {}: smaller arrays or fewer concurrent_blocks take less",
                    in_flight >> 20,
                    MOST_IN_FLIGHT >> 20
                ),
            );
        }
        Ok(())
    }
}

/// A launch that cannot be: the parameters that do not fit, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LaunchError {
    /// What would have to change, by the lab's names.
    pub params: &'static [&'static str],
    pub message: String,
}

impl Machine {
    pub(crate) fn new(
        code: &Arc<Code>,
        launch: Launch,
        arguments: &[Argument],
    ) -> Result<Self, LaunchError> {
        launch.check(code)?;
        let error = |message: String| LaunchError { params: &["arguments"], message };
        let own = code.params.len() - code.globals.len();
        let globals = code.globals.iter().filter(|_| arguments.len() == own);
        let globals: Vec<Argument> = globals.map(Argument::initial).collect();
        let arguments: Vec<&Argument> = arguments.iter().chain(&globals).collect();
        if arguments.len() != code.params.len() {
            let names: Vec<&str> =
                code.params[..own].iter().map(|param| param.name.as_str()).collect();
            return Err(error(format!(
                "'{}' takes {} arguments ({}), here are {}",
                code.name,
                own,
                names.join(", "),
                arguments.len()
            )));
        }
        let (mut params, mut buffers) = (Vec::new(), Vec::new());
        for (param, argument) in code.params.iter().zip(arguments) {
            let name = &param.name;
            let bits = match (param.ty, argument) {
                (Type::Pointer { to, .. }, Argument::Buffer(values)) => {
                    let store = buffer(values, to).ok_or_else(|| {
                        error(format!("'{name}' points to {to}, and its buffer holds another type"))
                    })?;
                    buffers.push(Buffer { name: name.clone(), of: to, store });
                    address::global(buffers.len() - 1)
                }
                (Type::Scalar(scalar), Argument::Whole(value)) => {
                    let misfit = || format!("{value} does not fit into '{name}', a {scalar}");
                    whole(*value, scalar).ok_or_else(|| error(misfit()))?
                }
                (Type::Scalar(scalar), Argument::Real(value)) => match scalar {
                    Scalar::Half | Scalar::Bfloat16 | Scalar::Float => {
                        u64::from(scalar.rounded(*value).to_bits())
                    }
                    Scalar::Double => value.to_bits(),
                    _ if value.fract() == 0.0 && value.abs() < 9e15 => {
                        let misfit = || format!("{value} does not fit into '{name}', a {scalar}");
                        whole(*value as i64, scalar).ok_or_else(|| error(misfit()))?
                    }
                    Scalar::Bool
                    | Scalar::Char
                    | Scalar::UnsignedChar
                    | Scalar::Short
                    | Scalar::UnsignedShort
                    | Scalar::Int
                    | Scalar::Unsigned
                    | Scalar::Long
                    | Scalar::UnsignedLong => {
                        return Err(error(format!(
                            "'{name}' is a {scalar}, and {value} is no whole number"
                        )));
                    }
                },
                (ty, Argument::Buffer(_)) => {
                    return Err(error(format!("'{name}' is a {ty}, not a buffer")));
                }
                (ty, Argument::Whole(_) | Argument::Real(_)) => {
                    return Err(error(format!("'{name}' is a {ty}: it wants a buffer")));
                }
            };
            params.push(bits);
        }
        if buffers.len() > MOST_BUFFERS {
            return Err(error(format!("at most {MOST_BUFFERS} buffers")));
        }
        let slots = (launch.blocks().min(launch.concurrent_blocks.max(1) as u64)) as usize;
        Ok(Self {
            scheduler: Scheduler::new(launch.schedule, launch.blocks(), launch.seed),
            counts: vec![Counts::default(); code.instrs.len()],
            code: Arc::clone(code),
            launch,
            params,
            buffers,
            residents: vec![None; slots],
            findings: Findings::default(),
            clock: 0,
            ended_blocks: 0,
            idle_threads: 0,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundArgument<'a> {
    Buffer {
        name: &'a str,
        of: Scalar,
        access: Access,
        /// Contents, little-endian; uninitialized bytes are zero.
        bytes: &'a [u8],
    },
    Number {
        name: &'a str,
        of: Scalar,
        /// Its bits, the low ones of 64.
        bits: u64,
    },
}

impl Machine {
    /// The arguments in their order, with what the buffers hold now.
    pub fn bound_arguments(&self) -> impl Iterator<Item = BoundArgument<'_>> {
        let mut buffers = self.buffers.iter();
        self.code.params.iter().zip(&self.params).filter_map(move |(param, bits)| {
            let name = param.name.as_str();
            Some(match param.ty {
                Type::Pointer { to, access, .. } => BoundArgument::Buffer {
                    name,
                    of: to,
                    access,
                    bytes: &buffers.next()?.store.bytes,
                },
                Type::Scalar(of) => BoundArgument::Number { name, of, bits: of.memory(*bits) },
                Type::Void | Type::Array { .. } => return None,
            })
        })
    }

    /// What a buffer holds, little-endian; empty if there is no such buffer.
    pub fn bytes_of(&self, buffer: &str) -> &[u8] {
        let found = self.buffers.iter().find(|found| found.name == buffer);
        found.map_or(&[], |buffer| &buffer.store.bytes)
    }

    /// Puts other contents into the buffers, in the order of the arguments; what is known of each cell stays.
    pub fn overwrite(&mut self, contents: &[Vec<u8>]) {
        for (buffer, bytes) in self.buffers.iter_mut().zip(contents) {
            let length = buffer.store.bytes.len().min(bytes.len());
            buffer.store.bytes[..length].copy_from_slice(&bytes[..length]);
        }
    }
}
