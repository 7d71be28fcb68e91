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
const TWO_OR_THREE: Arity = Some((2, 3));
const SOME: Arity = Some((1, 16));
const ANY: Arity = Some((0, 64));

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
    /// `if(condition, a, b)`, which evaluates only the branch it takes; in a closed form b may be left out.
    If,
    /// Sum of a list.
    Sum,
    /// `div(a, b)`: the whole quotient of two whole numbers.
    Div,
    /// `div_up(a, b)`: the quotient of two whole numbers, rounded up.
    DivUp,
    /// `round_up(a, g)`: the least multiple of g that is not below a.
    RoundUp,
    /// `percent(0.25)`: the text "25.0%".
    Percent,
    /// `duration(90)`: the text "90 s", in the unit that fits.
    Duration,
    /// `significant(x, n)`: x rounded to n significant digits.
    Significant,
    /// Whether an optional value is there.
    IsSet,
    /// `default(a, b)`: a, or b where a is unset.
    Default,
    /// `table(name, entry, field)`: a number or text of the built-in tables, unset where there is none.
    Table,
    /// `names(table)`: the entries of a built-in table.
    Names,
    /// `range(a, b)`: the whole numbers from a to b, both included.
    Range,
    /// `list(a, b, ...)`: its arguments as a list.
    List,
    /// `count(list, x)`: how often x is in the list.
    Count,
    /// Whether a value is a number.
    IsNumber,
    /// `join(list, separator)`: the entries as one text.
    Join,
    /// `column(table, field)`: a field of all entries of a built-in table that have it.
    Column,
    /// `at_least(list, x)`: the least entry of a list that is not below x, unset where there is none.
    AtLeast,
    /// `sorted(list)`: its numbers in ascending order, each once.
    Sorted,
    /// `before(text, mark)`: the text up to a mark, all of it where there is none.
    Before,
}

impl Function {
    /// Every function of every dialect.
    pub const ALL: [Function; 46] = [
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
        Function::Sum,
        Function::Div,
        Function::DivUp,
        Function::RoundUp,
        Function::Percent,
        Function::Duration,
        Function::Significant,
        Function::IsSet,
        Function::Default,
        Function::Table,
        Function::Names,
        Function::Range,
        Function::List,
        Function::Count,
        Function::IsNumber,
        Function::Join,
        Function::Column,
        Function::AtLeast,
        Function::Sorted,
        Function::Before,
    ];

