//! The same tokens generated the other way, to be held against the run: without a cache, or with one if the run has none.

use std::time::Instant;

use mlsys_lab::value::{number, significant};

use super::decoder::Decoder;
use super::sample::likeliest;
use super::writer::Gain;
use crate::parallel::wire::Trouble;

/// The other way.
pub(super) struct Beside {
    decoder: Decoder,
    /// The largest difference of two scores so far.
    worst: f32,
    /// Whether it would have taken the same token at each place.
    same: Same,
}

/// Whether the likeliest tokens are those that the run took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    /// At every place so far.
    Always,
    /// Not at one.
    No,
    /// Tokens were drawn: what would have been drawn says nothing.
    Drawn,
}

/// What one more token cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// Seconds.
    pub(super) seconds: f64,
    /// Operations.
    pub(super) flops: u64,
}

impl Beside {
    /// A decoder that has read nothing.
    pub(super) fn new(decoder: Decoder) -> Self {
        Self {
            decoder,
            worst: 0.0,
            same: Same::Always,
        }
    }

    /// Does what the run did: `rows` end with the tokens that it gained, drawn at `temperature`. What each cost.
    ///
    /// # Errors
    /// If the device gives back something else than numbers.
    pub(super) fn follow(
        &mut self,
        rows: &[Vec<i32>],
        gain: &Gain,
        temperature: f64,
    ) -> Result<Vec<Cost>, Trouble> {
        if temperature > 0.0 {
            self.same = Same::Drawn;
        }
        let end = rows.first().map_or(0, Vec::len);
        let mut costs = Vec::with_capacity(gain.tokens);
        for place in 0..gain.tokens {
            let at = end - gain.tokens + place;
            let read = self.decoder.len();
            let new: Vec<Vec<i32>> = rows.iter().map(|row| row[read..at].to_vec()).collect();
            self.decoder.settle();
            let started = Instant::now();
            let pass = self.decoder.read(&new, 1)?;
            costs.push(Cost {
                seconds: started.elapsed().as_secs_f64(),
                flops: pass.flops,
            });
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
