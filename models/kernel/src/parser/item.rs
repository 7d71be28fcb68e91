//! What stands outside of functions: functions, constants and names for types.

use crate::ast::{
    Base, Body, Declaration, Declarator, ExprKind, Function, Initial, Param, Role, Storage,
    TypeName, Unit,
};
use crate::diagnostic::Place;
use crate::lexer::Token;
use crate::operators::{Binary, assignment, infix};
use crate::parser::expression::boxed;
use crate::parser::generic::plain;
use crate::parser::{Parsed, Parser, Reported, outside};
use crate::typed_ast::Operation;
use crate::types::{Access, Scalar};
use mlsys_lab::nearest::nearest;

/// Words before a declaration, of which a misspelt one is told.
const QUALIFIERS: [&str; 6] =
    ["__global__", "__device__", "__host__", "__constant__", "__shared__", "__managed__"];

impl Parser {
    pub(super) fn unit(&mut self) -> Unit {
        let mut unit = Unit::default();
        while *self.token() != Token::End {
            let before = self.place();
            let records = self.records.len();
            let read = self.item(&mut unit);
            for record in self.records.iter_mut().skip(records) {
                record.constants = unit.constants.len();
            }
            let declared = unit.functions.len();
            let members = std::mem::take(&mut self.members).into_iter();
            unit.functions.extend(members.map(|one| Function { declared, ..one }));
            if read.is_err() {
                self.lost_items += 1;
                // The next function begins at its own word, whatever was left open before it.
                let start = self.position();
                self.skip(|parser, _| {
                    let function = parser.is_name("__global__") || parser.is_name("__device__");
                    function && parser.position() > start
                });
                if self.place() == before {
                    self.advance();
                }
            }
        }
        unit
    }

