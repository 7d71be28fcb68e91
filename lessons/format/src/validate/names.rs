//! Names in expressions: labs of the lesson, their metrics, and facts about the device.

use mlsys_expr::{Expr, Node, Span};
use mlsys_lab::schema::{Class, Metric, Schema, Type};

use crate::diagnostic::{Code, Place};
use crate::env::DEVICE_FACTS;
use crate::model::{Check, Formula};
use crate::validate::{Validation, suggestion};

impl Validation<'_> {
    /// Checks every name of an expression; `run` is a run besides those of the lesson's labs, under a name of its own.
    pub(super) fn names(&mut self, formula: &Formula, run: Option<(&str, &Schema)>) {
        for (name, span) in formula.expr.names() {
            self.name(formula, name.as_str(), span, run);
        }
        self.series(formula, &formula.expr);
    }

    pub(super) fn name(
        &mut self,
        formula: &Formula,
        name: &str,
        span: Span,
        run: Option<(&str, &Schema)>,
    ) {
        let place = formula.place.within(&formula.source, span);
        let (stem, metric) = name.split_once('.').unwrap_or((name, ""));
        if self.drawn.iter().any(|drawn| drawn.name.value == name) {
            return;
        }
        if stem == "device" {
            if !DEVICE_FACTS.contains(&metric) {
                let message = format!("nothing is known of a device under `{name}`");
                let facts = DEVICE_FACTS.into_iter();
                let help = suggestion(metric, facts, "after `device.` stands one of");
                self.error_maybe(Code::UnknownName, place, message, help);
            }
            return;
        }
        let schema = match run {
            Some((id, schema)) if stem == id => schema,
            Some(_) | None => match self.lesson.lab(stem) {
                Some(lab) => match self.registry.find(&lab.kind.value) {
                    Ok(lab) => lab.schema(),
                    // Reported at the kind.
                    Err(_) => return,
                },
                None if self.lesson.unread.iter().any(|id| id == stem) => return,
                None => {
                    let message = format!("no lab of this lesson is called `{stem}`");
                    let ids = self.lesson.labs().map(|lab| lab.id.as_str());
                    let drawn = self.drawn.iter().map(|drawn| drawn.name.value.as_str());
                    let known = ids.chain(["device"]).chain(drawn);
                    let help =
                        suggestion(stem, known, "names begin with the id of a lab or with device");
                    self.error_maybe(Code::UnknownName, place, message, help);
                    return;
                }
            },
        };
        self.metric_name(schema, name, metric, place);
    }

    /// Checks the metric of a name such as `run.loss`, at the place of the name.
    pub(super) fn metric_name(&mut self, schema: &Schema, name: &str, metric: &str, place: Place) {
        if metric.is_empty() {
            let message = format!("`{name}` is a lab; say which of its metrics is meant");
            let help = schema.metrics.first().map(|first| format!("write {name}.{}", first.name));
            self.error_maybe(Code::UnknownName, place, message, help);
            return;
        }
        match schema.metric(metric) {
            None => {
                let message = format!("lab {} has no metric `{metric}`", schema.kind);
                let known = schema.metrics.iter().map(|metric| metric.name.as_str());
                let help = suggestion(metric, known, "its metrics are");
                self.error_maybe(Code::UnknownName, place, message, help);
            }
            Some(metric) => {
                if metric.ty == Type::Table {
                    let message = format!("`{name}` is a table, and expressions have no tables");
                    let help = "use a metric that is a number";
                    self.error(Code::UnknownName, place, message, help);
                }
            }
        }
    }

    /// Aggregates take series: `mean(run.parameters)` has nothing to average.
    pub(super) fn series(&mut self, formula: &Formula, expr: &Expr) {
        match &expr.node {
            Node::Number(_) | Node::Text(_) | Node::Bool(_) | Node::Name(_) => {}
            Node::Unary(_, operand) => self.series(formula, operand),
            Node::Binary(_, left, right) => {
                self.series(formula, left);
                self.series(formula, right);
            }
            Node::Call(function, arguments) => {
                if function.takes_series(arguments.len())
                    && let Some(first) = arguments.first()
                    && let Node::Name(name) = &first.node
                    && let Some(metric) = self.metric(name.as_str())
                    && !metric.series
                    && metric.ty != Type::Array
                {
                    let message =
                        format!("`{}` needs a series, and `{name}` is one value", function.name());
                    let place = formula.place.within(&formula.source, first.span);
                    let help = format!("write {name} alone");
                    self.error(Code::WrongType, place, message, help);
                }
                for argument in arguments {
                    self.series(formula, argument);
                }
            }
        }
    }

    /// A check that compares measured values is of class hardware, or it would fail on another machine; one of what a
    /// device computes is of class device. A check of nothing that a run gives cannot fail.
    pub(super) fn class(&mut self, check: &Check) {
        let names = check.assert.expr.names();
        if names.is_empty() {
            let message = "this check names nothing that a run gives, so it tells nothing";
            let help = "compare a metric, such as run.accuracy >= 0.9, or remove the check";
            let warning = self.source.warning(Code::BadValue, check.assert.place, message);
            self.found.push(warning.help(help));
        }
        for (name, span) in names {
            let class = match name.as_str() {
                "device.peak_flops_per_second" => Class::Hardware,
                name => self.metric(name).map_or(Class::Exact, |metric| metric.class),
            };
            let told = match (class, check.class) {
                (Class::Hardware, Class::Exact | Class::Seeded | Class::Device) => "measured",
                (Class::Device, Class::Exact | Class::Seeded) => "computed",
                (Class::Exact | Class::Seeded, _)
                | (Class::Device, Class::Device | Class::Hardware)
                | (Class::Hardware, Class::Hardware) => continue,
            };
            let message = format!(
                "`{name}` is {told} on the device at hand, and this check is of class {}",
                check.class
            );
            let place = check.assert.place.within(&check.assert.source, span);
            let help = format!("write class = \"{class}\"");
            self.error(Code::Contradiction, place, message, help);
            return;
        }
    }

    fn metric(&self, name: &str) -> Option<&Metric> {
        let (stem, metric) = name.split_once('.')?;
        let lab = self.lesson.lab(stem)?;
        self.registry.find(&lab.kind.value).ok()?.schema().metric(metric)
    }
}
