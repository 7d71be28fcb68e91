//! The first warps of a launch on one multiprocessor, cycle by cycle: which issues, which waits for what, and how the
//! schedulers' gaps fill with other warps' work.
//!
//! A model, no measurement: each of four schedulers issues one instruction a cycle, warps are dealt to them in turn, and a
//! warp's next instruction waits for its last. Latencies are those of a V100, rounded.
//!
//! Source: Jia et al. 2018, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking": 4 cycles from one
//! arithmetic instruction to the next that needs it, 19 for a load from shared memory, some 400 for one from memory past
//! both caches.

use crate::{Counts, Event, Machine};
use mlsys_lab::frame::{Milestone, Span, Timeline};
use std::collections::BTreeMap;

/// Steps that are looked at: what one can read in a picture.
const STEPS: usize = 4096;

/// Cycles from an instruction to the next that needs its result.
pub(super) const ARITHMETIC: u64 = 4;
pub(super) const SHARED: u64 = 19;
pub(super) const GLOBAL: u64 = 400;

const WARPS: usize = 32;

const SCHEDULERS: usize = 4;

/// What a warp waits for after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// An arithmetic result, or a store issued, which does not stall.
    Result,
    /// Shared memory, with this many extra passes.
    Shared(u64),
    Memory,
    /// The other warps of its block.
    Barrier,
}

impl Wait {
    /// What one step cost, by the counts before and after it.
    fn after(event: Event, before: &Counts, after: &Counts) -> Self {
        if matches!(event, Event::Arrived | Event::Released) {
            Self::Barrier
        } else if after.load.accesses > before.load.accesses
            || after.atomic.accesses > before.atomic.accesses
        {
            Self::Memory
        } else if after.shared > before.shared {
            Self::Shared(after.replays - before.replays)
        } else {
            Self::Result
        }
    }

    /// Cycles from its issue to the next instruction of the warp.
    fn cycles(self) -> u64 {
        match self {
            Self::Result => ARITHMETIC,
            Self::Shared(passes) => SHARED + passes,
            Self::Memory => GLOBAL,
            // The others decide.
            Self::Barrier => 1,
        }
    }

    /// Its place among the classes of the picture.
    fn class(self) -> usize {
        match self {
            Self::Result => 1,
            Self::Shared(_) | Self::Memory => 2,
            Self::Barrier => 3,
        }
    }
}

#[derive(Default)]
struct Warp {
    block: u32,
    number: u32,
    work: Vec<(Wait, u32)>,
    done: usize,
    /// The cycle from which on it can issue.
    ready: u64,
    /// The cycle in which it came to a barrier that is still closed.
    held: Option<u64>,
    /// When it issued last, so that schedulers take the one that has waited longest.
    last: u64,
}

impl Warp {
    fn can_issue(&self) -> bool {
        self.held.is_none() && self.done < self.work.len()
    }
}

/// How the first warps of a launch, which has not begun, go over the schedulers of one multiprocessor.
pub(super) fn schedule(machine: Machine) -> Timeline {
    let mut warps = read(machine);
    let mut timeline = Timeline {
        unit: "cycles".to_owned(),
        lanes: (0..SCHEDULERS)
            .map(|one| format!("scheduler {one}"))
            .chain(warps.iter().map(|warp| format!("block {} warp {}", warp.block, warp.number)))
            .collect(),
        classes: ["issues", "awaits result", "awaits memory", "at barrier"]
            .map(str::to_owned)
            .to_vec(),
        ..Timeline::default()
    };
    let mut free = [0_u64; SCHEDULERS];
    // Of each scheduler the bar that may still grow.
    let mut busy: [Option<usize>; SCHEDULERS] = [None; SCHEDULERS];
    let mut issued = 0_u64;
    while let Some((cycle, at)) = next(&warps, &free) {
        let scheduler = at % SCHEDULERS;
        free[scheduler] = cycle + 1;
        issued += 1;
        match busy[scheduler].filter(|&bar| timeline.spans[bar].end == cycle as f64) {
            Some(bar) => timeline.spans[bar].end += 1.0,
            None => {
                busy[scheduler] = Some(timeline.spans.len());
                timeline.spans.push(bar(scheduler, cycle, cycle + 1, 0));
            }
        }
        let warp = &mut warps[at];
        let (wait, line) = warp.work[warp.done];
        warp.done += 1;
        warp.last = cycle;
        warp.ready = cycle + wait.cycles();
        timeline.spans.push(Span {
            label: format!("line {line}"),
            ..bar(SCHEDULERS + at, cycle, cycle + 1, 0)
        });
        if wait == Wait::Barrier {
            warp.held = Some(cycle);
            let block = warp.block;
            open(&mut warps, block, cycle, &mut timeline.spans);
        } else if warp.done < warp.work.len() {
            let ready = warp.ready;
            timeline.spans.push(bar(SCHEDULERS + at, cycle + 1, ready, wait.class()));
        }
    }
    let end = free.into_iter().max().unwrap_or(0);
    if end > 0 {
        let share = 100.0 * issued as f64 / (end * SCHEDULERS as u64) as f64;
        timeline.marks.push(Milestone {
            at: end as f64,
            label: format!("{end} cycles; the schedulers issue in {share:.0} % of them"),
        });
    }
    timeline
}

