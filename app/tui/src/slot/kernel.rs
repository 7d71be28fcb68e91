//! A lab's kernel, and the learner's own text in its place.

use mlsys_kernel as kernel;
use mlsys_lab::params::{Given, Params, Settings};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;

use super::Slot;

/// The kind of lab that runs kernels.
const KIND: &str = "kernel";

/// A text that a lab runs in the place of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The example that it began as; with another one it means nothing.
    pub example: String,
    /// The text.
    pub text: String,
}

impl Slot {
    /// The example that the lab runs and its text without the learner's changes; none if it runs no kernel.
    pub fn kernel_text(&self) -> Option<(String, String)> {
        if self.schema.kind != KIND {
            return None;
        }
        let settings = self.turned();
        let params =
            Params::resolve(self.schema, &settings, Tables::builtin(), Some(self.seed)).ok()?;
        let example = params.get("example").and_then(Value::as_str)?;
        let given = params.get("source").and_then(Value::as_str);
        let source = given.or_else(|| kernel::example(example)).unwrap_or_default();
        Some((example.to_owned(), source.to_owned()))
    }

    /// Whether the learner's own text is of the example that the knobs choose.
    pub(super) fn runs_own_text(&self) -> bool {
        let example = self.kernel_text().map(|(example, _)| example);
        let own = self.edited.as_ref().map(|edited| &edited.example);
        own.is_some() && own == example.as_ref()
    }

    /// Settings with the learner's own text over them, where there is one for the example that they choose.
    pub(super) fn with_own_text(&self, settings: Settings) -> Settings {
        let Some(edited) = &self.edited else {
            return settings;
        };
        if !self.runs_own_text() {
            return settings;
        }
        let mut own = Settings::new();
        own.push("source", Given::Value(edited.text.as_str().into()));
        settings.overlaid(&own)
    }
}
