//! What the numbers that are asked for can be: the metrics of an expression bound its value, by interval arithmetic.
//!
//! An expression of constants alone has one value, which is the answer: its range is not told.

use mlsys_expr::{BinaryOp, Expr, Function, Node, UnaryOp};
use mlsys_lab::Registry;
use mlsys_lab::schema::{Metric, Range, Schema};

use crate::model::{Block, Bounds, Formula, Lesson, PredictKind, QuestionKind, Varied, Varying};

impl Lesson {
    /// Puts in what the metrics of each answer and each prediction can be.
    pub fn derive_ranges(&mut self, registry: &Registry) {
        let labs: Vec<(String, &Schema)> = self
            .labs()
            .filter_map(|lab| Some((lab.id.clone(), registry.find(&lab.kind.value).ok()?.schema())))
            .collect();
        let tries = self.predictions().filter_map(|attempt| {
            let lab = attempt.lab.as_ref().filter(|_| attempt.turn.is_some())?;
            let (_, schema) = labs.iter().find(|(id, _)| *id == lab.value)?;
            Some((attempt.id.clone(), *schema))
        });
        let runs: Vec<(String, &Schema)> = labs.iter().cloned().chain(tries).collect();
        for block in &mut self.blocks {
            match block {
                Block::Question(question) => derive(question, |question, drawn| {
                    question.kind.derive_ranges(&runs, drawn);
                }),
                Block::Predict(predict) => derive(predict, |predict, drawn| {
                    let formula = predict.target.formula();
                    if let (PredictKind::Numeric { bounds, .. }, Some(formula)) =
                        (&mut predict.kind, formula)
                    {
                        bounds.derive(formula, &runs, drawn);
                    }
                }),
                Block::Prose(_) | Block::Lab(_) | Block::Check(_) | Block::Notes(_) => {}
            }
        }
    }
}

/// The schemas of the runs that expressions name.
type Runs<'s> = [(String, &'s Schema)];

/// Derives ranges of a directive as it is written; its instance has the same.
fn derive<T: Varying>(directive: &mut T, ranges: impl Fn(&mut T, &[Varied])) {
    let Some(variants) = directive.variants() else { return ranges(directive, &[]) };
    let mut own = variants.clone();
    ranges(&mut own.written, &own.names);
    *directive = own.with(own.drawn.clone());
}

impl QuestionKind {
    fn derive_ranges(&mut self, runs: &Runs<'_>, drawn: &[Varied]) {
        if let Self::Numeric { answer, bounds, .. } = self {
            bounds.derive(answer, runs, drawn);
        } else if let Self::List { answer, bounds, .. } = self {
            let pairs = bounds.iter_mut().zip(answer);
            pairs.for_each(|(bounds, answer)| bounds.derive(answer, runs, drawn));
        }
    }
}

impl Bounds {
    /// Metrics come before the unit: a difference of seconds may be negative.
    fn derive(&mut self, formula: &Formula, runs: &Runs<'_>, drawn: &[Varied]) {
        let names = formula.expr.names();
        let is_measured = |name: &str| !drawn.iter().any(|varied| varied.name.value == name);
        if names.iter().any(|(name, _)| is_measured(name.as_str())) {
            self.implied = Ranges { runs, drawn }.of(&formula.expr);
        }
    }
}

/// What each name of an expression can be.
struct Ranges<'r> {
    runs: &'r Runs<'r>,
    drawn: &'r [Varied],
}

