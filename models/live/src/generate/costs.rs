//! What passes and tokens cost, and the same text generated the other way for comparison.

use std::time::Instant;

use mlsys_distributed::transport::CommError;
use mlsys_lab::value::{number, significant};
use mlsys_sim::inference::expected_tokens;

use super::decoder::{Decoder, PassCost};
use super::generator::{Knobs, Phase, StepResult};
use crate::sampling::likeliest;

/// A span of the run's own time; the comparison does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PhaseSpan {
    pub(super) phase: Phase,
    /// Seconds at which it begins; what is done for comparison does not count.
    pub(super) start: f64,
    pub(super) seconds: f64,
    pub(super) flops: u64,
    pub(super) bytes: u64,
}

/// The cost of a token, or of drafts before it is judged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TokenCost {
    pub(super) token: usize,
    pub(super) seconds: f64,
    pub(super) flops: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct CostLog {
    pub(super) spans: Vec<PhaseSpan>,
    pub(super) own: Vec<TokenCost>,
    /// What it cost the other way.
    pub(super) other: Vec<TokenCost>,
    /// Token positions that went through the model, of a sequence.
    pub(super) positions: u64,
    pub(super) draft_positions: u64,
    /// Passes of the model after the prompt, apart by the knobs that they ran with.
    speculation: Vec<Speculation>,
    pub(super) gained: u64,
}

/// Passes of the model after the prompt, with one setting of the knobs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Speculation {
    temperature: f64,
    drafted: usize,
    pub(super) runs: u64,
    /// Drafted tokens that were looked at, and those of them that stayed.
    pub(super) judged: u64,
    pub(super) accepted: u64,
}

impl CostLog {
    pub(super) fn pass(&mut self, phase: Phase, seconds: f64, pass: &PassCost) {
        let start = self.spans.last().map_or(0.0, PhaseSpan::end);
        self.spans.push(PhaseSpan { phase, start, seconds, flops: pass.flops, bytes: pass.bytes });
        match phase {
            Phase::Draft => self.draft_positions += pass.positions,
            Phase::Prefill | Phase::Decode | Phase::Judge => self.positions += pass.positions,
        }
    }

    pub(super) fn speculation(&mut self, knobs: Knobs) -> &mut Speculation {
        let own =
            |of: &Speculation| (of.temperature, of.drafted) == (knobs.temperature, knobs.drafted);
        let at = self.speculation.iter().position(own).unwrap_or_else(|| {
            self.speculation.push(Speculation {
                temperature: knobs.temperature,
                drafted: knobs.drafted,
                ..Speculation::default()
            });
            self.speculation.len() - 1
        });
        &mut self.speculation[at]
    }

    pub(super) fn all_speculation(&self) -> Speculation {
        let sum = |all: Speculation, of: &Speculation| Speculation {
            runs: all.runs + of.runs,
            judged: all.judged + of.judged,
            accepted: all.accepted + of.accepted,
            ..all
        };
        self.speculation.iter().fold(Speculation::default(), sum)
    }

    /// Tokens that a pass should have gained, by formula, each with the knobs and the acceptance of its time.
    pub(super) fn expected_tokens(&self) -> Option<f64> {
        let all = self.all_speculation();
        let of_all = all.acceptance()?;
        let sum = self.speculation.iter().map(|of| {
            let share = of.acceptance().unwrap_or(of_all);
            of.runs as f64 * expected_tokens(share, of.drafted as i64)
        });
        Some(sum.sum::<f64>() / all.runs as f64)
    }

    pub(super) fn decode_seconds(&self) -> f64 {
        self.after_prompt().map(|span| span.seconds).sum()
    }

    /// Operations for each byte, of everything after the prompt or of the prompt.
    pub(super) fn intensity(&self, phase: Phase) -> Option<f64> {
        let spans = self.spans.iter().filter(|of| of.phase == phase);
        let sums = spans.fold((0, 0), |(flops, bytes), of| (flops + of.flops, bytes + of.bytes));
        (sums.1 > 0).then(|| sums.0 as f64 / sums.1 as f64)
    }

    /// Bytes a second that decoding must move at least.
    pub(super) fn bytes_per_second(&self) -> Option<f64> {
        let bytes: u64 = self.after_prompt().map(|span| span.bytes).sum();
        let seconds = self.decode_seconds();
        (seconds > 0.0).then(|| bytes as f64 / seconds)
    }

    fn after_prompt(&self) -> impl Iterator<Item = &PhaseSpan> {
        let after = |span: &&PhaseSpan| span.phase != Phase::Prefill;
        self.spans.iter().filter(after)
    }
}

impl Speculation {
    /// The share of drafted tokens that stayed, of those that were looked at.
    pub(super) fn acceptance(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.accepted as f64 / self.judged as f64)
    }
}

impl PhaseSpan {
    pub(super) fn end(&self) -> f64 {
        self.start + self.seconds
    }

    pub(super) fn intensity(&self) -> f64 {
        self.flops as f64 / self.bytes.max(1) as f64
    }
}

