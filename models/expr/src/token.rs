//! A source cut into tokens.
use crate::ast::BinaryOp;
use crate::error::ExprError;
use crate::source::Span;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Text(String),
    /// An identifier, or several joined by dots.
    Name(String),
    /// `true` or `false`.
    Literal(bool),
    Not,
    /// An operator between two operands; `-` also stands before one.
    Operator(BinaryOp),
    OpenParen,
    CloseParen,
    Comma,
    Semicolon,
    Assign,
    /// The end of the source, once, as the last token.
    End,
}

/// What people write from habit, and what this language calls it. Longer symbols stand before their own beginnings.
const HABITS: [(&str, &str); 24] = [
    ("**", "a power is written `x^2`"),
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("&", "write `and`; there are no bitwise operators"),
    ("|", "write `or`; there are no bitwise operators"),
    ("!", "write `not`"),
    ("=>", "write `>=`"),
    ("=<", "write `<=`"),
    ("<<", "multiply by a power of two: `x * 2^n`"),
    (">>", "divide by a power of two: `x / 2^n`"),
    ("<>", "write `!=`"),
    ("'", "a text stands between double quotes"),
    ("×", "write `*`"),
    ("·", "write `*`"),
    ("÷", "write `/`"),
    ("−", "write the plain minus sign `-`"),
    ("–", "write the plain minus sign `-`"),
    ("≤", "write `<=`"),
    ("≥", "write `>=`"),
    ("≠", "write `!=`"),
    ("²", "a power is written `x^2`"),
    ("³", "a power is written `x^3`"),
    ("[", "group with round parentheses"),
    ("{", "group with round parentheses"),
];

/// Longer symbols stand before their own beginnings.
const SYMBOLS: [(&str, Token); 17] = [
    ("==", Token::Operator(BinaryOp::Equal)),
    ("!=", Token::Operator(BinaryOp::NotEqual)),
    ("<=", Token::Operator(BinaryOp::LessOrEqual)),
    (">=", Token::Operator(BinaryOp::GreaterOrEqual)),
    ("<", Token::Operator(BinaryOp::Less)),
    (">", Token::Operator(BinaryOp::Greater)),
    ("=", Token::Assign),
    ("+", Token::Operator(BinaryOp::Add)),
    ("-", Token::Operator(BinaryOp::Subtract)),
    ("*", Token::Operator(BinaryOp::Multiply)),
    ("/", Token::Operator(BinaryOp::Divide)),
    ("%", Token::Operator(BinaryOp::Remainder)),
    ("^", Token::Operator(BinaryOp::Power)),
    ("(", Token::OpenParen),
    (")", Token::CloseParen),
    (",", Token::Comma),
    (";", Token::Semicolon),
];

/// Splits a source of at most `most` bytes into tokens, the last of which is [`Token::End`].
pub(super) fn tokens(source: &str, most: usize) -> Result<Vec<(Token, Span)>, ExprError> {
    if source.len() > most {
        let start = (0..=most).rev().find(|&i| source.is_char_boundary(i)).unwrap_or(0);
        let span = Span { start, end: source.len() };
        return Err(ExprError::new(
            span,
            format!("an expression has at most {most} bytes, this one {}", source.len()),
        ));
    }
    let mut lexer = Lexer { source, at: 0 };
    let mut found = Vec::new();
    while let Some(token) = lexer.next()? {
        found.push(token);
    }
    found.push((Token::End, lexer.span_from(source.len())));
    Ok(found)
}

