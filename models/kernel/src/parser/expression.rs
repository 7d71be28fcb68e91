//! Expressions, by the ranks of C.

use crate::ast::{Base, Expr, ExprKind, Unary};
use crate::diagnostic::Place;
use crate::lexer::Token;
use crate::operators::{Infix, assignment, infix};
use crate::parser::{Parsed, Parser, is_keyword, outside};
use crate::typed_ast::{Operation, YieldedValue};

/// How high an expression may be: a sum of more terms than this is written as several.
const HIGHEST: u32 = 250;

pub(super) fn boxed(place: Place, kind: ExprKind) -> Expr {
    let height = 1 + match &kind {
        ExprKind::Member(a, _)
        | ExprKind::Unary(_, a)
        | ExprKind::Cast(_, a)
        | ExprKind::SizeOfValue(a)
        | ExprKind::Step { target: a, .. } => a.height,
        ExprKind::Index(a, b)
        | ExprKind::Binary(_, a, b)
        | ExprKind::And(a, b)
        | ExprKind::Or(a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Assign(_, a, b) => a.height.max(b.height),
        ExprKind::Conditional(a, b, c) => a.height.max(b.height).max(c.height),
        ExprKind::Call(_, _, arguments)
        | ExprKind::Make(_, arguments)
        | ExprKind::List(arguments)
        | ExprKind::Ignored(arguments) => arguments.iter().map(|a| a.height).max().unwrap_or(0),
        ExprKind::Integer { .. }
        | ExprKind::Float(_)
        | ExprKind::Double(_)
        | ExprKind::Bool(_)
        | ExprKind::Null
        | ExprKind::Name(_)
        | ExprKind::SizeOf(_)
        | ExprKind::AlignOf(_) => 0,
    };
    Expr { place, kind, height }
}

pub(super) fn this(place: Place) -> Expr {
    boxed(place, ExprKind::Name("this".to_owned()))
}

/// The operation of `++` and `--`.
fn step(mark: &str) -> Option<Operation> {
    match mark {
        "++" => Some(Operation::Add),
        "--" => Some(Operation::Subtract),
        _ => None,
    }
}

impl Parser {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let mut left = self.assignment()?;
        while self.is(",") {
            self.bounded(&left)?;
            let place = self.place();
            self.advance();
            let right = self.assignment()?;
            left = boxed(place, ExprKind::Comma(Box::new(left), Box::new(right)));
        }
        Ok(left)
    }

    pub(super) fn assignment(&mut self) -> Parsed<Expr> {
        self.nested(|parser| {
            let left = parser.conditional()?;
            let place = parser.place();
            let Some(operator) = assignment(parser.mark()) else { return Ok(left) };
            parser.advance();
            let right = parser.list_or(Self::assignment)?;
            Ok(boxed(place, ExprKind::Assign(operator, Box::new(left), Box::new(right))))
        })
    }

    pub(super) fn conditional(&mut self) -> Parsed<Expr> {
        let condition = self.ranked(1)?;
        let place = self.place();
        if !self.take("?") {
            return Ok(condition);
        }
        let yes = self.nested(Self::expression)?;
        self.need(":", "the first value of '?'")?;
        let no = self.assignment()?;
        Ok(boxed(place, ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no))))
    }

    fn ranked(&mut self, least: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some((operator, rank)) = infix(self.mark()) {
            if rank < least || (self.in_angles && matches!(self.mark(), ">" | ">>" | ">=")) {
                break;
            }
            self.bounded(&left)?;
            let place = self.place();
            self.advance();
            let right = self.nested(|parser| parser.ranked(rank + 1))?;
            let (one, other) = (Box::new(left), Box::new(right));
            let kind = match operator {
                Infix::Binary(binary) => ExprKind::Binary(binary, one, other),
                Infix::AndAlso => ExprKind::And(one, other),
                Infix::OrElse => ExprKind::Or(one, other),
            };
            left = boxed(place, kind);
        }
        if self.is("<<<") || self.is(">>>") {
            let message = "a kernel launches no kernel here";
            return self.refuse(message, "the lab launches it: set block_dim and grid_dim");
        }
        Ok(left)
    }

    fn bounded(&mut self, left: &Expr) -> Parsed<()> {
        if left.height < HIGHEST {
            return Ok(());
        }
        self.refuse(
            format!("this expression has more than {HIGHEST} operations in a row"),
            "name parts of it",
        )
    }

    fn unary(&mut self) -> Parsed<Expr> {
        self.nested(Self::bare_unary)
    }

    fn bare_unary(&mut self) -> Parsed<Expr> {
        let place = self.place();
        let operator = match self.mark() {
            "+" => Some(Unary::Plus),
            "-" => Some(Unary::Minus),
            "!" => Some(Unary::Not),
            "~" => Some(Unary::Complement),
            "*" => Some(Unary::Dereference),
            "&" => Some(Unary::Address),
            _ => None,
        };
        if let Some(operator) = operator {
            self.advance();
            let operand = self.unary()?;
            return Ok(boxed(place, ExprKind::Unary(operator, Box::new(operand))));
        }
        if let Some(operation) = step(self.mark()) {
            self.advance();
            let target = Box::new(self.unary()?);
            let yields = YieldedValue::New;
            return Ok(boxed(place, ExprKind::Step { operation, yields, target }));
        }
        if self.take_name("sizeof") {
            if !self.is("(") || !self.at_type_behind() {
                let value = self.unary()?;
                return Ok(boxed(place, ExprKind::SizeOfValue(Box::new(value))));
            }
            self.advance();
            let ty = self.whole_type()?;
            self.need(")", "the type")?;
            return Ok(boxed(place, ExprKind::SizeOf(ty)));
        }
        if self.is_name("alignof") && self.ahead(1) == &Token::Mark("(") {
            self.advance();
            return self.aligned_as();
        }
        if self.is("(") {
            if !self.at_cast() {
                self.advance();
                let inner = self.bracketed(Self::expression)?;
                self.need(")", "the expression")?;
                return self.postfix(inner);
            }
            self.advance();
            let ty = self.whole_type()?;
            self.need(")", "the type")?;
            let operand = self.unary()?;
            return Ok(boxed(place, ExprKind::Cast(ty, Box::new(operand))));
        }
        let primary = self.primary()?;
        self.postfix(primary)
    }

    /// Whether a type alone stands in the brackets here: `(float)x`, but not `(float(x))`.
    fn at_cast(&mut self) -> bool {
        let is_type = self.at_type_behind();
        is_type && !matches!(self.ahead(2), Token::Mark("(" | "{" | "::"))
    }

    /// Reads what stands in brackets, where a `>` is an operator again.
    pub(super) fn bracketed<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let before = std::mem::replace(&mut self.in_angles, false);
        let result = inner(self);
        self.in_angles = before;
        result
    }

    /// Whether a type stands behind the bracket here.
    pub(super) fn at_type_behind(&mut self) -> bool {
        self.at_type_after(1)
    }

    /// Whether a type stands this many tokens further on.
    pub(super) fn at_type_after(&mut self, by: usize) -> bool {
        self.at += by;
        let is_type = self.at_type();
        self.at -= by;
        is_type
    }

    fn postfix(&mut self, mut left: Expr) -> Parsed<Expr> {
        loop {
            self.bounded(&left)?;
            let place = self.place();
            if let Some(operation) = step(self.mark()) {
                self.advance();
                let (yields, target) = (YieldedValue::Old, Box::new(left));
                left = boxed(place, ExprKind::Step { operation, yields, target });
                continue;
            }
            match self.mark() {
                "[" => {
                    self.advance();
                    let index = self.nested(Self::expression)?;
                    self.need("]", "the index")?;
                    left = boxed(place, ExprKind::Index(Box::new(left), Box::new(index)));
                }
                mark @ ("." | "->") => {
                    self.advance();
                    let (member, _) = self.name("a member")?;
                    if mark == "->" {
                        let of = Box::new(left);
                        left = boxed(place, ExprKind::Unary(Unary::Dereference, of));
                    }
                    left = if self.take("(") {
                        let mut values = vec![left];
                        values.extend(self.arguments(")")?);
                        boxed(place, ExprKind::Call(format!(".{member}"), Vec::new(), values))
                    } else {
                        boxed(place, ExprKind::Member(Box::new(left), member))
                    };
                }
                "::" => {
                    let message = "this namespace is not part of the language";
                    return self.refuse(message, "leave it out, or write what it stands for");
                }
                _ => return Ok(left),
            }
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let place = self.place();
        let kind = match self.token().clone() {
            Token::Integer { value, suffix, base } => ExprKind::Integer { value, suffix, base },
            Token::Float(value) => ExprKind::Float(value),
            Token::Double(value) => ExprKind::Double(value),
            Token::Name(name) => return self.named(name, place),
            Token::Text(_) if self.in_ignored => {
                self.rewritten.insert(self.at, "1".into());
                ExprKind::Bool(true)
            }
            Token::Text(_) => {
                let message = "a kernel works with numbers; a text stands only in printf";
                return self.refuse(message, "write a character as 'a'");
            }
            Token::Mark("[") => {
                let message = "functions without a name are not part of this";
                return self.refuse(message, "write a __device__ function before the kernel");
            }
            other @ (Token::Mark(_) | Token::End) => {
                return self.refuse(format!("a value is missing; here is {other}"), "");
            }
        };
        self.advance();
        Ok(boxed(place, kind))
    }

    fn named(&mut self, name: String, place: Place) -> Parsed<Expr> {
        let is_own = self.declared.contains_key(&name);
        if let Some((message, help)) = outside(&name).filter(|_| !is_own) {
            return self.refuse(message, help);
        }
        if let "static_cast" | "reinterpret_cast" | "const_cast" = name.as_str() {
            return self.named_cast(place);
        }
        if let "printf" | "assert" | "__trap" = name.as_str() {
            return self.ignored(place);
        }
        // `float(x)` is a cast.
        if self.at_type() {
            let ty = self.plain_type()?;
            let close = if self.is("{") { "}" } else { ")" };
            if let (Base::Record(_) | Base::Param(_), None, "(" | "{") =
                (ty.base, ty.pointer, self.mark())
            {
                self.advance();
                let values = self.arguments(close)?;
                return Ok(boxed(place, ExprKind::Make(ty, values)));
            }
            if !self.take("{") {
                self.need("(", "the type")?;
            }
            // `float()` and `float{}` are 0.
            let operand = if self.is(close) {
                boxed(place, ExprKind::Bool(false))
            } else {
                self.nested(Self::expression)?
            };
            self.need(close, "the value")?;
            return Ok(boxed(place, ExprKind::Cast(ty, Box::new(operand))));
        }
        let kind = match name.as_str() {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "nullptr" | "NULL" => ExprKind::Null,
            "this" => ExprKind::Unary(Unary::Address, Box::new(this(place))),
            keyword if is_keyword(keyword) => {
                return self.refuse(format!("'{keyword}' cannot stand here"), "");
            }
            _ => {
                self.advance();
                let given = if self.is("<") && self.templates.contains(&name) {
                    self.template_arguments()?
                } else {
                    Vec::new()
                };
                if given.is_empty() && !self.is("(") {
                    return Ok(boxed(place, ExprKind::Name(name)));
                }
                self.need("(", "the function's name")?;
                let arguments = self.arguments(")")?;
                return Ok(boxed(place, ExprKind::Call(name, given, arguments)));
            }
        };
        self.advance();
        Ok(boxed(place, kind))
    }

    /// Values between commas, and the bracket behind them.
    pub(super) fn arguments(&mut self, close: &str) -> Parsed<Vec<Expr>> {
        let mut arguments = Vec::new();
        while !self.is(close) {
            arguments.push(self.bracketed(|parser| parser.list_or(Self::assignment))?);
            if !self.take(",") {
                break;
            }
        }
        self.need(close, "the arguments")?;
        Ok(arguments)
    }

    /// `static_cast<float>(x)` and its kin.
    fn named_cast(&mut self, place: Place) -> Parsed<Expr> {
        self.advance();
        self.need("<", "the cast")?;
        let ty = self.whole_type()?;
        self.close_angle()?;
        self.need("(", "the type")?;
        let operand = self.nested(Self::expression)?;
        self.need(")", "the value")?;
        Ok(boxed(place, ExprKind::Cast(ty, Box::new(operand))))
    }

    /// `printf` and `assert` print and stop nothing; what their arguments change is changed.
    fn ignored(&mut self, place: Place) -> Parsed<Expr> {
        self.rewritten.insert(self.at, "(void)".into());
        self.advance();
        self.need("(", "the function's name")?;
        let mut arguments = Vec::new();
        let before = std::mem::replace(&mut self.in_ignored, true);
        if self.is(")") {
            self.rewritten.insert(self.at, "0)".into());
        }
        while !self.is(")") {
            if let Token::Text(_) = self.token() {
                self.rewritten.insert(self.at, "0".into());
                self.advance();
                while let Token::Text(_) = self.token() {
                    self.rewritten.insert(self.at, "".into());
                    self.advance();
                }
            } else {
                arguments.push(self.assignment()?);
            }
            if !self.take(",") {
                break;
            }
        }
        self.in_ignored = before;
        self.need(")", "the arguments")?;
        Ok(boxed(place, ExprKind::Ignored(arguments)))
    }
}
