//! What the targets share: the labs a lesson may name, and what must hold of a kernel.

pub mod kernel;

use std::sync::LazyLock;

use mlsys_lab::{LabError, Registry};
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::schema::Schema;

/// The instant labs as they are, and the live one by its schema alone: no target trains a network.
pub static LABS: LazyLock<Registry> = LazyLock::new(|| {
    let train = Schema::parse(include_str!("../../models/live/src/train/lab.toml"));
    let train = Known(train.expect("the schema is tested where it is written"));
    Registry::on_demand(mlsys_analytic::labs()).with(vec![Box::new(train)])
});

/// A lab that is only looked at.
struct Known(Schema);

impl Lab for Known {
    fn schema(&self) -> &Schema {
        &self.0
    }

    fn run(&self, _: &mut Run<'_>) -> Result<(), LabError> {
        Ok(())
    }
}

/// Checks a sentence that goes to a terminal: one line or several, and nothing that moves or recolours it.
pub fn is_printable(text: &str) {
    let control = |c: char| c.is_control() && c != '\n';
    assert!(!text.chars().any(control), "not printable: {text:?}");
}
