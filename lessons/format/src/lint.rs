//! What makes a question easier than it is meant to be: an answer that is shown before it is asked for, options that are
//! told apart by their length, and numbers drawn by learner that make a worse question than the printed ones. And
//! explanations that presume a measurement, and products that Markdown draws as italics.

mod drawn_labs;
mod italics;
mod labs;
mod length;
mod numbers;
mod presumption;
mod spoiler;
mod variants;

pub use italics::italic_products;
pub use length::telling_lengths;
pub use presumption::presumptions;
pub use spoiler::{DrawnTexts, PanelTexts, spoilers};
pub use variants::variants;
