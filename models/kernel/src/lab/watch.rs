//! Which instruction gave an element of a buffer its value: the launch is run again, step by step.

use crate::lab::Job;
use crate::machine::{Reach, index, position};
use crate::{LANES, Machine, Step};
use mlsys_lab::frame::kernel::{Element, Problem};
use mlsys_lab::{LabError, Params, Run};

/// Reports what wrote the element that `watch` names, if it names one.
pub(super) fn report(
    run: &mut Run<'_>,
    job: &Job,
    machine: &Machine,
) -> Result<Option<Problem>, LabError> {
    let Some(watched) = Watched::read(&run.params, machine)? else { return Ok(None) };
    let write = watched.written(job.launched()?, machine.clock());
    if let Some(Write { sentence, .. }) = &write {
        run.scalar("watched_write", sentence.as_str());
    }
    Ok(write.map(|write| write.place))
}

struct Write {
    sentence: String,
    place: Problem,
}

/// The element to find the last write of.
struct Watched(Element);

impl Watched {
    fn read(params: &Params, machine: &Machine) -> Result<Option<Self>, LabError> {
        if params.get("watch").is_none() {
            return Ok(None);
        }
        let text = params.text("watch")?;
        let parts = text.strip_suffix(']').and_then(|text| text.split_once('['));
        let named = parts.and_then(|(buffer, element)| {
            Some(Element { buffer: buffer.to_owned(), at: element.parse().ok()? })
        });
        let there = named.filter(|named| machine.cell(&named.buffer, named.at).is_some());
        there.map(Self).map(Some).ok_or_else(|| {
            let message = format!("{text} is no element of a buffer, such as C[5]");
            LabError::contradiction(["watch"], message)
        })
    }

    /// The step that gave the element its last value; none if nothing was written there.
    fn written(&self, mut machine: Machine, steps: u64) -> Option<Write> {
        let Element { buffer, at } = &self.0;
        let now = |machine: &Machine| {
            let cell = machine.cell(buffer, *at)?;
            let bits = machine.element(buffer, *at)?.to_bits();
            Some((bits, cell.written, cell.rewritten))
        };
        let mut before = now(&machine);
        let mut writer = None;
        while machine.clock() < steps
            && let Some(step) = machine.step()
        {
            let after = now(&machine);
            if after != before {
                writer = Some((step, self.lane(&machine, &step), machine.clock()));
            }
            before = after;
        }
        let (step, lane, clock) = writer?;
        let (line, warp) = (step.place.line, step.warp);
        let block = position(step.block, machine.launch().grid_dim);
        let place = Problem {
            step: clock - 1,
            fault: "wrong write".to_owned(),
            line,
            block,
            thread: machine.thread(warp * LANES as u32 + lane),
            sentence: format!("writes {}", self.0),
            outside: None,
        };
        let sentence = format!("line {line}, warp {warp} of block {}, step {clock}", index(block));
        Some(Write { sentence, place })
    }

    /// The lane of a step that wrote the element: of those that write wide vectors, the last that begins before it.
    fn lane(&self, machine: &Machine, step: &Step) -> u32 {
        let access = machine.last_access(step.block, step.warp as usize);
        let reached = access.map(|(_, _, reached)| reached).into_iter().flatten();
        let begins = |reach: Option<Reach>| match reach {
            Some(Reach::Global { buffer, element, .. }) if buffer == self.0.buffer => Some(element),
            Some(_) | None => None,
        };
        let before = |(_, element): &(u32, i64)| *element <= self.0.at as i64;
        let lanes = (0..).zip(reached).filter_map(|(lane, reach)| Some((lane, begins(reach)?)));
        lanes.filter(before).max_by_key(|(_, element)| *element).map_or(0, |(lane, _)| lane)
    }
}
