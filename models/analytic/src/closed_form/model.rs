//! What a file of a closed form declares, read and checked.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_expr::Expr;
use mlsys_lab::Value;
use mlsys_lab::frame::{Dimension, Kind};
use mlsys_lab::schema::{Scale, Type};

/// An expression with its source, and the definitions that it needs, directly or through others, in order.
#[derive(Debug)]
pub(super) struct Formula {
    pub(super) source: String,
    pub(super) expr: Expr,
    pub(super) needs: Vec<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Template {
    pub(super) pieces: Vec<Piece>,
}

#[derive(Debug)]
pub(super) enum Piece {
    Words(String),
    Value(Formula),
}

/// A name with its formula: an entry of `[let]` or a metric.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) formula: Formula,
    /// The type of a metric; intermediate values have none.
    pub(super) metric: Option<Type>,
}

#[derive(Debug)]
pub(super) struct Declared {
    pub(super) ty: Type,
    pub(super) optional: bool,
}

#[derive(Debug)]
pub(super) struct Check {
    pub(super) holds: Formula,
    pub(super) params: Vec<String>,
    pub(super) message: Template,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Start {
    /// Parameters alone. The file may come from anywhere: its work is bounded.
    #[default]
    Parameters,
    /// What a simulation in this crate computed as well.
    Simulation,
}

/// The computation of a lab: everything in its file that the schema does not hold.
#[derive(Debug, Default)]
pub(super) struct Form {
    pub(super) params: BTreeMap<String, Declared>,
    pub(super) data: BTreeMap<String, Value>,
    pub(super) simulated: BTreeSet<String>,
    pub(super) start: Start,
    /// In the order of the file; each refers only to earlier ones.
    pub(super) definitions: Vec<Definition>,
    pub(super) index: BTreeMap<String, usize>,
    /// The units of the metrics, empty for pure numbers.
    pub(super) units: BTreeMap<String, String>,
    pub(super) checks: Vec<Row<Check>>,
    /// Why a metric is not finite where it is not, by its name.
    pub(super) reasons: BTreeMap<String, Template>,
    /// The same for all other metrics; without it, the formula with its numbers.
    pub(super) reason: Option<Template>,
    /// What is said before the answers where a condition holds.
    pub(super) notices: Vec<(Formula, Template)>,
    /// The pictures by panel, in the order of the file.
    pub(super) panels: Vec<(String, Picture)>,
}

impl Form {
    pub(super) fn formula(&self, name: &str) -> Option<&Formula> {
        Some(&self.definitions.get(*self.index.get(name)?)?.formula)
    }
}

/// What a panel draws: the first text whose condition holds, or the drawing.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) instead: Vec<(Option<Formula>, Template)>,
    pub(super) drawing: Option<Drawing>,
}

#[derive(Debug)]
pub(super) enum Drawing {
    Bars {
        unit: Template,
        scale: Scale,
        rows: Vec<Row<Bar>>,
    },
    Stacks {
        unit: String,
        parts: Vec<String>,
        limit: Option<(Formula, Template)>,
        note: Template,
        rows: Vec<Row<Stack>>,
    },
    Table {
        columns: Vec<String>,
        rows: Vec<Row<Vec<Template>>>,
    },
    Scatter {
        x: Axis,
        y: Axis,
        series: Vec<Template>,
        points: Vec<Row<Point>>,
        lines: Vec<Row<Line>>,
    },
    Cells {
        across: Template,
        /// The number of the first column, if it is not 0.
        start: Option<Formula>,
        group: Option<Formula>,
        /// The row and the column that stay in sight where not all cells fit.
        focus: Option<(Formula, Formula)>,
        kinds: Vec<Kind>,
        note: Template,
        rows: Vec<Row<CellsOf>>,
    },
    Panes(Vec<Row<(Template, Drawing)>>),
    Steps(Vec<Row<Step>>),
}

#[derive(Debug)]
pub(super) struct Axis {
    pub(super) dimension: Dimension,
    pub(super) name: Template,
}

/// Something drawn once, or for each value of a list.
#[derive(Debug)]
pub(super) struct Row<T> {
    pub(super) each: Vec<Each>,
    /// Names that stand for something else in this row, each computed with those before it.
    pub(super) set: Vec<(String, Formula)>,
    pub(super) only_if: Option<Formula>,
    /// What this picture's elements are put in order by; those of rows without it come first.
    pub(super) sort: Option<Formula>,
    /// At most this number are drawn, the first by `sort`, which then only chooses.
    pub(super) first: Option<usize>,
    pub(super) what: T,
}

/// A name that takes one value after the other.
#[derive(Debug)]
pub(super) struct Each {
    pub(super) name: String,
    pub(super) over: Over,
}

#[derive(Debug)]
pub(super) enum Over {
    /// Constants; the run's own value joins them in its place where they are numbers.
    Values(Vec<Value>),
    Formula(Formula),
}

#[derive(Debug)]
pub(super) struct Bar {
    pub(super) label: Template,
    pub(super) value: Formula,
    pub(super) remark: Template,
    /// What is said of the greatest and of the least bar of this row.
    pub(super) most: String,
    pub(super) least: String,
}

#[derive(Debug)]
pub(super) struct Stack {
    pub(super) label: Template,
    pub(super) values: Vec<Formula>,
    pub(super) remark: Template,
}

#[derive(Debug)]
pub(super) struct Point {
    pub(super) x: Formula,
    pub(super) y: Formula,
    pub(super) label: Template,
    pub(super) series: Formula,
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: Template,
    /// The name that runs along the line.
    pub(super) along: String,
    pub(super) places: Places,
    pub(super) x: Formula,
    pub(super) y: Formula,
}

#[derive(Debug)]
pub(super) enum Places {
    List(Each),
    /// From, to, and how many, apart as the horizontal axis divides.
    Spread(Formula, Formula, usize),
}

#[derive(Debug)]
pub(super) struct CellsOf {
    pub(super) label: Template,
    pub(super) remark: Template,
    pub(super) each: Each,
    pub(super) kind: Formula,
    pub(super) text: Option<Template>,
}

/// A line of the calculation: a definition by default, of which parts may be said otherwise.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) label: Template,
    pub(super) value: Formula,
    pub(super) formula: Option<Template>,
    pub(super) numbers: Option<Template>,
    /// The unit of the value: that of the metric, or as the file says; empty for a pure number.
    pub(super) unit: Option<String>,
}
