//! What lies over the page: one thing at a time, which takes the keys until Esc leaves it.

use super::command::Place;
use super::palette::Palette;

/// Something over the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// The page of all commands.
    Help {
        /// Its first line shown.
        scroll: usize,
    },
    /// Everything that can be done or opened, by name.
    Palette(Palette),
    /// Everything that is wrong with the followed lesson file.
    Problems {
        /// The first line shown.
        scroll: usize,
    },
}

impl Overlay {
    /// Where the keys go while it is there.
    pub fn place(&self) -> Place {
        match self {
            Self::Help { .. } | Self::Problems { .. } => Place::Help,
            Self::Palette(_) => Place::Palette,
        }
    }
}
