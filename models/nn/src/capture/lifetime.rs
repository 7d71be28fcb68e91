//! From birth to last use: how long each tensor is alive in a training step, and how much is alive at once.

use crate::capture::layers::Layers;
use crate::capture::saved::{GradientNeeds, Saved};
use crate::capture::table::{Class, Source, StepPhase, Table};
use std::collections::{BTreeMap, BTreeSet};

/// What is computed again in the backward pass instead of kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recompute {
    #[serde(rename = "none")]
    Nothing,
    Elementwise,
    /// All inside a block (a layer where there are no blocks): only what goes into it is kept.
    Blocks,
}

/// A stretch in which some numbers are alive, in operations since the start of the step, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The memory; none for numbers kept in addition to tensors.
    pub tensor: Option<usize>,
    pub numbers: u64,
    pub start: usize,
    pub end: usize,
    pub phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Passing,
    Saved,
    /// Computed once more in the backward pass.
    Rebuilt,
    Gradient,
}

pub struct Step {
    pub lives: Vec<Lifetime>,
    /// Operations of the forward pass; the backward pass begins there.
    pub forward: usize,
    pub length: usize,
    pub kept: u64,
    pub recomputed_flops: u64,
}

pub fn alive(lives: &[Lifetime], length: usize) -> Vec<u64> {
    let mut changes = vec![0_i128; length + 1];
    for life in lives {
        changes[life.start.min(length)] += i128::from(life.numbers);
        changes[(life.end + 1).min(length)] -= i128::from(life.numbers);
    }
    let mut now = 0;
    let sums = changes.into_iter().take(length).map(|change| {
        now += change;
        u64::try_from(now).unwrap_or(u64::MAX)
    });
    sums.collect()
}

fn peak(lives: &[Lifetime], length: usize) -> u64 {
    alive(lives, length).into_iter().max().unwrap_or(0)
}

/// Most numbers alive at once in the model without its loss, each freed after its last use.
pub fn inference_peak(table: &Table) -> u64 {
    let nodes = table.operations().filter(|(_, node)| node.pass == StepPhase::Forward);
    let nodes: Vec<usize> = nodes.map(|(index, _)| index).collect();
    peak(&forward_lives(table, &nodes, |_| None), nodes.len())
}

/// The activations of some forward operations, each until its last use or as long as `kept` says.
fn forward_lives(
    table: &Table,
    nodes: &[usize],
    kept: impl Fn(usize) -> Option<usize>,
) -> Vec<Lifetime> {
    let mut spans = Spans::new();
    for (time, &index) in nodes.iter().enumerate() {
        let node = &table.nodes[index];
        for &tensor in node.inputs.iter().chain([&node.output]) {
            let storage = table.storage(tensor);
            if table.is_activation(tensor) && table.tensors[storage].real {
                // The input of the model is there from the start, whichever operation reads it first.
                if table.tensors[storage].source == Source::Input {
                    note(&mut spans, storage, 0);
                }
                note(&mut spans, storage, time);
            }
        }
    }
    let life = |(tensor, (start, end))| {
        let until = kept(tensor);
        let phase = if until.is_some() { Phase::Saved } else { Phase::Passing };
        lifetime(table, tensor, (start, until.unwrap_or(end).max(end)), phase)
    };
    spans.into_iter().map(life).collect()
}

fn lifetime(table: &Table, tensor: usize, (start, end): (usize, usize), phase: Phase) -> Lifetime {
    Lifetime { tensor: Some(tensor), numbers: table.tensors[tensor].numbers(), start, end, phase }
}

/// First and last use of each memory.
type Spans = BTreeMap<usize, (usize, usize)>;

fn note(spans: &mut Spans, tensor: usize, at: usize) {
    let span = spans.entry(tensor).or_insert((at, at));
    *span = (span.0.min(at), span.1.max(at));
}

/// When the derivative of an operation is computed: from the last to the first, after all `forward` operations.
fn derivative_time(forward: usize, time: usize) -> usize {
    2 * forward - 1 - time
}

