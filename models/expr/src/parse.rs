//! Tokens to a tree, by precedence climbing.
use std::iter::Peekable;
use std::vec::IntoIter;

use crate::ast::{BinaryOp, Binding, Expr, Name, Node, UnaryOp};
use crate::error::{self, ExprError};
use crate::function::Function;
use crate::pattern;
use crate::source::{Dialect, MAX_BYTES, MAX_DEPTH, MAX_NODES, Span};
use crate::token::{Token, tokens};

/// Reads one expression.
///
/// # Errors
/// The first thing in the source that the dialect does not allow.
pub fn parse(source: &str, dialect: Dialect) -> Result<Expr, ExprError> {
    let mut parser = Parser::new(source, dialect)?;
    let expr = parser.expression()?;
    match parser.advance() {
        (Token::End, _) => Ok(expr),
        (token, place) => Err(no_continuation(&token, place)),
    }
}

const MINUS: Token = Token::Operator(BinaryOp::Subtract);

/// A subtree and how deep it is.
struct Tree {
    expr: Box<Expr>,
    depth: usize,
}

pub(super) struct Parser {
    tokens: Peekable<IntoIter<(Token, Span)>>,
    end: Span,
    dialect: Dialect,
    nesting: usize,
    nodes: usize,
}

impl Parser {
    pub(super) fn new(source: &str, dialect: Dialect) -> Result<Parser, ExprError> {
        Self::within(source, dialect, MAX_BYTES)
    }

    /// For a source of at most `most` bytes.
    pub(super) fn within(source: &str, dialect: Dialect, most: usize) -> Result<Parser, ExprError> {
        let end = Span { start: source.len(), end: source.len() };
        let tokens = tokens(source, most)?.into_iter().peekable();
        Ok(Parser { tokens, end, dialect, nesting: 0, nodes: 0 })
    }

    /// The nodes read since it was last asked; each statement may have as many as an expression.
    pub(super) fn take_nodes(&mut self) -> usize {
        std::mem::take(&mut self.nodes)
    }

    pub(super) fn peek(&mut self) -> &Token {
        self.tokens.peek().map_or(&Token::End, |(token, _)| token)
    }

    pub(super) fn here(&mut self) -> Span {
        self.tokens.peek().map_or(self.end, |(_, span)| *span)
    }

    pub(super) fn advance(&mut self) -> (Token, Span) {
        self.tokens.next().unwrap_or((Token::End, self.end))
    }

    pub(super) fn accept(&mut self, token: &Token) -> bool {
        self.tokens.next_if(|(next, _)| next == token).is_some()
    }

    fn peek_operator(&mut self) -> Option<BinaryOp> {
        if let Token::Operator(op) = self.peek() { Some(*op) } else { None }
    }

    /// An expression of this dialect, up to the first token that cannot continue it.
    pub(super) fn expression(&mut self) -> Result<Expr, ExprError> {
        let tree = self.operators(Binding::Or)?;
        self.not_a_literal(&tree)?;
        Ok(*tree.expr)
    }

    /// Operands joined by operators that hold at least as tightly as `loosest`.
    fn operators(&mut self, loosest: Binding) -> Result<Tree, ExprError> {
        let mut left = if *self.peek() == Token::Not {
            self.negated_condition(loosest)?
        } else {
            self.signed()?
        };
        while let Some(op) = self.peek_operator().filter(|op| op.binding() >= loosest) {
            let (_, place) = self.advance();
            self.check_operator(op, place)?;
            let right = self.operators(op.binding().tighter())?;
            left = self.binary(op, left, right)?;
            self.check_chain(op)?;
        }
        Ok(left)
    }

    fn negated_condition(&mut self, loosest: Binding) -> Result<Tree, ExprError> {
        let (_, place) = self.advance();
        if self.dialect == Dialect::Graph {
            return Err(error::foreign(self.dialect, place, "not"));
        }
        if loosest > Binding::Not {
            return Err(error::loose_not(place));
        }
        let operand = self.nested(place, |parser| parser.operators(Binding::Not))?;
        self.unary(UnaryOp::Not, place, operand)
    }

    /// A power, behind any number of minus signs.
    fn signed(&mut self) -> Result<Tree, ExprError> {
        if *self.peek() != MINUS {
            return self.power();
        }
        let (_, place) = self.advance();
        let operand = self.nested(place, Parser::signed)?;
        self.unary(UnaryOp::Negate, place, operand)
    }

    /// Operands joined by `^`, grouped from the right; a minus in an exponent takes in all that follows.
    fn power(&mut self) -> Result<Tree, ExprError> {
        let mut bases = Vec::new();
        let mut exponent = self.operand()?;
        while self.accept(&Token::Operator(BinaryOp::Power)) {
            bases.push(exponent);
            exponent = if *self.peek() == MINUS { self.signed()? } else { self.operand()? };
        }
        while let Some(base) = bases.pop() {
            exponent = self.binary(BinaryOp::Power, base, exponent)?;
        }
        Ok(exponent)
    }

