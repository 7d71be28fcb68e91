//! Which row or bar of a picture is that of the run itself: the one that says `this one`.

use crate::frame::{Bar, Table};

impl Bar {
    /// Whether its label or its remark says so.
    pub fn is_own(&self) -> bool {
        says_own(&self.label) || says_own(&self.remark)
    }
}

impl Table {
    /// The first row that says so in a column without a title.
    pub fn own_row(&self) -> Option<usize> {
        let is_own = |row: usize, column: usize| {
            let cell = self.cell(row, column).and_then(|value| value.as_str());
            cell.is_some_and(says_own)
        };
        let untitled: Vec<usize> = (0..self.columns.len())
            .filter(|column| *column > 0 && self.columns[*column].is_empty())
            .collect();
        (0..self.rows.len()).find(|row| untitled.iter().any(|column| is_own(*row, *column)))
    }
}

/// Whether a part of a remark is `this`, with at most one word behind it: `this one`, `24 TFLOP/s, this run`, `(this)`.
fn says_own(remark: &str) -> bool {
    remark.split([',', '(']).any(|part| {
        let mut words = part.trim().trim_end_matches(')').split(' ');
        words.next() == Some("this") && words.count() <= 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_row_says_so() {
        for (remark, is_own) in [
            ("this one", true),
            ("24.6 TFLOP/s, this run", true),
            ("83.0% full (this)", true),
            ("this", true),
            ("", false),
            ("next to this run", false),
            ("this is what others count", false),
        ] {
            assert_eq!(says_own(remark), is_own, "{remark}");
        }
        let row = |name: &str, remark: &str| vec![name.into(), remark.into()];
        let rows = vec![row("this one", ""), row("b", "other"), row("c", "this kernel")];
        let table = Table::new(["name", ""].map(str::to_owned).to_vec(), rows);
        assert_eq!(table.own_row(), Some(2));
    }
}
