//! Tables on standard output: no wider than the terminal, and into a pipe a line a row with every value whole.

use std::env;
use std::io::{self, IsTerminal};

use mlsys_view::text::{cell, fitted, one_line, unfitted, wrapped};

/// Terminals that say they are narrower are not believed.
const NARROWEST: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// That of a file or a pipe, where programs read line by line.
    Unlimited,
    Columns(usize),
}

impl Width {
    /// That of standard output. `COLUMNS` stands for the width of the terminal.
    pub fn of_output() -> Self {
        if !io::stdout().is_terminal() {
            return Self::Unlimited;
        }
        let size = crossterm::terminal::size().ok().map(|(columns, _)| usize::from(columns));
        Self::of_terminal(env::var("COLUMNS").ok().as_deref(), size)
    }

    fn of_terminal(variable: Option<&str>, size: Option<usize>) -> Self {
        let variable = variable.and_then(|columns| columns.trim().parse().ok());
        let columns = variable.or(size).filter(|columns| *columns > 0);
        columns.map_or(Self::Unlimited, |columns| Self::Columns(columns.max(NARROWEST)))
    }

    /// A value as a cell: on a terminal a long one is cut.
    pub fn value(self, text: &str, longest: usize) -> String {
        match self {
            Self::Unlimited => one_line(text),
            Self::Columns(_) => cell(text, longest),
        }
    }

    /// The columns of a line of prose.
    pub fn prose(self, most: usize) -> usize {
        match self {
            Self::Unlimited => most,
            Self::Columns(columns) => columns.min(most),
        }
    }

    /// A sentence that may go on in further lines, which are indented by two columns.
    pub fn sentence(self, text: &str) -> Vec<String> {
        match self {
            Self::Unlimited => vec![text.to_owned()],
            Self::Columns(columns) => {
                let mut lines = wrapped(text, columns, "");
                if lines.len() > 1 {
                    let rest = lines.split_off(1).join(" ");
                    lines.extend(wrapped(&rest, columns.saturating_sub(2), "  "));
                }
                lines
            }
        }
    }

    /// The lines of each row, each after the indent.
    pub fn rows(self, rows: &[Vec<String>], indent: &str) -> Vec<Vec<String>> {
        let mut lines = match self {
            Self::Unlimited => unfitted(rows),
            Self::Columns(columns) => fitted(rows, columns.saturating_sub(indent.len())),
        };
        for line in lines.iter_mut().flatten() {
            line.insert_str(0, indent);
            line.truncate(line.trim_end().len());
        }
        lines
    }

    pub fn table(self, rows: &[Vec<String>], indent: &str) -> Vec<String> {
        self.rows(rows, indent).concat()
    }
}

/// By this, names that end in numbers are in the order of these: `layer2` before `layer10`.
pub fn numbered(name: &str) -> (&str, usize, &str) {
    (name.trim_end_matches(|c: char| c.is_ascii_digit()), name.len(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_in_their_own_order() {
        let mut names = ["loss", "b.layer10", "b.layer9", "a.2", "b.layer", "a.11"];
        names.sort_by_key(|name| numbered(name));
        assert_eq!(names, ["a.2", "a.11", "b.layer", "b.layer9", "b.layer10", "loss"]);
    }

    #[test]
    fn the_variable_stands_for_the_terminal() {
        for (variable, size, expected) in [
            (None, Some(80), Width::Columns(80)),
            (Some("60"), Some(80), Width::Columns(60)),
            (Some("wide"), Some(80), Width::Columns(80)),
            (Some("3"), None, Width::Columns(20)),
            (Some("0"), None, Width::Unlimited),
            (None, None, Width::Unlimited),
        ] {
            assert_eq!(Width::of_terminal(variable, size), expected, "{variable:?}");
        }
    }

    #[test]
    fn sentences_and_tables_keep_to_the_width() {
        let rows = [vec!["name".to_owned(), "a value of several words".repeat(4)]];
        for columns in 20..120 {
            let width = Width::Columns(columns);
            let lines = width.table(&rows, "  ");
            let lines = lines.into_iter().chain(width.sentence(&rows[0].join(" ")));
            for line in lines {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
        }
        assert_eq!(Width::Unlimited.table(&rows, "  ").len(), 1);
        assert_eq!(Width::Unlimited.value("a\nlong value", 4), "a long value");
        assert_eq!(Width::Columns(80).value("a\nlong value", 4), "a lo …");
    }
}
