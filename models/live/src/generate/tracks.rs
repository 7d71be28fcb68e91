//! What a run has done so far: when, at which cost, with what gained.

use mlsys_sim::inference::expected_tokens;

use super::decoder::Pass;
use super::writer::Wish;

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
    pub(super) fn pass(&mut self, phase: Phase, seconds: f64, pass: &Pass) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_follow_one_another_and_the_prompt_is_apart() {
        let mut tracks = Tracks::default();
        let pass = |positions, flops, bytes| Pass { scores: Vec::new(), positions, flops, bytes };
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
    fn what_is_expected_is_the_mean_over_what_ran_each_with_its_own_knobs() {
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
