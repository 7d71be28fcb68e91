//! From a kernel in CUDA C to the same in WGSL, the language of WebGPU, no device needed. The text is written from the typed
//! tree: of the learner's own text only names that are letters, digits and underscores come through.
//!
//! Buffers become storage bindings in the order of the arguments, numbers a uniform at the end, `__shared__` arrays
//! workgroup variables. WGSL has no addresses to compute with: each pointer must be seen to point into one array, and
//! becomes an index into it. What has no counterpart is named, with its place and a reason, never left out.

mod expression;
mod function;
mod names;
mod pointer;
mod warp_ops;

use crate::diagnostic::{Diagnostic, Place};
use crate::typed_ast::Program;
use crate::types::{Access, Scalar, Type};
use crate::wgsl::names::Names;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wgsl {
    /// The module; its entry point has the kernel's name in [`Wgsl::entry`].
    pub text: String,
    pub entry: String,
    /// The storage buffers of group 0, in the order of their bindings from 0 on.
    pub buffers: Vec<Binding>,
    /// Whether it needs groups of 32 threads; the directive `enable subgroups;` is left out, since not every compiler
    /// of WGSL that has them knows it.
    pub subgroups: Subgroups,
    /// The scalar arguments in the uniform buffer, bound after the last storage buffer; empty without scalars.
    pub numbers: Vec<(String, Scalar)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub name: String,
    pub of: Scalar,
    pub access: Access,
}

/// What a translation must know of launch and device: both stand in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Threads of a block, which WGSL fixes when it is compiled.
    pub block_dim: [u32; 3],
    /// Bytes of the `extern __shared__` array.
    pub dynamic_shared: u32,
    /// What the device can say of warps.
    pub subgroups: Subgroups,
}

/// Whether a device has groups of threads that a warp can be mapped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subgroups {
    /// They have 32 threads, as warps do.
    Of32,
    /// They have another size, or none is known: shuffles and votes are refused.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Root {
    Buffer(usize),
    Shared(usize),
    /// A variable of the function at hand.
    Local(usize),
}

type Translated<T> = Result<T, Diagnostic>;

/// A helper for certain arrays: its function, and what each of its pointers points into.
type Variant = (usize, Vec<Option<Root>>);

struct Module<'a> {
    program: &'a Program,
    target: Target,
    names: Names,
    buffers: BTreeMap<usize, String>,
    shared: Vec<String>,
    /// Arrays that some atomic works on: WGSL declares them as such.
    atomic: BTreeSet<Root>,
    helpers: BTreeMap<Variant, String>,
    written: Vec<String>,
    uses_subgroups: bool,
    uses_infinity: bool,
    uses_pow: bool,
    diagnostics: Vec<Diagnostic>,
}

/// Translates a kernel.
///
/// # Errors
/// Everything in it that WGSL has no counterpart for, with its places.
pub(super) fn translate(program: &Program, target: Target) -> Result<Wgsl, Vec<Diagnostic>> {
    let mut atomic = BTreeSet::new();
    loop {
        let mut module = Module::new(program, target, atomic.clone());
        let wgsl = module.whole();
        if let Some(place) = program.fence {
            module.diagnostics.push(Diagnostic::new(
                place,
                "__threadfence: WGSL orders what threads of one workgroup write, not what workgroups do",
                "launch a second kernel for what has to come after",
            ));
        }
        // Whether an array is atomic shows only where one is used: then all that was written before is written anew.
        if module.atomic == atomic {
            return if module.diagnostics.is_empty() {
                Ok(wgsl)
            } else {
                module.diagnostics.sort();
                module.diagnostics.dedup();
                Err(module.diagnostics)
            };
        }
        atomic = module.atomic;
    }
}

fn refuse<T>(place: Place, message: impl Into<String>, help: impl Into<String>) -> Translated<T> {
    Err(Diagnostic::new(place, message, help))
}

fn type_name(of: Scalar, place: Place) -> Translated<&'static str> {
    match of {
        Scalar::Bool => Ok("bool"),
        Scalar::Int => Ok("i32"),
        Scalar::Unsigned => Ok("u32"),
        Scalar::Float => Ok("f32"),
        Scalar::Long | Scalar::UnsignedLong => refuse(
            place,
            format!("{of}: WGSL has whole numbers of 32 bits only"),
            "use int or unsigned where 32 bits are enough",
        ),
        Scalar::Char
        | Scalar::UnsignedChar
        | Scalar::Short
        | Scalar::UnsignedShort
        | Scalar::Half
        | Scalar::Bfloat16 => refuse(
            place,
            format!("{of}: WGSL has no numbers of 8 or 16 bits"),
            if of.is_real() { "use float" } else { "use int" },
        ),
        Scalar::Double => refuse(
            place,
            "double: WGSL has floating point of 32 bits only",
            "write float, and f behind constants: 0.5f",
        ),
    }
}

impl<'a> Module<'a> {
    fn new(program: &'a Program, target: Target, atomic: BTreeSet<Root>) -> Self {
        let mut names = Names::default();
        let buffers = program.params.iter().enumerate();
        let buffers = buffers
            .filter(|(_, param)| matches!(param.ty, Type::Pointer { .. }))
            .map(|(index, param)| (index, names.fresh(&param.name)))
            .collect();
        let shared = program.shared.iter();
        let shared = shared.map(|shared| names.fresh(&shared.name)).collect();
        Self {
            program,
            target,
            names,
            buffers,
            shared,
            atomic,
            helpers: BTreeMap::new(),
            written: Vec::new(),
            uses_subgroups: false,
            uses_infinity: false,
            uses_pow: false,
            diagnostics: Vec::new(),
        }
    }

