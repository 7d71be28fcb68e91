//! From syntax to types: names are resolved, conversions written out, and everything outside the language refused.
//! Functions and statements; expressions are in the children.

mod alignment;
mod assign;
mod call;
mod copy;
mod declare;
mod element;
mod expression;
mod extents;
mod flow;
mod fold;
mod instance;
mod intrinsic;
mod make;
mod method;
mod overload;
mod pair;
mod passing;
mod record;
mod written;

use crate::ast;
use crate::ast::{Body, Passing, Role, Statement, StatementKind, Unit};
use crate::diagnostic::{Diagnostic, Place};
use crate::typed_ast::{
    Expr, Function, Global, Index, Param, Program, Shared, Stmt, StmtKind, Test,
};
use crate::types::{Extents, Scalar, Type};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of `__shared__` arrays that a kernel may declare; more is asked for at launch.
pub(super) const MOST_STATIC_SHARED: u32 = 48 * 1024;

/// Bytes of arrays that one thread may keep to itself.
pub(super) const MOST_LOCAL: u32 = 16 * 1024;

const BUILTIN_NAMES: [&str; 5] = ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"];

use crate::check::flow::returns;
use crate::check::fold::decided;
use crate::check::instance::{FunctionState, Instance};
use crate::check::passing::Signature;
use crate::check::record::RecordInfo;

struct Reported;

type Checked<T> = Result<T, Reported>;

#[derive(Clone, Copy)]
enum Meaning {
    Variable(Index),
    /// A variable that holds an address, and stands for what lies there.
    Reference(Index),
    /// A variable that holds the address of rows; how many there are is not known.
    Rows(Index, Extents),
    Shared(Index),
    /// With the type of its element or its array.
    Global(Index, Type),
    Constant(Scalar, Number),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Whole(i64),
    Real(f64),
}

/// What is known while one function is walked through.
#[derive(Default)]
struct Checker<'u> {
    /// The functions of the text.
    sources: &'u [ast::Function],
    host_variables: BTreeSet<String>,
    /// Which of them are checked, with which arguments of their templates.
    instances: Vec<Instance>,
    /// Those that are checked, in the order in which they were completed.
    functions: Vec<Function>,
    /// Of each function, the values of arguments that a call may leave out.
    defaults: Vec<Vec<Option<&'u ast::Expr>>>,
    /// Of each function, how its arguments are passed, and the record that it gives.
    signatures: Vec<Signature>,
    /// Records that the text declares.
    records: Vec<RecordInfo>,
    /// Numbers of records that are copied, over the whole text.
    copies: usize,
    shared: Vec<Shared>,
    static_bytes: u32,
    globals: Vec<Global>,
    /// Names in sight, the innermost last; the first are those of the whole text.
    scopes: Vec<BTreeMap<String, Meaning>>,
    current: FunctionState,
    /// Expressions on the way down, over all functions that are being checked.
    nesting: u32,
    /// Expressions that were checked so far.
    checked: usize,
    fence: Option<Place>,
    has_numbered_addresses: bool,
    builtins: BTreeSet<Place>,
    /// Where a structure is called like a function.
    objects: BTreeSet<Place>,
    diagnostics: Vec<Diagnostic>,
}

