//! From syntax to types: names are resolved, conversions written out, and everything outside the language refused.

mod assign;
mod call;
mod convert;
mod declare;
mod element;
mod expression;
mod function;
mod name;
mod statement;
mod warp;

use std::collections::BTreeMap;

use super::source::{Complaint, Place};
use super::syntax::{Role, Unit};
use super::typed::{Expr, Function, Index, Param, Program, Shared, Variable};
use super::types::{Scalar, Type};

/// Bytes of `__shared__` arrays that a kernel may declare; more is asked for at launch.
pub(super) const MOST_STATIC_SHARED: u32 = 48 * 1024;

/// Bytes of arrays that one thread may keep to itself.
pub(super) const MOST_LOCAL: u32 = 16 * 1024;

/// Somewhere inside, something was complained about.
struct Told;

type Checked<T> = Result<T, Told>;

/// What a name stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Variable(Index),
    Shared(Index),
    Constant(Scalar, Number),
}

#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

/// What is known while one function is walked through.
struct Checker {
    functions: Vec<Function>,
    places: Vec<Place>,
    shared: Vec<Shared>,
    static_bytes: u32,
    scopes: Vec<BTreeMap<String, Meaning>>,
    variables: Vec<Variable>,
    local_bytes: u32,
    /// Of the function that is walked through.
    name: String,
    result: Type,
    loops: u32,
    height: u32,
    complaints: Vec<Complaint>,
}

/// Checks a whole text; all that is wrong with it at once.
pub(super) fn check(unit: &Unit) -> Result<Program, Vec<Complaint>> {
    let mut checker = Checker {
        functions: Vec::new(),
        places: Vec::new(),
        shared: Vec::new(),
        static_bytes: 0,
        scopes: vec![BTreeMap::new()],
        variables: Vec::new(),
        local_bytes: 0,
        name: String::new(),
        result: Type::Void,
        loops: 0,
        height: 0,
        complaints: Vec::new(),
    };
    for declaration in &unit.constants {
        for name in &declaration.names {
            // The complaint is kept; the next name is looked at all the same.
            let _ = checker.global_constant(name);
        }
    }
    let mut kernel = None;
    let mut params = Vec::new();
    for function in &unit.functions {
        if checker.functions.iter().any(|other| other.name == function.name) {
            checker.complain(
                function.place,
                format!("'{}' is defined twice", function.name),
                "rename one of them",
            );
        }
        checker.function(function);
        if function.role == Role::Kernel {
            if kernel.is_some() {
                checker.complain(
                    function.place,
                    "a second kernel: there is one __global__ function",
                    "make it __device__, or leave it out",
                );
            } else {
                kernel = checker.functions.len().checked_sub(1);
                params = checker.functions.last().map(arguments).unwrap_or_default();
            }
        }
    }
    let begin = Place { line: 1, column: 1 };
    if kernel.is_none() && checker.complaints.is_empty() {
        checker.complain(
            begin,
            "there is no kernel",
            "write __global__ void name(float *out, int n) { .. }",
        );
    }
    // Dynamic arrays lie behind all static ones, whichever is declared first.
    let after = checker.static_bytes.next_multiple_of(16);
    for shared in checker.shared.iter_mut().filter(|shared| shared.bytes == 0) {
        shared.offset = after;
    }
    match kernel {
        Some(kernel) if checker.complaints.is_empty() => Ok(Program {
            name: checker.functions[kernel].name.clone(),
            params,
            kernel,
            functions: checker.functions,
            shared: checker.shared,
        }),
        Some(_) | None => Err(checker.complaints),
    }
}

fn arguments(function: &Function) -> Vec<Param> {
    let params = function.variables.iter().take(function.params);
    params.map(|variable| Param { name: variable.name.clone(), ty: variable.ty }).collect()
}

impl Checker {
    fn complain(&mut self, place: Place, message: impl Into<String>, help: impl Into<String>) {
        self.complaints.push(Complaint::new(place, message, help));
    }

    fn tell<T>(
        &mut self,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Checked<T> {
        self.complain(place, message, help);
        Err(Told)
    }

    fn meaning(&self, name: &str) -> Option<Meaning> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }

    fn declare(&mut self, name: &str, place: Place, meaning: Meaning) {
        let builtin = ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"].contains(&name);
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
    if let super::typed::Kind::Whole(value) = expr.kind { Some(value) } else { None }
}