    /// Name, and how many arguments it takes in lessons, graphs, patterns and closed forms.
    const fn signature(self) -> (&'static str, Arity, Arity, Arity, Arity) {
        match self {
            Function::First => ("first", ONE, NONE, NONE, NONE),
            Function::Last => ("last", ONE, NONE, NONE, NONE),
            Function::Min => ("min", ONE_OR_TWO, NONE, TWO, SOME),
            Function::Max => ("max", ONE_OR_TWO, TWO, TWO, SOME),
            Function::Mean => ("mean", ONE, NONE, NONE, ONE),
            Function::Median => ("median", ONE, NONE, NONE, NONE),
            Function::Len => ("len", ONE, NONE, NONE, ONE),
            Function::At => ("at", TWO, NONE, NONE, TWO),
            Function::Close => ("close", THREE, NONE, NONE, NONE),
            Function::Abs => ("abs", ONE, NONE, ONE, ONE),
            Function::Sqrt => ("sqrt", ONE, ONE, NONE, ONE),
            Function::Exp => ("exp", ONE, ONE, NONE, ONE),
            Function::Log => ("log", ONE, ONE, NONE, ONE),
            Function::Ln => ("ln", ONE, ONE, NONE, ONE),
            Function::Log2 => ("log2", ONE, NONE, NONE, ONE),
            Function::Log10 => ("log10", ONE, NONE, NONE, ONE),
            Function::Sin => ("sin", ONE, ONE, NONE, ONE),
            Function::Cos => ("cos", ONE, ONE, NONE, ONE),
            Function::Tanh => ("tanh", ONE, ONE, NONE, ONE),
            Function::Sigmoid => ("sigmoid", ONE, ONE, NONE, ONE),
            Function::Relu => ("relu", ONE, ONE, NONE, NONE),
            Function::Floor => ("floor", ONE, NONE, NONE, ONE),
            Function::Ceil => ("ceil", ONE, NONE, NONE, ONE),
            Function::Round => ("round", ONE, NONE, NONE, ONE),
            Function::Xor => ("xor", NONE, NONE, TWO, NONE),
            Function::If => ("if", NONE, NONE, THREE, TWO_OR_THREE),
            Function::Sum => ("sum", NONE, NONE, NONE, ONE),
            Function::Div => ("div", NONE, NONE, NONE, TWO),
            Function::DivUp => ("div_up", NONE, NONE, NONE, TWO),
            Function::RoundUp => ("round_up", NONE, NONE, NONE, TWO),
            Function::Percent => ("percent", NONE, NONE, NONE, ONE),
            Function::Duration => ("duration", NONE, NONE, NONE, ONE),
            Function::Significant => ("significant", NONE, NONE, NONE, TWO),
            Function::IsSet => ("is_set", NONE, NONE, NONE, ONE),
            Function::Default => ("default", NONE, NONE, NONE, TWO),
            Function::Table => ("table", NONE, NONE, NONE, THREE),
            Function::Names => ("names", NONE, NONE, NONE, ONE),
            Function::Range => ("range", NONE, NONE, NONE, TWO),
            Function::List => ("list", NONE, NONE, NONE, ANY),
            Function::Count => ("count", NONE, NONE, NONE, TWO),
            Function::IsNumber => ("is_number", NONE, NONE, NONE, ONE),
            Function::Join => ("join", NONE, NONE, NONE, TWO),
            Function::Column => ("column", NONE, NONE, NONE, TWO),
            Function::AtLeast => ("at_least", NONE, NONE, NONE, TWO),
            Function::Sorted => ("sorted", NONE, NONE, NONE, ONE),
            Function::Before => ("before", NONE, NONE, NONE, TWO),
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
        let (_, lesson, graph, pattern, closed_form) = self.signature();
        let arity = match dialect {
            Dialect::Lesson => lesson,
            Dialect::Graph => graph,
            Dialect::Pattern => pattern,
            Dialect::ClosedForm => closed_form,
        };
        arity.map(|(least, most)| least..=most)
    }

    /// A function of one number, which may not be finite; `None` for the other functions.
    pub fn of_one(self, x: f64) -> Option<f64> {
        Some(match self {
            Function::Abs => x.abs(),
            Function::Sqrt => x.sqrt(),
            Function::Exp => x.exp(),
            Function::Log | Function::Ln => x.ln(),
            Function::Log2 => x.log2(),
            Function::Log10 => x.log10(),
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Tanh => x.tanh(),
            Function::Sigmoid => 1.0 / (1.0 + (-x).exp()),
            Function::Relu => x.max(0.0),
            Function::Floor => x.floor(),
            Function::Ceil => x.ceil(),
            Function::Round => x.round(),
            Function::First
            | Function::Last
            | Function::Min
            | Function::Max
            | Function::Mean
            | Function::Median
            | Function::Len
            | Function::At
            | Function::Close
            | Function::Xor
            | Function::If
            | Function::Sum
            | Function::Div
            | Function::DivUp
            | Function::RoundUp
            | Function::Percent
            | Function::Duration
            | Function::Significant
            | Function::IsSet
            | Function::Default
            | Function::Table
            | Function::Names
            | Function::Range
            | Function::List
            | Function::Count
            | Function::IsNumber
            | Function::Join
            | Function::Column
            | Function::AtLeast
            | Function::Sorted
            | Function::Before => return None,
        })
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
                [Dialect::Lesson, Dialect::Graph, Dialect::Pattern, Dialect::ClosedForm]
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
