//! A directed graph of what is computed from what, what folds in it, and a walk that puts values on it.

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// A directed graph; edges run from what is computed first to what uses it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Graph {
    /// What is computed, each node after all that it reads from.
    pub nodes: Vec<Node>,
    /// What reads from what.
    pub edges: Vec<Edge>,
    /// What folds; empty if nothing does.
    pub groups: Vec<Group>,
    /// The steps of a walk; empty if there is none.
    pub walk: Vec<Step>,
    /// What it is a graph of.
    pub subject: Subject,
}

/// What a graph is of: its walk, nodes and marks are named by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Operations: values go forward, derivatives back.
    #[default]
    Computation,
    /// Ranks of a tree: sums go up to its root, the sum of all comes down.
    Reduction,
}

/// One value of a graph and the operation that gives it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Its name, such as "a" or "layer1".
    pub label: String,
    /// What it computes, such as "x^2" or "matmul [64, 784] x [784, 512]"; empty for an input.
    pub operation: String,
    pub kind: NodeKind,
    /// The group it folds into, as a place in [`Graph::groups`].
    pub group: Option<usize>,
    /// Details shown when it is selected.
    pub facts: Vec<Fact>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// Given from outside.
    Input,
    /// Learnt.
    Parameter,
    /// The same in every run.
    Constant,
    /// Computed.
    #[default]
    Operation,
    /// Another shape of the same numbers: nothing is computed.
    View,
    /// What the graph is for.
    Output,
    /// Computed on the way back.
    Backward,
    /// A step of the optimizer.
    Update,
}

/// A named value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Its unit; empty if it has none.
    #[serde(default)]
    pub unit: String,
}

/// One node reads from another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// What is read, as a place in [`Graph::nodes`].
    pub from: usize,
    /// What reads it.
    pub to: usize,
    /// The shape of what passes, or another word; may be empty.
    #[serde(default)]
    pub label: String,
}

/// What folds into one: a layer and its operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// The group it lies in, as a place in [`Graph::groups`].
    pub parent: Option<usize>,
    /// Details shown when it is selected and folded.
    pub facts: Vec<Fact>,
}

/// One step of a walk; the picture at step k shows the marks of the steps 0 to k, the latest of a place and slot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    /// Which way the walk goes.
    pub pass: Direction,
    /// The node it is at.
    pub node: usize,
    /// The edge it goes along, if it goes along one.
    pub edge: Option<usize>,
    /// What it leaves behind.
    pub marks: Vec<Mark>,
    /// What is done, written out with its numbers.
    pub text: String,
}

/// Which way a step goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From what is given to what is wanted.
    #[default]
    Forward,
    /// From what is wanted back to what is given.
    Backward,
    /// The parameters move.
    Update,
}

/// A value left in the picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Where.
    pub place: Place,
    /// As what.
    pub slot: Slot,
    /// The value: a finite number, or a word such as "NaN".
    pub value: Value,
}

/// Where a mark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// At a node.
    Node(usize),
    /// At an edge.
    Edge(usize),
}

/// What a mark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slot {
    /// The value computed going forward.
    Value,
    /// The derivative of what is wanted by this value; on an edge, the part that came along it.
    Adjoint,
}

/// What stands in a picture after some steps of its walk: of each place and slot the latest mark.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marked<'a> {
    nodes: Vec<[Option<&'a Value>; 2]>,
    edges: Vec<[Option<&'a Value>; 2]>,
}

impl Graph {
    /// The picture after the first `steps` steps of the walk.
    pub fn marked(&self, steps: usize) -> Marked<'_> {
        let mut marked = Marked {
            nodes: vec![[None; 2]; self.nodes.len()],
            edges: vec![[None; 2]; self.edges.len()],
        };
        for mark in self.walk.iter().take(steps).flat_map(|step| &step.marks) {
            let found = match mark.place {
                Place::Node(index) => marked.nodes.get_mut(index),
                Place::Edge(index) => marked.edges.get_mut(index),
            };
            if let Some(slots) = found {
                slots[mark.slot as usize] = Some(&mark.value);
            }
        }
        marked
    }
}

