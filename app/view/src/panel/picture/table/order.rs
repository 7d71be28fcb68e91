//! The rows of a table that a view shows, in its order.

use mlsys_lab::frame::Table;

use crate::panel::view::FrameView;

/// The rows that are shown, in their order, as places in the table.
pub fn rows(table: &Table, view: &FrameView) -> Vec<usize> {
    table.shown(view.sort, view.filter.as_ref())
}
