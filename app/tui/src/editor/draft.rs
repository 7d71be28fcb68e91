//! Where the text of an editor comes from.

/// Where a text comes from that is told of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftOrigin {
    /// It was kept when the editor was left.
    Kept,
    /// Another program has saved it just now.
    Saved,
}
