//! Pictures of runs, text layout and themes: drawn into ratatui's buffer of cells, or as SVG, CSV and words.
//!
//! Nothing here handles events, touches the terminal or knows where files lie.

#![expect(unreachable_pub, reason = "`pub` marks what a module offers to the others")]

pub mod attempts;
pub(crate) mod axis;
pub mod canvas;
pub mod csv;
pub mod earlier;
pub mod export;
pub mod glyphs;
pub mod html;
pub mod metrics;
pub mod panel;
pub mod prose;
pub mod quantity;
pub mod svg;
pub mod text;
pub mod theme;
pub mod xml;

pub use panel::picture::kernel;
