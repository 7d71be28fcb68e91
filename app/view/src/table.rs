//! Columns of text, aligned.

use unicode_width::UnicodeWidthStr;

/// Rows as lines, each column as wide as its widest cell; no line ends in spaces.
pub fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, &width)| format!("{cell}{}", " ".repeat(width - cell.width())))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A text that fits a cell: one line, and not without end.
pub fn cell(text: &str, longest: usize) -> String {
    let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let short: String = characters.by_ref().take(longest).collect();
    if characters.next().is_some() { format!("{short} …") } else { short }
}

/// A text as lines of at most `width` columns where its words allow, each after an indent.
pub fn wrapped(text: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = line.width() + 1 + word.width();
        if !line.is_empty() && longer > width {
            lines.push(format!("{indent}{line}"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(format!("{indent}{line}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_lines_end_in_text() {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        let rows = [row(&["µs", "1"]), row(&["seconds", ""]), row(&["a"])];
        assert_eq!(aligned(&rows), ["µs       1", "seconds", "a"]);
        let rows = [row(&["漢字", "1"]), row(&["abcdef", "2"])];
        assert_eq!(aligned(&rows), ["漢字    1", "abcdef  2"]);
        assert!(aligned(&[]).is_empty());
    }

    #[test]
    fn long_texts_are_cut_or_wrapped() {
        assert_eq!(cell("a\nb", 9), "a b");
        assert_eq!(cell("abcdef", 3), "abc …");
        assert_eq!(wrapped("one two three", 7, "  "), ["  one two", "  three"]);
        assert_eq!(wrapped("unbreakable", 3, ""), ["unbreakable"]);
    }
}