struct Lexer<'a> {
    source: &'a str,
    /// Always on a character's boundary.
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at.max(start) }
    }

    /// Passes the characters that satisfy `belongs` and says how many bytes they were.
    fn skip(&mut self, belongs: impl Fn(char) -> bool) -> usize {
        let length: usize =
            self.rest().chars().take_while(|&c| belongs(c)).map(char::len_utf8).sum();
        self.at += length;
        length
    }

    fn next(&mut self) -> Result<Option<(Token, Span)>, ExprError> {
        self.skip(char::is_whitespace);
        let start = self.at;
        let Some(first) = self.peek() else { return Ok(None) };
        let token = match first {
            '0'..='9' => self.number()?,
            'A'..='Z' | 'a'..='z' | '_' => self.name()?,
            '"' => self.text()?,
            _ => self.symbol(first)?,
        };
        Ok(Some((token, self.span_from(start))))
    }

    fn number(&mut self) -> Result<Token, ExprError> {
        let start = self.at;
        self.skip(|c| c.is_ascii_digit());
        if self.peek() == Some('.') {
            self.at += 1;
            if self.skip(|c| c.is_ascii_digit()) == 0 {
                return Err(ExprError::new(
                    self.span_from(start),
                    "a digit must follow the decimal point",
                ));
            }
        }
        self.exponent();
        let digits = self.source.get(start..self.at).unwrap_or("");
        if let Some(next) = self.peek().filter(|&c| is_identifier(c) || c == '.') {
            return Err(self.glued(digits, next));
        }
        let value: f64 = digits.parse().map_err(|_| {
            ExprError::new(self.span_from(start), format!("`{digits}` is not a number"))
        })?;
        if value.is_finite() {
            Ok(Token::Number(value))
        } else {
            Err(ExprError::new(
                self.span_from(start),
                format!("`{digits}` is too large for a number"),
            ))
        }
    }

    /// Passes `e` and digits, or nothing: in `2exp(1)` the `e` begins a name.
    fn exponent(&mut self) {
        let Some(tail) = self.rest().strip_prefix(['e', 'E']) else { return };
        let digits = tail.strip_prefix(['+', '-']).unwrap_or(tail);
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            self.at += 1 + (tail.len() - digits.len());
            self.skip(|c| c.is_ascii_digit());
        }
    }

    fn glued(&self, digits: &str, next: char) -> ExprError {
        let here = Span { start: self.at, end: self.at + next.len_utf8() };
        let name: String = self.rest().chars().take_while(|&c| is_identifier(c)).take(24).collect();
        match next {
            '.' => ExprError::new(here, "a number has at most one decimal point"),
            '_' => ExprError::new(here, "a number has no separators")
                .help("write the digits alone, or 1e6"),
            'x' | 'X' if digits == "0" => ExprError::new(here, "numbers are decimal"),
            _ => ExprError::new(here, "an operator is missing after the number")
                .help(format!("write {digits}*{name}")),
        }
    }

    fn name(&mut self) -> Result<Token, ExprError> {
        let start = self.at;
        self.skip(is_identifier);
        while self.peek() == Some('.') {
            self.at += 1;
            if !self.peek().is_some_and(|c| is_identifier(c) && !c.is_ascii_digit()) {
                return Err(ExprError::new(self.span_from(start), "a name must follow the dot")
                    .help("names look like `lab.metric` or `lab.metric.member`"));
            }
            self.skip(is_identifier);
        }
        Ok(match self.source.get(start..self.at).unwrap_or("") {
            "and" => Token::Operator(BinaryOp::And),
            "or" => Token::Operator(BinaryOp::Or),
            "not" => Token::Not,
            "true" => Token::Literal(true),
            "false" => Token::Literal(false),
            name => Token::Name(name.to_owned()),
        })
    }

    fn text(&mut self) -> Result<Token, ExprError> {
        let start = self.at;
        let mut text = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, c)) = characters.next() {
            match c {
                '"' => {
                    self.at = start + offset + 1;
                    return Ok(Token::Text(text));
                }
                '\\' => match characters.next() {
                    Some((_, quoted @ ('"' | '\\'))) => text.push(quoted),
                    _ => {
                        let span = Span { start: start + offset, end: start + offset + 1 };
                        return Err(ExprError::new(
                            span,
                            "a backslash stands only before `\"` or another backslash",
                        )
                        .help("write `\\\\` for a backslash"));
                    }
                },
                _ => text.push(c),
            }
        }
        let span = Span { start, end: self.source.len() };
        Err(ExprError::new(span, "the text is not closed").help("close it with `\"`"))
    }

    fn symbol(&mut self, first: char) -> Result<Token, ExprError> {
        let rest = self.rest();
        let habit =
            HABITS.iter().find(|(written, _)| rest.starts_with(written) && !rest.starts_with("!="));
        if let Some((written, help)) = habit {
            let span = Span { start: self.at, end: self.at + written.len() };
            return Err(
                ExprError::new(span, format!("`{written}` is not an operator here")).help(*help)
            );
        }
        let symbol = SYMBOLS.iter().find(|(written, _)| rest.starts_with(written));
        if let Some((written, token)) = symbol {
            self.at += written.len();
            return Ok(token.clone());
        }
        let span = Span { start: self.at, end: self.at + first.len_utf8() };
        let error =
            ExprError::new(span, format!("unexpected character `{}`", first.escape_debug()));
        Err(match first {
            '.' => error.help("a number begins with a digit: 0.5"),
            c if c.is_alphabetic() => error.help("names are made of a-z, A-Z, 0-9 and _"),
            _ => error,
        })
    }
}

fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
