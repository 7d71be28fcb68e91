//! What a step computes once more instead of keeping it, and what it must keep to be able to.

use std::collections::{BTreeMap, BTreeSet};

use crate::capture::cost::Recompute;
use crate::capture::layers::Layers;
use crate::capture::table::{Class, Pass, Source, Table};

/// What is not kept but computed once more.
#[derive(Default)]
pub(crate) struct Again {
    /// Memory that is dropped after the forward pass, and when it is there again.
    pub(crate) dropped: BTreeMap<usize, usize>,
    /// What must be kept instead, and until when.
    pub(crate) sources: BTreeMap<usize, usize>,
    /// Operations done once more.
    pub(crate) flops: u64,
}

impl Again {
    /// By the kind of recomputing, from when each memory is needed in the backward pass (`uses`: first and last) and
    /// when each of the `forward` operations runs.
    pub(crate) fn new(
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
            let in_loss = table.nodes[node].pass == Pass::Loss;
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