    fn item(&mut self, unit: &mut Unit) -> Parsed<()> {
        if self.take(";") {
            return Ok(());
        }
        if self.is_name("template") {
            let head = self.template_head()?;
            if let Some((message, help)) = outside(&self.token_word()) {
                return self.refuse(message, help);
            }
            let before = unit.functions.len();
            self.is_template = true;
            let read = self.item(unit);
            self.is_template = false;
            let template = self.close_template(head);
            if let Some(function) = unit.functions.get_mut(before) {
                if function.special.is_some() && !template.is_empty() {
                    let message = "a template for some arguments of another is not part of this";
                    self.complain(function.place, message, "write template <> with all of them");
                }
                function.template = template;
            }
            return read;
        }
        let start = self.place();
        let mut role = None;
        let mut is_constant = false;
        let mut global = None;
        while let Token::Name(word) = self.token() {
            let word = word.clone();
            match word.as_str() {
                "__global__" if role.is_none() => role = Some(Role::Kernel),
                "__device__" if role.is_none() => role = Some(Role::Helper),
                "__global__" | "__device__" => {
                    let message = "a function is either __global__ or __device__";
                    return self.refuse(message, "keep one of them");
                }
                "constexpr" => is_constant = true,
                "__constant__" => global = Some(Access::Constant),
                "__managed__" => global = Some(Access::Mutable),
                "__host__" | "static" | "inline" | "__forceinline__" | "__noinline__"
                | "__inline__" => {}
                "struct" | "class" if self.at_record() => return self.record(None),
                "typedef" if *self.ahead(1) == Token::Name("struct".to_owned()) => {
                    return self.type_alias();
                }
                "typedef" | "using" => return self.type_alias(),
                "__shared__" => {
                    unit.constants.push(self.shared_declaration()?);
                    return Ok(());
                }
                "extern" if self.at_shared() => {
                    unit.constants.push(self.shared_declaration()?);
                    return Ok(());
                }
                "extern" => {}
                "__launch_bounds__" => {
                    self.launch_bounds()?;
                    continue;
                }
                "enum" => {
                    unit.constants.push(self.enumeration()?);
                    return Ok(());
                }
                other => match outside(other) {
                    Some((message, help)) => return self.refuse(message, help),
                    None if other.starts_with('_') => match nearest(other, QUALIFIERS) {
                        Some(near) if near != other => {
                            let message = format!("'{other}' means nothing here");
                            return self.refuse(message, format!("did you mean '{near}'?"));
                        }
                        _ => break,
                    },
                    None => break,
                },
            }
            self.advance();
        }
        // `__global__ __launch_bounds__(256) void f` and `void __launch_bounds__(256) f` are both usual.
        let mut plain = self.plain_type()?;
        if is_constant {
            plain.access = Access::Constant;
            role = role.or(Some(Role::Helper).filter(|_| *self.ahead(1) == Token::Mark("(")));
        }
        let ty = self.stars(plain)?;
        // `void __global__ f` is usual as well.
        loop {
            match self.token_word().as_str() {
                "__launch_bounds__" => {
                    self.launch_bounds()?;
                    continue;
                }
                "__global__" if role.is_none() => role = Some(Role::Kernel),
                "__device__" if role.is_none() => role = Some(Role::Helper),
                "__host__" | "inline" | "__forceinline__" | "__noinline__" | "__inline__" => {}
                _ => break,
            }
            self.advance();
        }
        let (name, place) = if self.is_name("operator") {
            self.operator_name()?
        } else {
            self.name("a function or a constant")?
        };
        let is_special = self.is_template && self.is("<");
        let special = if is_special { Some(self.template_arguments()?) } else { None };
        // `f<>` is what its arguments say.
        let special = special.filter(|list| !list.is_empty());
        if !self.is("(") {
            let is_variable = role == Some(Role::Helper) && ty.access == Access::Mutable;
            let is_array = role == Some(Role::Helper) && self.is("[");
            let global =
                global.or(Some(ty.access).filter(|_| !is_constant && (is_variable || is_array)));
            if role == Some(Role::Kernel) {
                return self
                    .refuse(format!("'(' is missing after '{name}'"), "a kernel is a function");
            }
            let names = self.declarators(plain, ty, name, place)?;
            if let Some(access) = global {
                unit.constants.push(Declaration { storage: Storage::Global(access), names });
                return Ok(());
            }
            for declarator in &names {
                if declarator.ty.access == Access::Mutable
                    || !matches!(&declarator.initial, Some(one) if one.values().len() == 1)
                {
                    let message =
                        format!("'{}' outside of a function is no constant", declarator.name);
                    let help = "write const int N = 4, or pass a buffer as an argument";
                    self.complain(declarator.place, message, help);
                }
            }
            unit.constants.push(Declaration { storage: Storage::Local, names });
            return Ok(());
        }
        let Some(role) = role else {
            let message = format!("'{name}' is a function of the host");
            let help = "write __global__ before the kernel, __device__ before what it calls";
            self.complain(start, message, help);
            return Err(Reported);
        };
        let functions = unit.functions.len();
        let declared = *self.ahead.entry(name.clone()).or_insert(functions);
        if self.is_template {
            self.templates.insert(name.clone());
        }
        let params = self.params()?;
        let is_missing = self.take(";");
        if is_missing && (!self.is_template || special.is_some()) {
            return Ok(());
        }
        let unnamed = params.iter().find(|param| param.name.is_empty());
        if let Some(unnamed) = unnamed.filter(|_| !is_missing) {
            self.complain(unnamed.place, "the name of an argument is missing", "name it");
        }
        let body = if is_missing {
            Body::Missing
        } else {
            let complaints = self.diagnostics.len();
            let body = self.block("a function")?;
            if self.diagnostics.len() > complaints { Body::Broken } else { Body::Read(body) }
        };
        let template = Vec::new();
        unit.functions.push(Function {
            role,
            name,
            place,
            result: ty,
            params,
            body,
            template,
            special,
            declared,
        });
        Ok(())
    }

