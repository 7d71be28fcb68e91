//! The misconception behind a wrong number: small edits of the answer's own expression are tried until one gives it.
//!
//! What is said names the kind of mistake and neither its place nor its direction, so that the answer has still to be
//! worked out. A mistake that the lesson states itself is told instead.

use std::collections::BTreeSet;

use mlsys_expr::{BinaryOp, Env, Expr, Function, Node, UnaryOp, Value, evaluate};

use crate::grade::quantity::{Written, factor, has_prefixes};
use crate::model::Formula;

/// Kinds of mistakes, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mistake {
    Bits,
    Two,
    Thousand,
    Percent,
    Unit,
    PowerOfTen,
    Reciprocal,
    Rounding,
    Logarithm,
    Sign,
    Factor,
    Term,
    Step,
}

impl Mistake {
    const fn say(self) -> &'static str {
        match self {
            Self::Bits => "This is off by a factor of 8: are bits and bytes mixed up?",
            Self::Two => {
                "This is off by a factor of 2: is something counted twice that comes once, or once that comes twice?"
            }
            Self::Thousand => {
                "1000 and 1024 are mixed up: k, M and G are powers of 1000, Ki, Mi and Gi powers of 1024."
            }
            Self::Percent => "A share and its percentage are mixed up.",
            Self::Unit => "This is right in another unit: look at which one is asked for.",
            Self::PowerOfTen => "The digits are right and the power of ten is not.",
            Self::Reciprocal => "A ratio is upside down: what is divided by what?",
            Self::Rounding => "Is something rounded that must not be, or the wrong way?",
            Self::Logarithm => "This is a logarithm to another base.",
            Self::Sign => "A plus and a minus are exchanged.",
            Self::Factor => "A factor or a divisor is left out.",
            Self::Term => "A term of a sum is left out.",
            Self::Step => "A number in the calculation is one too large or too small.",
        }
    }
}

/// What to say to a wrong number, if a known kind of mistake gives it.
pub(super) fn named(
    given: Written,
    answer: &Formula,
    value: f64,
    unit: Option<&str>,
    env: &dyn Env,
) -> Option<String> {
    let edits = edits(&answer.expr, env).into_iter();
    let edited = edits.filter_map(|(mistake, expr)| match evaluate(&expr, env) {
        Ok(Value::Number(x)) => Some((mistake, x)),
        Ok(Value::Text(_) | Value::Bool(_) | Value::Series(_)) | Err(_) => None,
    });
    let all = scaled(value, unit).into_iter().chain(edited);
    let found = all.filter(|(_, x)| *x != value && given.is(*x)).map(|(mistake, _)| mistake);
    let mut found: BTreeSet<Mistake> = found.collect();
    // What another mistake gives as well is rarely that of a sign: where two terms cancel, the other is the simpler one.
    if found.len() > 1 {
        found.remove(&Mistake::Sign);
    }
    // What holds of the whole number is told alone; of two places in the expression either may be it.
    let most = if found.first().is_some_and(|first| *first < Mistake::Reciprocal) { 1 } else { 2 };
    let told: Vec<&str> = found.into_iter().take(most).map(Mistake::say).collect();
    (!told.is_empty()).then(|| told.join(" Or: "))
}

/// The values that a mistake with the whole answer gives.
fn scaled(value: f64, unit: Option<&str>) -> Vec<(Mistake, f64)> {
    let is_in = |other: &str| unit.is_some_and(|unit| factor(other, Some(unit)).is_ok());
    let mut factors = vec![(Mistake::Two, 2.0), (Mistake::PowerOfTen, 10.0)];
    if is_in("byte") || is_in("byte/s") {
        factors.push((Mistake::Bits, 8.0));
        factors.extend((1..=4).map(|power| (Mistake::Thousand, 1.024_f64.powi(power))));
    }
    if is_in("s") {
        factors.extend([60.0, 3600.0, 24.0, 1440.0, 86_400.0].map(|x| (Mistake::Unit, x)));
    }
    if unit.is_none() || is_in("%") {
        factors.push((Mistake::Percent, 100.0));
    }
    // Of what is counted in words, such as epochs, there is no other unit.
    let power = if unit.is_some_and(has_prefixes) { Mistake::Unit } else { Mistake::PowerOfTen };
    factors.extend((1..=4).map(|thousands| (power, 1000_f64.powi(thousands))));
    let both = |(mistake, factor)| [(mistake, value * factor), (mistake, value / factor)];
    let mut all: Vec<_> = factors.into_iter().flat_map(both).collect();
    all.push((Mistake::Reciprocal, 1.0 / value));
    if value.fract() == 0.0 {
        all.extend([(Mistake::Step, value + 1.0), (Mistake::Step, value - 1.0)]);
    }
    all
}