    fn operand(&mut self) -> Result<Tree, ExprError> {
        let (token, place) = self.advance();
        let texts = matches!(self.dialect, Dialect::Lesson | Dialect::ClosedForm);
        match token {
            Token::Number(value) => self.number(value, place),
            Token::Text(text) if texts => self.node(Node::Text(text), place, 1),
            Token::Literal(value) if texts => self.node(Node::Bool(value), place, 1),
            Token::Name(name) if *self.peek() == Token::OpenParen => self.call(&name, place),
            Token::Name(name) if texts || !name.contains('.') => {
                self.node(Node::Name(Name::new(name)), place, 1)
            }
            Token::Name(_) => Err(error::dotted_name(self.dialect, place)),
            Token::OpenParen => self.group(place),
            Token::Text(_)
            | Token::Literal(_)
            | Token::Not
            | Token::Operator(_)
            | Token::CloseParen
            | Token::Comma
            | Token::Semicolon
            | Token::Assign
            | Token::End => Err(no_value(self.dialect, &token, place)),
        }
    }

    fn number(&mut self, value: f64, place: Span) -> Result<Tree, ExprError> {
        if self.dialect == Dialect::Pattern
            && let Err(refused) = pattern::integer(value, place)
        {
            return Err(ExprError::new(place, refused.to_string()));
        }
        self.node(Node::Number(value), place, 1)
    }

    fn group(&mut self, open: Span) -> Result<Tree, ExprError> {
        let mut inner = self.nested(open, |parser| parser.operators(Binding::Or))?;
        inner.expr.span = open.to(self.close(open)?);
        Ok(inner)
    }

    fn call(&mut self, name: &str, place: Span) -> Result<Tree, ExprError> {
        let Ok(function) = name.parse::<Function>() else {
            return Err(error::unknown_function(self.dialect, place, name));
        };
        let Some(arity) = function.arity(self.dialect) else {
            return Err(error::foreign(self.dialect, place, name));
        };
        let (_, open) = self.advance();
        let (arguments, depth) = self.nested(open, Parser::arguments)?;
        let span = place.to(self.close(open)?);
        if !arity.contains(&arguments.len()) {
            return Err(error::wrong_arity(function, &arity, arguments.len(), span));
        }
        if self.dialect == Dialect::Lesson
            && function.takes_series(arguments.len())
            && let Some(first) = arguments.first()
            && !matches!(first.node, Node::Name(_))
        {
            return Err(error::no_series(function, first));
        }
        self.node(Node::Call(function, arguments), span, depth + 1)
    }

    /// Expressions between commas up to the closing parenthesis, and the depth of the deepest.
    fn arguments(&mut self) -> Result<(Vec<Expr>, usize), ExprError> {
        let mut arguments = Vec::new();
        let mut deepest = 0;
        if *self.peek() == Token::CloseParen {
            return Ok((arguments, deepest));
        }
        loop {
            let argument = self.operators(Binding::Or)?;
            self.not_a_literal(&argument)?;
            deepest = deepest.max(argument.depth);
            arguments.push(*argument.expr);
            if !self.accept(&Token::Comma) {
                return Ok((arguments, deepest));
            }
        }
    }

    fn close(&mut self, open: Span) -> Result<Span, ExprError> {
        match self.advance() {
            (Token::CloseParen, place) => Ok(place),
            (Token::End, _) => Err(ExprError::new(open, "this parenthesis is not closed")),
            (token, place) => Err(no_continuation(&token, place)),
        }
    }

    fn nested<T>(
        &mut self,
        place: Span,
        read: impl FnOnce(&mut Parser) -> Result<T, ExprError>,
    ) -> Result<T, ExprError> {
        if self.nesting >= MAX_DEPTH {
            return Err(error::too_deep(place));
        }
        self.nesting += 1;
        let found = read(self)?;
        self.nesting -= 1;
        Ok(found)
    }

    fn unary(&mut self, op: UnaryOp, place: Span, operand: Tree) -> Result<Tree, ExprError> {
        self.not_a_literal(&operand)?;
        let span = place.to(operand.expr.span);
        self.node(Node::Unary(op, operand.expr), span, operand.depth + 1)
    }