    /// `operator+`, which is a function's name.
    pub(super) fn operator_name(&mut self) -> Parsed<(String, Place)> {
        let place = self.place();
        self.advance();
        if self.take("(") {
            self.need(")", "operator(")?;
            return Ok(("operator()".to_owned(), place));
        }
        if self.take("[") {
            self.need("]", "operator[")?;
            return Ok(("operator[]".to_owned(), place));
        }
        let mark = self.mark();
        let is_known = infix(mark).is_some() || assignment(mark).is_some_and(|one| one.is_some());
        if !is_known {
            return self.refuse(
                format!("'operator' before {} is not part of this", self.token()),
                "there are those of arithmetic, comparisons and +=; write a function with a name",
            );
        }
        self.advance();
        Ok((format!("operator{mark}"), place))
    }

    /// `enum Color { RED, GREEN = 4 };`
    pub(super) fn enumeration(&mut self) -> Parsed<Declaration> {
        self.advance();
        let int = TypeName { access: Access::Constant, ..plain(Base::Scalar(Scalar::Int)) };
        if !self.is("{") {
            let (name, _) = self.name("an enumeration")?;
            self.declared.insert(name.clone(), true);
            self.types.insert(name, plain(Base::Scalar(Scalar::Int)));
        }
        self.need("{", "the enumeration's name")?;
        let mut names: Vec<Declarator> = Vec::new();
        while !self.is("}") {
            let (name, place) = self.name("a constant")?;
            let value = if self.take("=") {
                self.conditional()?
            } else if let Some(before) = names.last() {
                let one = boxed(place, ExprKind::Bool(true));
                let before = boxed(place, ExprKind::Name(before.name.clone()));
                let add = Binary::Arithmetic(Operation::Add);
                boxed(place, ExprKind::Binary(add, Box::new(before), Box::new(one)))
            } else {
                boxed(place, ExprKind::Bool(false))
            };
            let initial = Some(Initial::Value(value));
            names.push(Declarator {
                name,
                place,
                ty: int,
                extents: Vec::new(),
                alignment: None,
                initial,
            });
            if !self.take(",") {
                break;
            }
        }
        self.need("}", "the constants")?;
        self.need(";", "the enumeration")?;
        Ok(Declaration { storage: Storage::Local, names })
    }

    /// Constants, which change nothing that a kernel computes.
    fn launch_bounds(&mut self) -> Parsed<()> {
        self.advance();
        self.need("(", "__launch_bounds__")?;
        while !self.is(")") {
            self.assignment()?;
            if !self.take(",") {
                break;
            }
        }
        self.need(")", "the bounds")
    }

    pub(super) fn params(&mut self) -> Parsed<Vec<Param>> {
        self.need("(", "the function's name")?;
        let mut params = Vec::new();
        if self.is_name("void") && *self.ahead(1) == Token::Mark(")") {
            self.advance();
        }
        while !self.is(")") {
            let mut ty = self.whole_type()?;
            // A declaration ahead of the definition may leave names out.
            let (name, place) = match self.mark() {
                "," | ")" | "[" => (String::new(), self.place()),
                _ => self.name("an argument")?,
            };
            let mut row = Vec::new();
            if self.take("[") {
                // The first extent of an array argument means nothing in C: it is a pointer.
                if !self.is("]") {
                    self.expression()?;
                }
                self.need("]", "the extent")?;
                if ty.pointer.is_some() {
                    let message = "arrays of pointers are not passed here";
                    return self.refuse(message, "keep rows side by side in one array");
                }
                while self.take("[") {
                    row.push(self.conditional()?);
                    self.need("]", "the extent")?;
                }
                ty.pointer = Some(Access::Mutable);
            }
            let default = if self.take("=") { Some(self.assignment()?) } else { None };
            params.push(Param { name, place, ty, row, default });
            if !self.take(",") {
                break;
            }
        }
        self.need(")", "the arguments")?;
        Ok(params)
    }
}
