//! What a run has done so far: when, at which cost, with what gained.

use std::time::Instant;

use mlsys_distributed::transport::CommError;
use mlsys_lab::value::{number, significant};
use mlsys_sim::inference::expected_tokens;

use super::decoder::{Decoder, PassCost};
use super::writer::{Gain, Wish, likeliest};

/// What a stretch of the run was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The prompt was read at once.
    Prefill,
    /// One token was read.
    Decode,
    /// The smaller model drafted a token.
    Draft,
    /// The model judged drafted tokens at once.
    Judge,
}

impl Phase {
    /// Every phase.
    pub(super) const ALL: [Self; 4] = [Self::Prefill, Self::Decode, Self::Draft, Self::Judge];

    /// What it is called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Draft => "draft",
            Self::Judge => "judge",
        }
    }
}

/// A stretch of the run's own time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    pub(super) phase: Phase,
    /// Seconds at which it begins; what is done for comparison does not count.
    pub(super) start: f64,
    pub(super) seconds: f64,
    /// Operations of its matrix products.
    pub(super) flops: u64,
    /// Bytes that it must move at least.
    pub(super) bytes: u64,
}

/// What a token cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spent {
    /// Which token that was written, from 1 on.
    pub(super) token: usize,
    pub(super) seconds: f64,
    pub(super) flops: u64,
}

/// What a run has done so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracks {
    pub(super) stretches: Vec<Stretch>,
    /// What each token cost the run.
    pub(super) own: Vec<Spent>,
    /// What it cost the other way.
    pub(super) other: Vec<Spent>,
    /// Token positions that went through the model, of a sequence.
    pub(super) positions: u64,
    /// The same through the smaller model.
    pub(super) draft_positions: u64,
    /// Passes of the model after the prompt, apart by the knobs that they ran with.
    rounds: Vec<Rounds>,
    /// Tokens that came of them.
    pub(super) gained: u64,
}

/// Passes of the model after the prompt, with one setting of the knobs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rounds {
    temperature: f64,
    /// Tokens that are drafted at most.
    drafted: usize,
    /// How many.
    pub(super) runs: u64,
    /// Drafted tokens that were looked at, and those of them that stayed.
    pub(super) judged: u64,
    pub(super) accepted: u64,
}

/// What has been spent on a token that is not there yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pending {
    pub(super) seconds: f64,
    pub(super) flops: u64,
}

impl Tracks {
    /// A pass was done.
    pub(super) fn pass(&mut self, phase: Phase, seconds: f64, pass: &PassCost) {
        let start = self.stretches.last().map_or(0.0, Stretch::end);
        self.stretches.push(Stretch {
            phase,
            start,
            seconds,
            flops: pass.flops,
            bytes: pass.bytes,
        });
        match phase {
            Phase::Draft => self.draft_positions += pass.positions,
            Phase::Prefill | Phase::Decode | Phase::Judge => self.positions += pass.positions,
        }
    }

    /// The rounds with these knobs.
    pub(super) fn rounds(&mut self, wish: Wish) -> &mut Rounds {
        let own = |of: &Rounds| (of.temperature, of.drafted) == (wish.temperature, wish.drafted);
        let at = self.rounds.iter().position(own).unwrap_or_else(|| {
            self.rounds.push(Rounds {
                temperature: wish.temperature,
                drafted: wish.drafted,
                ..Rounds::default()
            });
            self.rounds.len() - 1
        });
        &mut self.rounds[at]
    }

    /// All rounds together, whatever their knobs.
    pub(super) fn all_rounds(&self) -> Rounds {
        let sum = |all: Rounds, of: &Rounds| Rounds {
            runs: all.runs + of.runs,
            judged: all.judged + of.judged,
            accepted: all.accepted + of.accepted,
            ..all
        };
        self.rounds.iter().fold(Rounds::default(), sum)
    }

    /// Tokens that a pass of the model should have gained, by formula: the mean over those that ran, each with the knobs and
    /// the acceptance of its time. None before anything was judged.
    pub(super) fn expected_tokens(&self) -> Option<f64> {
        let all = self.all_rounds();
        let of_all = all.acceptance()?;
        let sum = self.rounds.iter().map(|of| {
            let share = of.acceptance().unwrap_or(of_all);
            of.runs as f64 * expected_tokens(share, of.drafted as i64)
        });
        Some(sum.sum::<f64>() / all.runs as f64)
    }

