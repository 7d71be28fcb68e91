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

crate::named_enum! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Function {
        /// First value of a series.
        First = "first",
        /// Last value of a series.
        Last = "last",
        /// Least value of a series, or the lesser of two numbers.
        Min = "min",
        /// Greatest value of a series, or the greater of two numbers.
        Max = "max",
        Mean = "mean",
        /// Middle value of a series, or the mean of the middle two.
        Median = "median",
        /// Number of points of a series.
        Len = "len",
        /// `at(series, step)`: the value at exactly that step.
        At = "at",
        /// `close(a, b, rel)`: whether |a - b| <= rel * max(|a|, |b|).
        Close = "close",
        Abs = "abs",
        Sqrt = "sqrt",
        Exp = "exp",
        /// Natural logarithm; `ln` is the same.
        Log = "log",
        Ln = "ln",
        Log2 = "log2",
        Log10 = "log10",
        Sin = "sin",
        Cos = "cos",
        Tanh = "tanh",
        /// 1 / (1 + exp(-x)).
        Sigmoid = "sigmoid",
        /// max(x, 0).
        Relu = "relu",
        /// Greatest integer not above x.
        Floor = "floor",
        /// Least integer not below x.
        Ceil = "ceil",
        /// Nearest integer, halves away from zero.
        Round = "round",
        /// `xor(a, b)`, bit by bit.
        Xor = "xor",
        /// `if(condition, a, b)`, which evaluates only the branch it takes; in a closed form b may be left out.
        If = "if",
        Sum = "sum",
        /// `div(a, b)`: the whole quotient of two whole numbers.
        Div = "div",
        /// `div_up(a, b)`: the quotient of two whole numbers, rounded up.
        DivUp = "div_up",
        /// `round_up(a, g)`: the least multiple of g that is not below a.
        RoundUp = "round_up",
        /// `percent(0.25)`: the text "25.0 %".
        Percent = "percent",
        /// `duration(90)`: the text "90 s", in the unit that fits.
        Duration = "duration",
        /// `significant(x, n)`: x rounded to n significant digits.
        Significant = "significant",
        /// Whether an optional value is there.
        IsSet = "is_set",
        /// `default(a, b)`: a, or b where a is unset.
        Default = "default",
        /// `table(name, entry, field)`: a number or text of the built-in tables, unset where there is none.
        Table = "table",
        /// `names(table)`: the entries of a built-in table.
        Names = "names",
        /// `range(a, b)`: the whole numbers from a to b, both included.
        Range = "range",
        /// `list(a, b, ...)`: its arguments as a list.
        List = "list",
        /// `count(list, x)`: how often x is in the list.
        Count = "count",
        IsNumber = "is_number",
        /// `join(list, separator)`: the entries as one text.
        Join = "join",
        /// `column(table, field)`: a field of all entries of a built-in table that have it.
        Column = "column",
        /// `at_least(list, x)`: the least entry of a list that is not below x, unset where there is none.
        AtLeast = "at_least",
        /// `sorted(list)`: its numbers in ascending order, each once.
        Sorted = "sorted",
        /// `before(text, mark)`: the text up to a mark, all of it where there is none.
        Before = "before",
    }
}

type OfOne = fn(f64) -> f64;

const OF_ONE: [(Function, OfOne); 15] = [
    (Function::Abs, f64::abs),
    (Function::Sqrt, f64::sqrt),
    (Function::Exp, f64::exp),
    (Function::Log, f64::ln),
    (Function::Ln, f64::ln),
    (Function::Log2, f64::log2),
    (Function::Log10, f64::log10),
    (Function::Sin, f64::sin),
    (Function::Cos, f64::cos),
    (Function::Tanh, f64::tanh),
    (Function::Sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
    (Function::Relu, |x| x.max(0.0)),
    (Function::Floor, f64::floor),
    (Function::Ceil, f64::ceil),
    (Function::Round, f64::round),
];

impl Function {
    /// How many arguments it takes in lessons, graphs, patterns and closed forms.
    const fn arities(self) -> (Arity, Arity, Arity, Arity) {
        match self {
            Self::First | Self::Last | Self::Median => (ONE, NONE, NONE, NONE),
            Self::Min => (ONE_OR_TWO, NONE, TWO, SOME),
            Self::Max => (ONE_OR_TWO, TWO, TWO, SOME),
            Self::At => (TWO, NONE, NONE, TWO),
            Self::Close => (THREE, NONE, NONE, NONE),
            Self::Abs => (ONE, NONE, ONE, ONE),
            Self::Mean | Self::Len => (ONE, NONE, NONE, ONE),
            Self::Sqrt | Self::Exp | Self::Log | Self::Ln => (ONE, ONE, NONE, ONE),
            Self::Sin | Self::Cos | Self::Tanh | Self::Sigmoid => (ONE, ONE, NONE, ONE),
            Self::Log2 | Self::Log10 => (ONE, NONE, NONE, ONE),
            Self::Floor | Self::Ceil | Self::Round => (ONE, NONE, NONE, ONE),
            Self::Relu => (ONE, ONE, NONE, NONE),
            Self::Xor => (NONE, NONE, TWO, NONE),
            Self::If => (NONE, NONE, THREE, TWO_OR_THREE),
            Self::Sum | Self::Percent | Self::Duration | Self::Sorted => (NONE, NONE, NONE, ONE),
            Self::IsSet | Self::IsNumber | Self::Names => (NONE, NONE, NONE, ONE),
            Self::Div | Self::DivUp | Self::RoundUp => (NONE, NONE, NONE, TWO),
            Self::Significant | Self::Default | Self::Range => (NONE, NONE, NONE, TWO),
            Self::Count | Self::Join | Self::Column => (NONE, NONE, NONE, TWO),
            Self::AtLeast | Self::Before => (NONE, NONE, NONE, TWO),
            Self::Table => (NONE, NONE, NONE, THREE),
            Self::List => (NONE, NONE, NONE, ANY),
        }
    }

    /// How many arguments the function takes, or `None` where the dialect does not have it.
    pub fn arity(self, dialect: Dialect) -> Option<RangeInclusive<usize>> {
        let (lesson, graph, pattern, closed_form) = self.arities();
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
        OF_ONE.iter().find(|(function, _)| *function == self).map(|(_, value)| value(x))
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
    fn names_are_distinct_and_belong_to_a_dialect() {
        for function in Function::ALL {
            assert_eq!(function.name().parse(), Ok(function));
            let has = |dialect: Dialect| function.arity(dialect).is_some();
            assert!(Dialect::ALL.into_iter().any(has), "{function}");
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
