//! The workbench on the screen: an event loop around a pure state.
//!
//! Keys, runs, probing and signals are messages; [`state::App::update`] turns each into effects; [`view::draw`] reads
//! the state. The loop draws after a message and never otherwise, so nothing moves when nothing happens.

#![expect(unreachable_pub, reason = "`pub` marks what a module offers to the others")]

pub mod answer;
pub mod command;
pub mod deadline;
pub mod document;
pub mod driver;
pub mod editor;
pub mod fuzzy;
pub mod glossary;
pub mod grading;
pub mod key;
mod lines;
pub mod list;
pub mod message;
pub mod model_page;
pub mod own_page;
pub mod palette;
pub mod picture;
pub mod records;
pub mod search;
pub mod state;
pub mod terminal;
#[cfg(test)]
mod tests;
pub mod update;
pub mod view;

pub use driver::{
    Broken, Follow, Leaving, Left, Opening, Options, Prompt, run, run_plain, serve_run,
};