/// Checks a whole text; all that is wrong with it at once, with what was found before.
pub(super) fn check(unit: &Unit, diagnostics: Vec<Diagnostic>) -> Result<Program, Vec<Diagnostic>> {
    let sources = unit.functions.as_slice();
    let host_variables = unit.host_variables.clone();
    let mut checker = Checker {
        sources,
        diagnostics,
        host_variables,
        scopes: vec![BTreeMap::new()],
        ..Checker::default()
    };
    let mut constants = unit.constants.iter();
    for record in &unit.records {
        let before = record.constants.saturating_sub(unit.constants.len() - constants.len());
        checker.constants(constants.by_ref().take(before));
        checker.define(record);
    }
    checker.constants(constants);
    let mut kernel = None;
    let mut params = Vec::new();
    for (source, function) in sources.iter().enumerate() {
        let is_same = |other: &ast::Function| other.is_same_as(function) && !other.is_missing();
        if !function.is_missing() && sources[..source].iter().any(is_same) {
            let message = format!("'{}' is defined twice", function.name);
            checker.complain(function.place, message, "rename one of them");
        }
        // A template is checked where it is called.
        if !function.template.is_empty() {
            continue;
        }
        let Ok(index) = checker.instance(source, Vec::new(), function.place) else { continue };
        if function.role == Role::Kernel {
            if kernel.is_some() {
                let message = "a second kernel: there is one __global__ function";
                checker.complain(function.place, message, "make it __device__, or leave it out");
            } else {
                kernel = Some(index);
                params = arguments(&checker.functions[index]);
            }
        }
    }
    let begin = Place { line: 1, column: 1 };
    if kernel.is_none() && checker.diagnostics.is_empty() {
        let message = "there is no kernel";
        checker.complain(begin, message, "write __global__ void name(float *out, int n) { .. }");
    }
    // Dynamic arrays lie behind all static ones, whichever is declared first.
    let after = checker.static_bytes.next_multiple_of(16);
    for shared in checker.shared.iter_mut().filter(|shared| shared.bytes == 0) {
        shared.offset = after;
    }
    params.extend(checker.globals.iter().map(|global| global.param.clone()));
    match kernel {
        Some(kernel) if checker.diagnostics.is_empty() => Ok(Program {
            name: checker.functions[kernel].name.clone(),
            params,
            kernel,
            functions: checker.functions,
            shared: checker.shared,
            fence: checker.fence,
            has_numbered_addresses: checker.has_numbered_addresses,
            builtins: checker.builtins,
            objects: checker.objects,
            globals: checker.globals,
        }),
        Some(_) | None => Err(checker.diagnostics),
    }
}

fn arguments(function: &Function) -> Vec<Param> {
    let params = function.variables.iter().take(function.params);
    params.map(|variable| Param { name: variable.name.clone(), ty: variable.ty }).collect()
}

impl Checker<'_> {
    fn complain(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.diagnostics.push(Diagnostic::new(place, message, help));
    }

    fn refuse<T>(
        &mut self,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Checked<T> {
        self.complain(place, message, help);
        Err(Reported)
    }

    fn meaning(&self, name: &str) -> Option<Meaning> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    fn declare(&mut self, name: &str, place: Place, meaning: Meaning) {
        let builtin = BUILTIN_NAMES.contains(&name);
        let known = self.scopes.last().is_some_and(|scope| scope.contains_key(name));
        if builtin || known {
            self.complain(place, format!("'{name}' is declared already"), "choose another name");
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), meaning);
        }
    }

    /// What stands in a scope of its own.
    fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(BTreeMap::new());
        let result = inner(self);
        self.scopes.pop();
        result
    }
}

/// A whole number that is known before the kernel runs.
fn known(expr: &Expr) -> Option<i64> {
    if let crate::typed_ast::Kind::Whole(value) = expr.kind { Some(value) } else { None }
}

impl<'u> Checker<'u> {
    /// Checks a function, in a state of its own.
    pub(super) fn function(&mut self, function: &'u ast::Function) {
        self.current.name.clone_from(&function.name);
        self.current.result = Type::Void;
        let refers = function.result.passing == Passing::Reference;
        let result = if refers {
            self.referred(function.result, function.place)
        } else {
            self.type_of(function.result, function.place, "a function's value")
        };
        if let Ok(ty) = result {
            (self.current.result, self.current.refers) = (ty, refers);
        }
        if function.role == Role::Kernel && self.current.result != Type::Void {
            let message = "a kernel returns nothing";
            let help = "write __global__ void, and a buffer for the result";
            self.complain(function.place, message, help);
        }
        let mut passing = Vec::new();
        let gives = self.current.result.record().filter(|_| !refers);
        self.scopes.push(BTreeMap::new());
        self.declare_bound(function);
        let mut body = self.scoped(|checker| {
            for param in &function.params {
                if let Ok(passed) = checker.param(param, function.role) {
                    passing.push(passed);
                }
            }
            let mut body = checker.copied_params(&passing);
            if let Body::Read(statements) = &function.body {
                body.extend(checker.statements(statements));
            }
            body
        });
        let hidden = std::mem::take(&mut self.current.hidden).into_iter();
        let declared = |index| Stmt { place: function.place, kind: StmtKind::Declare(index, None) };
        body.splice(0..0, hidden.map(declared));
        if self.current.result != Type::Void
            && let Body::Read(statements) = &function.body
            && !statements.last().is_some_and(returns)
        {
            let message = format!("'{}' may end without a value", function.name);
            self.complain(function.place, message, "end it with return");
        }
        if self.current.height > DEEPEST_CALLS {
            let message = format!("calls nest more than {DEEPEST_CALLS} deep");
            self.complain(function.place, message, "write some of them out");
        }
        self.signatures.push(Signature { passing, gives, refers });
        let defaults = function.params.iter().map(|param| param.default.as_ref());
        self.defaults.push(defaults.collect());
        self.functions.push(Function {
            name: function.name.clone(),
            result: if gives.is_some() { Type::Void } else { self.current.result },
            params: function.params.len() + usize::from(gives.is_some()),
            variables: std::mem::take(&mut self.current.variables),
            body,
            height: self.current.height,
        });
    }
}

