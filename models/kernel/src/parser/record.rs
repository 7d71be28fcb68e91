//! Structures of numbers.

use crate::ast::{Base, RecordDeclaration};
use crate::lexer::Token;
use crate::parser::generic::plain;
use crate::parser::items::behind;
use crate::parser::{Parsed, Parser};
use crate::types::Record;

/// Structures that a text may declare.
const MOST: usize = 100;

impl Parser {
    /// Whether a structure is declared here, and not only named.
    pub(super) fn at_record(&self) -> bool {
        let mut by = 1;
        while matches!(self.ahead(by), Token::Name(name) if name == "__align__" || name == "alignas")
        {
            by = behind(&self.tokens, self.position() + by + 1) - self.position();
        }
        let head = (by..by + 4).map(|by| self.ahead(by));
        head.take_while(|token| !matches!(token, Token::Mark(";" | "*" | "&" | ":" | "(")))
            .any(|token| *token == Token::Mark("{"))
    }

    /// `struct P { float x, y; };`, or behind `typedef` with its name at the end.
    pub(super) fn record(&mut self, typedef: Option<()>) -> Parsed<()> {
        let place = self.place();
        if self.is_template {
            let message = "templates of structures are not part of this";
            return self.refuse(message, "write the structure for the type that it is used with");
        }
        self.advance();
        self.alignment()?;
        let mut alignment = self.alignment.take();
        let mut names = Vec::new();
        if !self.is("{") {
            names.push(self.name("a structure")?.0);
        }
        if self.records.len() >= MOST {
            return self.refuse(format!("more than {MOST} structures"), "leave some of them out");
        }
        let record = Record::declared(self.records.len());
        let ty = plain(Base::Record(record));
        // Its functions name it already.
        self.types.extend(names.iter().map(|name| (name.clone(), ty)));
        let first = self.position();
        self.need("{", "the structure's name")?;
        let mut fields = Vec::new();
        while !self.take("}") {
            if self.access_word() {
                continue;
            }
            if self.at_member() {
                let owner = names.last().cloned().unwrap_or_default();
                self.member(record, &owner)?;
                continue;
            }
            let plain_ty = self.plain_type()?;
            let ty = self.stars(plain_ty)?;
            let (name, place) = self.name("a field")?;
            fields.extend(self.declarators(plain_ty, ty, name, place)?);
        }
        // A field keeps its name for a second compiler, as it does behind a point.
        for at in first..self.position() {
            if let Some(Token::Name(name)) = self.tokens.get(at).map(|lexeme| &lexeme.token)
                && fields.iter().any(|field| field.name == *name)
            {
                self.rewritten.entry(at).or_insert(name.clone().into());
            }
        }
        self.alignment()?;
        alignment = self.alignment.take().or(alignment);
        if typedef.is_some() {
            names.push(self.name("a structure")?.0);
        }
        self.need(";", "the structure")?;
        let name = names.last().cloned().unwrap_or_default();
        self.declared.extend(names.iter().map(|name| (name.clone(), true)));
        self.types.extend(names.into_iter().map(|name| (name, ty)));
        self.records.push(RecordDeclaration { name, place, fields, alignment, constants: 0 });
        Ok(())
    }
}
