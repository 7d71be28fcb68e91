//! Which rows of a table are shown: a text that some cell contains, or a comparison of a column.

use std::cmp::{Ordering, Reverse};

use crate::value::Value;

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
    Compare { column: usize, comparison: Comparison, with: Operand },
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
    ///
    /// # Errors
    /// An unknown column, or no number where one is compared.
    pub fn read(text: &str, columns: &[String]) -> Result<Option<Self>, FilterError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let signs = SIGNS.iter().filter_map(|(sign, comparison)| {
            let at = text.find(sign)?;
            Some((at, Reverse(sign.len()), *sign, *comparison))
        });
        let test = match signs.min_by_key(|(at, longest, ..)| (*at, *longest)) {
            None => Test::Contains(text.to_lowercase()),
            Some((at, _, sign, comparison)) => {
                let (name, with) = (&text[..at], &text[at + sign.len()..]);
                Test::Compare {
                    column: column(name.trim(), columns)?,
                    with: operand(with.trim(), sign, comparison)?,
                    comparison,
                }
            }
        };
        Ok(Some(Self { text: text.to_owned(), test }))
    }

    pub fn holds(&self, row: &[Value]) -> bool {
        match &self.test {
            Test::Contains(text) => {
                row.iter().any(|cell| cell.to_string().to_lowercase().contains(text))
            }
            Test::Compare { column, comparison, with } => {
                let Some(cell) = row.get(*column) else { return false };
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

fn operand(text: &str, sign: &'static str, comparison: Comparison) -> Result<Operand, FilterError> {
    match (text.replace('_', "").parse::<f64>(), comparison) {
        (Ok(x), _) if x.is_finite() => Ok(Operand::Number(x)),
        (_, Comparison::Equal | Comparison::NotEqual) if !text.is_empty() => {
            Ok(Operand::Text(text.to_lowercase()))
        }
        _ if text.is_empty() => Err(FilterError::NoNumber(sign)),
        _ => Err(FilterError::NotANumber(text.to_owned(), sign)),
    }
}

/// Why a text names no column, or is no filter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// Nothing stands before the comparison; all columns.
    #[error("a column stands before the comparison: {0}")]
    NoColumn(String),
    /// Several columns begin so: the name, all columns.
    #[error("several columns begin with '{0}': {1}")]
    SeveralColumns(String, String),
    /// No column is called so: the name, all columns.
    #[error("there is no column '{0}'; there are: {1}")]
    UnknownColumn(String, String),
    /// Nothing stands behind this sign.
    #[error("a number stands behind {0}, such as {0} 3")]
    NoNumber(&'static str),
    /// This text stands behind a sign that compares numbers.
    #[error("'{0}' is not a number, and {1} compares numbers")]
    NotANumber(String, &'static str),
}

pub(super) fn column(name: &str, columns: &[String]) -> Result<usize, FilterError> {
    let all = || columns.join(", ");
    if name.is_empty() {
        return Err(FilterError::NoColumn(all()));
    }
    let name = name.to_lowercase();
    let titles: Vec<String> = columns.iter().map(|title| title.to_lowercase()).collect();
    let is_bare =
        |title: &String| title.strip_prefix(&name).is_some_and(|unit| unit.starts_with(" ("));
    let whole = titles.iter().position(|title| *title == name);
    if let Some(found) = whole.or_else(|| titles.iter().position(is_bare)) {
        return Ok(found);
    }
    let mut begin = titles.iter().enumerate().filter(|(_, t)| t.starts_with(&name));
    match (begin.next(), begin.next()) {
        (Some((found, _)), None) => Ok(found),
        (Some(_), Some(_)) => Err(FilterError::SeveralColumns(name, all())),
        (None, _) => Err(FilterError::UnknownColumn(name, all())),
    }
}

/// A cell as a number; of a text such as `0.06 nats`, the number that it begins with.
pub(super) fn number(cell: &Value) -> Option<f64> {
    let first = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
    cell.as_f64().or_else(|| first(cell.as_str()?))
}
