//! Knobs that are turned while a run goes on.

use mlsys_lab::report::{Change, Report};
use mlsys_lab::{LabError, Params, Run, Schema, Tables, Value};

/// Turns knobs one by one and reports each; nothing if none was turned. What `read` makes of the parameters takes
/// effect with the next step. One that contradicts the others, or that the
/// memory cannot hold, is left where it was, and a notice says why: a run does not
/// end because a knob passed through a value that it cannot have.
pub(crate) fn turn<K>(
    schema: &Schema,
    run: &mut Run<'_>,
    params: &mut Params,
    step: u64,
    changes: Vec<(String, Value)>,
    read: impl Fn(&Params) -> Result<K, LabError>,
) -> Option<K> {
    let mut turned = None;
    for (name, value) in changes {
        let mut next = params.clone();
        next.turn(schema, Tables::builtin(), &name, value.clone());
        match read(&next) {
            Ok(knobs) => {
                *params = next;
                turned = Some(knobs);
                run.sink
                    .report(Report::Change(Change { step, name, value }));
            }
            Err(error) => {
                // Nothing has failed yet: where it would, what stands in the way is the whole of it.
                let why = if let LabError::Failed { reason, .. } = &error {
                    reason.clone()
                } else {
                    error.to_string()
                };
                let said = format!("{name} stays what it was: {why}");
                run.sink.report(Report::Notice(said));
            }
        }
    }
    turned
}
