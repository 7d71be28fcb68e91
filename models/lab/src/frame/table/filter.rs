//! Which rows of a table are shown, as somebody types it.

use std::cmp::Ordering;

use super::{column, number};
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
        Ok(Some(Self { text: text.to_owned(), test }))
    }

    /// Whether a row is shown.
    pub fn holds(&self, row: &[Value]) -> bool {
        match &self.test {
            Test::Contains(text) => {
                row.iter().any(|cell| cell.to_string().to_lowercase().contains(text))
            }
            Test::Compare { column, comparison, with } => {
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

fn operand(text: &str, sign: &str, comparison: Comparison) -> Result<Operand, String> {
    match (text.replace('_', "").parse::<f64>(), comparison) {
        (Ok(x), _) if x.is_finite() => Ok(Operand::Number(x)),
        (_, Comparison::Equal | Comparison::NotEqual) if !text.is_empty() => {
            Ok(Operand::Text(text.to_lowercase()))
        }
        _ if text.is_empty() => Err(format!("a number stands behind {sign}, such as {sign} 3")),
        _ => Err(format!("'{text}' is not a number, and {sign} compares numbers")),
    }
}
