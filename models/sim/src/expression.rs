//! Errors in a text parameter that holds an expression, shown under the place.

use std::fmt::Write;

use mlsys_lab::LabError;
use mlsys_lab::expr::{ExprError, Span};

/// An error in the expression `source` of a parameter: message, column, the line, and carets under the place.
pub fn error(param: &str, source: &str, problem: &ExprError) -> LabError {
    errors(param, source, std::slice::from_ref(problem))
}

/// Several errors in one expression, one below the other.
pub fn errors(param: &str, source: &str, problems: &[ExprError]) -> LabError {
    let mut shown: Vec<String> =
        problems.iter().take(MOST_PROBLEMS).map(|problem| shown(source, problem)).collect();
    if let Some(more @ 1..) = problems.len().checked_sub(MOST_PROBLEMS) {
        shown.push(format!("and {more} more like these"));
    }
    LabError::Expression { param: param.to_owned(), message: shown.join("\n") }
}

/// Problems that are told; who has more has one that is behind them all.
pub const MOST_PROBLEMS: usize = 12;

/// Characters of a line before the place, and from it on, that are shown of a long one.
const AROUND: (usize, usize) = (60, 120);

fn shown(source: &str, problem: &ExprError) -> String {
    let Span { start, end } = problem.span;
    let before = source.get(..start).unwrap_or(source);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let rest = source.get(line_start..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    let indent = before.get(line_start..).unwrap_or_default().chars().count();
    let marked = source.get(start..end).unwrap_or_default();
    let width = marked.chars().take_while(|&c| c != '\n').count().max(1);
    // Tabs and escape sequences would move or colour the terminal: one blank each keeps the columns.
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();

    // Of a long line the part around the place.
    let slid = indent.saturating_sub(AROUND.0);
    let is_long = line.chars().count() > AROUND.0 + AROUND.1;
    let slid = if is_long { slid } else { 0 };
    let room = if is_long { AROUND.0 + AROUND.1 } else { usize::MAX };
    let line: String = line.chars().skip(slid).take(room).collect();
    let width = width.min(room.saturating_sub(indent - slid).max(1));

    let mut text = problem.message.clone();
    let number = before.matches('\n').count() + 1;
    // Writing to a String cannot fail.
    let _ = if source.contains('\n') {
        write!(text, ", at line {number}, column {}", indent + 1)
    } else {
        write!(text, ", at column {}", indent + 1)
    };
    if let Some(help) = &problem.help {
        let _ = write!(text, " ({help})");
    }
    let _ = write!(text, "\n  {line}\n  {}{}", " ".repeat(indent - slid), "^".repeat(width));
    text
}

#[cfg(test)]
mod tests {
    use super::shown;
    use mlsys_lab::expr::{ExprError, Span};

    #[test]
    fn carets_stand_under_the_place() {
        let problem = |start, end, help: Option<&str>| ExprError {
            message: "wrong".to_owned(),
            span: Span { start, end },
            help: help.map(str::to_owned),
        };
        for (source, problem, expected) in [
            ("a + bc", problem(4, 6, None), "wrong, at column 5\n  a + bc\n      ^^"),
            ("a +", problem(3, 3, Some("add it")), "wrong, at column 4 (add it)\n  a +\n     ^"),
            ("a;\nb + ?", problem(7, 8, None), "wrong, at line 2, column 5\n  b + ?\n      ^"),
            ("é\t\u{1b}?", problem(4, 5, None), "wrong, at column 4\n  é  ?\n     ^"),
        ] {
            assert_eq!(shown(source, &problem), expected);
        }
    }
}
