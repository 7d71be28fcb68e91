//! From birth to last use: how long each tensor is alive in a training step, and how much is alive at once.

use crate::capture::cost::Recompute;
use crate::capture::layers::Layers;
use crate::capture::saved::{GradientNeeds, Saved};
use crate::capture::table::{Class, Source, StepPhase, Table};
use std::collections::{BTreeMap, BTreeSet};

/// A stretch in which some numbers are alive, in operations since the start of the step, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// The memory; none for numbers kept besides tensors.
    pub tensor: Option<usize>,
    pub numbers: u64,
    pub start: usize,
    pub end: usize,
    pub phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Gone before the backward pass.
    Passing,
    /// Kept for the backward pass.
    Saved,
    /// Computed once more in the backward pass.
    Rebuilt,
    /// A gradient of an activation.
    Gradient,
}

pub struct Step {
    pub lives: Vec<Lifetime>,
    /// Operations of the forward pass; the backward pass begins there.
    pub forward: usize,
    pub length: usize,
    pub kept: u64,
    /// Operations that are done once more.
    pub recomputed_flops: u64,
}

/// Numbers alive at each operation.
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

/// Most numbers alive at once in the model without its loss, each freed after its last use.
pub fn inference_peak(table: &Table) -> u64 {
    let nodes: Vec<usize> = (table.operations())
        .filter(|(_, node)| node.pass == StepPhase::Forward)
        .map(|(index, _)| index)
        .collect();
    let lives = forward_lives(table, &nodes, |_| None);
    alive(&lives, nodes.len()).into_iter().max().unwrap_or(0)
}

/// The activations of some forward operations, each until its last use or as long as `kept` says.
fn forward_lives(
    table: &Table,
    nodes: &[usize],
    kept: impl Fn(usize) -> Option<usize>,
) -> Vec<Lifetime> {
    let mut spans: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (time, &index) in nodes.iter().enumerate() {
        let node = &table.nodes[index];
        for &tensor in node.inputs.iter().chain([&node.output]) {
            if table.is_activation(tensor) && table.tensors[table.storage(tensor)].real {
                let span = spans.entry(table.storage(tensor)).or_insert((time, time));
                span.1 = time;
            }
        }
    }
    // The input of the model is there from the start, whichever operation reads it first.
    for (tensor, span) in &mut spans {
        if table.tensors[*tensor].source == Source::Input {
            span.0 = 0;
        }
    }
    let life = |(tensor, (start, end)): (usize, (usize, usize))| {
        let until = kept(tensor);
        Lifetime {
            tensor: Some(tensor),
            numbers: table.tensors[tensor].numbers(),
            start,
            end: until.unwrap_or(end).max(end),
            phase: if until.is_some() { Phase::Saved } else { Phase::Passing },
        }
    };
    spans.into_iter().map(life).collect()
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
        let times: BTreeMap<usize, usize> =
            nodes.iter().enumerate().map(|(time, &node)| (node, time)).collect();
        let forward = nodes.len();
        let back = |time: usize| 2 * forward - 1 - time;

        // When each memory is needed in the backward pass: first and last.
        let mut uses: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut besides = Vec::new();
        for (node, kept) in &needs.kept {
            let Some(&time) = times.get(node) else {
                continue;
            };
            for kept in kept {
                match kept {
                    Saved::Tensor(tensor) => note(&mut uses, *tensor, back(time)),
                    Saved::Numbers(numbers) => besides.push(Lifetime {
                        tensor: None,
                        numbers: *numbers,
                        start: time,
                        end: back(time),
                        phase: Phase::Saved,
                    }),
                }
            }
        }
        let again = Recomputation::new(table, layers, recompute, &uses, &times, forward);
        for (&tensor, &until) in &again.sources {
            note(&mut uses, tensor, until);
        }
        let stays = |tensor: usize| {
            let needed = uses.get(&tensor).filter(|_| !again.dropped.contains_key(&tensor));
            needed.map(|&(_, last)| last)
        };
        let mut lives = forward_lives(table, &nodes, stays);
        let kept = uses.keys().filter(|tensor| stays(**tensor).is_some());
        let kept: u64 = kept.map(|&tensor| table.tensors[tensor].numbers()).sum();
        let besides_numbers: u64 = besides.iter().map(|life| life.numbers).sum();
        lives.extend(besides);
        for (&tensor, &start) in &again.dropped {
            if let Some(&(_, end)) = uses.get(&tensor) {
                lives.push(Lifetime {
                    tensor: Some(tensor),
                    numbers: table.tensors[tensor].numbers(),
                    start,
                    end,
                    phase: Phase::Rebuilt,
                });
            }
        }
        lives.extend(gradients(table, needs, &nodes, forward));
        Self {
            lives,
            forward,
            length: 2 * forward,
            kept: kept + besides_numbers,
            recomputed_flops: again.flops,
        }
    }

    /// Most numbers alive at once.
    pub fn peak(&self) -> u64 {
        alive(&self.lives, self.length).into_iter().max().unwrap_or(0)
    }
}