// The same tokens generated the other way, to be held against the run: without a cache, or with one if the run has none.

/// Operations after which a comparison without a cache goes on with fewer tokens: some seconds on a processor.
pub(super) const PLENTY: u64 = 1 << 35;

/// Then the next compared token comes after the text has grown by this fraction of its length.
const SPARSE: usize = 16;

/// A decoder that follows the run with the other kind of caching.
pub(super) struct Comparator {
    decoder: Decoder,
    /// Whether few tokens are compared, further and further apart, as each takes all before it through the model again.
    pub(super) is_sparse: bool,
    left: u64,
    /// The length of the text from which on the next token is compared.
    next: usize,
    pub(super) worst: f32,
    /// Whether the likeliest tokens were those that the run took; unknown where tokens were drawn.
    pub(super) same: Option<bool>,
}

impl Comparator {
    /// A decoder that has read nothing, and the operations after which it looks at fewer tokens if it has no cache.
    pub(super) fn new(decoder: Decoder, plenty: u64) -> Self {
        Self { decoder, is_sparse: false, left: plenty, next: 0, worst: 0.0, same: Some(true) }
    }

    /// Reads what the run read: `rows` end with the new tokens. The costs of those compared, by place.
    pub(super) fn follow(
        &mut self,
        rows: &[Vec<i32>],
        gained: &StepResult,
        temperature: f64,
    ) -> Result<Vec<TokenCost>, CommError> {
        if temperature > 0.0 {
            self.same = None;
        }
        let end = rows.first().map_or(0, Vec::len);
        let mut costs = Vec::with_capacity(gained.tokens);
        for place in 0..gained.tokens {
            let at = end - gained.tokens + place;
            if at < self.next {
                continue;
            }
            let read = self.decoder.len();
            let new: Vec<Vec<i32>> = rows.iter().map(|row| row[read..at].to_vec()).collect();
            self.decoder.evict_before_next();
            let started = Instant::now();
            let pass = self.decoder.read(&new, 1)?;
            let seconds = started.elapsed().as_secs_f64();
            costs.push(TokenCost { token: place, seconds, flops: pass.flops });
            self.plan(at, pass.flops);
            for ((row, own), scores) in rows.iter().zip(&gained.pass.scores).zip(&pass.scores) {
                let (Some(own), Some(scores)) = (own.get(place), scores.last()) else { continue };
                for (a, b) in own.iter().zip(scores) {
                    self.worst = self.worst.max((a - b).abs());
                }
                let is_same = row[at] == likeliest(scores) as i32;
                self.same = self.same.map(|same| same && is_same);
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
            self.is_sparse = true;
            self.next = length + 1 + length / SPARSE;
        }
    }

    /// What came of it, to be put behind a sentence; `name` is what the other way is called.
    pub(super) fn summary(&self, name: &str) -> String {
        let tokens = match self.same {
            Some(true) => format!("; {name} the same tokens"),
            Some(false) => format!("; {name} other tokens"),
            None => String::new(),
        };
        let worst = number(significant(f64::from(self.worst), 2));
        format!("{tokens}; scores {name} differ by {worst} at most")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_follow_one_another_and_the_prompt_is_apart() {
        let mut costs = CostLog::default();
        let pass =
            |positions, flops, bytes| PassCost { scores: Vec::new(), positions, flops, bytes };
        costs.pass(Phase::Prefill, 0.5, &pass(16, 800, 100));
        costs.pass(Phase::Draft, 0.25, &pass(1, 5, 10));
        costs.pass(Phase::Judge, 0.25, &pass(5, 50, 110));
        assert_eq!((costs.positions, costs.draft_positions), (21, 1));
        assert_eq!(costs.spans[2].start, 0.75);
        assert_eq!(costs.decode_seconds(), 0.5);
        assert_eq!(costs.intensity(Phase::Prefill), Some(8.0));
        assert_eq!(costs.intensity(Phase::Decode), None);
        assert_eq!(costs.bytes_per_second(), Some(240.0));
    }

    #[test]
    fn expectation_averages_over_knob_settings() {
        let mut costs = CostLog::default();
        assert_eq!(costs.expected_tokens(), None);
        let mut run = |drafted, runs, judged, accepted| {
            let of = costs.speculation(Knobs { temperature: 1.0, drafted, generated: 100 });
            of.runs += runs;
            of.judged += judged;
            of.accepted += accepted;
            let share = costs.all_speculation().acceptance();
            (share.unwrap(), costs.expected_tokens())
        };
        // (1 - a^5) / (1 - a)
        assert_eq!(run(4, 10, 30, 15), (0.5, Some(1.9375)));
        assert_eq!(run(1, 15, 15, 3), (0.4, Some((10.0 * 1.9375 + 15.0 * 1.2) / 25.0)));
        assert_eq!(run(4, 0, 0, 0).1, Some((10.0 * 1.9375 + 15.0 * 1.2) / 25.0));
    }
}