impl Ranges<'_> {
    fn of(&self, expr: &Expr) -> Range {
        match &expr.node {
            Node::Number(x) => point(*x),
            Node::Text(_) => Range::ALL,
            Node::Bool(_) | Node::Unary(UnaryOp::Not, _) => Range::SHARE,
            Node::Name(name) => self.of_name(name.as_str()),
            Node::Unary(UnaryOp::Negate, operand) => negated(self.of(operand)),
            Node::Binary(op, left, right) => self.of_binary(*op, left, right),
            Node::Call(function, arguments) => self.of_call(*function, arguments),
        }
    }

    fn of_name(&self, name: &str) -> Range {
        if let Some(varied) = self.drawn.iter().find(|varied| varied.name.value == name) {
            return hull(varied.values.iter().copied());
        }
        let (run, metric) = name.split_once('.').unwrap_or((name, ""));
        if run == "device" {
            return Range::AMOUNT;
        }
        let run = self.runs.iter().find(|(id, _)| id == run);
        run.and_then(|(_, schema)| schema.metric(metric)).map_or(Range::ALL, Metric::range)
    }

    fn of_binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Range {
        let (a, b) = (self.of(left), self.of(right));
        match op {
            BinaryOp::Add => Range { min: a.min + b.min, max: a.max + b.max },
            BinaryOp::Subtract => Range { min: a.min - b.max, max: a.max - b.min },
            BinaryOp::Multiply => product(a, b),
            BinaryOp::Divide => product(a, reciprocal(b)),
            BinaryOp::Remainder if a.min >= 0.0 => Range { min: 0.0, max: a.max },
            BinaryOp::Power if a.min >= 0.0 && b.min >= 0.0 && b.min == b.max => {
                Range { min: a.min.powf(b.min), max: a.max.powf(b.min) }
            }
            BinaryOp::Power if a.min >= 0.0 => Range::AMOUNT,
            BinaryOp::Remainder | BinaryOp::Power => Range::ALL,
            BinaryOp::Or
            | BinaryOp::And
            | BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual => Range::SHARE,
        }
    }

    fn of_call(&self, function: Function, arguments: &[Expr]) -> Range {
        let Some(a) = arguments.first().map(|argument| self.of(argument)) else {
            return Range::ALL;
        };
        match (function, arguments) {
            (Function::Close, _) => Range::SHARE,
            (Function::Len, _) => Range::AMOUNT,
            (Function::Min | Function::Max, [_, b]) => {
                let b = self.of(b);
                let pick = if function == Function::Min { f64::min } else { f64::max };
                Range { min: pick(a.min, b.min), max: pick(a.max, b.max) }
            }
            (Function::Abs, _) => {
                let most = a.min.abs().max(a.max.abs());
                let holds_zero = a.min <= 0.0 && a.max >= 0.0;
                let least = if holds_zero { 0.0 } else { a.min.abs().min(a.max.abs()) };
                Range { min: least, max: most }
            }
            (Function::Sin | Function::Cos, _) => Range { min: -1.0, max: 1.0 },
            _ if function.takes_series(arguments.len()) => a,
            _ => monotone(function, a),
        }
    }
}

/// The functions of one number that grow with it; of another nothing is known.
fn monotone(function: Function, a: Range) -> Range {
    let value = |x: f64, otherwise: f64| {
        function.of_one(x).filter(|value| !value.is_nan()).unwrap_or(otherwise)
    };
    let least = if function == Function::Sqrt { 0.0 } else { f64::NEG_INFINITY };
    Range { min: value(a.min, least), max: value(a.max, f64::INFINITY) }
}

fn point(x: f64) -> Range {
    Range { min: x, max: x }
}

fn hull(values: impl Iterator<Item = f64> + Clone) -> Range {
    let max = values.clone().reduce(f64::max).unwrap_or(f64::INFINITY);
    Range { min: values.reduce(f64::min).unwrap_or(f64::NEG_INFINITY), max }
}

fn negated(a: Range) -> Range {
    Range { min: -a.max, max: -a.min }
}

fn product(a: Range, b: Range) -> Range {
    // An open end times 0 is 0: no value is infinite.
    let times = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    hull(
        [times(a.min, b.min), times(a.min, b.max), times(a.max, b.min), times(a.max, b.max)]
            .into_iter(),
    )
}

fn reciprocal(a: Range) -> Range {
    match (a.min, a.max) {
        (min, max) if min >= 0.0 && max > 0.0 => Range { min: 1.0 / max, max: 1.0 / min },
        (min, max) if max <= 0.0 && min < 0.0 => negated(reciprocal(negated(a))),
        _ => Range::ALL,
    }
}
