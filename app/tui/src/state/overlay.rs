//! What lies over the page: one thing at a time, which takes the keys until Esc leaves it.

use crate::command::Place;
use crate::glossary::GlossaryList;
use crate::list::TextField;
use crate::palette::{Palette, Target};
use crate::records::Records;
use crate::search::Search;

#[derive(Clone, Debug, PartialEq)]
pub enum Overlay {
    Help { scroll: usize },
    Presets { chosen: usize },
    Line(String),
    Palette(Palette),
    Confirm(Confirm),
    Steps(TextField),
    Search(Search),
    Filter(TextField),
    Rows(TextField),
    Weights(TextField),
    Glossary(GlossaryList),
    Records(Records),
    Problems { scroll: usize },
}

impl Overlay {
    pub fn place(&self) -> Place {
        match self {
            Self::Help { .. } | Self::Problems { .. } => Place::Help,
            Self::Presets { .. } => Place::Presets,
            Self::Line(_) => Place::Line,
            Self::Palette(_) => Place::Palette,
            Self::Confirm(_) => Place::Confirm,
            Self::Steps(_) => Place::Steps,
            Self::Search(_) => Place::Search,
            Self::Filter(_) => Place::Filter,
            Self::Rows(_) => Place::Rows,
            Self::Weights(_) => Place::Weights,
            Self::Glossary(_) => Place::Glossary,
            Self::Records(_) => Place::Records,
        }
    }

    /// Its field, if it is one in the last line of the screen.
    pub fn field(&mut self) -> Option<&mut TextField> {
        if let Self::Steps(field) | Self::Filter(field) | Self::Rows(field) | Self::Weights(field) =
            self
        {
            Some(field)
        } else if let Self::Search(search) = self {
            Some(&mut search.entry)
        } else {
            None
        }
    }

    /// Whether it is of the same kind as another, whatever either shows.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirm {
    Reset,
    Leave,
    Go(Target),
    /// Opening a lab's own page anew with the preset of this place in its list, while its run goes on.
    Preset(usize),
    Quit,
}

impl Confirm {
    pub fn sentence(&self) -> &'static str {
        match self {
            Self::Reset => "reset: y puts the knobs back and ends the run, any other key keeps",
            Self::Leave => {
                "a run goes on: y ends it and goes back to the course, any other key stays"
            }
            Self::Go(_) => "a run goes on: y ends it and leaves this lesson, any other key stays",
            Self::Preset(_) => "a run goes on: y ends it and takes the preset, any other key keeps",
            Self::Quit => {
                "a run goes on: y or ctrl-c again ends it and leaves mlsys, any other key stays"
            }
        }
    }
}
