//! The statements of a computation graph.

use super::parse::Parser;
use super::token::Token;
use super::{Dialect, Expr, ExprError, Name, Node, Span, complaint};

/// Statements in the order they are evaluated, at least one; the last gives the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// In the order of the source.
    pub statements: Vec<Statement>,
}

/// `name = expr`, or a bare expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// `None` only for a last statement without a name.
    pub name: Option<Name>,
    /// Where the name stands, or the expression if it has none.
    pub span: Span,
    /// What the name stands for.
    pub expr: Expr,
}

impl Program {
    /// The names that are used but not assigned, each with its first use, in the order of the source.
    pub fn inputs(&self) -> Vec<(&Name, Span)> {
        let mut inputs: Vec<(&Name, Span)> = Vec::new();
        for (name, span) in self
            .statements
            .iter()
            .flat_map(|statement| statement.expr.names())
        {
            if self.assignment(name).is_none() && inputs.iter().all(|(known, _)| *known != name) {
                inputs.push((name, span));
            }
        }
        inputs
    }

    /// The statement that assigns `name`.
    pub fn assignment(&self, name: &Name) -> Option<&Statement> {
        self.statements
            .iter()
            .find(|statement| statement.name.as_ref() == Some(name))
    }
}

/// Reads statements separated by `;`, each `name = expr`, of which the last may be a bare expression.
///
/// # Errors
/// The first thing in the source that is not allowed: besides malformed expressions, a name assigned twice or used
/// before it is assigned, and a statement without a name that is not the last.
pub fn parse_program(source: &str) -> Result<Program, ExprError> {
    let mut parser = Parser::new(source, Dialect::Graph)?;
    let mut statements: Vec<Statement> = Vec::new();
    loop {
        if matches!(parser.peek(), Token::Semicolon) {
            return Err(ExprError::new(
                parser.here(),
                "a statement is missing before `;`",
            ));
        }
        let statement = read_statement(&mut parser)?;
        check_order(&statements, &statement)?;
        let (named, span) = (statement.name.is_some(), statement.span);
        statements.push(statement);
        let separated = parser.accept(&Token::Semicolon);
        if *parser.peek() == Token::End {
            return Ok(Program { statements });
        }
        if !separated {
            let (token, place) = parser.advance();
            return Err(complaint::no_continuation(&token, place));
        }
        if !named {
            return Err(
                ExprError::new(span, "only the last statement can do without a name")
                    .help("write `name = ...`"),
            );
        }
    }
}

fn read_statement(parser: &mut Parser) -> Result<Statement, ExprError> {
    let target = parser.expression()?;
    if *parser.peek() != Token::Assign {
        return Ok(Statement {
            name: None,
            span: target.span,
            expr: target,
        });
    }
    let Node::Name(name) = target.node else {
        return Err(
            ExprError::new(target.span, "only a name can be assigned").help("write `name = ...`")
        );
    };
    parser.advance();
    let expr = parser.expression()?;
    Ok(Statement {
        name: Some(name),
        span: target.span,
        expr,
    })
}

fn check_order(before: &[Statement], statement: &Statement) -> Result<(), ExprError> {
    let Some(name) = &statement.name else {
        return Ok(());
    };
    if before
        .iter()
        .any(|earlier| earlier.name.as_ref() == Some(name))
    {
        return Err(
            ExprError::new(statement.span, format!("`{name}` is assigned twice"))
                .help("give the second value a name of its own"),
        );
    }
    let early_use = before
        .iter()
        .chain(std::iter::once(statement))
        .flat_map(|earlier| earlier.expr.names())
        .find(|(used, _)| *used == name);
    match early_use {
        Some((_, span)) => Err(ExprError::new(
            span,
            format!("`{name}` is used before it is assigned"),
        )
        .help("an input cannot be assigned; move the assignment up, or choose another name")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Program, parse_program};
    use crate::expr::ExprError;

    fn assigned(program: &Program) -> Vec<Option<&str>> {
        program
            .statements
            .iter()
            .map(|s| s.name.as_ref().map(|n| n.as_str()))
            .collect()
    }

    fn inputs(program: &Program) -> Vec<&str> {
        program
            .inputs()
            .into_iter()
            .map(|(name, _)| name.as_str())
            .collect()
    }

    #[test]
    fn reads_statements_and_their_inputs() -> Result<(), ExprError> {
        let chain = parse_program("a = x^2; b = 3*a; c = x*y; d = 5*c; e = b + d; z = log(e)")?;
        assert_eq!(assigned(&chain), ["a", "b", "c", "d", "e", "z"].map(Some));
        assert_eq!(inputs(&chain), ["x", "y"]);
        let bare = parse_program("q = x + y; q*z;")?;
        assert_eq!(assigned(&bare), [Some("q"), None]);
        assert_eq!(inputs(&bare), ["x", "y", "z"]);
        let constant = parse_program("2*3")?;
        assert_eq!(
            (assigned(&constant), inputs(&constant)),
            (vec![None], vec![])
        );
        Ok(())
    }

    #[test]
    fn refuses_what_is_no_graph() {
        for (source, column, message) in [
            ("", 1, "a value is missing at the end"),
            (";", 1, "a statement is missing before `;`"),
            ("a = x;; a", 7, "a statement is missing before `;`"),
            (
                "x + 1; y",
                1,
                "only the last statement can do without a name",
            ),
            ("a = x; a = y", 8, "`a` is assigned twice"),
            ("a = a + 1", 5, "`a` is used before it is assigned"),
            ("b = 2*a; a = x", 7, "`a` is used before it is assigned"),
            ("x + 1 = y", 1, "only a name can be assigned"),
            (
                "a = b = c",
                7,
                "`=` assigns, which this place does not allow",
            ),
            ("a = x % 2", 7, "a computation graph has no `%`"),
            ("a = x > 2", 7, "a computation graph has no `>`"),
            ("not x", 1, "a computation graph has no `not`"),
            ("a = min(x, y)", 5, "a computation graph has no `min`"),
            ("max(x)", 1, "`max` takes 2 arguments, not 1"),
            ("a.b = 2", 1, "a name in a computation graph has no dots"),
            ("a = \"x\"", 5, "a computation graph has no `x`"),
            ("sigmod(x)", 1, "there is no function `sigmod`"),
        ] {
            let found = parse_program(source)
                .err()
                .map(|error| (error.column(source), error.message));
            assert_eq!(found, Some((column, message.to_owned())), "{source}");
        }
    }
}