/// What the first warps do, each by itself, by block and warp.
fn read(mut machine: Machine) -> Vec<Warp> {
    let mut works: BTreeMap<(u32, u32), Vec<(Wait, u32)>> = BTreeMap::new();
    let mut counted: BTreeMap<u32, Counts> = BTreeMap::new();
    for _ in 0..STEPS {
        let Some(step) = machine.step() else { break };
        let after = machine.counts_at(step.pc);
        let before = counted.insert(step.pc, after).unwrap_or_default();
        let wait = Wait::after(step.event, &before, &after);
        let warp = (step.block, step.warp);
        if works.len() < WARPS || works.contains_key(&warp) {
            works.entry(warp).or_default().push((wait, step.place.line));
        }
    }
    let warp = |((block, number), work)| Warp { block, number, work, ..Warp::default() };
    works.into_iter().map(warp).collect()
}

/// The earliest issue: its cycle, and the warp.
fn next(warps: &[Warp], free: &[u64; SCHEDULERS]) -> Option<(u64, usize)> {
    let going = warps.iter().enumerate().filter(|(_, warp)| warp.can_issue());
    let issue = |(at, warp): (usize, &Warp)| (warp.ready.max(free[at % SCHEDULERS]), warp.last, at);
    going.map(issue).min().map(|(cycle, _, at)| (cycle, at))
}

/// Lets a block's warps on, if all that have not ended are at the barrier.
fn open(warps: &mut [Warp], block: u32, cycle: u64, spans: &mut Vec<Span>) {
    if warps.iter().any(|warp| warp.block == block && warp.can_issue()) {
        return;
    }
    for (at, warp) in warps.iter_mut().enumerate() {
        if warp.block == block
            && let Some(since) = warp.held.take()
        {
            warp.ready = cycle + 1;
            if since < cycle {
                spans.push(bar(SCHEDULERS + at, since + 1, cycle + 1, Wait::Barrier.class()));
            }
        }
    }
}

fn bar(lane: usize, start: u64, end: u64, class: usize) -> Span {
    Span { lane, start: start as f64, end: end as f64, class, ..Span::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Argument, Kernel, Launch, Values};

    fn launched(text: &str, blocks: u32, threads: u32) -> Machine {
        let kernel = Kernel::parse("k.cu", text).expect("it reads");
        let numbers = vec![1.0; (blocks * threads) as usize];
        let arguments = [Argument::Buffer(Values::Float(numbers))];
        kernel.launch(Launch::line(blocks, threads), &arguments).expect("it starts")
    }

    /// Cycles in which the schedulers issue, and the cycle of the last.
    fn issues(timeline: &Timeline) -> (f64, f64) {
        let of = timeline.spans.iter().filter(|span| span.lane < SCHEDULERS);
        of.fold((0.0, 0.0), |(sum, last): (f64, f64), span| {
            (sum + span.end - span.start, last.max(span.end))
        })
    }

    const LOADS: &str = "__global__ void k(float *a) { int i = blockDim.x * blockIdx.x + threadIdx.x; a[i] = a[i] + 1.0f; }";

    #[test]
    fn more_warps_fill_the_gaps_of_the_schedulers() {
        let one = schedule(launched(LOADS, 1, 32));
        let many = schedule(launched(LOADS, 1, 1024));
        let ((few, alone), (all, together)) = (issues(&one), issues(&many));
        assert_eq!(all, 32.0 * few, "the same instructions in each warp");
        assert!(alone > 400.0, "one warp waits for its load: {alone}");
        assert!(together < 1.5 * alone, "thirty-two wait together: {together} against {alone}");
    }

    #[test]
    fn one_issue_per_cycle_and_warp_dependencies() {
        let timeline = schedule(launched(LOADS, 4, 256));
        for lane in 0..timeline.lanes.len() {
            let mut bars: Vec<&Span> =
                timeline.spans.iter().filter(|span| span.lane == lane).collect();
            bars.sort_by(|a, b| a.start.total_cmp(&b.start));
            for pair in bars.windows(2) {
                assert!(pair[0].end <= pair[1].start, "{}: {pair:?}", timeline.lanes[lane]);
            }
        }
    }

    #[test]
    fn no_warp_passes_a_barrier_before_the_last_has_come() {
        let text = "__global__ void k(float *a) { if (threadIdx.x < 32) a[0] = a[1]; __syncthreads(); if (threadIdx.x >= 32) a[2] = 1.0f; }";
        let timeline = schedule(launched(text, 1, 64));
        let of = |span: &&Span| span.lane == SCHEDULERS + 1;
        let last = timeline.spans.iter().filter(of).map(|span| span.end).fold(0.0, f64::max);
        assert!(last > 400.0, "warp 1 waits at the barrier for the load of warp 0");
        let barrier = Wait::Barrier.class();
        assert!(timeline.spans.iter().filter(of).any(|span| span.class == barrier));
    }
}
