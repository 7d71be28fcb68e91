//! Functions: the entry point, and helpers, each once for the arrays it is given.

use std::fmt::Write;

use super::block::Writer;
use super::{Module, Root, Told, Variant, refuse, type_name, walk};
use crate::source::Place;
use crate::typed::{Fate, Function, Kind, Memory, Stmt, StmtKind, Target};
use crate::types::{Scalar, Type};

/// What a thread is told of its place, as arguments of a helper that asks for it.
const PLACE: &str = "threadIdx: vec3<u32>, blockIdx: vec3<u32>, gridDim: vec3<u32>";

impl<'a> Module<'a> {
    /// The kernel itself.
    pub(super) fn entry(&mut self, name: &str) -> String {
        let function = &self.program.functions[self.program.kernel];
        let given: Vec<Option<Root>> = (0..function.params)
            .map(|index| self.buffers.contains_key(&index).then_some(Root::Buffer(index)))
            .collect();
        let mut writer = Writer::new(self, function, given);
        for index in 0..function.params {
            writer.argument(index);
        }
        writer.statements(&function.body);
        let body = writer.finish();
        let mut text = format!(
            "@compute @workgroup_size({}, {}, {})\nfn {name}(\n  @builtin(local_invocation_id) threadIdx: vec3<u32>,\n  @builtin(workgroup_id) blockIdx: vec3<u32>,\n  @builtin(num_workgroups) gridDim: vec3<u32>,\n",
            self.target.block_dim[0], self.target.block_dim[1], self.target.block_dim[2]
        );
        if self.uses_subgroups {
            text.push_str("  @builtin(subgroup_invocation_id) lane: u32,\n");
        }
        // Writing to a String cannot fail.
        let _ = write!(text, ") {{\n{body}}}\n");
        text
    }

    /// The name of a helper for arguments that point into these arrays; it is written when it is first called.
    pub(super) fn helper(
        &mut self,
        index: usize,
        roots: Vec<Option<Root>>,
        place: Place,
    ) -> Told<String> {
        let variant: Variant = (index, roots);
        if let Some(name) = self.helpers.get(&variant) {
            return Ok(name.clone());
        }
        let function = &self.program.functions[index];
        let name = self.names.fresh(&function.name);
        let (index, roots) = variant.clone();
        let mut writer = Writer::new(self, function, roots);
        let mut params = Vec::new();
        for param in 0..function.params {
            params.push(writer.parameter(param)?);
        }
        writer.statements(&function.body);
        let body = writer.finish();
        if walk::knows_place(self.program, index) {
            params.push(PLACE.to_owned());
        }
        let result = match function.result {
            Type::Void => String::new(),
            Type::Scalar(scalar) => format!(" -> {}", type_name(scalar, place)?),
            Type::Pointer { .. } | Type::Array { .. } => {
                return refuse(
                    place,
                    format!("'{}' returns an address, and WGSL has none", function.name),
                    "return an index",
                );
            }
        };
        let params = params.join(", ");
        self.written.push(format!("fn {name}({params}){result} {{\n{body}}}\n"));
        self.helpers.insert(variant, name.clone());
        Ok(name)
    }
}

impl Writer<'_, '_> {
    /// An argument of the kernel: a number out of the uniform, or an index where a pointer is moved.
    fn argument(&mut self, index: usize) {
        let variable = &self.function.variables[index];
        let name = self.locals[index].clone();
        match variable.ty {
            Type::Scalar(scalar) => {
                let field = super::names::field(&variable.name);
                let value = match scalar {
                    Scalar::Bool => format!("(arguments.{field} != 0u)"),
                    Scalar::Int
                    | Scalar::Unsigned
                    | Scalar::Long
                    | Scalar::UnsignedLong
                    | Scalar::Float
                    | Scalar::Double => format!("arguments.{field}"),
                };
                let word = self.word(index);
                self.line(&format!("{word} {name} = {value};"));
            }
            Type::Pointer { .. } if self.module.moves(index) => {
                self.line(&format!("var {name}: i32 = 0i;"));
            }
            Type::Void | Type::Pointer { .. } | Type::Array { .. } => {}
        }
    }

