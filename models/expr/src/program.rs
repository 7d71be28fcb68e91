//! The statements of a computation graph.
use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{Expr, Name, Node};
use crate::error::{self, ExprError};
use crate::parse::{self, Parser};
use crate::source::{Dialect, MAX_PROGRAM_BYTES, MAX_PROGRAM_NODES, Span};
use crate::token::Token;

/// Statements in the order they are evaluated, at least one; the last gives the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    pub statements: Vec<Statement>,
}

/// `name = expr`, or a bare expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// `None` only for a last statement without a name.
    pub name: Option<Name>,
    /// Where the name stands, or the expression if it has none.
    pub span: Span,
    pub expr: Expr,
}

impl Program {
    /// The names that are used but not assigned, each with its first use, in the order of the source.
    pub fn inputs(&self) -> Vec<(&Name, Span)> {
        let assigned = self.statements.iter().filter_map(|s| s.name.as_ref());
        let mut known: BTreeSet<&str> = assigned.map(Name::as_str).collect();
        let names = self.statements.iter().flat_map(|statement| statement.expr.names());
        names.filter(|(name, _)| known.insert(name.as_str())).collect()
    }
}

/// Reads statements separated by `;`, each `name = expr`, of which the last may be a bare expression.
///
/// # Errors
/// The first thing in the source that is not allowed: besides malformed expressions, a name assigned twice or used
/// before it is assigned, and a statement without a name that is not the last.
pub fn parse_program(source: &str) -> Result<Program, ExprError> {
    let mut parser = Parser::within(source, Dialect::Graph, MAX_PROGRAM_BYTES)?;
    let mut statements: Vec<Statement> = Vec::new();
    let (mut names, mut nodes) = (Names::default(), 0);
    loop {
        if matches!(parser.peek(), Token::Semicolon) {
            return Err(ExprError::new(parser.here(), "a statement is missing before `;`"));
        }
        let statement = read_statement(&mut parser)?;
        nodes += parser.take_nodes();
        if nodes > MAX_PROGRAM_NODES {
            return Err(error::too_many_statements(statement.span));
        }
        names.check(&statement, 0)?;
        let (named, span) = (statement.name.is_some(), statement.span);
        statements.push(statement);
        let separated = parser.accept(&Token::Semicolon);
        if *parser.peek() == Token::End {
            return Ok(Program { statements });
        }
        if !separated {
            let (token, place) = parser.advance();
            return Err(parse::no_continuation(&token, place));
        }
        if !named {
            return Err(ExprError::new(span, "only the last statement can do without a name")
                .help("write `name = ...`"));
        }
    }
}

fn read_statement(parser: &mut Parser) -> Result<Statement, ExprError> {
    let target = parser.expression()?;
    if *parser.peek() != Token::Assign {
        return Ok(Statement { name: None, span: target.span, expr: target });
    }
    let Node::Name(name) = target.node else {
        return Err(
            ExprError::new(target.span, "only a name can be assigned").help("write `name = ...`")
        );
    };
    parser.advance();
    let expr = parser.expression()?;
    Ok(Statement { name: Some(name), span: target.span, expr })
}

/// All that is wrong with a source: the first error of each statement, in the order of the source; none if it reads.
pub fn program_errors(source: &str) -> Vec<ExprError> {
    let Err(first) = parse_program(source) else { return Vec::new() };
    if source.len() > MAX_PROGRAM_BYTES {
        return vec![first];
    }
    let (mut errors, mut told) = (Vec::new(), false);
    let mut names = Names::default();
    let mut start = 0;
    // The graph's dialect has no texts, so a semicolon always ends a statement.
    for piece in source.split(';') {
        let of_piece = |error: ExprError| ExprError { span: moved(error.span, start), ..error };
        // What is missing at the end, or twice in a row, the whole source has told.
        if !piece.trim().is_empty() {
            let read =
                Parser::within(piece, Dialect::Graph, MAX_PROGRAM_BYTES).and_then(|mut parser| {
                    let statement = read_statement(&mut parser)?;
                    match parser.advance() {
                        (Token::End, _) => Ok(statement),
                        (token, place) => Err(parse::no_continuation(&token, place)),
                    }
                });
            let checked =
                read.map_err(of_piece).and_then(|statement| names.check(&statement, start));
            if let Err(error) = checked {
                // The same mistake reads differently at the end of a piece than before a semicolon.
                let in_piece = start..=start + piece.len();
                told |= error.span == first.span || in_piece.contains(&first.span.start);
                errors.push(error);
            }
        }
        start += piece.len() + 1;
    }
    if !told {
        errors.push(first);
    }
    errors.sort_by_key(|error| error.span.start);
    errors
}

