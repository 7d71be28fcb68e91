//! Examples to learn from, and how a batch of them is put together.

use crate::random::Stream;

#[derive(Clone, Debug, PartialEq)]
pub enum Examples {
    Labelled(Labelled),
    /// Windows of a row of tokens, each to be foretold from those before it.
    Sequence(Sequence),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    /// Inputs, row-major: `[len, features]`.
    pub inputs: Vec<f32>,
    /// The class of each example: `[len]`.
    pub labels: Vec<i32>,
    pub features: usize,
}

/// A row of tokens, seen through windows of `context` tokens. A window's labels are its tokens moved on by one.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    pub tokens: Vec<i32>,
    pub context: usize,
    /// From the start of one window to that of the next: 1 to train, so that a window may begin anywhere, and `context`
    /// to judge, so that each token is foretold once.
    pub stride: usize,
}

/// The inputs of some examples, row-major: `[examples, features]` or `[examples, context]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    Floats(Vec<f32>),
    Tokens(Vec<i32>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    pub inputs: Numbers,
    /// What it should say: `[examples]`, or `[examples * context]` row by row.
    pub labels: Vec<i32>,
    pub rows: usize,
    pub columns: usize,
}

impl Examples {
    pub fn len(&self) -> usize {
        match self {
            Self::Labelled(labelled) => labelled.len(),
            Self::Sequence(sequence) => sequence.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is to be said of each example: one class, or as many tokens as its window has.
    pub fn labels_each(&self) -> usize {
        match self {
            Self::Labelled(_) => 1,
            Self::Sequence(sequence) => sequence.context,
        }
    }

    /// How often the data have been gone through once `seen` examples were trained on: of a sequence, tokens seen over
    /// tokens there are, because windows overlap.
    pub fn epochs(&self, seen: u64) -> f64 {
        let (seen, there_are) = match self {
            Self::Labelled(labelled) => (seen, labelled.len()),
            Self::Sequence(sequence) => (seen * sequence.context as u64, sequence.tokens.len()),
        };
        seen as f64 / there_are as f64
    }

    /// Inputs and labels of the examples named, in their order; each index is below [`len`](Self::len).
    pub fn gather(&self, indices: &[usize]) -> Batch {
        let rows = indices.len();
        match self {
            Self::Labelled(labelled) => {
                let (inputs, labels) = labelled.gather(indices);
                Batch { inputs: Numbers::Floats(inputs), labels, rows, columns: labelled.features }
            }
            Self::Sequence(sequence) => {
                let size = rows * sequence.context;
                let (mut inputs, mut labels) = (Vec::with_capacity(size), Vec::with_capacity(size));
                for &index in indices {
                    inputs.extend_from_slice(sequence.input(index));
                    labels.extend_from_slice(sequence.labels(index));
                }
                Batch { inputs: Numbers::Tokens(inputs), labels, rows, columns: sequence.context }
            }
        }
    }
}

impl Labelled {
    /// The examples named, in their order.
    ///
    /// # Panics
    /// If an index is not below [`len`](Self::len).
    pub fn some(&self, indices: &[usize]) -> Self {
        let (inputs, labels) = self.gather(indices);
        Self { inputs, labels, features: self.features }
    }

    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    pub fn input(&self, index: usize) -> &[f32] {
        &self.inputs[index * self.features..][..self.features]
    }

    /// Inputs `[indices.len(), features]` and labels `[indices.len()]` of the examples named, in their order.
    pub fn gather(&self, indices: &[usize]) -> (Vec<f32>, Vec<i32>) {
        let mut inputs = Vec::with_capacity(indices.len() * self.features);
        for &index in indices {
            inputs.extend_from_slice(self.input(index));
        }
        let labels = indices.iter().map(|&index| self.labels[index]).collect();
        (inputs, labels)
    }
}

impl Sequence {
    /// Windows that have a next token for each of theirs.
    pub fn len(&self) -> usize {
        let room = self.tokens.len().checked_sub(self.context + 1);
        room.map_or(0, |room| room / self.stride + 1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tokens of one window: `[context]`.
    pub fn input(&self, index: usize) -> &[i32] {
        &self.tokens[index * self.stride..][..self.context]
    }

    /// The token that follows each of a window's: `[context]`.
    pub fn labels(&self, index: usize) -> &[i32] {
        &self.tokens[index * self.stride + 1..][..self.context]
    }

    pub fn all_labels(&self) -> Vec<i32> {
        (0..self.len()).flat_map(|index| self.labels(index).iter().copied()).collect()
    }
}

/// Batches of shuffled indices that go on for ever, one epoch after another.
///
/// Every epoch holds each index once, in an order of its own. A batch that reaches the end of an epoch
/// goes on in the next, so that every batch is full and batch size times steps is the number of examples seen.
#[derive(Clone, Debug)]
pub struct Batches {
    stream: Stream,
    order: Vec<usize>,
    /// How much of the present epoch's order has been handed out.
    position: usize,
    batch: Vec<usize>,
}

impl Batches {
    /// Batches over `len` examples in the order that `seed` gives.
    pub fn new(seed: u64, len: usize) -> Self {
        let mut stream = Stream::new(seed, "shuffle");
        let mut order: Vec<usize> = (0..len).collect();
        stream.shuffle(&mut order);
        Self { stream, order, position: 0, batch: Vec::new() }
    }

    /// The next `batch_size` indices; none if there are no examples. The size may differ at every call,
    /// and does not change the order in which examples come.
    pub fn next(&mut self, batch_size: usize) -> &[usize] {
        self.batch.clear();
        while self.batch.len() < batch_size && !self.order.is_empty() {
            if self.position == self.order.len() {
                self.stream.shuffle(&mut self.order);
                self.position = 0;
            }
            let rest = &self.order[self.position..];
            let taken = rest.len().min(batch_size - self.batch.len());
            self.batch.extend_from_slice(&rest[..taken]);
            self.position += taken;
        }
        &self.batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(stride: usize) -> Sequence {
        Sequence { tokens: (0..10).collect(), context: 3, stride }
    }

    #[test]
    fn labels_are_tokens_shifted_by_one() {
        let examples = Examples::Sequence(sequence(1));
        let batch = examples.gather(&[6, 0]);
        assert_eq!(batch.inputs, Numbers::Tokens(vec![6, 7, 8, 0, 1, 2]));
        assert_eq!(batch.labels, [7, 8, 9, 1, 2, 3]);
        assert_eq!((batch.rows, batch.columns), (2, 3));
    }

    #[test]
    fn windows_to_judge_by_foretell_each_token_once() {
        let apart = sequence(3);
        assert_eq!(apart.all_labels(), (1..10).collect::<Vec<_>>());
        assert_eq!((sequence(1).len(), sequence(3).len()), (7, 3));
        let short = Sequence { tokens: vec![1, 2, 3], ..apart };
        assert!(short.is_empty());
        // An epoch is as many tokens as there are.
        assert_eq!(Examples::Sequence(sequence(1)).epochs(20), 6.0);
    }

    #[test]
    fn epochs_are_permutations() {
        let mut batches = Batches::new(1, 50);
        let first = batches.next(50).to_vec();
        let second = batches.next(50).to_vec();
        assert_ne!(first, second);
        for mut epoch in [first, second] {
            epoch.sort_unstable();
            assert!(epoch.iter().copied().eq(0..50));
        }
    }

    #[test]
    fn the_batch_size_does_not_change_the_order() {
        let whole = Batches::new(1, 10).next(35).to_vec();
        let mut batches = Batches::new(1, 10);
        let parts: Vec<usize> =
            [3, 1, 20, 0, 11].into_iter().flat_map(|size| batches.next(size).to_vec()).collect();
        assert_eq!(whole, parts);
        assert_ne!(whole, Batches::new(2, 10).next(35));
        assert!(Batches::new(1, 0).next(64).is_empty());
    }
}