    fn whole(&mut self) -> Wgsl {
        let entry = self.names.fresh(&self.program.name);
        let body = self.entry(&entry);
        let mut text = String::new();
        let mut buffers = Vec::new();
        for (index, name) in self.buffers.clone() {
            let Type::Pointer { to, access, .. } = self.program.params[index].ty else { continue };
            let place = self.place_of(index);
            let element = self.stored(to, Root::Buffer(index), place);
            let element = self.or_reported(element);
            let is_read = access == Access::Constant && !self.atomic.contains(&Root::Buffer(index));
            let mode = if is_read { "read" } else { "read_write" };
            let binding = buffers.len();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "@group(0) @binding({binding}) var<storage, {mode}> {name}: array<{element}>;"
            );
            buffers.push(Binding {
                name: self.program.params[index].name.clone(),
                of: to,
                access: if is_read { Access::Constant } else { Access::Mutable },
            });
        }
        let numbers = self.numbers(&mut text, buffers.len());
        self.shared_arrays(&mut text);
        let [x, y, z] = self.target.block_dim;
        let _ = writeln!(text, "const blockDim = vec3<u32>({x}u, {y}u, {z}u);");
        if self.uses_infinity || self.uses_pow {
            let _ = writeln!(text, "var<private> infinity_bits: u32 = 0x7f800000u;");
        }
        if self.uses_pow {
            text.push_str(include_str!("wgsl/pow.wgsl"));
        }
        for helper in &self.written {
            text.push('\n');
            text.push_str(helper);
        }
        text.push('\n');
        text.push_str(&body);
        Wgsl {
            text,
            entry,
            buffers,
            subgroups: if self.uses_subgroups { Subgroups::Of32 } else { Subgroups::Other },
            numbers,
        }
    }

    /// The numbers among the arguments, in one uniform.
    fn numbers(&mut self, text: &mut String, binding: usize) -> Vec<(String, Scalar)> {
        let mut numbers = Vec::new();
        let mut fields = Vec::new();
        for (index, param) in self.program.params.iter().enumerate() {
            let Some(scalar) = param.ty.scalar() else { continue };
            // A bool has no layout in memory that is shared with the host.
            let stored = if scalar == Scalar::Bool { Scalar::Unsigned } else { scalar };
            let place = self.place_of(index);
            let ty = self.or_reported(type_name(stored, place));
            fields.push(format!("  {}: {ty},", names::field(&param.name)));
            numbers.push((param.name.clone(), scalar));
        }
        if !fields.is_empty() {
            let _ = writeln!(
                text,
                "struct Arguments {{\n{}\n}}\n@group(0) @binding({binding}) var<uniform> arguments: Arguments;",
                fields.join("\n")
            );
        }
        numbers
    }

    fn shared_arrays(&mut self, text: &mut String) {
        let dynamic = self.program.shared.iter().filter(|shared| shared.bytes == 0);
        let place = Place { line: 1, column: 1 };
        if dynamic.count() > 1 {
            self.diagnostics.push(Diagnostic::new(
                place,
                "two extern __shared__ arrays lie on the same bytes, and WGSL's arrays never do",
                "declare one, and index into it",
            ));
        }
        for (index, shared) in self.program.shared.iter().enumerate() {
            let (of, elements) = match shared.ty {
                Type::Array { of, extents, .. } if shared.bytes > 0 => (of, extents.elements()),
                Type::Array { of, .. } => (of, u64::from(self.target.dynamic_shared / of.bytes())),
                Type::Scalar(of) => (of, 1),
                Type::Void | Type::Pointer { .. } => continue,
            };
            let element = self.stored(of, Root::Shared(index), place);
            let element = self.or_reported(element);
            let elements = elements.max(1);
            let name = &self.shared[index];
            let _ = writeln!(text, "var<workgroup> {name}: array<{element}, {elements}>;");
        }
    }

    /// The type by which an array's elements lie in memory.
    fn stored(&self, of: Scalar, root: Root, place: Place) -> Translated<String> {
        if of == Scalar::Bool && !matches!(root, Root::Shared(_)) {
            return refuse(place, "a buffer of bool: WGSL shares no bool with the host", "use int");
        }
        let name = type_name(of, place)?;
        Ok(if self.atomic.contains(&root) {
            // Bits of a float in an unsigned: WGSL's atomics know whole numbers only.
            let name = if of == Scalar::Float { "u32" } else { name };
            format!("atomic<{name}>")
        } else {
            name.to_owned()
        })
    }

    /// What was translated, or a word in its place and the complaint kept.
    fn or_reported<T: Into<String>>(&mut self, translated: Translated<T>) -> String {
        match translated {
            Ok(text) => text.into(),
            Err(complaint) => {
                self.diagnostics.push(complaint);
                "untranslated".to_owned()
            }
        }
    }

    fn root_name(&self, root: Root, locals: &[String]) -> String {
        match root {
            Root::Buffer(index) => self.buffers[&index].clone(),
            Root::Shared(index) => self.shared[index].clone(),
            Root::Local(index) => locals[index].clone(),
        }
    }

    /// Where an argument is declared; the beginning for a variable outside of functions.
    fn place_of(&self, param: usize) -> Place {
        let own =
            &self.program.functions[self.program.kernel].variables[..self.program.own_params()];
        own.get(param).map_or(Place { line: 1, column: 1 }, |variable| variable.place)
    }

    /// Whether anything assigns to a kernel's pointer argument, which is then an index of its own.
    fn moves(&self, param: usize) -> bool {
        let kernel = &self.program.functions[self.program.kernel];
        kernel.variables[..kernel.params].get(param).is_some_and(|variable| variable.is_changed)
    }
}
