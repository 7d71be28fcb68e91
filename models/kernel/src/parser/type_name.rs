//! Types as they are written, and names for them.

use crate::ast::{Base, Expr, ExprKind, Passing, TypeName};
use crate::lexer::Token;
use crate::parser::expression::boxed;
use crate::parser::generic::plain;
use crate::parser::{Parsed, Parser, Reported, TYPE_WORDS, is_type_word, outside};
use crate::types::{Access, Record, Scalar};
use mlsys_lab::nearest::nearest;

/// Names for types that the headers of C and CUDA declare, and what a text that needs no headers writes.
const ALIASES: [(&str, &str, Scalar); 18] = [
    ("int8_t", "signed char", Scalar::Char),
    ("uint8_t", "unsigned char", Scalar::UnsignedChar),
    ("uchar", "unsigned char", Scalar::UnsignedChar),
    ("int16_t", "short", Scalar::Short),
    ("uint16_t", "unsigned short", Scalar::UnsignedShort),
    ("ushort", "unsigned short", Scalar::UnsignedShort),
    ("half", "__half", Scalar::Half),
    ("__half", "__half", Scalar::Half),
    ("nv_bfloat16", "__nv_bfloat16", Scalar::Bfloat16),
    ("__nv_bfloat16", "__nv_bfloat16", Scalar::Bfloat16),
    ("uint", "unsigned", Scalar::Unsigned),
    ("uint32_t", "unsigned", Scalar::Unsigned),
    ("int32_t", "int", Scalar::Int),
    ("int64_t", "long long", Scalar::Long),
    ("ptrdiff_t", "long long", Scalar::Long),
    ("uint64_t", "unsigned long long", Scalar::UnsignedLong),
    ("uintptr_t", "unsigned long long", Scalar::UnsignedLong),
    ("clock_t", "long long", Scalar::Long),
];

/// The number that some words mean, which stand in the order of the alphabet.
pub(super) fn worded_scalar(words: &str) -> Option<Scalar> {
    Some(match words {
        "char" | "char signed" => Scalar::Char,
        "char unsigned" => Scalar::UnsignedChar,
        "short" | "int short" | "short signed" | "int short signed" => Scalar::Short,
        "short unsigned" | "int short unsigned" => Scalar::UnsignedShort,
        "bool" => Scalar::Bool,
        "int" | "signed" | "int signed" => Scalar::Int,
        "unsigned" | "int unsigned" => Scalar::Unsigned,
        "long long" | "int long long" | "long long signed" | "long" | "int long"
        | "long signed" => Scalar::Long,
        "long long unsigned"
        | "int long long unsigned"
        | "size_t"
        | "long unsigned"
        | "int long unsigned" => Scalar::UnsignedLong,
        "float" => Scalar::Float,
        "double" => Scalar::Double,
        _ => return None,
    })
}

/// The number that a name of the headers means.
pub(super) fn named_scalar(name: &str) -> Option<Scalar> {
    ALIASES.iter().find(|(own, ..)| *own == name).map(|(.., scalar)| *scalar)
}

impl Parser {
    pub(super) fn at_type(&self) -> bool {
        matches!(self.token(), Token::Name(name) if name == "struct" || name == "enum" || is_type_word(name) || self.alias(name).is_some())
    }

    /// A type's words, without a star.
    pub(super) fn plain_type(&mut self) -> Parsed<TypeName> {
        let place = self.place();
        let before = self.at;
        let mut access = Access::Mutable;
        let mut words: Vec<String> = Vec::new();
        let mut named = None;
        while let Token::Name(word) = self.token() {
            match word.as_str() {
                "const" | "constexpr" => access = Access::Constant,
                // Every access reaches memory here anyway.
                "volatile" | "register" | "typename" => {}
                // `extern float __shared__ tile[];`
                "__shared__" if !words.is_empty() => {}
                "struct" | "enum" if words.is_empty() && named.is_none() => {}
                "__align__" | "alignas" => {
                    self.alignment()?;
                    continue;
                }
                word if is_type_word(word) && named.is_none() => words.push(word.to_owned()),
                word if words.is_empty() && named.is_none() => match self.alias(word) {
                    Some(ty) => {
                        self.rewrite_alias();
                        named = Some(ty);
                    }
                    None => break,
                },
                _ => break,
            }
            self.advance();
        }
        if let Some(mut ty) = named {
            match (&mut ty.pointer, access) {
                (Some(pointer), Access::Constant) => *pointer = Access::Constant,
                (None, Access::Constant) => ty.access = Access::Constant,
                (_, Access::Mutable) => {}
            }
            return Ok(ty);
        }
        words.sort();
        let words = words.join(" ");
        let base = match (words.as_str(), worded_scalar(&words)) {
            ("void", _) => Base::Void,
            ("auto", _) => Base::Auto,
            (words, Some(scalar)) => {
                if words.split(' ').filter(|word| *word == "long").count() == 1 {
                    self.lengthen(before);
                }
                Base::Scalar(scalar)
            }
            (other, None) => {
                if let Some((message, help)) = outside(&self.token_word()) {
                    return self.refuse(message, help);
                }
                let message = match other {
                    "" => format!("a type is missing; here is {}", self.token()),
                    other => format!("the type '{other}' is not part of this"),
                };
                let help = self.type_help(&self.token_word());
                self.complain(place, message, help);
                return Err(Reported);
            }
        };
        Ok(TypeName { base, access, pointer: None, passing: Passing::Value })
    }

