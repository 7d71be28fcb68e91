//! Questions that are answered by a kernel: their launches, what must come out, and what they may cost.

use std::collections::BTreeSet;

use mlsys_lab::schema::{Schema, Type};
use mlsys_lab::value::Value;

use crate::diagnostic::{Code, Located, shortened};
use crate::grade::kernel::{KIND, Launch, SHOWN, expected, launches};
use crate::model::{Bound, Formula, KernelTask, KernelTest, Setting};
use crate::validate::{Validation, suggestion};

impl Validation<'_> {
    pub(super) fn kernel(&mut self, task: &KernelTask) {
        let kind = Located { value: KIND.to_owned(), place: task.answer.place };
        let Some(schema) = self.schema(&kind) else { return };
        let mut known: Option<BTreeSet<String>> = None;
        for test in &task.tests {
            for setting in &test.set {
                self.launched(setting);
            }
            let launches = match launches(test, schema, 0) {
                Ok(launches) => launches,
                Err(error) => {
                    let help = "in a test with `vary` a text stands for a number: an expression in the varied names";
                    self.error(Code::BadValue, error.place, error.to_string(), help);
                    continue;
                }
            };
            // All launches have the same names, and mostly the same mistakes.
            for launch in &launches {
                let before = self.found.len();
                self.launch(schema, test, launch);
                if self.found.len() > before {
                    break;
                }
            }
            if let Some(launch) = launches.first() {
                let names: BTreeSet<String> = launch.numbers.0.keys().cloned().collect();
                known = Some(match known {
                    Some(known) => known.intersection(&names).cloned().collect(),
                    None => names,
                });
            }
        }
        let known = known.unwrap_or_default();
        for formula in task.cost_formulas() {
            self.cost(formula, schema, &known);
        }
        for bound in &task.bounds {
            self.bound(bound, schema);
        }
    }

    fn launch(&mut self, schema: &Schema, test: &KernelTest, launch: &Launch) {
        let own = launch.set.iter().filter(|setting| {
            test.vary.is_empty() || test.set.iter().any(|stated| stated.name == setting.name)
        });
        let own: Vec<Setting> = own.cloned().collect();
        self.settings(schema, &own);
        self.expected(test, launch);
        if test.vary.is_empty() {
            return;
        }
        for (name, argument) in launch.arguments().into_iter().flatten() {
            let Value::Table(buffer) = argument else { continue };
            let count = buffer.get("buffer").and_then(Value::as_f64);
            if count.is_some_and(|count| count > SHOWN as f64) {
                let message = format!("the buffer `{name}` has more than {SHOWN} elements");
                let help = "the others are not compared: choose smaller numbers in `vary`";
                self.error(Code::TooLarge, test.place, message, help);
            }
        }
    }

    /// The kernel itself is the learner's, and it is run where it can be watched.
    fn launched(&mut self, setting: &Setting) {
        if ["example", "source", "execution", "plug_in"].contains(&setting.name.as_str()) {
            let message = format!("a test does not set `{}`", setting.name);
            let help = "the learner's kernel is what runs, in the interpreter";
            self.error(Code::BadParam, setting.place, message, help);
        }
    }

    fn expected(&mut self, test: &KernelTest, launch: &Launch) {
        for expect in &test.expect {
            let buffer = &expect.buffer;
            if let Err(reason) = expected(launch, &buffer.value, &expect.value) {
                let is_buffer =
                    launch.arguments().is_some_and(|table| table.contains_key(&buffer.value));
                let place = if is_buffer { expect.value.place } else { buffer.place };
                let help = "an expected value speaks of i, of the numbers among the arguments, and of what buffers filled with index, ones or zeros hold at i";
                self.error(Code::UnknownName, place, reason.to_string(), help);
            }
        }
    }

    /// Names in a limit: metrics of the answer's run and of the reference's, and numbers of every test.
    fn cost(&mut self, formula: &Formula, schema: &Schema, known: &BTreeSet<String>) {
        self.series(formula, &formula.expr);
        for (name, span) in formula.expr.names() {
            let name = name.as_str();
            let place = formula.place.within(&formula.source, span);
            match name.split_once('.') {
                Some(("reference", metric)) => self.metric_name(schema, name, metric, place),
                Some(_) => self.name(formula, name, span, Some(("answer", schema))),
                None if known.contains(name) => {}
                None => {
                    let message =
                        format!("no number of every test is called `{}`", shortened(name));
                    let known = known.iter().map(String::as_str);
                    let help =
                        suggestion(name, known, "a limit may refer to").unwrap_or_else(|| {
                            "write answer.NAME or reference.NAME for a metric".to_owned()
                        });
                    self.error(Code::UnknownName, place, message, help);
                }
            }
        }
    }

    fn bound(&mut self, bound: &Bound, schema: &Schema) {
        let metric = &bound.metric;
        let is_number =
            schema.metric(&metric.value).map(|metric| matches!(metric.ty, Type::Int | Type::Float));
        if is_number == Some(false) {
            let message = format!("`{}` is no number, and has no bound", metric.value);
            let help = "name a metric that is a number, such as warp_instructions";
            self.error(Code::WrongType, metric.place, message, help);
        } else if is_number.is_none() {
            self.metric_name(schema, &metric.value, &metric.value, metric.place);
        }
    }
}
