//! The order in which each stage of a pipeline works off its microbatches.

use mlsys_lab::LabError;

/// More operations than this are not laid out: their order alone would take gigabytes.
pub const MOST_OPERATIONS: usize = 20_000_000;

mlsys_lab::named_enum! {
    /// An order of work, by its name in schemas.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Schedule {
        /// All forwards, then all backwards in the opposite order (fill and drain).
        GPipe = "gpipe",
        /// A few forwards, then forward and backward in turn.
        OneForwardOneBackward = "1f1b",
        /// The same with several chunks of layers on each stage.
        Interleaved = "interleaved-1f1b",
        /// Split backward passes, at most p microbatches unfinished on each of p stages.
        ZeroBubbleH1 = "zb-h1",
        /// Split backward passes, at most 2p - 1 microbatches unfinished on each stage.
        ZeroBubbleH2 = "zb-h2",
        /// 1F1B over a stream of microbatches that never ends, with an update after each backward (PipeDream).
        Asynchronous = "asynchronous",
    }
}

impl Schedule {
    /// Whether backward for inputs and backward for weights are operations of their own.
    pub fn splits_backward(self) -> bool {
        matches!(self, Self::ZeroBubbleH1 | Self::ZeroBubbleH2)
    }
}

/// What a stage does with a microbatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    Forward,
    /// Computes gradients for inputs and weights in one go.
    Backward,
    /// Computes gradients for its inputs, which the stage before waits for.
    BackwardInput,
    /// Computes gradients of its weights; no other stage depends on it.
    BackwardWeight,
}

