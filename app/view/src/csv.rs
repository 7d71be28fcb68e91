//! Comma-separated values after RFC 4180: a header, lines that end in CR LF, quotes where needed.

use std::fmt::Debug;

use mlsys_lab::value::Value;

#[derive(Default)]
pub(crate) struct Lines {
    pub(crate) text: String,
    /// What stands before the next line and before those after it.
    pub(crate) before: Option<(String, String)>,
}

impl Lines {
    pub(crate) fn line<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let before = self.before.as_mut();
        let before = before.map(|(next, later)| std::mem::replace(next, later.clone()));
        if let Some(cell) = before {
            self.text.push_str(&format!("{},", self::cell(&cell)));
        }
        for (place, cell) in cells.into_iter().enumerate() {
            if place > 0 {
                self.text.push(',');
            }
            self.text.push_str(&self::cell(cell.as_ref()));
        }
        self.text.push_str("\r\n");
    }
}

/// A cell, in quotes where it must be. One that begins as a formula does, and is no number, has an apostrophe before it:
/// spreadsheets take it as text.
pub fn cell(text: &str) -> String {
    // Spreadsheets of East Asian languages read the wide signs as the others.
    let wide = ['＝', '＋', '－', '＠'];
    let starts = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) || text.starts_with(wide);
    let apostrophe = if starts && text.parse::<f64>().is_err() { "'" } else { "" };
    if text.contains([',', '"', '\r', '\n']) {
        format!("\"{apostrophe}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{apostrophe}{text}")
    }
}

/// The shortest text that reads back as the same number; empty if it is not finite.
pub(crate) fn number(x: f64) -> String {
    if x.is_finite() { shortest(&x) } else { String::new() }
}

/// The same for single precision: its shortest text is shorter.
pub(crate) fn single(x: f32) -> String {
    if x.is_finite() { shortest(&x) } else { String::new() }
}

fn shortest(x: &dyn Debug) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

pub(crate) fn exact(value: &Value) -> String {
    if let Value::Float(x) = value { number(*x) } else { value.to_string() }
}

pub(crate) fn known(x: Option<f64>) -> String {
    x.map_or(String::new(), number)
}

/// `name (unit)`, or the name alone.
pub fn titled(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} ({unit})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for (text, expected) in [
            ("=1+1", "'=1+1"),
            ("+a", "'+a"),
            ("-2.5", "-2.5"),
            ("-x", "'-x"),
            ("＝1+1", "'＝1+1"),
            ("@a,b", "\"'@a,b\""),
            ("\t=1", "'\t=1"),
            ("\n=1", "\"'\n=1\""),
            ("a \"b\"", "\"a \"\"b\"\"\""),
            ("", ""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