fn note(uses: &mut BTreeMap<usize, (usize, usize)>, tensor: usize, at: usize) {
    let span = uses.entry(tensor).or_insert((at, at));
    *span = (span.0.min(at), span.1.max(at));
}

/// The gradients of activations: each from the derivative of its last reader to that of what computed it.
fn gradients(
    table: &Table,
    needs: &GradientNeeds,
    nodes: &[usize],
    forward: usize,
) -> Vec<Lifetime> {
    let back = |time: usize| 2 * forward - 1 - time;
    let mut lives: BTreeMap<usize, Lifetime> = BTreeMap::new();
    for (time, &index) in nodes.iter().enumerate().rev() {
        let node = &table.nodes[index];
        if !needs.gradient[node.output] {
            continue;
        }
        let touched = [node.output].into_iter().chain(node.inputs.iter().copied());
        for tensor in touched {
            let storage = table.storage(tensor);
            if needs.gradient[tensor] && table.is_activation(storage) {
                let life = lives.entry(storage).or_insert(Lifetime {
                    tensor: Some(storage),
                    numbers: table.tensors[storage].numbers(),
                    start: back(time),
                    end: back(time),
                    phase: Phase::Gradient,
                });
                life.end = back(time);
            }
        }
    }
    // Gradients go on to the operation that computed the tensor and no further.
    lives.into_values().collect()
}

// What a step computes once more instead of keeping it, and what it must keep to be able to.

/// What is not kept but computed once more.
#[derive(Default)]
pub struct Recomputation {
    /// Memory that is dropped after the forward pass, and when it is there again.
    pub dropped: BTreeMap<usize, usize>,
    /// What must be kept instead, and until when.
    pub sources: BTreeMap<usize, usize>,
    /// Operations done once more.
    pub flops: u64,
}

impl Recomputation {
    /// By the kind of recomputing, from when each memory is needed in the backward pass (`uses`: first and last) and
    /// when each of the `forward` operations runs.
    pub fn new(
        table: &Table,
        layers: &Layers,
        recompute: Recompute,
        uses: &BTreeMap<usize, (usize, usize)>,
        times: &BTreeMap<usize, usize>,
        forward: usize,
    ) -> Self {
        let mut again = Self::default();
        let back = |time: usize| 2 * forward - 1 - time;
        let block = |node: usize| {
            let layer = layers.of.get(node).copied().flatten()?;
            layers.paths.get(layer)?.first().map(String::as_str)
        };
        // The derivative of a block begins with that of its last operation.
        let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
        for (&node, &time) in times {
            if let Some(block) = block(node) {
                let end = ends.entry(block).or_insert(time);
                *end = time.max(*end);
            }
        }
        let mut redone = BTreeSet::new();
        for (&tensor, &(first, _)) in uses {
            let Source::Node(node) = table.tensors[tensor].source else {
                continue;
            };
            let in_loss = table.nodes[node].pass == StepPhase::Loss;
            let (inside, from): (Box<dyn Fn(usize) -> bool>, usize) = match recompute {
                Recompute::Nothing => continue,
                Recompute::Elementwise => {
                    (Box::new(|node: usize| table.nodes[node].class == Class::Elementwise), first)
                }
                Recompute::Blocks => {
                    let own = block(node);
                    // What other blocks read is where they begin, and stays.
                    let leaves = table.operations().any(|(reader, n)| {
                        n.inputs.iter().any(|&input| table.storage(input) == tensor)
                            && block(reader) != own
                    });
                    if leaves {
                        continue;
                    }
                    let from = own.and_then(|own| ends.get(own));
                    let from = from.map_or(first, |&time| back(time));
                    (Box::new(move |node: usize| block(node) == own), from)
                }
            };
            if in_loss || !inside(node) {
                continue;
            }
            again.dropped.insert(tensor, from);
            again.trace(table, tensor, from, &inside, &mut redone);
        }
        again.flops = redone.iter().map(|&node: &usize| table.nodes[node].flops()).sum();
        for tensor in again.dropped.keys() {
            again.sources.remove(tensor);
        }
        again
    }

    /// Walks from a dropped tensor to what it is computed from and what is kept.
    fn trace(
        &mut self,
        table: &Table,
        tensor: usize,
        until: usize,
        inside: &dyn Fn(usize) -> bool,
        redone: &mut BTreeSet<usize>,
    ) {
        let Source::Node(node) = table.tensors[tensor].source else {
            return;
        };
        if !redone.insert(node) {
            return;
        }
        for &input in &table.nodes[node].inputs {
            let storage = table.storage(input);
            if !table.is_activation(storage) {
                continue;
            }
            match table.tensors[storage].source {
                Source::Node(before) if inside(before) => {
                    self.trace(table, storage, until, inside, redone);
                }
                Source::Node(_) | Source::Input => {
                    let end = self.sources.entry(storage).or_insert(until);
                    *end = until.max(*end);
                }
                Source::Inside(_)
                | Source::Labels
                | Source::Parameter(_)
                | Source::Constant
                | Source::Moment => {}
            }
        }
    }
}
