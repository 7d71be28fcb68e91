//! The functions, and which dialect knows which.
use std::ops::RangeInclusive;

use crate::nearest::nearest;
use crate::source::Dialect;

/// Fewest and most arguments, or `None` where a dialect lacks the function.
type Arity = Option<(usize, usize)>;

const NONE: Arity = None;
const ONE: Arity = Some((1, 1));
const ONE_OR_TWO: Arity = Some((1, 2));
const TWO: Arity = Some((2, 2));
const THREE: Arity = Some((3, 3));

/// A function that expressions can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// First value of a series.
    First,
    /// Last value of a series.
    Last,
    /// Least value of a series, or the lesser of two numbers.
    Min,
    /// Greatest value of a series, or the greater of two numbers.
    Max,
    /// Arithmetic mean of a series.
    Mean,
    /// Middle value of a series, or the mean of the middle two.
    Median,
    /// Number of points of a series.
    Len,
    /// `at(series, step)`: the value at exactly that step.
    At,
    /// `close(a, b, rel)`: whether |a - b| <= rel * max(|a|, |b|).
    Close,
    /// Absolute value.
    Abs,
    /// Square root.
    Sqrt,
    /// e to the power of x.
    Exp,
    /// Natural logarithm; `ln` is the same.
    Log,
    /// Natural logarithm.
    Ln,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// Sine of an angle in radians.
    Sin,
    /// Cosine of an angle in radians.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
    /// 1 / (1 + exp(-x)).
    Sigmoid,
    /// max(x, 0).
    Relu,
    /// Greatest integer not above x.
    Floor,
    /// Least integer not below x.
    Ceil,
    /// Nearest integer, halves away from zero.
    Round,
    /// `xor(a, b)`, bit by bit.
    Xor,
    /// `if(condition, a, b)`, which evaluates only the branch it takes.
    If,
}

impl Function {
    /// Every function of every dialect.
    pub const ALL: [Function; 26] = [
        Function::First,
        Function::Last,
        Function::Min,
        Function::Max,
        Function::Mean,
        Function::Median,
        Function::Len,
        Function::At,
        Function::Close,
        Function::Abs,
        Function::Sqrt,
        Function::Exp,
        Function::Log,
        Function::Ln,
        Function::Log2,
        Function::Log10,
        Function::Sin,
        Function::Cos,
        Function::Tanh,
        Function::Sigmoid,
        Function::Relu,
        Function::Floor,
        Function::Ceil,
        Function::Round,
        Function::Xor,
        Function::If,
    ];

    /// Name, and how many arguments it takes in lessons, graphs and patterns.
    const fn signature(self) -> (&'static str, Arity, Arity, Arity) {
        match self {
            Function::First => ("first", ONE, NONE, NONE),
            Function::Last => ("last", ONE, NONE, NONE),
            Function::Min => ("min", ONE_OR_TWO, NONE, TWO),
            Function::Max => ("max", ONE_OR_TWO, TWO, TWO),
            Function::Mean => ("mean", ONE, NONE, NONE),
            Function::Median => ("median", ONE, NONE, NONE),
            Function::Len => ("len", ONE, NONE, NONE),
            Function::At => ("at", TWO, NONE, NONE),
            Function::Close => ("close", THREE, NONE, NONE),
            Function::Abs => ("abs", ONE, NONE, ONE),
            Function::Sqrt => ("sqrt", ONE, ONE, NONE),
            Function::Exp => ("exp", ONE, ONE, NONE),
            Function::Log => ("log", ONE, ONE, NONE),
            Function::Ln => ("ln", ONE, ONE, NONE),
            Function::Log2 => ("log2", ONE, NONE, NONE),
            Function::Log10 => ("log10", ONE, NONE, NONE),
            Function::Sin => ("sin", ONE, ONE, NONE),
            Function::Cos => ("cos", ONE, ONE, NONE),
            Function::Tanh => ("tanh", ONE, ONE, NONE),
            Function::Sigmoid => ("sigmoid", ONE, ONE, NONE),
            Function::Relu => ("relu", ONE, ONE, NONE),
            Function::Floor => ("floor", ONE, NONE, NONE),
            Function::Ceil => ("ceil", ONE, NONE, NONE),
            Function::Round => ("round", ONE, NONE, NONE),
            Function::Xor => ("xor", NONE, NONE, TWO),
            Function::If => ("if", NONE, NONE, THREE),
        }
    }

    /// The function as it is written.
    pub const fn name(self) -> &'static str {
        self.signature().0
    }

    /// The function of that name, whatever the dialect.
    pub fn named(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name)
    }

    /// How many arguments the function takes, or `None` where the dialect does not have it.
    pub fn arity(self, dialect: Dialect) -> Option<RangeInclusive<usize>> {
        let (_, lesson, graph, pattern) = self.signature();
        let arity = match dialect {
            Dialect::Lesson => lesson,
            Dialect::Graph => graph,
            Dialect::Pattern => pattern,
        };
        arity.map(|(least, most)| least..=most)
    }

    /// Whether the first of `arguments` arguments must name a series.
    pub const fn takes_series(self, arguments: usize) -> bool {
        let over_series = matches!(
            self,
            Function::First
                | Function::Last
                | Function::Mean
                | Function::Median
                | Function::Len
                | Function::At
        );
        over_series || (arguments == 1 && matches!(self, Function::Min | Function::Max))
    }

    /// The names of the functions of a dialect.
    pub(super) fn names_in(dialect: Dialect) -> impl Iterator<Item = &'static str> {
        Function::ALL
            .into_iter()
            .filter(move |function| function.arity(dialect).is_some())
            .map(Function::name)
    }

    pub(super) fn suggestion(name: &str, dialect: Dialect) -> Option<&'static str> {
        nearest(name, Function::names_in(dialect))
    }
}

#[cfg(test)]
mod tests {
    use super::Function;
    use crate::Dialect;

    #[test]
    fn names_are_distinct_and_found_again() {
        for function in Function::ALL {
            assert_eq!(Function::named(function.name()), Some(function));
        }
    }

    #[test]
    fn every_function_belongs_to_a_dialect() {
        for function in Function::ALL {
            assert!(
                [Dialect::Lesson, Dialect::Graph, Dialect::Pattern]
                    .into_iter()
                    .any(|dialect| function.arity(dialect).is_some()),
                "{function:?}"
            );
        }
    }

    #[test]
    fn dialects_have_exactly_their_functions() {
        let graph: Vec<_> = Function::names_in(Dialect::Graph).collect();
        assert_eq!(
            graph,
            ["max", "sqrt", "exp", "log", "ln", "sin", "cos", "tanh", "sigmoid", "relu"]
        );
        let pattern: Vec<_> = Function::names_in(Dialect::Pattern).collect();
        assert_eq!(pattern, ["min", "max", "abs", "xor", "if"]);
    }
}
