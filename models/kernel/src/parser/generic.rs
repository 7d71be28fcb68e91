//! Templates of functions: their heads, and the arguments that a call writes.

use crate::ast::{Base, TemplateArgument, TemplateKind, TemplateParam, TypeName};
use crate::lexer::Token;
use crate::parser::{Parsed, Parser};
use crate::types::Access;
use std::collections::BTreeMap;

/// Arguments that a template may have.
pub(super) const MOST: usize = 16;

/// A template's head, and what its names of types meant before.
pub(super) struct Head {
    pub(super) params: Vec<TemplateParam>,
    before: BTreeMap<String, TypeName>,
}

impl Parser {
    /// `template <typename T, int N = 4>`
    pub(super) fn template_head(&mut self) -> Parsed<Head> {
        self.advance();
        self.need("<", "template")?;
        let mut head = Head { params: Vec::new(), before: self.types.clone() };
        while !self.is(">") {
            if head.params.len() >= MOST {
                return self.refuse(format!("more than {MOST} arguments"), "take fewer");
            }
            let is_type = self.is_name("typename") || self.is_name("class");
            let kind = if is_type {
                self.advance();
                TemplateKind::Type
            } else {
                TemplateKind::Value(self.whole_type()?)
            };
            if self.is("...") {
                let message = "any number of arguments is not part of this";
                return self.refuse(message, "write a template for each number of them");
            }
            let (name, _) = self.name("an argument of a template")?;
            // A type before a bracket is one all the same.
            let is_number = matches!(kind, TemplateKind::Value(ty) if ty.base != Base::Function);
            self.declared.insert(name.clone(), !is_number);
            if is_type {
                self.types.insert(name.clone(), plain(Base::Param(head.params.len())));
            } else {
                // A number hides a type of the same name.
                self.types.remove(&name);
            }
            let default = if self.take("=") { Some(self.template_argument()?) } else { None };
            head.params.push(TemplateParam { name, kind, default });
            if !self.take(",") {
                break;
            }
        }
        self.close_angle()?;
        Ok(head)
    }

    /// Forgets the names of a template's types.
    pub(super) fn close_template(&mut self, head: Head) -> Vec<TemplateParam> {
        self.types = head.before;
        head.params
    }

    /// `<float, 4>` behind a template's name.
    pub(super) fn template_arguments(&mut self) -> Parsed<Vec<TemplateArgument>> {
        self.need("<", "the name")?;
        let mut arguments = Vec::new();
        while !self.is(">") {
            if arguments.len() >= MOST {
                return self.refuse(format!("more than {MOST} arguments"), "take fewer");
            }
            arguments.push(self.template_argument()?);
            if !self.take(",") {
                break;
            }
        }
        self.close_angle()?;
        Ok(arguments)
    }

    fn template_argument(&mut self) -> Parsed<TemplateArgument> {
        if self.at_type() && !matches!(self.ahead(1), Token::Mark("(" | "{" | "::")) {
            return Ok(TemplateArgument::Type(self.whole_type()?));
        }
        let before = std::mem::replace(&mut self.in_angles, true);
        let value = self.nested(Self::conditional);
        self.in_angles = before;
        Ok(TemplateArgument::Value(value?))
    }

    /// The `>` behind arguments; a `>>` closes two lists.
    pub(super) fn close_angle(&mut self) -> Parsed<()> {
        if self.is(">>") {
            self.rewritten.insert(self.at, ">>".into());
            self.tokens[self.at].token = Token::Mark(">");
            return Ok(());
        }
        self.need(">", "the arguments of the template")
    }
}

pub(super) fn plain(base: Base) -> TypeName {
    TypeName { base, access: Access::Mutable, pointer: None, passing: crate::ast::Passing::Value }
}
