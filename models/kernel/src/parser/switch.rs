//! `switch`, as a chain of `if`s: each part ends with break, return or continue, and none falls into the next.

use crate::ast::{
    Declaration, Declarator, Expr, ExprKind, Initial, Statement, StatementKind, Storage,
};
use crate::diagnostic::Place;
use crate::operators::{Binary, Sides};
use crate::parser::expression::boxed;
use crate::parser::{Parsed, Parser};
use crate::typed_ast::Comparison;
use crate::types::Access;

/// The variable that holds what is compared; no text can name it.
const NAME: &str = "switch value";

/// What stands behind some `case`s.
struct Part {
    /// None for `default`.
    values: Vec<Option<Expr>>,
    body: Vec<Statement>,
    place: Place,
}

impl Parser {
    pub(super) fn switch(&mut self) -> Parsed<StatementKind> {
        let place = self.place();
        self.advance();
        self.need("(", "switch")?;
        let value = self.expression()?;
        self.need(")", "the value of switch")?;
        self.need("{", "switch")?;
        let mut parts: Vec<Part> = Vec::new();
        while !self.take("}") {
            let values = self.labels()?;
            let place = self.place();
            let body = self.part()?;
            parts.push(Part { values, body, place });
        }
        let declarator = Declarator {
            alignment: None,
            name: NAME.to_owned(),
            place,
            ty: crate::ast::TypeName {
                base: crate::ast::Base::Auto,
                access: Access::Mutable,
                pointer: None,
                passing: crate::ast::Passing::Value,
            },
            extents: Vec::new(),
            initial: Some(Initial::Value(value)),
        };
        let declaration = Declaration { storage: Storage::Local, names: vec![declarator] };
        let mut statements = vec![Statement { place, kind: StatementKind::Declare(declaration) }];
        statements.extend(self.chain(parts)?);
        Ok(StatementKind::Block(statements))
    }

    /// `case 1: case 2: default:`
    fn labels(&mut self) -> Parsed<Vec<Option<Expr>>> {
        let mut values = Vec::new();
        loop {
            if self.take_name("case") {
                values.push(Some(self.conditional()?));
            } else if self.take_name("default") {
                values.push(None);
            } else if values.is_empty() {
                return self.refuse("'case' is missing here", "write case 1: .. break;");
            } else {
                return Ok(values);
            }
            self.need(":", "case")?;
        }
    }

    /// The statements up to the next label, without the `break` at their end.
    fn part(&mut self) -> Parsed<Vec<Statement>> {
        let mut body = Vec::new();
        while !self.is("}") && !self.is_name("case") && !self.is_name("default") {
            body.push(self.statement()?);
        }
        let ended = ended(&mut body) || self.is("}");
        if !ended || body.iter().any(breaks) {
            return self.refuse(
                "a case that falls into the next, or breaks in its middle, is not part of this",
                "end each case with one break, or write if and else",
            );
        }
        Ok(body)
    }

    fn chain(&mut self, parts: Vec<Part>) -> Parsed<Option<Statement>> {
        let is_default = |part: &Part| part.values.iter().any(Option::is_none);
        let (last, others): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(is_default);
        if last.len() > 1 {
            return self.refuse("this switch has two defaults", "keep one of them");
        }
        let block =
            |part: Vec<Statement>, place| Statement { place, kind: StatementKind::Block(part) };
        // Values that stand with default need no comparison of their own.
        let mut chain = last.into_iter().next().map(|part| block(part.body, part.place));
        if others.len() > MOST_PARTS {
            return self.refuse(format!("a switch has at most {MOST_PARTS} parts"), "use an array");
        }
        for part in others.into_iter().rev() {
            let conditions = part.values.into_iter().flatten().map(equals);
            let condition = conditions
                .reduce(|before, is| boxed(is.place, ExprKind::Or(Box::new(before), Box::new(is))));
            let Some(condition) = condition else { continue };
            let then = Box::new(block(part.body, part.place));
            let kind = StatementKind::If(condition, then, chain.map(Box::new));
            chain = Some(Statement { place: part.place, kind });
        }
        Ok(chain)
    }
}

/// Parts of a switch; each nests one deeper.
const MOST_PARTS: usize = 100;

fn equals(value: Expr) -> Expr {
    let place = value.place;
    let name = boxed(place, ExprKind::Name(NAME.to_owned()));
    let equal = Binary::Compare(Comparison::Equal, Sides::AsWritten);
    boxed(place, ExprKind::Binary(equal, Box::new(name), Box::new(value)))
}

/// Whether some statements end their part; a `break` at the end is taken out.
fn ended(body: &mut Vec<Statement>) -> bool {
    let Some(last) = body.last_mut() else { return false };
    if let StatementKind::Block(inner) = &mut last.kind {
        return ended(inner);
    }
    if matches!(last.kind, StatementKind::Break) {
        body.pop();
        return true;
    }
    matches!(last.kind, StatementKind::Return(_) | StatementKind::Continue)
}

/// Whether a statement leaves what lies around it by `break`.
fn breaks(statement: &Statement) -> bool {
    if let StatementKind::Block(inner) = &statement.kind {
        inner.iter().any(breaks)
    } else if let StatementKind::If(_, then, otherwise) = &statement.kind {
        breaks(then) || otherwise.as_ref().is_some_and(|one| breaks(one))
    } else {
        matches!(statement.kind, StatementKind::Break)
    }
}