    /// Seconds of everything but the prompt's.
    pub(super) fn decode_seconds(&self) -> f64 {
        self.after_prompt().map(|stretch| stretch.seconds).sum()
    }

    /// Operations for each byte, of everything after the prompt or of the prompt.
    pub(super) fn intensity(&self, phase: Phase) -> Option<f64> {
        let mut flops = 0;
        let mut bytes = 0;
        for stretch in self.stretches.iter().filter(|of| of.phase == phase) {
            flops += stretch.flops;
            bytes += stretch.bytes;
        }
        (bytes > 0).then(|| flops as f64 / bytes as f64)
    }

    /// Bytes a second that decoding must move at least.
    pub(super) fn bytes_per_second(&self) -> Option<f64> {
        let bytes: u64 = self.after_prompt().map(|stretch| stretch.bytes).sum();
        let seconds = self.decode_seconds();
        (seconds > 0.0).then(|| bytes as f64 / seconds)
    }

    fn after_prompt(&self) -> impl Iterator<Item = &Stretch> {
        let after = |stretch: &&Stretch| stretch.phase != Phase::Prefill;
        self.stretches.iter().filter(after)
    }
}

impl Rounds {
    /// The share of drafted tokens that stayed, of those that were looked at.
    pub(super) fn acceptance(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.accepted as f64 / self.judged as f64)
    }
}

impl Stretch {
    /// Seconds at which it ends.
    pub(super) fn end(&self) -> f64 {
        self.start + self.seconds
    }

    /// Operations for each byte.
    pub(super) fn intensity(&self) -> f64 {
        self.flops as f64 / self.bytes.max(1) as f64
    }
}

// The same tokens generated the other way, to be held against the run: without a cache, or with one if the run has none.

/// Operations after which a comparison without a cache goes on with fewer tokens: some seconds on a processor.
pub(super) const PLENTY: u64 = 1 << 35;

/// Then the next compared token comes after the text has grown by this fraction of its length.
const SPARSE: usize = 16;

/// The other way.
pub(super) struct Comparator {
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

impl Comparator {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_follow_one_another_and_the_prompt_is_apart() {
        let mut tracks = Tracks::default();
        let pass =
            |positions, flops, bytes| PassCost { scores: Vec::new(), positions, flops, bytes };
        tracks.pass(Phase::Prefill, 0.5, &pass(16, 800, 100));
        tracks.pass(Phase::Draft, 0.25, &pass(1, 5, 10));
        tracks.pass(Phase::Judge, 0.25, &pass(5, 50, 110));
        assert_eq!((tracks.positions, tracks.draft_positions), (21, 1));
        assert_eq!(tracks.stretches[2].start, 0.75);
        assert_eq!(tracks.decode_seconds(), 0.5);
        assert_eq!(tracks.intensity(Phase::Prefill), Some(8.0));
        assert_eq!(tracks.intensity(Phase::Decode), None);
        assert_eq!(tracks.bytes_per_second(), Some(240.0));
    }

    #[test]
    fn expectation_averages_over_knob_settings() {
        let mut tracks = Tracks::default();
        assert_eq!(tracks.expected_tokens(), None);
        let mut run = |drafted, runs, judged, accepted| {
            let of = tracks.rounds(Wish { temperature: 1.0, drafted, generated: 100 });
            of.runs += runs;
            of.judged += judged;
            of.accepted += accepted;
            let share = tracks.all_rounds().acceptance();
            (share.unwrap(), tracks.expected_tokens())
        };
        // (1 - a^5) / (1 - a)
        assert_eq!(run(4, 10, 30, 15), (0.5, Some(1.9375)));
        assert_eq!(run(1, 15, 15, 3), (0.4, Some((10.0 * 1.9375 + 15.0 * 1.2) / 25.0)));
        assert_eq!(run(4, 0, 0, 0).1, Some((10.0 * 1.9375 + 15.0 * 1.2) / 25.0));
    }
}
