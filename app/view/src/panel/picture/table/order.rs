//! How the rows of a table are sorted and filtered.

use mlsys_lab::frame::Table;

use crate::panel::view::FrameView;

/// How a table is sorted and filtered, in words; nothing if it is as the lab sent it.
pub(crate) fn ordered(table: &Table, view: &FrameView) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(filter) = &view.filter {
        let shown = rows(table, view).len();
        parts.push(format!("{shown} of {} rows: {}", table.rows.len(), filter.text));
    }
    if let Some(sort) = view.sort {
        let name = table.columns.get(sort.column).map_or("", String::as_str);
        parts.push(format!("sorted by {name}, {}", sort.order));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The rows that are shown, in their order, as places in the table.
pub fn rows(table: &Table, view: &FrameView) -> Vec<usize> {
    table.shown(view.sort, view.filter.as_ref())
}