    /// `var` for what may change later, else `let`.
    pub(super) fn word(&self, index: usize) -> &'static str {
        let variable = &self.function.variables[index];
        let fixed = variable.fate == Fate::Kept && variable.in_memory == Memory::Register;
        if fixed { "let" } else { "var" }
    }

    /// A parameter of a helper; WGSL's own never change, so that one that does is copied.
    fn parameter(&mut self, index: usize) -> Told<String> {
        let variable = &self.function.variables[index];
        let name = self.locals[index].clone();
        let ty = match variable.ty {
            Type::Scalar(scalar) => type_name(scalar, variable.place)?,
            Type::Pointer { .. } => "i32",
            Type::Void | Type::Array { .. } => "i32",
        };
        if self.word(index) == "let" {
            return Ok(format!("{name}: {ty}"));
        }
        let given = self.module.names.fresh(&format!("{name}_given"));
        self.line(&format!("var {name} = {given};"));
        Ok(format!("{given}: {ty}"))
    }
}

/// What each pointer variable of a function points into, as far as its text tells.
pub(super) fn roots(function: &Function, given: Vec<Option<Root>>) -> Vec<Option<Root>> {
    let mut roots = given;
    roots.resize(function.variables.len(), None);
    // A pointer may be set from one that is set further down in a loop: as often as there are variables is enough.
    for _ in 0..=function.variables.len() {
        let before = roots.clone();
        declared(&function.body, &mut roots);
        walk::each(&function.body, &mut |expr| {
            if let Kind::Assign(Target::Variable(index), value) = &expr.kind
                && roots[*index].is_none()
                && let Type::Pointer { .. } = function.variables[*index].ty
            {
                roots[*index] = root(value, &roots);
            }
        });
        if roots == before {
            break;
        }
    }
    roots
}

fn declared(statements: &[Stmt], roots: &mut [Option<Root>]) {
    for statement in statements {
        match &statement.kind {
            StmtKind::Declare(index, Some(value)) => {
                if let (None, Type::Pointer { .. }) = (roots[*index], value.ty) {
                    roots[*index] = root(value, roots);
                }
            }
            StmtKind::If(_, then, otherwise) => {
                declared(then, roots);
                declared(otherwise, roots);
            }
            StmtKind::Loop { body, .. } | StmtKind::Block(body) => declared(body, roots),
            StmtKind::Declare(_, None)
            | StmtKind::Fill(..)
            | StmtKind::Expr(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_) => {}
        }
    }
}

/// What an address points into, if its text tells.
fn root(expr: &crate::typed::Expr, roots: &[Option<Root>]) -> Option<Root> {
    match &expr.kind {
        Kind::Variable(index) => roots[*index],
        Kind::Shared(index) => Some(Root::Shared(*index)),
        Kind::Local(index) => Some(Root::Local(*index)),
        Kind::Offset(base, _) => root(base, roots),
        Kind::Comma(_, last) => root(last, roots),
        Kind::Conditional(_, yes, no) => root(yes, roots).or_else(|| root(no, roots)),
        Kind::Assign(Target::Variable(index), _) | Kind::Update(Target::Variable(index), ..) => {
            roots[*index]
        }
        Kind::Whole(_)
        | Kind::Real(_)
        | Kind::Special(..)
        | Kind::WarpSize
        | Kind::Load(_)
        | Kind::Distance(..)
        | Kind::Convert(_)
        | Kind::Negate(_)
        | Kind::Complement(_)
        | Kind::Not(_)
        | Kind::Arithmetic(..)
        | Kind::Compare(..)
        | Kind::And(..)
        | Kind::Or(..)
        | Kind::Assign(Target::Memory(_), _)
        | Kind::Update(Target::Memory(_), ..)
        | Kind::Call(..)
        | Kind::Math(..)
        | Kind::Atomic(..)
        | Kind::Shuffle(..)
        | Kind::Vote(..)
        | Kind::Barrier
        | Kind::WarpBarrier(_) => None,
    }
}
