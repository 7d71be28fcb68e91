//! How large a kernel becomes with its helpers inlined, counted bottom-up before any is.

use crate::diagnostic::{Diagnostic, Place};
use crate::typed_ast::{Index, Kind, Program, Stmt, Variable, each};
use crate::types::Type;

/// Expressions, statements, variables and array elements of a kernel with its helpers inlined.
const MOST: u64 = 200_000;

struct Size {
    total: u64,
    /// The call that brings the total above the bound.
    passing: Option<(Place, Index)>,
}

/// # Errors
/// The kernel becomes too large; the complaint stands at the innermost call that makes it so.
pub(super) fn require_bounded(program: &Program) -> Result<(), Diagnostic> {
    // A function calls only those before it.
    let mut sizes: Vec<Size> = Vec::new();
    for function in &program.functions {
        let variables: u64 = function.variables.iter().map(elements).sum();
        let mut size = Size { total: variables + statements(&function.body), passing: None };
        each(&function.body, &mut |expr| {
            let mut more = 1;
            if let Kind::Call(called, _) = expr.kind {
                more += sizes[called].total;
                if size.passing.is_none() && size.total + more > MOST {
                    size.passing = Some((expr.place, called));
                }
            }
            // What is above the bound stays there, whatever is added.
            size.total = (size.total + more).min(MOST + 1);
        });
        sizes.push(size);
    }
    let mut caller = program.kernel;
    let Some(mut call) = sizes[caller].passing else { return Ok(()) };
    while let Some(inner) = sizes[call.1].passing {
        caller = call.1;
        call = inner;
    }
    let [caller, called] = [caller, call.1].map(|index| &program.functions[index].name);
    Err(Diagnostic::new(
        call.0,
        format!(
            "with '{called}' inlined here, '{caller}' has more than {MOST} expressions: a helper is inlined at each call"
        ),
        format!("call '{called}' once and keep its value in a variable, or call it in a loop"),
    ))
}

fn elements(variable: &Variable) -> u64 {
    if let Type::Array { extents, .. } = variable.ty { extents.elements() } else { 1 }
}

fn statements(list: &[Stmt]) -> u64 {
    list.iter().map(|one| 1 + one.bodies().into_iter().map(statements).sum::<u64>()).sum()
}
