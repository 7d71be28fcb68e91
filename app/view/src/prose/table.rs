//! A table as lines of columns.

use pulldown_cmark::Alignment;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

use crate::prose::Styles;

#[derive(Default)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// Adds to the cell under construction.
    pub(super) fn cell(&mut self, text: &str) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
            cell.push_str(text);
        }
    }

    /// The table as lines, its head above a rule.
    pub(super) fn lines(&self, styles: Styles, rule: &str) -> Vec<Line<'static>> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let style = if index == 0 { styles.heading } else { styles.text };
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
                let pad = width.saturating_sub(cell.width());
                match self.alignments.get(column) {
                    Some(Alignment::Right) => format!("{}{cell}", " ".repeat(pad)),
                    Some(Alignment::Center) => {
                        let left = pad / 2;
                        format!("{}{cell}{}", " ".repeat(left), " ".repeat(pad - left))
                    }
                    Some(Alignment::Left | Alignment::None) | None => {
                        format!("{cell}{}", " ".repeat(pad))
                    }
                }
            });
            lines.push(Line::styled(cells.collect::<Vec<_>>().join("  "), style));
            if index == 0 {
                let total = widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1);
                lines.push(Line::styled(rule.repeat(total), styles.dim));
            }
        }
        lines
    }
}
