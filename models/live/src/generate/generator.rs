//! Generation: a prompt read whole, then a token at a time, or drafts of a smaller model judged together.

use mlsys_distributed::transport::CommError;
use mlsys_lab::named_enum;
use mlsys_nn::random::Stream;
use serde::Deserialize;

use super::decoder::{AttentionWeights, Decoder, PassCost};
use crate::sampling::{draw, likeliest, probabilities};

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub(super) struct Knobs {
    /// 0 takes the likeliest token.
    pub(super) temperature: f64,
    /// Tokens that the smaller model drafts before they are judged.
    #[serde(rename = "draft_tokens")]
    pub(super) drafted: usize,
    #[serde(rename = "generated_tokens")]
    pub(super) generated: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Prompt,
    Model,
    /// The smaller model, and the model let it stand.
    Draft,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Phase {
        Prefill = "prefill",
        Decode = "decode",
        Draft = "draft",
        Judge = "verify",
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepResult {
    pub(super) phase: Phase,
    /// Its scores are at each gained token's place.
    pub(super) pass: PassCost,
    /// New tokens; none of a draft.
    pub(super) tokens: usize,
    /// Drafted tokens that stayed, and those that were looked at: those behind a refused one are not.
    pub(super) accepted: usize,
    pub(super) judged: usize,
}

struct Drafter {
    decoder: Decoder,
    drafted: Vec<i32>,
    /// The probabilities that each was drawn by.
    probabilities: Vec<Vec<f64>>,
    stream: Stream,
}

pub(super) struct Generator {
    pub(super) decoder: Decoder,
    drafter: Option<Drafter>,
    /// Prompt and what was written, a row a sequence.
    pub(super) rows: Vec<Vec<i32>>,
    pub(super) origins: Vec<Origin>,
    pub(super) prompt: usize,
    streams: Vec<Stream>,
    judging: Stream,
    /// Where drafted tokens were refused last, and which.
    pub(super) rejected: (usize, Vec<i32>),
    /// How far before the last token that was read the one is that the last kept token followed.
    back: usize,
}

impl Generator {
    /// One prompt or more, of one length, at least a token long, that `decoder` has not read yet.
    pub(super) fn new(decoder: Decoder, prompts: Vec<Vec<i32>>, seed: u64) -> Self {
        let prompt = prompts[0].len();
        let stream = |row: usize| Stream::new(seed, &format!("generate/sample/{row}"));
        Self {
            decoder,
            drafter: None,
            origins: vec![Origin::Prompt; prompt],
            prompt,
            streams: (0..prompts.len()).map(stream).collect(),
            rows: prompts,
            judging: Stream::new(seed, "generate/judge"),
            rejected: (0, Vec::new()),
            back: 0,
        }
    }

    /// The same, with a smaller model that drafts; there is one sequence then.
    pub(super) fn with_drafter(self, decoder: Decoder, seed: u64) -> Self {
        Self {
            drafter: Some(Drafter {
                decoder,
                drafted: Vec::new(),
                probabilities: Vec::new(),
                stream: Stream::new(seed, "generate/draft"),
            }),
            ..self
        }
    }

    pub(super) fn written(&self) -> usize {
        self.origins.len() - self.prompt
    }

    pub(super) fn drafted(&self) -> &[i32] {
        self.drafter.as_ref().map_or(&[], |drafter| &drafter.drafted)
    }

    /// By block and head how much the newest token that was read looked at each before it, and the position of the first.
    pub(super) fn attention(&self) -> Result<AttentionWeights, CommError> {
        self.decoder.attention(self.back)
    }

    pub(super) fn step(&mut self, knobs: Knobs) -> Result<StepResult, CommError> {
        if self.decoder.len() == 0 {
            return self.choose(knobs, Phase::Prefill);
        }
        // The model adds a token of its own to those that are drafted.
        let left = knobs.generated.saturating_sub(self.written() + 1);
        let wanted = knobs.drafted.min(left);
        match &mut self.drafter {
            Some(drafter) if drafter.drafted.len() < wanted => {
                let pass = drafter.draft(&self.rows, knobs.temperature)?;
                Ok(StepResult { phase: Phase::Draft, pass, tokens: 0, accepted: 0, judged: 0 })
            }
            Some(drafter) if wanted > 0 => {
                drafter.drafted.truncate(wanted);
                self.judge(knobs)
            }
            Some(_) | None => self.choose(knobs, Phase::Decode),
        }
    }

    fn choose(&mut self, knobs: Knobs, phase: Phase) -> Result<StepResult, CommError> {
        let read = self.decoder.len();
        let new: Vec<Vec<i32>> = self.rows.iter().map(|row| row[read..].to_vec()).collect();
        self.decoder.evict_before_next();
        let pass = self.decoder.read(&new, 1)?;
        self.decoder.evict_before_last();
        self.back = 0;
        let rows = self.rows.iter_mut().zip(&mut self.streams);
        for ((row, stream), scores) in rows.zip(&pass.scores) {
            row.push(sample(&scores[0], knobs.temperature, stream) as i32);
        }
        self.origins.push(Origin::Model);
        // Drafts that were not looked at continue a text that is no more.
        if let Some(drafter) = &mut self.drafter {
            drafter.drafted.clear();
            drafter.probabilities.clear();
            drafter.decoder.truncate(self.origins.len() - 1);
            self.rejected = (0, Vec::new());
        }
        Ok(StepResult { phase, pass, tokens: 1, accepted: 0, judged: 0 })
    }

    /// Reads what was drafted and keeps what the model agrees with.
    fn judge(&mut self, knobs: Knobs) -> Result<StepResult, CommError> {
        let Some(drafter) = &mut self.drafter else { return self.choose(knobs, Phase::Decode) };
        let drafted = std::mem::take(&mut drafter.drafted);
        let of_draft = std::mem::take(&mut drafter.probabilities);
        let row = &mut self.rows[0];
        let new = [&row[self.decoder.len()..], &drafted].concat();
        self.decoder.evict_before_next();
        let mut pass = self.decoder.read(&[new], drafted.len() + 1)?;
        let own = pass.scores[0].iter().map(|scores| probabilities(scores, knobs.temperature));
        let own: Vec<Vec<f64>> = own.collect();
        let tokens: Vec<usize> = drafted.iter().map(|&token| token as usize).collect();
        let judged = judge(&own, &of_draft, &tokens, &mut self.judging);
        let (stay, rejected) = drafted.split_at(judged.accepted);
        row.extend(stay);
        self.rejected = (row.len(), rejected.to_vec());
        row.push(judged.next as i32);
        self.origins.extend(stay.iter().map(|_| Origin::Draft));
        self.origins.push(Origin::Model);
        pass.scores[0].truncate(judged.accepted + 1);
        // What was read and does not stand is taken back; the last token has not been read.
        let read = self.origins.len() - 1;
        self.decoder.truncate(read);
        self.decoder.evict_before_last();
        drafter.decoder.truncate(read);
        self.back = drafted.len() - judged.accepted;
        Ok(StepResult {
            phase: Phase::Judge,
            pass,
            tokens: judged.accepted + 1,
            accepted: judged.accepted,
            judged: tokens.len().min(judged.accepted + 1),
        })
    }
}

impl Drafter {
    fn draft(&mut self, rows: &[Vec<i32>], temperature: f64) -> Result<PassCost, CommError> {
        let text = [&rows[0][..], &self.drafted].concat();
        let new = text[self.decoder.len().min(text.len())..].to_vec();
        // While drafts may be taken back, nothing is let go.
        if self.drafted.is_empty() {
            self.decoder.evict_before_next();
        }
        let pass = self.decoder.read(&[new], 1)?;
        let shares = probabilities(&pass.scores[0][0], temperature);
        self.drafted.push(draw(&shares, &mut self.stream) as i32);
        self.probabilities.push(shares);
        Ok(pass)
    }
}

fn sample(scores: &[f32], temperature: f64, stream: &mut Stream) -> usize {
    if temperature > 0.0 {
        draw(&probabilities(scores, temperature), stream)
    } else {
        likeliest(scores)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Acceptance {
    /// Drafted tokens that stay, from the first on.
    pub(super) accepted: usize,
    /// The large model's own token after them.
    pub(super) next: usize,
}

/// Judges drafted tokens so that what stays is distributed as if the large model had drawn it (Leviathan et al. 2023,
/// algorithm 1): a token x stays with probability min(1, p(x) / q(x)); at the first that does not, the large model draws
/// from max(0, p - q) instead, and if all stay, from what it makes of the place after them.
///
/// `p` has the large model's probabilities at each place, one place more than was drafted; `q` those of the drafting model.
pub(super) fn judge(
    p: &[Vec<f64>],
    q: &[Vec<f64>],
    drafted: &[usize],
    stream: &mut Stream,
) -> Acceptance {
    for (place, ((p, q), &token)) in p.iter().zip(q).zip(drafted).enumerate() {
        if stream.uniform() * q[token] < p[token] {
            continue;
        }
        let left: Vec<f64> = p.iter().zip(q).map(|(p, q)| (p - q).max(0.0)).collect();
        // Both alike to the last bit, and refused by rounding.
        let left = if left.iter().sum::<f64>() > 0.0 { &left } else { p };
        return Acceptance { accepted: place, next: draw(left, stream) };
    }
    let after = p.get(drafted.len()).map_or(&[][..], Vec::as_slice);
    Acceptance { accepted: drafted.len(), next: draw(after, stream) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampling::tests::{RARE, chi_square};

    #[test]
    fn speculative_tokens_keep_the_distribution() {
        let p = probabilities(&[0.3, -1.0, 1.2, 0.0, -0.4], 1.0);
        let q = probabilities(&[1.0, 0.5, -0.5, 0.0, -2.0], 1.0);
        let (mut drafts, mut judges) = (Stream::new(3, "draft"), Stream::new(3, "judge"));
        let (mut counts, mut accepted, draws) = ([0; 5], 0, 40_000);
        for _ in 0..draws {
            let drafted = draw(&q, &mut drafts);
            // What follows does not matter: the first token is what is counted.
            let places = [p.clone(), p.clone()];
            let judged = judge(&places, std::slice::from_ref(&q), &[drafted], &mut judges);
            accepted += judged.accepted;
            counts[if judged.accepted == 1 { drafted } else { judged.next }] += 1;
        }
        let found = chi_square(&counts, &p);
        assert!(found < RARE, "{found}");
        // A drafted token stays with probability sum of min(p, q) (theorem 3.5), here 0.64.
        let alpha: f64 = p.iter().zip(&q).map(|(p, q)| p.min(*q)).sum();
        let share = accepted as f64 / f64::from(draws);
        let error = (alpha * (1.0 - alpha) / f64::from(draws)).sqrt();
        assert!((share - alpha).abs() < 3.0 * error, "{share} {alpha}");
        // The test can fail: drafted tokens alone are not so distributed.
        let of_drafts: Vec<usize> = q.iter().map(|q| (q * 40_000.0) as usize).collect();
        assert!(chi_square(&of_drafts, &p) > 100.0 * RARE);
    }
}
