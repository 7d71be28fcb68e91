//! What makes a question easier than it is meant to be: an answer that is shown before it is asked for, options that are
//! told apart by their length, and numbers drawn by learner that make a worse question than the printed ones.
//! Further explanations that presume a measurement, and predictions revealed far below.

mod drawn_labs;
mod labs;
mod length;
mod numbers;
mod presumption;
mod reveal;
mod spoiler;
mod variants;

pub use length::telling_lengths;
pub use presumption::presumptions;
pub use reveal::distant_reveals;
pub use spoiler::{DrawnTexts, PanelTexts, spoilers};
pub use variants::variants;
