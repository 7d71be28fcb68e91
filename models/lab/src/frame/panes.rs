//! Several pictures side by side.

use serde::{Deserialize, Serialize};

use super::Frame;

/// One of several pictures side by side, such as one heat map a head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pane {
    /// What stands above it.
    pub title: String,
    /// The picture.
    pub frame: Frame,
}
