//! What makes a question easier than it is meant to be: an answer that is shown before it is asked for, options that are
//! told apart by their length, and numbers drawn by learner that make a worse question than the printed ones. And
//! explanations that presume a measurement, predictions revealed far below, metrics that are nowhere on the screen,
//! products that Markdown draws as italics, numbers that it draws as items, and what is wider than a terminal.

mod drawn_labs;
mod italics;
mod labs;
mod length;
mod numbers;
mod overflow;
mod presumption;
mod reveal;
mod spoiler;
mod starts;
mod unseen;
mod variants;

pub use italics::italic_products;
pub use length::telling_lengths;
pub use overflow::{PROSE_COLUMNS, overflow};
pub use presumption::presumptions;
pub use reveal::distant_reveals;
pub use spoiler::{DrawnTexts, PanelTexts, spoilers};
pub use starts::numbered_starts;
pub use unseen::unseen_metrics;

use mlsys_lab::Registry;

use crate::diagnostic::Diagnostic;
use crate::model::Lesson;

/// An error for the first draw of each question, prediction, try and check, and for the first of the lesson's labs, that is no good one. `texts`
/// gives what a panel writes.
pub fn variants(lesson: &Lesson, registry: &Registry, texts: &DrawnTexts<'_>) -> Vec<Diagnostic> {
    let found = variants::drawn_directives(lesson, registry);
    if found.is_empty() { drawn_labs::drawn_labs(lesson, registry, texts) } else { found }
}