impl Step {
    /// A step by the rules of differentiation: each forward operation, then its derivative, from the last to the first.
    pub fn new(
        table: &Table,
        needs: &GradientNeeds,
        layers: &Layers,
        recompute: Recompute,
    ) -> Self {
        let nodes: Vec<usize> = table.operations().map(|(index, _)| index).collect();
        let forward = nodes.len();
        // When each memory is needed in the backward pass.
        let mut uses = Spans::new();
        let mut extra = Vec::new();
        for (time, node) in nodes.iter().enumerate() {
            let end = derivative_time(forward, time);
            for kept in needs.kept.get(node).into_iter().flatten() {
                match *kept {
                    Saved::Tensor(tensor) => note(&mut uses, tensor, end),
                    Saved::Numbers(numbers) => {
                        let phase = Phase::Saved;
                        extra.push(Lifetime { tensor: None, numbers, start: time, end, phase });
                    }
                }
            }
        }
        let again = Recomputation::new(table, layers, recompute, &uses, &nodes);
        for (&tensor, &until) in &again.sources {
            note(&mut uses, tensor, until);
        }
        let (dropped, stays): (Spans, Spans) =
            uses.into_iter().partition(|(tensor, _)| again.dropped.contains_key(tensor));
        let mut lives = forward_lives(table, &nodes, |tensor| Some(stays.get(&tensor)?.1));
        let kept: u64 = stays.keys().map(|&tensor| table.tensors[tensor].numbers()).sum();
        let kept = kept + extra.iter().map(|life| life.numbers).sum::<u64>();
        lives.extend(extra);
        for (&tensor, &(_, end)) in &dropped {
            lives.push(lifetime(table, tensor, (again.dropped[&tensor], end), Phase::Rebuilt));
        }
        lives.extend(gradients(table, needs, &nodes));
        Self { lives, forward, length: 2 * forward, kept, recomputed_flops: again.flops }
    }

    pub fn peak(&self) -> u64 {
        peak(&self.lives, self.length)
    }
}

/// The gradients of activations: each from the derivative of its last reader to that of what computed it.
fn gradients(table: &Table, needs: &GradientNeeds, nodes: &[usize]) -> Vec<Lifetime> {
    let mut spans = Spans::new();
    for (time, &index) in nodes.iter().enumerate() {
        let node = &table.nodes[index];
        if needs.gradient[node.output] {
            for &tensor in node.inputs.iter().chain([&node.output]) {
                let storage = table.storage(tensor);
                if needs.gradient[tensor] && table.is_activation(storage) {
                    note(&mut spans, storage, derivative_time(nodes.len(), time));
                }
            }
        }
    }
    let life = |(tensor, span)| lifetime(table, tensor, span, Phase::Gradient);
    spans.into_iter().map(life).collect()
}

// What a step computes once more instead of keeping it, and what it must keep to be able to.

#[derive(Default)]
struct Recomputation {
    /// Memory that is dropped after the forward pass, and when it is there again.
    dropped: BTreeMap<usize, usize>,
    /// What must be kept instead, and until when.
    sources: BTreeMap<usize, usize>,
    flops: u64,
}

impl Recomputation {
    /// By the kind of recomputing, from when each memory is needed in the backward pass, and the operations in order.
    fn new(
        table: &Table,
        layers: &Layers,
        recompute: Recompute,
        uses: &Spans,
        nodes: &[usize],
    ) -> Self {
        let mut again = Self::default();
        let block = |node: usize| {
            let layer = layers.of.get(node).copied().flatten()?;
            layers.paths.get(layer)?.first().map(String::as_str)
        };
        // The derivative of a block begins with that of its last operation.
        let ends = nodes.iter().enumerate().filter_map(|(time, &node)| Some((block(node)?, time)));
        let ends: BTreeMap<&str, usize> = ends.collect();
        let mut redone = BTreeSet::new();
        for (&tensor, &(first, _)) in uses {
            let Some(node) = table.producer(tensor) else { continue };
            let in_loss = table.nodes[node].pass == StepPhase::Loss;
            let own = block(node);
            let is_inside = |node: usize| match recompute {
                Recompute::Nothing => false,
                Recompute::Elementwise => table.nodes[node].class == Class::Elementwise,
                Recompute::Blocks => block(node) == own,
            };
            // What other blocks read is where they begin, and stays.
            let leaves = recompute == Recompute::Blocks
                && table.operations().any(|(reader, n)| {
                    n.inputs.iter().any(|&input| table.storage(input) == tensor)
                        && block(reader) != own
                });
            if in_loss || leaves || !is_inside(node) {
                continue;
            }
            let end = own.filter(|_| recompute == Recompute::Blocks).and_then(|own| ends.get(own));
            let from = end.map_or(first, |&time| derivative_time(nodes.len(), time));
            again.dropped.insert(tensor, from);
            again.trace(table, node, from, &is_inside, &mut redone);
        }
        again.flops = redone.iter().map(|&node: &usize| table.nodes[node].flops()).sum();
        again.sources.retain(|tensor, _| !again.dropped.contains_key(tensor));
        again
    }

    /// Walks from what computes a dropped tensor to what that is computed from and what is kept.
    fn trace(
        &mut self,
        table: &Table,
        node: usize,
        until: usize,
        is_inside: &dyn Fn(usize) -> bool,
        redone: &mut BTreeSet<usize>,
    ) {
        if !redone.insert(node) {
            return;
        }
        for &input in &table.nodes[node].inputs {
            let storage = table.storage(input);
            match table.producer(storage) {
                Some(before) if is_inside(before) => {
                    self.trace(table, before, until, is_inside, redone);
                }
                producer => {
                    if producer.is_some() || table.tensors[storage].source == Source::Input {
                        let end = self.sources.entry(storage).or_insert(until);
                        *end = until.max(*end);
                    }
                }
            }
        }
    }
}