    fn binary(&mut self, op: BinaryOp, left: Tree, right: Tree) -> Result<Tree, ExprError> {
        if !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            self.not_a_literal(&left)?;
            self.not_a_literal(&right)?;
        }
        let span = left.expr.span.to(right.expr.span);
        let depth = left.depth.max(right.depth) + 1;
        self.node(Node::Binary(op, left.expr, right.expr), span, depth)
    }

    fn node(&mut self, node: Node, span: Span, depth: usize) -> Result<Tree, ExprError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(error::too_large(span));
        }
        if depth > MAX_DEPTH {
            return Err(error::too_deep(span));
        }
        Ok(Tree { expr: Box::new(Expr { node, span }), depth })
    }

    fn check_operator(&self, op: BinaryOp, place: Span) -> Result<(), ExprError> {
        let arithmetic = op.binding() >= Binding::Sum && op != BinaryOp::Remainder;
        if self.dialect == Dialect::Graph && !arithmetic {
            return Err(error::foreign(self.dialect, place, op.name()));
        }
        Ok(())
    }

    fn check_chain(&mut self, op: BinaryOp) -> Result<(), ExprError> {
        let place = self.here();
        match self.peek_operator() {
            Some(next) if op.binding() == Binding::Comparison && next.binding() == op.binding() => {
                Err(error::chained(op, next, place))
            }
            _ => Ok(()),
        }
    }

    /// A text or a truth value stands only where it is compared, but in a closed form it is a value like others.
    fn not_a_literal(&self, tree: &Tree) -> Result<(), ExprError> {
        let literal = matches!(tree.expr.node, Node::Text(_) | Node::Bool(_));
        if literal && self.dialect != Dialect::ClosedForm {
            return Err(error::stray_literal(tree.expr.span));
        }
        Ok(())
    }
}

/// About a token that stands where a value should begin.
fn no_value(dialect: Dialect, token: &Token, place: Span) -> ExprError {
    match token {
        Token::Text(text) => error::foreign(dialect, place, text),
        Token::Literal(value) => error::foreign(dialect, place, &value.to_string()),
        Token::Operator(BinaryOp::Add) => {
            ExprError::new(place, "there is no unary plus").help("leave the `+` out")
        }
        Token::End => ExprError::new(place, "a value is missing at the end"),
        Token::Number(_)
        | Token::Name(_)
        | Token::Operator(_)
        | Token::Not
        | Token::OpenParen
        | Token::CloseParen
        | Token::Comma
        | Token::Semicolon
        | Token::Assign => ExprError::new(place, "a value is missing here")
            .help("a number, a name, a function or a parenthesis can stand here"),
    }
}

/// About a token that stands behind a complete expression.
pub(super) fn no_continuation(token: &Token, place: Span) -> ExprError {
    match token {
        Token::Number(_)
        | Token::Text(_)
        | Token::Name(_)
        | Token::Literal(_)
        | Token::OpenParen => ExprError::new(place, "an operator is missing before this")
            .help("write 2*x, not 2x or 2 x"),
        Token::Not => {
            ExprError::new(place, "an operator is missing before `not`").help("write `a and not b`")
        }
        Token::CloseParen => ExprError::new(place, "this parenthesis was never opened"),
        Token::Assign => ExprError::new(place, "`=` assigns, which this place does not allow")
            .help("to compare, write `==`"),
        Token::Comma => ExprError::new(place, "a comma stands only between a function's arguments"),
        Token::Semicolon => ExprError::new(place, "only one expression can stand here"),
        Token::Operator(_) | Token::End => ExprError::new(place, "the expression should end here"),
    }
}

#[cfg(test)]
mod tests {
    use crate::properties::table;
    use crate::{Dialect, parse};

    #[test]
    fn refusals_name_the_place_and_the_way_out() {
        let refused = |source: &str| {
            let error = parse(source, Dialect::Lesson).err();
            error.map(|error| (error.column(source), error.message, error.help))
        };
        for [source, column, message, help] in table(include_str!("tests/refusals.txt")) {
            let help = (!help.is_empty()).then(|| help.to_owned());
            let expected = (column.parse().unwrap(), message.to_owned(), help);
            assert_eq!(refused(source), Some(expected), "{source}");
        }
        for (source, column, message) in [
            ("", 1, "a value is missing at the end"),
            ("a + \u{7}", 5, "unexpected character `\\u{7}`"),
        ] {
            assert_eq!(refused(source), Some((column, message.to_owned(), None)), "{source}");
        }
    }

    #[test]
    fn foreign_and_unknown_functions_have_their_own_errors() {
        let complaint =
            |source, dialect| parse(source, dialect).err().map(|error| error.to_string());
        assert_eq!(
            complaint("x + floor(x)", Dialect::Graph).as_deref(),
            Some(
                "a computation graph has no `floor` (it has + - * / ^ and max, sqrt, exp, log, ln, sin, cos, tanh, sigmoid, relu)"
            )
        );
        assert_eq!(
            complaint("log(lane)", Dialect::Pattern).as_deref(),
            Some(
                "a pattern over threads has no `log` (it has or and not == != < <= > >= + - * / % ^ and min, max, abs, xor, if)"
            )
        );
    }

    #[test]
    fn columns_count_characters() {
        let source = "d.name == \"αβγ\" + 1 2";
        let column = parse(source, Dialect::Lesson).err().map(|error| error.column(source));
        assert_eq!(column, Some(11));
        let source = "d.name == \"αβγ\" and 1 2";
        let column = parse(source, Dialect::Lesson).err().map(|error| error.column(source));
        assert_eq!(column, Some(23));
    }
}
