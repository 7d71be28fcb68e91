//! What runs for some threads only: `&&`, `||` and `?:`.

use super::block::Writer;
use super::expression::{Text, binary};
use super::{Told, type_name, walk};
use crate::typed::{Expr, Kind};
use crate::types::Scalar;

impl Writer<'_, '_> {
    /// `&&` and `||`: their right side may need lines of its own, which then run only where it is asked for.
    pub(super) fn shortcut(&mut self, left: &Expr, right: &Expr, sign: &str) -> Told<Text> {
        let one = self.value(left)?;
        if !walk::has_effect(right) {
            let at = self.aside(|writer| writer.value(right))?;
            if at.0.is_empty() {
                return Ok(binary(&one, sign, &at.1));
            }
        }
        let name = self.module.names.fresh("t");
        self.line(&format!("var {name} = {};", one.text));
        let goes_on = if sign == "&&" {
            Text::atom(name.clone())
        } else {
            Text::atom(name.clone()).negated()
        };
        let (lines, other) = self.aside(|writer| {
            let other = writer.value(right)?;
            writer.line(&format!("{name} = {};", other.text));
            Ok(other)
        })?;
        drop(other);
        self.line(&format!("if {} {{", goes_on.inside()));
        self.raw(&lines);
        self.line("}");
        Ok(Text::atom(name))
    }

    pub(super) fn choice(
        &mut self,
        condition: &Expr,
        yes: &Expr,
        no: &Expr,
        expr: &Expr,
    ) -> Told<Text> {
        let condition = self.value(condition)?;
        let reads = |side: &Expr| {
            walk::has_effect(side) || walk::any(side, &|e| matches!(e.kind, Kind::Load(_)))
        };
        if !reads(yes) && !reads(no) {
            let (before, sides) =
                self.aside(|writer| Ok([writer.value(yes)?, writer.value(no)?]))?;
            if before.is_empty() {
                let [yes, no] = sides;
                let text = format!("select({}, {}, {})", no.text, yes.text, condition.text);
                return Ok(Text::atom(text));
            }
        }
        // `select` evaluates both sides: where one reads memory only the chosen one may.
        let ty = type_name(expr.ty.scalar().unwrap_or(Scalar::Int), expr.place)?;
        let name = self.module.names.fresh("t");
        self.line(&format!("var {name}: {ty};"));
        for (side, head) in
            [(yes, format!("if {} {{", condition.inside())), (no, "} else {".to_owned())]
        {
            let (lines, ()) = self.aside(|writer| {
                let value = writer.value(side)?;
                writer.line(&format!("{name} = {};", value.text));
                Ok(())
            })?;
            self.line(&head);
            self.raw(&lines);
        }
        self.line("}");
        Ok(Text::atom(name))
    }
}