/// How deep helpers may call helpers.
pub(super) const DEEPEST_CALLS: u32 = 32;

impl Checker<'_> {
    pub(super) fn statements(&mut self, statements: &[Statement]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for statement in statements {
            // After an error the next statement is looked at all the same.
            let _ = self.statement(statement, &mut out);
        }
        out
    }

    /// A statement in a scope of its own, as the body of an if or a loop is.
    fn body(&mut self, statement: &Statement) -> Vec<Stmt> {
        self.scoped(|checker| checker.statements(std::slice::from_ref(statement)))
    }

    fn statement(&mut self, statement: &Statement, out: &mut Vec<Stmt>) -> Checked<()> {
        let place = statement.place;
        let kind = match &statement.kind {
            StatementKind::Declare(declaration) => {
                self.declaration(declaration, out);
                return Ok(());
            }
            StatementKind::Empty => return Ok(()),
            StatementKind::Expr(expr) => {
                self.require_used(expr)?;
                StmtKind::Expr(self.expr(expr)?)
            }
            StatementKind::Block(statements) => {
                StmtKind::Block(self.scoped(|checker| checker.statements(statements)))
            }
            StatementKind::If(condition, then, otherwise) => {
                let condition = self.condition(condition);
                let then = self.body(then);
                let otherwise = otherwise.as_ref().map_or_else(Vec::new, |body| self.body(body));
                decided(condition?, then, otherwise)
            }
            StatementKind::While(condition, body) => {
                let condition = self.condition(condition);
                let body = self.loop_body(body);
                StmtKind::Loop { test: Some((condition?, Test::Before)), step: None, body }
            }
            StatementKind::DoWhile(body, condition) => {
                let body = self.loop_body(body);
                let condition = self.condition(condition)?;
                StmtKind::Loop { test: Some((condition, Test::After)), step: None, body }
            }
            StatementKind::For { first, condition, step, body } => {
                let statements = self.scoped(|checker| {
                    let mut statements = Vec::new();
                    if let Some(first) = first {
                        let _ = checker.statement(first, &mut statements);
                    }
                    let condition = condition.as_ref().map(|test| checker.condition(test));
                    let condition = condition.transpose();
                    let step = step.as_ref().map(|step| checker.expr(step)).transpose();
                    let body = checker.loop_body(body);
                    let test = condition?.map(|condition| (condition, Test::Before));
                    statements
                        .push(Stmt { place, kind: StmtKind::Loop { test, step: step?, body } });
                    Ok(statements)
                })?;
                StmtKind::Block(statements)
            }
            StatementKind::Break | StatementKind::Continue if self.current.loops == 0 => {
                let help = "break and continue stand inside a loop";
                return self.refuse(place, "there is no loop here", help);
            }
            StatementKind::Break => StmtKind::Break,
            StatementKind::Continue => StmtKind::Continue,
            StatementKind::Return(value) => StmtKind::Return(match (value, self.current.result) {
                (None, Type::Void) => None,
                (Some(_), Type::Void) => {
                    let message = format!("'{}' returns nothing", self.current.name);
                    let help = "write the result into a buffer, or give the function a type";
                    return self.refuse(place, message, help);
                }
                (None, ty) => {
                    let message = format!("'{}' returns a {ty}", self.current.name);
                    return self.refuse(place, message, "write return value;");
                }
                (Some(value), _) if self.current.refers => {
                    Some(self.given_reference(value, place)?)
                }
                (Some(value), ty) if ty.record().is_some() => {
                    let given = self.given_record(value, place)?;
                    out.push(Stmt { place, kind: StmtKind::Expr(given) });
                    None
                }
                (Some(value), ty) => {
                    let value = self.value(value)?;
                    Some(self.convert(value, ty)?)
                }
            }),
        };
        out.push(Stmt { place, kind });
        Ok(())
    }

    fn loop_body(&mut self, body: &Statement) -> Vec<Stmt> {
        self.current.loops += 1;
        let body = self.body(body);
        self.current.loops -= 1;
        body
    }
}
