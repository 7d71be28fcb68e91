//! What wrote an element of a buffer: the launch once more, a step at a time, with an eye on the element.

use crate::Machine;
use crate::lab::Job;
use crate::machine::position;
use mlsys_lab::{LabError, Params, Run};

/// Reports what wrote the element that `watch` names, if it names one.
pub(super) fn report(run: &mut Run<'_>, job: &Job, machine: &Machine) -> Result<(), LabError> {
    if let Some(watched) = Watched::read(&run.params, machine)?
        && let Some(writer) = watched.written(job.launched()?, machine.clock())
    {
        run.scalar("watched_write", writer);
    }
    Ok(())
}

/// An element of a buffer.
struct Watched {
    buffer: String,
    element: usize,
}

impl Watched {
    fn read(params: &Params, machine: &Machine) -> Result<Option<Self>, LabError> {
        if params.get("watch").is_none() {
            return Ok(None);
        }
        let text = params.text("watch")?;
        let parts = text.strip_suffix(']').and_then(|text| text.split_once('['));
        let named = parts.and_then(|(buffer, element)| {
            Some(Self { buffer: buffer.to_owned(), element: element.parse().ok()? })
        });
        let there = named.filter(|named| machine.cell(&named.buffer, named.element).is_some());
        there.map(Some).ok_or_else(|| {
            let message = format!("{text} is no element of a buffer, such as C[5]");
            LabError::contradiction(["watch"], message)
        })
    }

    /// The step that gave the element its last value, in words; none if nothing was written there.
    fn written(&self, mut machine: Machine, steps: u64) -> Option<String> {
        let now = |machine: &Machine| {
            let cell = machine.cell(&self.buffer, self.element)?;
            let bits = machine.element(&self.buffer, self.element)?.to_bits();
            Some((bits, cell.written, cell.rewritten))
        };
        let mut before = now(&machine);
        let mut writer = None;
        while machine.clock() < steps
            && let Some(step) = machine.step()
        {
            let after = now(&machine);
            if after != before {
                writer = Some((step, machine.clock()));
            }
            before = after;
        }
        let (step, clock) = writer?;
        let block = position(step.block, machine.launch().grid_dim);
        let (line, warp) = (step.place.line, step.warp);
        Some(format!("line {line}, warp {warp} of block {block:?}, step {clock}"))
    }
}
