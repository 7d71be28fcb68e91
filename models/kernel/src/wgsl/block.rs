//! Statements, line by line.

use super::expression::Text;
use super::{Module, Root, Told, function, type_name, walk};
use crate::typed::{Expr, Function, Stmt, StmtKind, Test};
use crate::types::Type;

/// One function as it is written.
pub(super) struct Writer<'m, 'a> {
    pub(super) module: &'m mut Module<'a>,
    pub(super) function: &'a Function,
    /// The name of each variable.
    pub(super) locals: Vec<String>,
    /// What each pointer points into.
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
        Self {
            module,
            function,
            locals,
            roots: function::roots(function, given),
            text: String::new(),
            depth: 1,
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// One line at the depth of the block at hand.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A new value under a name of its own.
    pub(super) fn kept(&mut self, value: &Text) -> Text {
        let name = self.module.names.fresh("t");
        self.line(&format!("let {name} = {};", value.text));
        Text::atom(name)
    }

    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            // What cannot be translated is told, and the next statement is looked at all the same.
            if let Err(complaint) = self.statement(statement) {
                self.module.complaints.push(complaint);
            }
        }
    }

    fn block(&mut self, statements: &[Stmt]) {
        self.depth += 1;
        self.statements(statements);
        self.depth -= 1;
    }

    fn statement(&mut self, statement: &Stmt) -> Told<()> {
        match &statement.kind {
            StmtKind::Declare(index, value) => self.declaration(*index, value.as_ref()),
            StmtKind::Fill(index, values) => self.fill(*index, values),
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.value(condition)?;
                self.line(&format!("if {} {{", condition.inside()));
                self.block(then);
                if !otherwise.is_empty() {
                    self.line("} else {");
                    self.block(otherwise);
                }
                self.line("}");
                Ok(())
            }
            StmtKind::Loop { test, step, body } => self.repeat(test.as_ref(), step.as_ref(), body),
            // Every name is there once in a function, so that no block has to keep two apart.
            StmtKind::Block(inner) => {
                self.statements(inner);
                Ok(())
            }
            StmtKind::Break => {
                self.line("break;");
                Ok(())
            }
            StmtKind::Continue => {
                self.line("continue;");
                Ok(())
            }
            StmtKind::Return(None) => {
                self.line("return;");
                Ok(())
            }
            StmtKind::Return(Some(value)) => {
                let value = self.value(value)?;
                self.line(&format!("return {};", value.text));
                Ok(())
            }
        }
    }

    fn declaration(&mut self, index: usize, value: Option<&Expr>) -> Told<()> {
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
        let value = if let Type::Pointer { .. } = variable.ty {
            let (root, at) = self.pointer(value)?;
            self.points_into(index, root, value.place)?;
            at.unwrap_or_else(|| Text::atom("0i"))
        } else {
            self.value(value)?
        };
        let word = self.word(index);
        self.line(&format!("{word} {name}: {ty} = {};", value.text));
        Ok(())
    }

    fn fill(&mut self, index: usize, values: &[Expr]) -> Told<()> {
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
    ) -> Told<()> {
        let before = test.filter(|(_, when)| *when == Test::Before);
        let after = test.filter(|(_, when)| *when == Test::After);
        let is_plain = |expr: &Expr| !walk::has_effect(expr);
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
    fn one_line(&mut self, expr: &Expr) -> Told<Option<String>> {
        let at = self.text.len();
        self.effect(expr)?;
        let written = self.text.split_off(at);
        let written = written.trim();
        let one = written.strip_suffix(';').filter(|line| !line.contains('\n'));
        Ok(one.map(str::to_owned))
    }

    /// Runs something into a part of its own, to be put elsewhere: what it wrote, a level deeper.
    pub(super) fn aside<T>(&mut self, run: impl FnOnce(&mut Self) -> Told<T>) -> Told<(String, T)> {
        let at = self.text.len();
        self.depth += 1;
        let done = run(self);
        self.depth -= 1;
        let written = self.text.split_off(at);
        Ok((written, done?))
    }

    /// Lines that are indented already.
    pub(super) fn raw(&mut self, lines: &str) {
        self.text.push_str(lines);
    }
}
