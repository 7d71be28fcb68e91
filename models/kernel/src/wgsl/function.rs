//! Functions and statements: the entry point, and helpers, each once for the arrays it is given.

use crate::diagnostic::Place;
use crate::typed_ast::{Expr, Function, Kind, Program, Stmt, StmtKind, Target, Test, each};
use crate::types::{Scalar, Type};
use crate::wgsl::names::Fragment;
use crate::wgsl::{Module, Root, Translated, Variant, refuse, type_name};
use std::fmt::Write;

/// Where a thread is in the grid, as parameters of a helper that asks for it.
const PLACE: &str = "threadIdx: vec3<u32>, blockIdx: vec3<u32>, gridDim: vec3<u32>";

impl<'a> Module<'a> {
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
        let body = writer.text;
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
    ) -> Translated<String> {
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
        let body = writer.text;
        if knows_place(self.program, index) {
            params.push(PLACE.to_owned());
        }
        let result = match function.result {
            Type::Void => String::new(),
            Type::Scalar(scalar) => format!(" -> {}", type_name(scalar, place)?),
            Type::Pointer { .. } | Type::Array { .. } => {
                let message = format!("'{}' returns an address, and WGSL has none", function.name);
                return refuse(place, message, "return an index");
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
                let field = crate::wgsl::names::field(&variable.name);
                let value = if scalar == Scalar::Bool {
                    format!("(arguments.{field} != 0u)")
                } else {
                    format!("arguments.{field}")
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
    fn word(&self, index: usize) -> &'static str {
        let variable = &self.function.variables[index];
        let fixed = !variable.is_changed && !variable.in_memory;
        if fixed { "let" } else { "var" }
    }

    /// A parameter of a helper; WGSL's own never change, so that one that does is copied.
    fn parameter(&mut self, index: usize) -> Translated<String> {
        let variable = &self.function.variables[index];
        let name = self.locals[index].clone();
        let ty = match variable.ty {
            Type::Scalar(scalar) => type_name(scalar, variable.place)?,
            Type::Void | Type::Pointer { .. } | Type::Array { .. } => "i32",
        };
        if self.word(index) == "let" {
            return Ok(format!("{name}: {ty}"));
        }
        let given = self.module.names.fresh(&format!("{name}_given"));
        self.line(&format!("var {name} = {given};"));
        Ok(format!("{given}: {ty}"))
    }
}

/// What each pointer variable of a function points into, as far as its text tells; variables outside of functions
/// follow behind the kernel's `own` arguments.
fn roots(function: &Function, mut roots: Vec<Option<Root>>, own: usize) -> Vec<Option<Root>> {
    roots.resize(function.variables.len(), None);
    // A pointer may be set from one that is set further down in a loop: as often as there are variables is enough.
    for _ in 0..=function.variables.len() {
        let before = roots.clone();
        declared(&function.body, &mut roots, own);
        each(&function.body, &mut |expr| {
            if let Kind::Assign(Target::Variable(index), value) = &expr.kind
                && roots[*index].is_none()
                && let Type::Pointer { .. } = function.variables[*index].ty
            {
                roots[*index] = root(value, &roots, own);
            }
        });
        if roots == before {
            break;
        }
    }
    roots
}

fn declared(statements: &[Stmt], roots: &mut [Option<Root>], own: usize) {
    for statement in statements {
        if let StmtKind::Declare(index, Some(value)) = &statement.kind
            && let (None, Type::Pointer { .. }) = (roots[*index], value.ty)
        {
            roots[*index] = root(value, roots, own);
        }
        statement.bodies().into_iter().for_each(|body| declared(body, roots, own));
    }
}

/// What an address points into, if its text tells.
fn root(expr: &Expr, roots: &[Option<Root>], own: usize) -> Option<Root> {
    if let Kind::Variable(index)
    | Kind::Assign(Target::Variable(index), _)
    | Kind::Update(Target::Variable(index), ..) = expr.kind
    {
        roots[index]
    } else if let Kind::Shared(index) = expr.kind {
        Some(Root::Shared(index))
    } else if let Kind::Global(index) = expr.kind {
        Some(Root::Buffer(own + index))
    } else if let Kind::Local(index) = expr.kind {
        Some(Root::Local(index))
    } else if let Kind::Offset(inner, _) | Kind::Comma(_, inner) | Kind::Together(_, inner) =
        &expr.kind
    {
        root(inner, roots, own)
    } else if let Kind::Conditional(_, yes, no) = &expr.kind {
        root(yes, roots, own).or_else(|| root(no, roots, own))
    } else {
        None
    }
}

pub(super) struct Writer<'m, 'a> {
    pub(super) module: &'m mut Module<'a>,
    pub(super) function: &'a Function,
    pub(super) locals: Vec<String>,
    pub(super) roots: Vec<Option<Root>>,
    text: String,
    depth: usize,
}

impl<'m, 'a> Writer<'m, 'a> {
    pub(super) fn new(
        module: &'m mut Module<'a>,
        function: &'a Function,
        given: Vec<Option<Root>>,
    ) -> Self {
        let variables = function.variables.iter();
        let locals = variables.map(|variable| module.names.fresh(&variable.name)).collect();
        let own = module.program.own_params();
        Self {
            module,
            function,
            locals,
            roots: roots(function, given, own),
            text: String::new(),
            depth: 1,
        }
    }

    /// A line, or several.
    pub(super) fn line(&mut self, text: &str) {
        for line in text.lines() {
            self.text.push_str(&"  ".repeat(self.depth));
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    pub(super) fn bind(&mut self, value: &Fragment) -> Fragment {
        let name = self.module.names.fresh("t");
        self.line(&format!("let {name} = {};", value.text));
        Fragment::atom(name)
    }

    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            // After an error the next statement is translated all the same.
            if let Err(complaint) = self.statement(statement) {
                self.module.diagnostics.push(complaint);
            }
        }
    }

    fn block(&mut self, statements: &[Stmt]) {
        self.depth += 1;
        self.statements(statements);
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Stmt) -> Translated<()> {
        match &statement.kind {
            StmtKind::Declare(index, value) => self.declaration(*index, value.as_ref())?,
            StmtKind::Fill(index, values) => self.fill(*index, values)?,
            StmtKind::Expr(expr) => self.effect(expr)?,
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.value(condition)?;
                self.line(&format!("if {} {{", condition.inside()));
                self.block(then);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.block(otherwise);
                }
                self.line("}");
            }
            StmtKind::Loop { test, step, body } => {
                self.repeat(test.as_ref(), step.as_ref(), body)?
            }
            // Every name is there once in a function, so that no block has to keep two apart.
            StmtKind::Block(inner) => self.statements(inner),
            StmtKind::Break => self.line("break;"),
            StmtKind::Continue => self.line("continue;"),
            StmtKind::Return(None) => self.line("return;"),
            StmtKind::Return(Some(value)) => {
                let value = self.value(value)?;
                self.line(&format!("return {};", value.text));
            }
        }
        Ok(())
    }

    fn declaration(&mut self, index: usize, value: Option<&Expr>) -> Translated<()> {
        let variable = &self.function.variables[index];
        let name = self.locals[index].clone();
        let ty = match variable.ty {
            Type::Scalar(scalar) => type_name(scalar, variable.place)?.to_owned(),
            Type::Pointer { .. } => "i32".to_owned(),
            Type::Array { of, extents, .. } => {
                let of = type_name(of, variable.place)?;
                format!("array<{of}, {}>", extents.elements())
            }
            Type::Void => return Ok(()),
        };
        let Some(value) = value else {
            self.line(&format!("var {name}: {ty};"));
            return Ok(());
        };
        let value = self.value_of_variable(index, value, value.place)?;
        let word = self.word(index);
        self.line(&format!("{word} {name}: {ty} = {};", value.text));
        Ok(())
    }

    fn fill(&mut self, index: usize, values: &[Expr]) -> Translated<()> {
        self.declaration(index, None)?;
        let name = self.locals[index].clone();
        for (at, value) in values.iter().enumerate() {
            let value = self.value(value)?;
            self.line(&format!("{name}[{at}] = {};", value.text));
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        test: Option<&(Expr, Test)>,
        step: Option<&Expr>,
        body: &[Stmt],
    ) -> Translated<()> {
        let before = test.filter(|(_, when)| *when == Test::Before);
        let after = test.filter(|(_, when)| *when == Test::After);
        let is_plain = |expr: &Expr| !expr.has_effect();
        if let Some((test, _)) = before.filter(|(test, _)| is_plain(test)) {
            // `for` as in C, where test and step are one expression and one statement.
            let at = self.text.len();
            let condition = self.value(test)?;
            let wrote = self.text.len() > at;
            let header = match step {
                None => Some(String::new()),
                Some(step) => self.one_line(step)?,
            };
            if let (false, Some(step)) = (wrote, header) {
                if step.is_empty() {
                    self.line(&format!("while {} {{", condition.inside()));
                } else {
                    self.line(&format!("for (; {}; {step}) {{", condition.text));
                }
                self.block(body);
                self.line("}");
                return Ok(());
            }
            self.text.truncate(at);
        }
        self.line("loop {");
        self.depth += 1;
        if let Some((test, _)) = before {
            let test = self.value(test)?;
            self.line(&format!("if {} {{ break; }}", test.negated().inside()));
        }
        self.statements(body);
        if step.is_some() || after.is_some() {
            self.line("continuing {");
            self.depth += 1;
            if let Some(step) = step {
                self.effect(step)?;
            }
            if let Some((test, _)) = after {
                let test = self.value(test)?;
                self.line(&format!("break if {};", test.negated().text));
            }
            self.depth -= 1;
            self.line("}");
        }
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    /// The one statement, without its semicolon, that an expression becomes; none if it takes more.
    fn one_line(&mut self, expr: &Expr) -> Translated<Option<String>> {
        let at = self.text.len();
        self.effect(expr)?;
        let written = self.text.split_off(at);
        let written = written.trim();
        let one = written.strip_suffix(';').filter(|line| !line.contains('\n'));
        Ok(one.map(str::to_owned))
    }

    /// Runs something into a part of its own, to be put elsewhere: what it wrote, a level deeper.
    pub(super) fn aside<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Translated<T>,
    ) -> Translated<(String, T)> {
        let at = self.text.len();
        self.depth += 1;
        let done = run(self);
        self.depth -= 1;
        let written = self.text.split_off(at);
        Ok((written, done?))
    }

    pub(super) fn raw(&mut self, lines: &str) {
        self.text.push_str(lines);
    }
}

/// Whether a function, or one it calls, asks for its place in the grid.
pub(super) fn knows_place(program: &Program, function: usize) -> bool {
    let mut knows = false;
    each(&program.functions[function].body, &mut |expr| {
        // Calls go to functions that are defined before, so that this ends.
        knows |= if let Kind::Call(called, _) = expr.kind {
            called < function && knows_place(program, called)
        } else {
            matches!(expr.kind, Kind::Special(..))
        };
    });
    knows
}
