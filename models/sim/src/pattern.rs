//! A pattern over threads that somebody wrote: read, checked for its names, and computed lane by lane.
//!
//! Errors in a text parameter that holds an expression, shown under the place.

use mlsys_expr::{Dialect, Expr, ExprError, Span, evaluate_pattern, parse};
use mlsys_lab::LabError;
use mlsys_lab::nearest::nearest;

/// Lanes of a warp.
pub const LANES: i64 = 32;

/// An expression in integers over the names that a place gives it.
pub struct Pattern<'a> {
    param: &'a str,
    source: &'a str,
    expr: Expr,
    names: &'a [&'a str],
}

impl<'a> Pattern<'a> {
    /// Reads the pattern of a parameter; `names` are what it may speak of.
    ///
    /// # Errors
    /// It does not read, or it names something else.
    pub fn read(param: &'a str, source: &'a str, names: &'a [&'a str]) -> Result<Self, LabError> {
        let expr = parse(source, Dialect::Pattern)
            .map_err(|problem| LabError::expression(param, source, &problem))?;
        let unknown: Vec<ExprError> = expr
            .names()
            .into_iter()
            .filter(|(name, _)| !names.contains(&name.as_str()))
            .map(|(name, span)| ExprError {
                message: format!("nothing is called `{name}` here"),
                span,
                help: Some(match nearest(name.as_str(), names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there are {}", names.join(", ")),
                }),
            })
            .collect();
        if !unknown.is_empty() {
            return Err(LabError::expressions(param, source, &unknown));
        }
        Ok(Self { param, source, expr, names })
    }

    /// Its value where the names have these values, in their order.
    ///
    /// # Errors
    /// It has none there: division by zero, or a number beyond 2^53.
    pub fn at(&self, values: &[i64]) -> Result<i64, LabError> {
        let lookup = |name: &str| {
            let place = self.names.iter().position(|known| *known == name)?;
            values.get(place).copied()
        };
        evaluate_pattern(&self.expr, &lookup).map_err(|problem| {
            let first = self.names.first().zip(values.first());
            let place =
                first.map_or_else(String::new, |(name, value)| format!(" where {name} is {value}"));
            self.error(&ExprError {
                message: format!("{problem}{place}"),
                span: problem.span,
                help: None,
            })
        })
    }

    /// Its value, which must not be negative, in each lane of a warp; its names are `lane` and `warpSize`.
    ///
    /// # Errors
    /// It has no value in some lane, or one below zero: `what` says what it is.
    pub fn lanes(&self, what: &str) -> Result<Vec<i64>, LabError> {
        (0..LANES)
            .map(|lane| match self.at(&[lane, LANES])? {
                value @ 0.. => Ok(value),
                value => Err(self.error(&ExprError {
                    message: format!(
                        "{what} is {value} where lane is {lane}, and there is none below 0"
                    ),
                    span: self.expr.span,
                    help: None,
                })),
            })
            .collect()
    }

    fn error(&self, problem: &ExprError) -> LabError {
        LabError::expression(self.param, self.source, problem)
    }
}

/// What a pattern over one warp may speak of.
pub const OF_A_WARP: [&str; 2] = ["lane", "warpSize"];

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
    use mlsys_expr::{ExprError, Span};

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