fn moved(span: Span, by: usize) -> Span {
    Span { start: span.start + by, end: span.end + by }
}

/// The names so far: what is assigned, and what has been used, with the place.
#[derive(Default)]
struct Names {
    assigned: BTreeSet<String>,
    used: BTreeMap<String, Span>,
}

impl Names {
    /// Adds a statement that begins `start` bytes into the source; it assigns no name that was used before.
    fn check(&mut self, statement: &Statement, start: usize) -> Result<(), ExprError> {
        for (name, span) in statement.expr.names() {
            let name = name.as_str().to_owned();
            self.used.entry(name).or_insert(moved(span, start));
        }
        let Some(name) = &statement.name else { return Ok(()) };
        if !self.assigned.insert(name.as_str().to_owned()) {
            return Err(ExprError::new(
                moved(statement.span, start),
                format!("`{name}` is assigned twice"),
            )
            .help("give the second value a name of its own"));
        }
        match self.used.get(name.as_str()) {
            Some(span) => {
                Err(ExprError::new(*span, format!("`{name}` is used before it is assigned")).help(
                    "an input cannot be assigned; move the assignment up, or choose another name",
                ))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PROGRAM_NODES, Program, parse_program, program_errors};
    use crate::ExprError;
    use crate::properties::table;

    fn assigned(program: &Program) -> Vec<Option<&str>> {
        program.statements.iter().map(|s| s.name.as_ref().map(|n| n.as_str())).collect()
    }

    fn inputs(program: &Program) -> Vec<&str> {
        program.inputs().into_iter().map(|(name, _)| name.as_str()).collect()
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
        assert_eq!((assigned(&constant), inputs(&constant)), (vec![None], vec![]));
        Ok(())
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let told = |source: &str| -> Vec<(usize, String)> {
            let errors = program_errors(source);
            errors.iter().map(|e| (e.column(source), e.message.clone())).collect()
        };
        assert_eq!(told("a = x; z = a"), []);
        let wrong = told("a = x + + y; b = sigmod(x); a = 2; z = b");
        let expected = [(9, "there is no unary plus"), (18, "there is no function `sigmod`")];
        assert_eq!(wrong, expected.map(|(at, text)| (at, text.to_owned())));
        assert_eq!(told("a = x; a = y; b = (x").len(), 2);
        assert_eq!(told("").len(), 1);
        // A mistake before a semicolon is told once, as it reads at the end of its own statement.
        assert_eq!(told("a = (x; z = a").len(), 1);
        assert_eq!(told("a = x+; z = a").len(), 1);
        assert_eq!(told("b = 2*a; a = x").len(), 1);
        assert_eq!(told("x + 1; b = y +; z = b").len(), 2);
        // A statement may be longer than an expression that stands alone.
        let long = format!("b = x{}+ 1; z = b; c = sigmod(x)", " ".repeat(5000));
        assert_eq!(told(&long).len(), 1, "{:?}", told(&long));
    }

    /// Ten thousand statements and their nodes, on a stack half as large as a thread's usual one.
    #[test]
    fn many_statements_parse_in_linear_time() -> std::io::Result<()> {
        let read = || {
            let chain = |count: usize| -> String {
                let step = |i: usize| format!("a{i} = a{} + x*2; ", i.wrapping_sub(1));
                let steps: String = (1..count).map(step).collect();
                format!("a0 = x; {steps}a{}", count - 1)
            };
            assert_eq!(parse_program(&chain(10_000)).map(|p| p.statements.len()), Ok(10_001));
            let message = parse_program(&chain(30_000)).map_err(|error| error.message);
            let most =
                format!("a graph has at most {MAX_PROGRAM_NODES} numbers, names and operators");
            assert_eq!(message.map(|_| ()), Err(most));
        };
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(read)?;
        assert!(thread.join().is_ok());
        Ok(())
    }

    #[test]
    fn refuses_invalid_graphs() {
        let empty = ["", "1", "a value is missing at the end"];
        let rows = table(include_str!("tests/graphs.txt")).chain([empty]);
        for [source, column, message] in rows {
            let found = parse_program(source)
                .err()
                .map(|error| (error.column(source).to_string(), error.message));
            assert_eq!(found, Some((column.to_owned(), message.to_owned())), "{source}");
        }
    }
}