/// The expression with one edit, at each of its places.
fn edits(expr: &Expr, env: &dyn Env) -> Vec<(Mistake, Expr)> {
    let with = |node: Node| Expr { node, span: expr.span };
    let mut all = Vec::new();
    match &expr.node {
        Node::Number(x) => {
            all.extend(other_numbers(*x).map(|(mistake, x)| (mistake, with(Node::Number(x)))));
        }
        Node::Unary(op, operand) => {
            if *op == UnaryOp::Negate {
                all.push((Mistake::Sign, operand.as_ref().clone()));
            }
            let inside = edits(operand, env).into_iter();
            all.extend(inside.map(|(mistake, one)| (mistake, with(Node::Unary(*op, one.into())))));
        }
        Node::Binary(op, left, right) => {
            let joined =
                |op, left: Expr, right: Expr| with(Node::Binary(op, left.into(), right.into()));
            let [a, b] = [left, right].map(|side| side.as_ref().clone());
            match op {
                BinaryOp::Add | BinaryOp::Subtract => {
                    let is_sum = *op == BinaryOp::Add;
                    let other = if is_sum { BinaryOp::Subtract } else { BinaryOp::Add };
                    all.push((Mistake::Term, a.clone()));
                    all.extend(is_sum.then(|| (Mistake::Term, b.clone())));
                    let exchanged = joined(other, a, b);
                    // Terms that cancel then are missing, whatever their signs.
                    if !is_nothing(&exchanged, env) {
                        all.push((Mistake::Sign, exchanged));
                    }
                }
                BinaryOp::Multiply => all.extend([(Mistake::Factor, a), (Mistake::Factor, b)]),
                BinaryOp::Divide => {
                    all.push((Mistake::Factor, a.clone()));
                    all.push((Mistake::Reciprocal, joined(*op, b, a)));
                }
                BinaryOp::Or
                | BinaryOp::And
                | BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::Less
                | BinaryOp::LessOrEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterOrEqual
                | BinaryOp::Remainder
                | BinaryOp::Power => {}
            }
            let (lefts, rights) = (edits(left, env).into_iter(), edits(right, env).into_iter());
            all.extend(
                lefts.map(|(mistake, one)| (mistake, joined(*op, one, right.as_ref().clone()))),
            );
            all.extend(
                rights.map(|(mistake, one)| (mistake, joined(*op, left.as_ref().clone(), one))),
            );
        }
        Node::Call(function, arguments) => {
            let is_rounding = ROUNDING.contains(function);
            for (group, mistake) in
                [(&ROUNDING[..], Mistake::Rounding), (&LOGARITHMS, Mistake::Logarithm)]
            {
                let others = group.iter().filter(|_| group.contains(function));
                let others = others.filter(|other| *other != function);
                all.extend(
                    others.map(|other| (mistake, with(Node::Call(*other, arguments.clone())))),
                );
            }
            all.extend(
                arguments
                    .first()
                    .filter(|_| is_rounding)
                    .map(|one| (Mistake::Rounding, one.clone())),
            );
            for (place, argument) in arguments.iter().enumerate() {
                all.extend(edits(argument, env).into_iter().map(|(mistake, one)| {
                    let mut arguments = arguments.clone();
                    arguments[place] = one;
                    (mistake, with(Node::Call(*function, arguments)))
                }));
            }
        }
        Node::Text(_) | Node::Bool(_) | Node::Name(_) => {}
    }
    all
}

/// Whether a sum or a difference comes to nothing against its terms.
fn is_nothing(sum: &Expr, env: &dyn Env) -> bool {
    let Node::Binary(_, left, right) = &sum.node else { return false };
    let size = |expr: &Expr| match evaluate(expr, env) {
        Ok(Value::Number(x)) => x.abs(),
        Ok(Value::Text(_) | Value::Bool(_) | Value::Series(_)) | Err(_) => f64::NAN,
    };
    size(sum) <= 1e-9 * size(left).max(size(right))
}

const ROUNDING: [Function; 3] = [Function::Floor, Function::Ceil, Function::Round];

const LOGARITHMS: [Function; 4] = [Function::Ln, Function::Log, Function::Log2, Function::Log10];

/// What stands in the place of a number by mistake: its neighbours if it counts something, and the other thousand.
fn other_numbers(x: f64) -> impl Iterator<Item = (Mistake, f64)> {
    let counts = x.fract() == 0.0 && x <= 4096.0;
    let steps = [x + 1.0, (x - 1.0).abs()].map(|x| (Mistake::Step, x));
    let powers = (1..=4).map(|power| (1000_f64.powi(power), 1024_f64.powi(power)));
    let thousands = powers.filter_map(move |(decimal, binary)| {
        let other = if x == decimal { Some(binary) } else { (x == binary).then_some(decimal) };
        other.map(|other| (Mistake::Thousand, other))
    });
    steps.into_iter().filter(move |_| counts).chain(thousands)
}
