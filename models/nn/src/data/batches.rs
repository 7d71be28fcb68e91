use crate::random::Stream;

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

    #[test]
    fn every_epoch_holds_each_example_once_in_an_order_of_its_own() {
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
    }

    #[test]
    fn without_examples_there_is_no_batch() {
        assert!(Batches::new(1, 0).next(64).is_empty());
    }
}