impl<'a> Marked<'a> {
    /// The value in a slot of a place, if there is one yet.
    pub fn at(&self, place: Place, slot: Slot) -> Option<&'a Value> {
        let slots = match place {
            Place::Node(index) => self.nodes.get(index),
            Place::Edge(index) => self.edges.get(index),
        };
        slots.and_then(|slots| slots[slot as usize])
    }
}

impl Mark {
    /// A mark of a number; one that is not finite becomes a word, as no stored number may be one.
    pub fn new(place: Place, slot: Slot, x: f64) -> Self {
        Self { place, slot, value: finite(x) }
    }
}

impl Fact {
    /// A named value with its unit.
    pub fn new(name: &str, value: impl Into<Value>, unit: &str) -> Self {
        let mut value = value.into();
        if let Value::Float(x) = value {
            value = finite(x);
        }
        Self { name: name.to_owned(), value, unit: unit.to_owned() }
    }
}

/// A number, or "NaN", "inf" or "-inf" as a word.
fn finite(x: f64) -> Value {
    if x.is_finite() { Value::Float(x) } else { Value::Text(x.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_not_finite_round_trip_as_words() {
        let graph = Graph {
            nodes: vec![Node::default()],
            walk: vec![Step {
                marks: vec![
                    Mark::new(Place::Node(0), Slot::Value, f64::NAN),
                    Mark::new(Place::Edge(0), Slot::Adjoint, f64::NEG_INFINITY),
                    Mark::new(Place::Node(0), Slot::Adjoint, 0.5),
                ],
                ..Step::default()
            }],
            ..Graph::default()
        };
        let text = serde_json::to_string(&graph).unwrap();
        let read: Graph = serde_json::from_str(&text).unwrap();
        assert_eq!(read, graph, "{text}");
        let values: Vec<&Value> = read.walk[0].marks.iter().map(|mark| &mark.value).collect();
        let expected = ["NaN".into(), "-inf".into(), Value::Float(0.5)];
        assert_eq!(values, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn the_latest_mark_wins_and_unknown_places_are_ignored() {
        let step = |marks: &[(Place, Slot, f64)]| Step {
            marks: marks.iter().map(|(place, slot, x)| Mark::new(*place, *slot, *x)).collect(),
            ..Step::default()
        };
        let graph = Graph {
            nodes: vec![Node::default()],
            edges: vec![Edge::default()],
            walk: vec![
                step(&[(Place::Node(0), Slot::Value, 2.0), (Place::Node(9), Slot::Value, 1.0)]),
                step(&[(Place::Node(0), Slot::Adjoint, 3.0)]),
                step(&[(Place::Node(0), Slot::Adjoint, 5.0), (Place::Edge(0), Slot::Adjoint, 2.0)]),
            ],
            ..Graph::default()
        };
        let adjoint = |steps| graph.marked(steps).at(Place::Node(0), Slot::Adjoint).cloned();
        assert_eq!(adjoint(1), None);
        assert_eq!(adjoint(2), Some(Value::Float(3.0)));
        assert_eq!(adjoint(99), Some(Value::Float(5.0)));
        assert_eq!(graph.marked(3).at(Place::Node(9), Slot::Value), None);
        let along = graph.marked(3).at(Place::Edge(0), Slot::Adjoint);
        assert_eq!(along, Some(&Value::Float(2.0)));
    }

    #[test]
    fn missing_fields_read_as_empty() {
        let text = r#"{"nodes":[{"label":"x"},{"label":"y"}],"edges":[{"from":0,"to":1}]}"#;
        let read: Graph = serde_json::from_str(text).unwrap();
        assert_eq!(read.nodes[1].kind, NodeKind::Operation);
        assert_eq!((read.groups.len(), read.walk.len()), (0, 0));
    }
}