impl Work {
    /// As it is written in timelines: F, B (also for a backward in one go) or W.
    pub fn letter(self) -> char {
        match self {
            Self::Forward => 'F',
            Self::Backward | Self::BackwardInput => 'B',
            Self::BackwardWeight => 'W',
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    pub work: Work,
    /// With which microbatch, from 0 on.
    pub microbatch: usize,
    /// By which of the stage's chunks of layers, from 0 on; 0 without interleaving.
    pub chunk: usize,
}

impl Operation {
    fn whole(work: Work, microbatch: usize) -> Self {
        Self { work, microbatch, chunk: 0 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    chunks: usize,
    microbatches: usize,
    stages: Vec<Vec<Operation>>,
}

impl Plan {
    /// The order of `schedule` on `stages` stages for `microbatches` microbatches; `chunks` counts for
    /// [`Schedule::Interleaved`] alone. Of [`Schedule::Asynchronous`] it is the beginning of the stream, drained.
    ///
    /// # Errors
    /// A count is 0, interleaving is asked for microbatches that are no multiple of the stages, or there would be
    /// more than [`MOST_OPERATIONS`] operations.
    pub fn new(
        schedule: Schedule,
        stages: usize,
        microbatches: usize,
        chunks: usize,
    ) -> Result<Self, LabError> {
        let chunks = if schedule == Schedule::Interleaved { chunks } else { 1 };
        check(schedule, stages, microbatches, chunks)?;
        let each = |of: &dyn Fn(usize) -> Vec<Operation>| (0..stages).map(of).collect();
        let orders = match schedule {
            Schedule::GPipe => each(&|_| fill_and_drain(microbatches)),
            Schedule::OneForwardOneBackward | Schedule::Asynchronous => {
                each(&|stage| in_turn(stages - 1 - stage, microbatches))
            }
            Schedule::Interleaved => {
                each(&|stage| interleaved(stages, stage, microbatches, chunks))
            }
            Schedule::ZeroBubbleH1 => each(&|stage| split(stages, stage, microbatches, stages)),
            Schedule::ZeroBubbleH2 => {
                let unfinished = microbatches.max(stages).min(2 * stages - 1);
                each(&|stage| split(stages, stage, microbatches, unfinished))
            }
        };
        Ok(Self { chunks, microbatches, stages: orders })
    }

    /// The first `steps` steps of an asynchronous pipeline that goes on after them: [`stream`] put end to end.
    ///
    /// # Errors
    /// As for [`Plan::new`].
    pub fn beginning(stages: usize, microbatches: usize, steps: usize) -> Result<Self, LabError> {
        let all = microbatches.saturating_mul(steps);
        check(Schedule::Asynchronous, stages, all, 1)?;
        let of = |stage| {
            let steps = (0..steps).map(|step| stream(stages, stage, microbatches, step));
            steps.flatten().collect()
        };
        Ok(Self {
            chunks: 1,
            microbatches: all + stages - 1,
            stages: (0..stages).map(of).collect(),
        })
    }

    /// An order of one's own; operations name microbatches below `microbatches` and chunks below `chunks`.
    #[cfg(test)]
    pub fn from_stages(chunks: usize, microbatches: usize, stages: Vec<Vec<Operation>>) -> Self {
        Self { chunks, microbatches, stages }
    }

    pub fn stages(&self) -> usize {
        self.stages.len()
    }

    pub fn microbatches(&self) -> usize {
        self.microbatches
    }

    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// What a stage does, in order; nothing for a stage that is not there.
    pub fn stage(&self, stage: usize) -> &[Operation] {
        self.stages.get(stage).map_or(&[], Vec::as_slice)
    }

    pub fn operations(&self) -> usize {
        self.stages.iter().map(Vec::len).sum()
    }

    /// Most microbatches in flight on a stage, counted in chunks: +1 at each forward, -1 at each backward (for inputs).
    pub fn peak_chunks(&self, stage: usize) -> usize {
        let mut now = 0_usize;
        let mut peak = 0;
        for operation in self.stage(stage) {
            match operation.work {
                Work::Forward => now += 1,
                Work::Backward | Work::BackwardInput => now = now.saturating_sub(1),
                Work::BackwardWeight => {}
            }
            peak = peak.max(now);
        }
        peak
    }
}

/// What a stage of an asynchronous pipeline does in a step, that is until the backward of the step's last microbatch:
/// its forwards run ahead by as many microbatches as there are stages after it, also into the next step.
///
/// Microbatches are counted through all steps. Between a microbatch's forward and its backward lie
/// `stages - 1 - stage` backwards of others, each followed by an update.
pub fn stream(
    stages: usize,
    stage: usize,
    microbatches: usize,
    step: usize,
) -> impl Iterator<Item = Operation> {
    let ahead = stages.saturating_sub(stage + 1);
    let first = if step == 0 { ahead } else { 0 };
    let filling = (0..first).map(|i| Operation::whole(Work::Forward, i));
    let steady = (step * microbatches..(step + 1) * microbatches).flat_map(move |i| {
        [Operation::whole(Work::Forward, i + ahead), Operation::whole(Work::Backward, i)]
    });
    filling.chain(steady)
}

fn check(
    schedule: Schedule,
    stages: usize,
    microbatches: usize,
    chunks: usize,
) -> Result<(), LabError> {
    for (name, count) in
        [("stages", stages), ("microbatches", microbatches), ("chunks_per_stage", chunks)]
    {
        if count == 0 {
            return Err(LabError::contradiction([name], "must be at least 1"));
        }
    }
    if schedule == Schedule::Interleaved && !microbatches.is_multiple_of(stages) {
        let below = microbatches / stages * stages;
        let near =
            if below == 0 { format!("{stages}") } else { format!("{below} or {}", below + stages) };
        return Err(LabError::contradiction(
            ["microbatches", "stages"],
            format!(
                "interleaved-1f1b hands microbatches round in groups of {stages}, one a stage, so their number must be a multiple of {stages}, such as {near}, not {microbatches}"
            ),
        ));
    }
    let each = if schedule.splits_backward() { 3 } else { 2 };
    let operations = [stages, microbatches, chunks].into_iter().fold(each, usize::saturating_mul);
    if operations > MOST_OPERATIONS {
        return Err(LabError::contradiction(
            ["stages", "microbatches", "chunks_per_stage"],
            format!(
                "{operations} operations are too many to play through one by one; choose counts whose product is at most {}",
                MOST_OPERATIONS / each
            ),
        ));
    }
    Ok(())
}

/// F 0..m-1, then B m-1..0.
fn fill_and_drain(microbatches: usize) -> Vec<Operation> {
    let forwards = (0..microbatches).map(|i| Operation::whole(Work::Forward, i));
    let backwards = (0..microbatches).rev().map(|i| Operation::whole(Work::Backward, i));
    forwards.chain(backwards).collect()
}

/// `ahead` forwards, then forward and backward in turn while forwards remain, then the remaining backwards.
fn in_turn(ahead: usize, microbatches: usize) -> Vec<Operation> {
    let forward = |i| Operation::whole(Work::Forward, i);
    let backward = |i| Operation::whole(Work::Backward, i);
    alternate(ahead, microbatches, forward, backward)
}

/// The order of Megatron-LM (Narayanan et al. 2021): groups of as many microbatches as stages go through chunk 0, then
/// chunk 1, and so on; backwards begin with the last chunk.
fn interleaved(stages: usize, stage: usize, microbatches: usize, chunks: usize) -> Vec<Operation> {
    let operation = |work, k: usize| {
        let within = k % (stages * chunks);
        let forward_chunk = within / stages;
        let chunk = if work == Work::Forward { forward_chunk } else { chunks - 1 - forward_chunk };
        Operation { work, microbatch: k / (stages * chunks) * stages + k % stages, chunk }
    };
    let ahead = 2 * (stages - 1 - stage) + (chunks - 1) * stages;
    alternate(
        ahead,
        microbatches * chunks,
        |k| operation(Work::Forward, k),
        |k| operation(Work::Backward, k),
    )
}

fn alternate(
    ahead: usize,
    count: usize,
    forward: impl Fn(usize) -> Operation,
    backward: impl Fn(usize) -> Operation,
) -> Vec<Operation> {
    let ahead = ahead.min(count);
    let mut order = Vec::with_capacity(2 * count);
    order.extend((0..ahead).map(&forward));
    for k in ahead..count {
        order.push(forward(k));
        order.push(backward(k - ahead));
    }
    order.extend((count - ahead..count).map(&backward));
    order
}

/// The split backward passes of Qi et al. 2024, where every stage has at most `unfinished` microbatches (at least as many
/// as stages) between their forward and their backward for weights.
///
/// `ahead` forwards run first. Then each backward for inputs is followed by a backward for weights, that of a microbatch
/// `unfinished - ahead` before, and by a forward. With `unfinished` = p, ZB-H1, stage s runs p - s forwards ahead and its
/// backwards for weights s microbatches late; with 2p - 1, ZB-H2, these are 2(p - s) - 1 and 2s.
fn split(stages: usize, stage: usize, microbatches: usize, unfinished: usize) -> Vec<Operation> {
    let ahead = (2 * (stages - stage) - 1).min(unfinished - stage);
    let late = unfinished - ahead;
    let mut order = Vec::with_capacity(3 * microbatches);
    let work = |work| move |i| Operation::whole(work, i);
    order.extend((0..ahead.min(microbatches)).map(work(Work::Forward)));
    for i in 0..microbatches {
        order.push(Operation::whole(Work::BackwardInput, i));
        order.extend(i.checked_sub(late).map(work(Work::BackwardWeight)));
        order.extend(Some(i + ahead).filter(|&next| next < microbatches).map(work(Work::Forward)));
    }
    let waiting = microbatches.saturating_sub(late)..microbatches;
    order.extend(waiting.map(work(Work::BackwardWeight)));
    order
}
