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
    Search(Search),
    Field(FieldOf, TextField),
    Glossary(GlossaryList),
    Records(Records),
    Problems { scroll: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOf {
    Steps,
    Lessons,
    Rows,
    Weights,
}

impl Overlay {
    pub fn place(&self) -> Place {
        match self {
            Self::Help { .. } | Self::Problems { .. } => Place::Help,
            Self::Presets { .. } => Place::Presets,
            Self::Line(_) => Place::Line,
            Self::Palette(_) => Place::Palette,
            Self::Confirm(_) => Place::Confirm,
            Self::Search(_) => Place::Search,
            Self::Field(FieldOf::Steps, _) => Place::Steps,
            Self::Field(FieldOf::Lessons, _) => Place::Filter,
            Self::Field(FieldOf::Rows, _) => Place::Rows,
            Self::Field(FieldOf::Weights, _) => Place::Weights,
            Self::Glossary(_) => Place::Glossary,
            Self::Records(_) => Place::Records,
        }
    }

    pub fn field(&mut self) -> Option<&mut TextField> {
        match self {
            Self::Field(_, field) => Some(field),
            Self::Search(search) => Some(&mut search.entry),
            Self::Palette(palette) => Some(&mut palette.list.entry),
            Self::Glossary(terms) => Some(&mut terms.list.entry),
            Self::Help { .. }
            | Self::Problems { .. }
            | Self::Presets { .. }
            | Self::Line(_)
            | Self::Confirm(_)
            | Self::Records(_) => None,
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
