//! The workbench on the screen: an event loop around a pure state.
//!
//! Keys, runs, probing and signals are messages; [`app::App::update`] turns each into effects; [`view::draw`] reads
//! the state. The loop draws after a message and never otherwise, so nothing moves when nothing happens.

pub mod answer;
pub mod app;
pub mod command;
pub mod confirm;
pub mod document;
pub mod driver;
pub mod earlier;
pub mod editor;
pub mod entry;
pub mod fuzzy;
pub mod history;
pub mod judge;
pub mod key;
pub mod line;
pub mod message;
pub mod overlay;
pub mod own_page;
pub mod page;
pub mod palette;
pub mod panel;
pub mod picture;
pub mod plain;
pub mod preview;
pub mod prose;
mod records;
pub mod search;
pub mod slot;
#[cfg(test)]
mod snapshot;
pub mod svg;
pub mod terminal;
pub mod terms;
#[cfg(test)]
mod tests;
pub mod theme;
pub mod view;
pub mod wait;
pub mod wrap;

pub(crate) use crate::glyphs;
pub use driver::{
    Broken, Follow, KnobTurn, Leaving, Left, Opening, Options, Prompt, run, run_plain, serve_run,
};
