//! Numbers as they stand in texts.

use crate::grade::quantity::{self, Written};

/// A number in a text.
pub(super) struct Token<'t> {
    /// Where it begins.
    pub(super) at: usize,
    pub(super) digits: &'t str,
    /// The word behind it.
    pub(super) behind: Option<&'t str>,
}

/// A number in a text as it reads where a unit is asked for.
#[derive(Clone, Copy)]
pub(super) struct Reading {
    pub(super) plain: Option<Written>,
    /// With the word behind it as its unit.
    pub(super) with_unit: Option<Written>,
    /// Whether that word is the unit that is asked for.
    pub(super) has_unit: bool,
}

impl Reading {
    pub(super) fn new(token: &Token<'_>, unit: Option<&str>) -> Self {
        let digits = token.digits.replace(',', "");
        let with_unit = |behind: &str| quantity::read(&format!("{digits} {behind}"), unit).ok();
        let has_unit = unit.is_some_and(|unit| {
            let first = unit.split(' ').next().unwrap_or(unit);
            token.behind.is_some_and(|behind| {
                let same = |a: &str, b: &str| {
                    a.trim_end_matches('s').eq_ignore_ascii_case(b.trim_end_matches('s'))
                };
                same(behind, first)
            })
        });
        let plain = quantity::read(&digits, None).ok();
        Self { plain, with_unit: token.behind.and_then(with_unit), has_unit }
    }
}

/// The numbers of a text in order: digits, `.` and `_` between them, an exponent.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + text[from..].find(|c: char| c.is_ascii_digit())?;
            let rest = &text[at..];
            let mut length = run_of(rest, |c| c.is_ascii_digit() || matches!(c, '_' | ','));
            let groups = rest[..length].trim_end_matches(',').split(',').skip(1);
            if groups.into_iter().any(|group| group.len() != 3) {
                length = rest.find(',').unwrap_or(length);
            }
            if let Some(fraction) = rest[length..].strip_prefix('.') {
                let digits = run_of(fraction, |c| c.is_ascii_digit());
                length += if digits > 0 { digits + 1 } else { 0 };
            }
            let exponent =
                rest[length..].strip_prefix('e').map(|rest| rest.strip_prefix('-').unwrap_or(rest));
            if let Some(exponent) = exponent {
                let digits = run_of(exponent, |c| c.is_ascii_digit());
                if digits > 0 {
                    length = rest.len() - exponent.len() + digits;
                }
            }
            from = at + length;
            let digits = rest[..length].trim_end_matches([',', '_']);
            // Part of a name, such as `fp16` or `H100`.
            let is_name = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if !is_name {
                return Some(Token { at, digits, behind: word(&text[from..]) });
            }
        }
    })
}

fn run_of(text: &str, is_in: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_in(c)).unwrap_or(text.len())
}

/// The word or unit at the beginning of a text.
fn word(text: &str) -> Option<&str> {
    let text = text.strip_prefix(['*', '`']).unwrap_or(text).trim_start_matches(['*', ' ', '`']);
    let word = &text[..run_of(text, |c| c.is_alphabetic() || matches!(c, '/' | '%' | 'µ'))];
    (!word.is_empty()).then_some(word)
}
