//! Orders with split backward passes: what every stage would take first if all operations were of length 1.

use super::{Operation, Work};

/// Of one stage: how many of each operation have begun, and when those that others wait for end.
#[derive(Default)]
struct Stage {
    forwards: usize,
    backwards: usize,
    weights: usize,
    forward_ends: Vec<usize>,
    backward_ends: Vec<usize>,
    order: Vec<Operation>,
}

/// At t = 0, 1, 2, ... every stage, from the first on, takes the first that is possible of: the backward for inputs of
/// its next microbatch; the next forward, if fewer than `limit(stage)` microbatches are in flight there; the next
/// backward for weights.
pub(super) fn orders(
    stages: usize,
    microbatches: usize,
    limit: impl Fn(usize) -> usize,
) -> Vec<Vec<Operation>> {
    let mut line: Vec<Stage> = (0..stages).map(|_| Stage::default()).collect();
    let mut left = stages;
    let mut now = 0;
    while left > 0 {
        for stage in 0..stages {
            if line[stage].weights == microbatches {
                continue;
            }
            let Some(work) = first_possible(&line, stage, microbatches, limit(stage), now) else {
                continue;
            };
            let this = &mut line[stage];
            let next = match work {
                Work::Forward => {
                    this.forward_ends.push(now + 1);
                    &mut this.forwards
                }
                Work::Backward | Work::BackwardInput => {
                    this.backward_ends.push(now + 1);
                    &mut this.backwards
                }
                Work::BackwardWeight => &mut this.weights,
            };
            this.order.push(Operation::whole(work, *next));
            *next += 1;
            left -= usize::from(this.weights == microbatches);
        }
        now += 1;
    }
    line.into_iter().map(|stage| stage.order).collect()
}

fn first_possible(
    line: &[Stage],
    stage: usize,
    microbatches: usize,
    limit: usize,
    now: usize,
) -> Option<Work> {
    let ended = |ends: &[usize], i: usize| ends.get(i).is_some_and(|&end| end <= now);
    let this = &line[stage];
    let after = line.get(stage + 1);
    let before = stage.checked_sub(1).and_then(|before| line.get(before));
    let next = this.backwards;
    if ended(&this.forward_ends, next)
        && after.is_none_or(|after| ended(&after.backward_ends, next))
    {
        return Some(Work::BackwardInput);
    }
    let next = this.forwards;
    if next < microbatches
        && next - this.backwards < limit
        && before.is_none_or(|before| ended(&before.forward_ends, next))
    {
        return Some(Work::Forward);
    }
    ended(&this.backward_ends, this.weights).then_some(Work::BackwardWeight)
}