    /// What to write in place of a name that is no type.
    pub(super) fn type_help(&self, name: &str) -> String {
        let known = TYPE_WORDS.into_iter().chain(ALIASES.iter().map(|(name, ..)| *name));
        let vectors = ["float2", "float3", "float4", "int2", "int3", "int4", "uint2", "dim3"];
        let known = known.chain(self.types.keys().map(String::as_str)).chain(vectors);
        match (name, nearest(name, known)) {
            ("boolean", _) => "did you mean 'bool'?".to_owned(),
            ("vector" | "array" | "string" | "map" | "pair", _) => {
                "containers of C++ are not part of this: write an array, float v[8];".to_owned()
            }
            (_, Some(near)) if near != name => format!("did you mean '{near}'?"),
            _ => "the types are int, unsigned, long long, float, double, bool, vectors such as float4, structures, and pointers to them".to_owned(),
        }
    }

    pub(super) fn whole_type(&mut self) -> Parsed<TypeName> {
        let plain = self.plain_type()?;
        self.stars(plain)
    }

    /// Stars and what may stand behind them.
    pub(super) fn stars(&mut self, mut ty: TypeName) -> Parsed<TypeName> {
        while matches!(self.mark(), "*" | "&" | "&&") {
            if self.take("&") {
                ty.passing = Passing::Reference;
                return Ok(ty);
            }
            if !self.is("*") {
                let message = "references to what is about to end are not part of this";
                return self.refuse(message, "write one &");
            }
            if ty.pointer.is_some() {
                return self.refuse(
                    "pointers to pointers are not part of this",
                    "keep rows side by side in one array: a[y * width + x]",
                );
            }
            self.advance();
            ty.pointer = Some(Access::Mutable);
            while let Token::Name(word) = self.token() {
                match word.as_str() {
                    "const" => ty.pointer = Some(Access::Constant),
                    "__restrict__" | "__restrict" | "volatile" => {}
                    _ => break,
                }
                self.advance();
            }
        }
        Ok(ty)
    }

    /// `long` has 64 bits, as on Linux: a compiler for which it has 32 is given two.
    fn lengthen(&mut self, from: usize) {
        let is_long = |at: &usize| self.tokens[*at].token == Token::Name("long".to_owned());
        let at = (from..self.at).find(is_long);
        self.rewritten.extend(at.map(|at| (at, "long long".into())));
    }

    /// What a name for a type stands for.
    fn alias(&self, name: &str) -> Option<TypeName> {
        let known = |base: Base| TypeName {
            base,
            access: Access::Mutable,
            pointer: None,
            passing: Passing::Value,
        };
        self.types.get(name).copied().or_else(|| {
            // A variable may have such a name, as `half` and `uint` do in texts without these types.
            if self.declared.contains_key(name) {
                return None;
            }
            if let Some(record) = Record::vector(name) {
                return Some(known(Base::Record(record)));
            }
            Some(known(Base::Scalar(named_scalar(name)?)))
        })
    }

    /// A name of the headers at hand is written out for a compiler that has none.
    fn rewrite_alias(&mut self) {
        let Token::Name(name) = self.token() else { return };
        if self.types.contains_key(name) {
            return;
        }
        if let Some((_, words, _)) = ALIASES.iter().find(|(own, ..)| own == name) {
            self.rewritten.insert(self.at, (*words).into());
        }
    }

    /// `typedef unsigned int uint;` and `using uint = unsigned int;`
    pub(super) fn type_alias(&mut self) -> Parsed<()> {
        let is_using = self.is_name("using");
        self.advance();
        if self.is_name("struct") && self.at_record() {
            return self.record(Some(()));
        }
        let (name, ty) = if is_using {
            let (name, _) = self.name("a type")?;
            self.need("=", "the name")?;
            (name, self.whole_type()?)
        } else {
            let ty = self.whole_type()?;
            (self.name("a type")?.0, ty)
        };
        // `using F = float (*)(float);`
        let ty = if self.is("(") && *self.ahead(1) == Token::Mark("*") {
            while !self.is(";") && *self.token() != Token::End {
                self.advance();
            }
            plain(Base::Function)
        } else {
            ty
        };
        if !self.is(";") {
            let message = "only names for types of numbers and pointers are part of this";
            return self.refuse(message, "write typedef unsigned int uint;");
        }
        self.advance();
        self.declared.insert(name.clone(), true);
        self.types.insert(name, ty);
        Ok(())
    }

    /// `__align__(16)`, if it stands here: kept for the declaration.
    pub(super) fn alignment(&mut self) -> Parsed<bool> {
        if !(self.take_name("__align__") || self.take_name("alignas")) {
            return Ok(false);
        }
        if !self.is("(") {
            return self.refuse("the alignment is missing", "write __align__(16)");
        }
        self.alignment = Some(self.aligned_as()?);
        Ok(true)
    }

    /// A type, for its alignment, or a number of bytes, in brackets.
    pub(super) fn aligned_as(&mut self) -> Parsed<Expr> {
        let place = self.place();
        let is_type = self.at_type_behind();
        self.advance();
        let bytes = if is_type {
            boxed(place, ExprKind::AlignOf(self.whole_type()?))
        } else {
            self.bracketed(Self::conditional)?
        };
        self.need(")", "the alignment")?;
        Ok(bytes)
    }
}
