//! Which rows of a table are shown, and in which order.

use std::cmp::Ordering;

use mlsys_lab::frame::Table;
use mlsys_lab::value::Value;

use crate::ui::panel::view::FrameView;

/// By which column rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The column.
    pub column: usize,
    /// The order.
    pub order: Order,
}

/// The order of sorted rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The smallest first.
    Ascending,
    /// The largest first.
    Descending,
}

impl Order {
    /// The order in words.
    pub fn said(self) -> &'static str {
        match self {
            Self::Ascending => "smallest first",
            Self::Descending => "largest first",
        }
    }
}

impl Sort {
    /// By a column upwards; if it is already, downwards; if it is already, not at all.
    pub fn next(now: Option<Self>, column: usize) -> Option<Self> {
        let order = match now
            .filter(|sort| sort.column == column)
            .map(|sort| sort.order)
        {
            None => Order::Ascending,
            Some(Order::Ascending) => Order::Descending,
            Some(Order::Descending) => return None,
        };
        Some(Self { column, order })
    }
}

/// Which rows are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// As it was typed.
    pub text: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    /// Some cell contains the text, in capitals or not.
    Contains(String),
    /// A cell of a column compares so with a number or a text.
    Compare {
        column: usize,
        comparison: Comparison,
        with: Operand,
    },
}

#[derive(Clone, Debug, PartialEq)]
enum Operand {
    Number(f64),
    Text(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    NotEqual,
}

/// Longer signs come first, so that `<=` is not read as `<`.
const SIGNS: [(&str, Comparison); 7] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("!=", Comparison::NotEqual),
    ("==", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::More),
    ("=", Comparison::Equal),
];

impl Filter {
    /// Reads `column > 3`, `column = name`, or a text that any cell may contain; nothing from an empty text.
    pub fn read(text: &str, columns: &[String]) -> Result<Option<Self>, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let signs = SIGNS.iter().filter_map(|(sign, comparison)| {
            let at = text.find(sign)?;
            Some((at, std::cmp::Reverse(sign.len()), *sign, *comparison))
        });
        let test = match signs.min_by_key(|(at, longest, ..)| (*at, *longest)) {
            None => Test::Contains(text.to_lowercase()),
            Some((at, _, sign, comparison)) => {
                let name = text.get(..at).unwrap_or_default().trim();
                let with = text.get(at + sign.len()..).unwrap_or_default().trim();
                Test::Compare {
                    column: column(name, columns)?,
                    with: operand(with, sign, comparison)?,
                    comparison,
                }
            }
        };
        Ok(Some(Self {
            text: text.to_owned(),
            test,
        }))
    }

    /// Whether a row is shown.
    pub fn holds(&self, row: &[Value]) -> bool {
        match &self.test {
            Test::Contains(text) => row
                .iter()
                .any(|cell| cell.to_string().to_lowercase().contains(text)),
            Test::Compare {
                column,
                comparison,
                with,
            } => {
                let Some(cell) = row.get(*column) else {
                    return false;
                };
                let order = match with {
                    Operand::Number(with) => number(cell).and_then(|x| x.partial_cmp(with)),
                    Operand::Text(with) => Some(cell.to_string().to_lowercase().cmp(with)),
                };
                match comparison {
                    // What cannot be compared is not equal either.
                    Comparison::NotEqual => order != Some(Ordering::Equal),
                    Comparison::Less => order == Some(Ordering::Less),
                    Comparison::AtMost => order.is_some_and(Ordering::is_le),
                    Comparison::More => order == Some(Ordering::Greater),
                    Comparison::AtLeast => order.is_some_and(Ordering::is_ge),
                    Comparison::Equal => order == Some(Ordering::Equal),
                }
            }
        }
    }
}

/// The column that is meant: by its whole title, its title without the unit, or the one title that begins so.
fn column(name: &str, columns: &[String]) -> Result<usize, String> {
    let all = || columns.join(", ");
    if name.is_empty() {
        return Err(format!("a column stands before the comparison: {}", all()));
    }
    let name = name.to_lowercase();
    let titles: Vec<String> = columns.iter().map(|title| title.to_lowercase()).collect();
    let bare = |title: &String| title.split(" (").next().unwrap_or_default() == name;
    let whole = titles.iter().position(|title| *title == name);
    if let Some(found) = whole.or_else(|| titles.iter().position(bare)) {
        return Ok(found);
    }
    let mut begin = titles
        .iter()
        .enumerate()
        .filter(|(_, t)| t.starts_with(&name));
    match (begin.next(), begin.next()) {
        (Some((found, _)), None) => Ok(found),
        (Some(_), Some(_)) => Err(format!("several columns begin with '{name}': {}", all())),
        (None, _) => Err(format!("there is no column '{name}'; there are: {}", all())),
    }
}

