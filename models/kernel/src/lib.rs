//! Kind `kernel`: CUDA C interpreted a warp at a time, with what each access costs and what goes wrong.
//!
//! A text becomes tokens (`lexer`), a syntax tree (`parser`, `ast`), a tree in which every expression has its type
//! and every conversion is written out (`check`, `typed_ast`), and from there two things: instructions that each work on 32
//! lanes (`lower`, `bytecode`), which a [`Machine`] runs on buffers, and WGSL text (`wgsl`).
//!
//! A step is one instruction of one warp. The next warp depends on nothing but the launch, so that a copy of a machine continues
//! as the original does, and the debugger steps back by copies. Counts and faults are kept by instruction; lines and totals are
//! sums. No text makes it panic: `tests.rs` mutates kernels at random.
//!
//! On a device the same launch goes to a launcher (`device`), after the interpreter has run it to its end without a fault; the
//! results are compared. `models/device/tests/kernels` holds kernels that must mean the same on every device: a new construct
//! of the language adds one there.

mod ast;
mod bytecode;
mod check;
mod debugger;
mod device;
mod diagnostic;
mod examples;
mod lab;
mod lexer;
mod lower;
mod machine;
mod math;
mod operators;
mod parser;
mod parts;
pub mod proof;
pub mod recipe;
mod scalar_bits;
#[cfg(test)]
mod tests;
mod typed_ast;
pub mod types;
mod wgsl;

use crate::bytecode::Code;
pub use crate::diagnostic::{CompileError, Diagnostic, MOST_BYTES, Place};
use crate::typed_ast::Program;
use crate::types::Type;
use std::sync::Arc;

pub use crate::debugger::{Direction, Goal, Replay, Seek, SeekResult};
pub use crate::device::{
    Agreement, Clock, DeviceError, Difference, HARMFUL, LaunchRequest, LaunchResult, Launcher,
    TOLERANCE, require_harmless,
};
pub use crate::lab::KernelLab;
pub use crate::lab::network::{
    Classifier, Extensions, NetworkError, ReplacedOperation, ResumeForward, SuspendedForward,
};
pub use crate::machine::{
    Access, AccessKind, Argument, BlockState, BlockView, BoundArgument, CellState, Counts, Event,
    Fault, Finding, Findings, LANES, Launch, LaunchError, Machine, NanWatch, Progress, Reach,
    SharedArray, Step, ThreadState, Traffic, Values, VariableView, WarpState,
};
pub use crate::wgsl::{Binding, Subgroups, Target, Wgsl};
pub use mlsys_lab::frame::kernel::Schedule;

/// A kernel that has been read and is ready to be launched.
#[derive(Clone, Debug)]
pub struct Kernel {
    code: Arc<Code>,
    program: Arc<Program>,
    cuda: Arc<str>,
}

impl Kernel {
    /// Reads a kernel's text; `file` is the name it goes by in complaints. Of several kernels `#pragma kernel NAME` chooses.
    ///
    /// # Errors
    /// Everything in the text that is not of the language, with its places.
    pub fn parse(file: &str, text: &str) -> Result<Self, CompileError> {
        let read = || {
            let (unit, complaints) = parser::parse(text)?;
            let program = check::check(&unit, complaints)?;
            let text = lexer::regenerated(&unit.written, &program.builtins, &program.objects);
            Ok((lower::lower(&program)?, program, text))
        };
        match read() {
            Ok((code, program, cuda)) => {
                Ok(Self { code: Arc::new(code), program: Arc::new(program), cuda: cuda.into() })
            }
            Err(diagnostics) => Err(CompileError::new(file, text, diagnostics)),
        }
    }

    /// The same kernel in WGSL, for blocks of one size and devices of one kind.
    ///
    /// # Errors
    /// Everything in it that WGSL has no counterpart for, with its places and reasons.
    pub fn wgsl(&self, target: Target) -> Result<Wgsl, Vec<Diagnostic>> {
        wgsl::translate(&self.program, target)
    }

    /// The same kernel in CUDA C, written from the tokens that were read: without comments, directives and splices, and
    /// with `_k` behind every name that the text declares.
    pub fn cuda(&self) -> &str {
        &self.cuda
    }

    pub fn name(&self) -> &str {
        &self.code.name
    }

    pub fn params(&self) -> impl Iterator<Item = (&str, Type)> {
        self.code.params.iter().map(|param| (param.name.as_str(), param.ty))
    }

    /// The `__constant__` and `__device__` variables, the last of [`Kernel::params`]: the elements of each, and their
    /// first values.
    pub fn globals(&self) -> impl Iterator<Item = (&str, usize, &[f64])> {
        let globals = self.program.globals.iter();
        globals.map(|global| {
            (global.param.name.as_str(), global.elements as usize, global.initial.as_slice())
        })
    }

    /// Bytes of `__shared__` arrays that it declares.
    pub fn static_shared(&self) -> u32 {
        self.code.static_shared
    }

    /// Launches it on buffers; nothing has run yet.
    ///
    /// # Errors
    /// A grid, a block, shared memory or arguments that cannot be.
    pub fn launch(&self, launch: Launch, arguments: &[Argument]) -> Result<Machine, LaunchError> {
        Machine::new(&self.code, launch, arguments)
    }
}

pub fn example(name: &str) -> Option<&'static str> {
    examples::Example::find(name).map(|example| example.source)
}

/// Sectors, lines and bytes used of one warp's access.
pub fn traffic_of(addresses: &mut [u64], bytes: u64) -> (u64, u64, u64) {
    // The machine's own addresses begin far above zero.
    let far = |byte: &mut u64| *byte += 1 << 44;
    addresses.iter_mut().for_each(far);
    let moved = machine::moved(addresses, bytes);
    (moved.sectors, moved.lines, moved.used)
}
