//! How the rows of a table are sorted and filtered.

use mlsys_lab::frame::Table;

use crate::panel::view::{FrameView, Mark};

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

/// The place of the run's own row among those shown.
pub(super) fn own_place(table: &Table, shown: &[usize]) -> Option<usize> {
    let own = table.own_row()?;
    shown.iter().position(|index| *index == own)
}

/// The rows that decide how wide columns are: as many as a height has, from the first on, and about the marked one or up to
/// the run's own.
pub(super) fn near(
    shown: &[usize],
    own: Option<usize>,
    mark: Option<Mark>,
    height: u16,
) -> Vec<usize> {
    let height = usize::from(height);
    let first = shown.iter().take(height);
    let around = match (mark, own) {
        (Some(mark), _) => mark.row.saturating_sub(height)..mark.row + height,
        (None, own) => own.unwrap_or(0).saturating_sub(height)..own.unwrap_or(0) + 1,
    };
    let around = around.start.max(height)..around.end.min(shown.len());
    first.chain(shown.get(around).unwrap_or_default()).copied().collect()
}
