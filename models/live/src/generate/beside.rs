//! The same tokens generated the other way, to be held against the run: without a cache, or with one if the run has none.

use std::time::Instant;

use mlsys_lab::value::{number, significant};

use super::decoder::Decoder;
use super::sample::likeliest;
use super::writer::Gain;
use mlsys_distributed::transport::CommError;

/// Operations after which a comparison without a cache goes on with fewer tokens: some seconds on a processor.
pub(super) const PLENTY: u64 = 1 << 35;

/// Then the text grows by so many times less than its length from one token that is compared to the next.
const SPARSE: usize = 16;

/// The other way.
pub(super) struct Beside {
    decoder: Decoder,
    density: Density,
    /// Operations that are left before fewer tokens are compared.
    left: u64,
    /// The length of the text from which on the next token is compared.
    next: usize,
    /// The largest difference of two scores so far.
    worst: f32,
    /// Whether it would have taken the same token at each place.
    same: Same,
}

/// Whether the likeliest tokens are those that the run took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    /// At every place so far that was compared.
    Always,
    /// Not at one.
    No,
    /// Tokens were drawn: what would have been drawn says nothing.
    Drawn,
}

/// Which tokens are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Density {
    /// Each.
    All,
    /// A few, further and further apart: without a cache each takes all before it through the model again, and of a long
    /// text that is more than a person waits for.
    Few,
}

/// What one more token cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// Which of those that were gained.
    pub(super) place: usize,
    /// Seconds.
    pub(super) seconds: f64,
    /// Operations.
    pub(super) flops: u64,
}

impl Beside {
    /// A decoder that has read nothing, and the operations after which it looks at fewer tokens if it has no cache.
    pub(super) fn new(decoder: Decoder, plenty: u64) -> Self {
        Self {
            decoder,
            density: Density::All,
            left: plenty,
            next: 0,
            worst: 0.0,
            same: Same::Always,
        }
    }

    /// Does what the run did: `rows` end with the tokens that it gained, drawn at `temperature`. What each cost that was
    /// compared.
    ///
    /// # Errors
    /// If the device gives back something else than numbers.
    pub(super) fn follow(
        &mut self,
        rows: &[Vec<i32>],
        gain: &Gain,
        temperature: f64,
    ) -> Result<Vec<Cost>, CommError> {
        if temperature > 0.0 {
            self.same = Same::Drawn;
        }
        let end = rows.first().map_or(0, Vec::len);
        let mut costs = Vec::with_capacity(gain.tokens);
        for place in 0..gain.tokens {
            let at = end - gain.tokens + place;
            if at < self.next {
                continue;
            }
            let read = self.decoder.len();
            let new: Vec<Vec<i32>> = rows.iter().map(|row| row[read..at].to_vec()).collect();
            self.decoder.settle();
            let started = Instant::now();
            let pass = self.decoder.read(&new, 1)?;
            costs.push(Cost { place, seconds: started.elapsed().as_secs_f64(), flops: pass.flops });
            self.plan(at, pass.flops);
            for ((row, own), scores) in rows.iter().zip(&gain.pass.scores).zip(&pass.scores) {
                let (Some(own), Some(scores)) = (own.get(place), scores.last()) else {
                    continue;
                };
                for (a, b) in own.iter().zip(scores) {
                    self.worst = self.worst.max((a - b).abs());
                }
                if self.same == Same::Always && row[at] != likeliest(scores) as i32 {
                    self.same = Same::No;
                }
            }
        }
        Ok(costs)
    }

    /// Which token is compared after the one that ends a text of this length.
    fn plan(&mut self, length: usize, flops: u64) {
        if self.decoder.kept().is_some() {
            return;
        }
        self.left = self.left.saturating_sub(flops);
        if self.left == 0 {
            self.density = Density::Few;
            self.next = length + 1 + length / SPARSE;
        }
    }

    /// Which tokens are compared.
    pub(super) fn density(&self) -> Density {
        self.density
    }

    /// The largest difference of two scores so far.
    pub(super) fn worst(&self) -> f32 {
        self.worst
    }

    /// What came of it, to be put behind a sentence; `name` is what the other way is called.
    pub(super) fn told(&self, name: &str) -> String {
        let tokens = match self.same {
            Same::Always => format!("; {name} the same tokens"),
            Same::No => format!("; {name} other tokens"),
            Same::Drawn => String::new(),
        };
        let worst = number(significant(f64::from(self.worst), 2));
        format!("{tokens}; scores {name} differ by {worst} at most")
    }

    /// Whether it would have taken the same tokens.
    pub(super) fn same(&self) -> Same {
        self.same
    }
}