fn operand(text: &str, sign: &str, comparison: Comparison) -> Result<Operand, String> {
    match (text.replace('_', "").parse::<f64>(), comparison) {
        (Ok(x), _) if x.is_finite() => Ok(Operand::Number(x)),
        (_, Comparison::Equal | Comparison::NotEqual) if !text.is_empty() => {
            Ok(Operand::Text(text.to_lowercase()))
        }
        _ if text.is_empty() => Err(format!("a number stands behind {sign}, such as {sign} 3")),
        _ => Err(format!(
            "'{text}' is not a number, and {sign} compares numbers"
        )),
    }
}

/// A cell as a number; of a text such as `0.06 nats`, the number that it begins with.
fn number(cell: &Value) -> Option<f64> {
    let said = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
    cell.as_f64().or_else(|| said(cell.as_str()?))
}

/// The rows that are shown, in their order, as places in the table.
pub fn rows(table: &Table, view: &FrameView) -> Vec<usize> {
    let holds = |row: &Vec<Value>| view.filter.as_ref().is_none_or(|filter| filter.holds(row));
    let shown = table.rows.iter().enumerate().filter(|(_, row)| holds(row));
    let mut shown: Vec<usize> = shown.map(|(index, _)| index).collect();
    if let Some(sort) = view.sort {
        let cell = |index: &usize| table.rows.get(*index)?.get(sort.column);
        shown.sort_by(|a, b| {
            let (a, b) = (cell(a), cell(b));
            let order = compare(a, b);
            match sort.order {
                Order::Ascending => order,
                // What has no value stays at the end.
                Order::Descending if a.is_some() && b.is_some() => order.reverse(),
                Order::Descending => order,
            }
        });
    }
    shown
}

/// Numbers by size before texts by letter, then what there is none of.
fn compare(a: Option<&Value>, b: Option<&Value>) -> Ordering {
    match (a, b) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(a), Some(b)) => match (number(a), number(b)) {
            (Some(x), Some(y)) => x.total_cmp(&y),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => a.to_string().cmp(&b.to_string()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |name: &str, memory: i64, rate: Value| vec![name.into(), memory.into(), rate];
        Table {
            columns: ["device", "memory (GB)", "rate"]
                .map(str::to_owned)
                .to_vec(),
            rows: vec![
                row("A100", 80, 2039.0.into()),
                row("H200", 141, "not finite".into()),
                row("T4", 16, 320.0.into()),
                row("a10", 24, "600 GB/s".into()),
            ],
        }
    }

    fn names(view: &FrameView) -> Vec<String> {
        let table = table();
        let rows = rows(&table, view);
        rows.iter()
            .map(|row| table.rows[*row][0].to_string())
            .collect()
    }

    #[test]
    fn a_column_sorts_up_then_down_then_not() {
        let mut view = FrameView::default();
        let mut seen = Vec::new();
        for _ in 0..3 {
            view.sort = Sort::next(view.sort, 2);
            seen.push(names(&view).join(" "));
        }
        assert_eq!(
            seen,
            ["T4 a10 A100 H200", "H200 A100 a10 T4", "A100 H200 T4 a10"]
        );
        view.sort = Sort::next(Sort::next(None, 1), 0);
        assert_eq!(names(&view).join(" "), "A100 H200 T4 a10");
        view.sort = Sort::next(None, 99);
        assert_eq!(names(&view).len(), 4);
    }

    #[test]
    fn filters_compare_or_look_for_text_and_say_what_is_wrong() {
        let table = table();
        for (text, expected) in [
            ("", "A100 H200 T4 a10"),
            ("a1", "A100 a10"),
            ("memory > 20", "A100 H200 a10"),
            ("memory (GB) <= 24", "T4 a10"),
            ("mem>=1_41", "H200"),
            ("rate != 320", "A100 H200 a10"),
            ("rate >= 600", "A100 a10"),
            ("device = t4", "T4"),
            ("device != t4", "A100 H200 a10"),
            ("rate > 1e9", ""),
        ] {
            let filter = Filter::read(text, &table.columns).unwrap();
            let view = FrameView {
                filter,
                ..FrameView::default()
            };
            assert_eq!(names(&view).join(" "), expected, "{text}");
        }
        for (text, reason) in [
            (
                "memry > 3",
                "there is no column 'memry'; there are: device, memory (GB), rate",
            ),
            (
                "> 3",
                "a column stands before the comparison: device, memory (GB), rate",
            ),
            ("rate >", "a number stands behind >, such as > 3"),
            (
                "rate < fast",
                "'fast' is not a number, and < compares numbers",
            ),
            (
                "rate < nan",
                "'nan' is not a number, and < compares numbers",
            ),
            (
                "=",
                "a column stands before the comparison: device, memory (GB), rate",
            ),
        ] {
            assert_eq!(Filter::read(text, &table.columns).unwrap_err(), reason);
        }
        let columns = ["rate a", "rate b"].map(str::to_owned);
        let error = Filter::read("ra > 1", &columns).unwrap_err();
        assert_eq!(error, "several columns begin with 'ra': rate a, rate b");
    }
}
