//! What stands outside of functions: functions, constants and names for types.

use crate::ast::{Declaration, Function, Param, Role, Storage, Unit};
use crate::lexer::Token;
use crate::parser::{Parsed, Parser, Reported, outside};
use crate::types::Access;

impl Parser {
    pub(super) fn unit(&mut self) -> Unit {
        let mut unit = Unit::default();
        while *self.token() != Token::End {
            let before = self.place();
            if self.item(&mut unit).is_err() {
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
                function.template = template;
            }
            return read;
        }
        let (first, start) = (self.at, self.place());
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
                "struct" if self.at_record() => return self.record(None),
                "typedef" if *self.ahead(1) == Token::Name("struct".to_owned()) => {
                    return self.type_alias();
                }
                "typedef" | "using" => return self.type_alias(),
                "extern" if self.at_shared() => {
                    unit.constants.push(self.shared_declaration()?);
                    return Ok(());
                }
                "extern" => {}
                "__launch_bounds__" => {
                    self.launch_bounds()?;
                    continue;
                }
                "__shared__" => {
                    return self
                        .refuse("__shared__ stands inside a kernel", "move it into the kernel");
                }
                other => match outside(other) {
                    Some((message, help)) => return self.refuse(message, help),
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
        if self.is_name("__launch_bounds__") {
            self.launch_bounds()?;
        }
        let (name, place) = self.name("a function or a constant")?;
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
            // A variable of the host, which a kernel cannot reach.
            if let Some(host) = &mut self.host_variables
                && !is_constant
                && ty.access == Access::Mutable
            {
                host.extend(names.into_iter().map(|one| one.name));
                self.rewritten.extend((first..self.at).map(|at| (at, "".into())));
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
        if self.take(";") {
            return Ok(());
        }
        if let Some(unnamed) = params.iter().find(|param| param.name.is_empty()) {
            self.complain(unnamed.place, "the name of an argument is missing", "name it");
        }
        let body = self.block("a function")?;
        let template = Vec::new();
        unit.functions.push(Function {
            role,
            name,
            place,
            result: ty,
            params,
            body,
            template,
            declared,
        });
        Ok(())
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

    fn params(&mut self) -> Parsed<Vec<Param>> {
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
            if self.take("[") {
                // The extent of an array argument means nothing in C: it is a pointer.
                if !self.is("]") {
                    self.expression()?;
                }
                self.need("]", "the extent")?;
                if self.is("[") || ty.pointer.is_some() {
                    let message = "arrays of arrays are not passed here";
                    return self.refuse(message, "pass a pointer and the width");
                }
                ty.pointer = Some(Access::Mutable);
            }
            let default = if self.take("=") { Some(self.assignment()?) } else { None };
            params.push(Param { name, place, ty, default });
            if !self.take(",") {
                break;
            }
        }
        self.need(")", "the arguments")?;
        Ok(params)
    }
}
