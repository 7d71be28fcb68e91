//! How long each forward value is kept, and how many bytes that makes at once.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Milestone, Span, Timeline, Total};

use mlsys_sim::graph::nodes::Nodes;
use mlsys_sim::graph::operation::Operation;

/// Bytes of one value, an f64.
const BYTES: i64 = 8;

/// Every forward value from its birth to the last step that reads it.
pub(super) struct Lifetimes {
    lives: Vec<Life>,
    /// Steps of the forward pass; those of the backward pass follow.
    forward: usize,
    steps: usize,
}

/// One value; steps are half-open: it is there from the beginning of `born` to the end of `last`.
struct Life {
    node: usize,
    /// The step that computes it; an input is there from the beginning.
    born: usize,
    /// The last step of the forward pass that computes or reads it.
    forward: usize,
    /// The last step of all that reads it.
    last: usize,
}

impl Lifetimes {
    /// Steps count from 0: one per computed node forward, then one per node that passes a gradient back.
    pub(super) fn new(nodes: &Nodes) -> Self {
        let computed: Vec<usize> = nodes
            .drawn()
            .filter(|(_, node)| node.operation != Operation::Input)
            .map(|(index, _)| index)
            .collect();
        let count = nodes.iter().len();
        let (mut born, mut forward) = (vec![0; count], vec![0; count]);
        for (step, &index) in computed.iter().enumerate() {
            (born[index], forward[index]) = (step, step);
            for edge in nodes.edges_into(index) {
                forward[nodes.edges()[edge].from] = step;
            }
        }
        // Only what the output uses and an input reaches takes part in the way back.
        let mut used = vec![false; count];
        used[nodes.output()] = true;
        let mut last = forward.clone();
        let mut step = computed.len();
        for &index in computed.iter().rev().filter(|&&index| nodes.at(index).depends_on_input) {
            if !used[index] {
                continue;
            }
            for edge in nodes.edges_into(index) {
                used[nodes.edges()[edge].from] = true;
            }
            for read in nodes.read_by_node(index) {
                last[read] = step;
            }
            step += 1;
        }
        let lives = nodes.drawn().map(|(node, _)| Life {
            node,
            born: born[node],
            forward: forward[node],
            last: last[node],
        });
        Self { lives: lives.collect(), forward: computed.len(), steps: step }
    }

    /// Bytes of the values that the backward pass reads, inputs included.
    pub(super) fn saved_bytes(&self) -> i64 {
        let kept = self.lives.iter().filter(|life| life.last > life.forward);
        kept.count() as i64 * BYTES
    }

    /// Most bytes of forward values alive in one step, with the backward pass.
    pub(super) fn peak_bytes(&self) -> i64 {
        self.alive(|life| life.last).into_iter().max().unwrap_or(0)
    }

    /// The same if there is no backward pass and each value goes after its last reader.
    pub(super) fn inference_peak_bytes(&self) -> i64 {
        self.alive(|life| life.forward).into_iter().max().unwrap_or(0)
    }

    /// Bytes alive in each step, if a value goes at the end of the step `end`.
    fn alive(&self, end: impl Fn(&Life) -> usize) -> Vec<i64> {
        let mut change = vec![0_i64; self.steps + 1];
        for life in &self.lives {
            if let Some(slot) = change.get_mut(life.born) {
                *slot += BYTES;
            }
            if let Some(slot) = change.get_mut(end(life) + 1) {
                *slot -= BYTES;
            }
        }
        change.pop();
        let running = change.iter().scan(0, |alive, by| {
            *alive += by;
            Some(*alive)
        });
        running.collect()
    }

    /// One bar per value, the bytes of all as a curve, and the place where the backward pass begins.
    pub(super) fn picture(&self, nodes: &Nodes) -> Frame {
        let span = |(lane, life): (usize, &Life)| {
            let class = match nodes.at(life.node).operation {
                _ if life.last > life.forward => 0,
                Operation::Input => 2,
                Operation::Constant
                | Operation::Copy(_)
                | Operation::Unary(..)
                | Operation::Binary(..) => 1,
            };
            Span {
                lane,
                start: life.born as f64,
                end: (life.last + 1) as f64,
                class,
                label: nodes.at(life.node).label.clone(),
                amount: Some(BYTES as f64),
            }
        };
        let mut points: Vec<(f64, f64)> = Vec::new();
        for (step, alive) in self.alive(|life| life.last).into_iter().enumerate() {
            if points.last().is_none_or(|&(_, before)| before != alive as f64) {
                points.push((step as f64, alive as f64));
            }
        }
        points.push((self.steps as f64, 0.0));
        Frame::Timeline(Timeline {
            unit: "operation".to_owned(),
            lanes: self.lives.iter().map(|life| nodes.at(life.node).label.clone()).collect(),
            classes: [
                "kept for the backward pass",
                "gone after its last forward use",
                "an input that is not read again",
            ]
            .map(str::to_owned)
            .to_vec(),
            spans: self.lives.iter().enumerate().map(span).collect(),
            marks: vec![Milestone { at: self.forward as f64, label: "backward begins".to_owned() }],
            total: Some(Total {
                name: "forward values alive".to_owned(),
                unit: "bytes".to_owned(),
                points,
            }),
            ..Timeline::default()
        })
    }
}
