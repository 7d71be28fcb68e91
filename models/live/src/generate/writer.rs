//! Sequences that are written on: a prompt read whole, then a token at a time, or drafts of a smaller model judged together.

use super::decoder::{Decoder, Looks, Pass};
use super::sample::{draw, judge, likeliest, odds};
use mlsys_distributed::transport::CommError;
use mlsys_nn::random::Stream;

/// What is asked of the next turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wish {
    /// 0 takes the likeliest token.
    pub(super) temperature: f64,
    /// Tokens that the smaller model drafts before they are judged.
    pub(super) drafted: usize,
    /// Tokens to add.
    pub(super) generated: usize,
}

/// Who chose a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was in the prompt.
    Prompt,
    /// The model.
    Model,
    /// The smaller model, and the model let it stand.
    Draft,
}

/// What one turn did.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Turn {
    /// The prompt was read and the first token chosen.
    Prefill(Gain),
    /// One more token was chosen.
    Decode(Gain),
    /// The smaller model drafted one more token.
    Draft(Pass),
    /// The model judged what was drafted.
    Judge {
        /// The tokens that came of it.
        gain: Gain,
        /// Drafted tokens that stayed.
        accepted: usize,
        /// Drafted tokens that were looked at: those behind a refused one are not.
        judged: usize,
    },
}

/// Tokens that were gained.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Gain {
    /// How many in each sequence.
    pub(super) tokens: usize,
    /// What the model's pass cost; its scores are at each gained token's place.
    pub(super) pass: Pass,
}

/// A smaller model that runs ahead.
struct Drafter {
    decoder: Decoder,
    /// Drafted and not yet judged.
    drafted: Vec<i32>,
    /// The probabilities that each was drawn by.
    odds: Vec<Vec<f64>>,
    stream: Stream,
}

/// Sequences that are written on.
pub(super) struct Writer {
    decoder: Decoder,
    drafter: Option<Drafter>,
    /// Prompt and what was written, a row a sequence.
    rows: Vec<Vec<i32>>,
    /// Who chose each place's token.
    origins: Vec<Origin>,
    prompt: usize,
    /// One a sequence.
    streams: Vec<Stream>,
    judging: Stream,
    /// Where drafted tokens were refused last, and which.
    struck: (usize, Vec<i32>),
    /// How far before the last token that was read the one is that the last kept token followed.
    back: usize,
}

impl Writer {
    /// Prompts of one length, at least a token long, that `decoder` has not read yet.
    pub(super) fn new(decoder: Decoder, prompts: Vec<Vec<i32>>, seed: u64) -> Self {
        let prompt = prompts.first().map_or(0, Vec::len);
        let stream = |row: usize| Stream::new(seed, &format!("generate/sample/{row}"));
        Self {
            decoder,
            drafter: None,
            origins: vec![Origin::Prompt; prompt],
            prompt,
            streams: (0..prompts.len()).map(stream).collect(),
            rows: prompts,
            judging: Stream::new(seed, "generate/judge"),
            struck: (0, Vec::new()),
            back: 0,
        }
    }

    /// The same, with a smaller model that drafts; there is one sequence then.
    pub(super) fn with_drafter(self, decoder: Decoder, seed: u64) -> Self {
        Self {
            drafter: Some(Drafter {
                decoder,
                drafted: Vec::new(),
                odds: Vec::new(),
                stream: Stream::new(seed, "generate/draft"),
            }),
            ..self
        }
    }

    /// Tokens written.
    pub(super) fn written(&self) -> usize {
        self.origins.len() - self.prompt
    }

    /// Prompt and what was written.
    pub(super) fn rows(&self) -> &[Vec<i32>] {
        &self.rows
    }

    /// Who chose each place's token.
    pub(super) fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// Tokens of the prompt.
    pub(super) fn prompt(&self) -> usize {
        self.prompt
    }

    /// Drafted and not yet judged.
    pub(super) fn drafted(&self) -> &[i32] {
        self.drafter.as_ref().map_or(&[], |drafter| &drafter.drafted)
    }

    /// Where drafted tokens were refused last, and which.
    pub(super) fn struck(&self) -> (usize, &[i32]) {
        (self.struck.0, &self.struck.1)
    }

    /// By block and head how much the newest token that was read looked at each before it, and the position of the first.
    ///
    /// # Errors
    /// If the device gives back something else than numbers.
    pub(super) fn looks(&self) -> Result<Looks, CommError> {
        self.decoder.looks(self.back)
    }

    /// The model's own reading.
    pub(super) fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// The next turn.
    ///
    /// # Errors
    /// If the device gives back something else than numbers.
    pub(super) fn turn(&mut self, wish: Wish) -> Result<Turn, CommError> {
        if self.decoder.len() == 0 {
            return self.choose(wish).map(Turn::Prefill);
        }
        // The model adds a token of its own to those that are drafted.
        let left = wish.generated.saturating_sub(self.written() + 1);
        let wanted = wish.drafted.min(left);
        match &mut self.drafter {
            Some(drafter) if drafter.drafted.len() < wanted => {
                let pass = drafter.draft(&self.rows, wish.temperature)?;
                Ok(Turn::Draft(pass))
            }
            Some(drafter) if wanted > 0 => {
                drafter.drafted.truncate(wanted);
                self.judge(wish)
            }
            Some(_) | None => self.choose(wish).map(Turn::Decode),
        }
    }

    /// Reads what is new and chooses the token after it.
    fn choose(&mut self, wish: Wish) -> Result<Gain, CommError> {
        let read = self.decoder.len();
        let new: Vec<Vec<i32>> = self.rows.iter().map(|row| row[read..].to_vec()).collect();
        self.decoder.settle();
        let pass = self.decoder.read(&new, 1)?;
        self.decoder.trim();
        self.back = 0;
        let rows = self.rows.iter_mut().zip(&mut self.streams);
        for ((row, stream), scores) in rows.zip(&pass.scores) {
            let scores = scores.last().map_or(&[][..], Vec::as_slice);
            row.push(chosen(scores, wish.temperature, stream) as i32);
        }
        self.origins.push(Origin::Model);
        self.forget_drafts();
        Ok(Gain { tokens: 1, pass })
    }

    /// Reads what was drafted and keeps what the model agrees with.
    fn judge(&mut self, wish: Wish) -> Result<Turn, CommError> {
        let Some(drafter) = &mut self.drafter else {
            return self.choose(wish).map(Turn::Decode);
        };
        let drafted = std::mem::take(&mut drafter.drafted);
        let of_draft = std::mem::take(&mut drafter.odds);
        let Some(row) = self.rows.first_mut() else {
            return Err(CommError::Failed("has no sequence".to_owned()));
        };
        let new = [&row[self.decoder.len()..], &drafted].concat();
        self.decoder.settle();
        let mut pass = self.decoder.read(&[new], drafted.len() + 1)?;
        let places = pass.scores.first().map_or(&[][..], Vec::as_slice);
        let own: Vec<Vec<f64>> =
            places.iter().map(|scores| odds(scores, wish.temperature)).collect();
        let tokens: Vec<usize> = drafted.iter().map(|&token| token as usize).collect();
        let judged = judge(&own, &of_draft, &tokens, &mut self.judging);
        let (stay, struck) = drafted.split_at(judged.accepted);
        row.extend(stay);
        self.struck = (row.len(), struck.to_vec());
        row.push(judged.next as i32);
        self.origins.extend(stay.iter().map(|_| Origin::Draft));
        self.origins.push(Origin::Model);
        for places in &mut pass.scores {
            places.truncate(judged.accepted + 1);
        }
        // What was read and does not stand is taken back; the last token has not been read.
        let read = self.origins.len() - 1;
        self.decoder.cut(read);
        self.decoder.trim();
        drafter.decoder.cut(read);
        self.back = drafted.len() - judged.accepted;
        Ok(Turn::Judge {
            gain: Gain { tokens: judged.accepted + 1, pass },
            accepted: judged.accepted,
            judged: tokens.len().min(judged.accepted + 1),
        })
    }

    /// A token was chosen without a look at the drafts: they continue a text that is no more.
    fn forget_drafts(&mut self) {
        if let Some(drafter) = &mut self.drafter {
            drafter.drafted.clear();
            drafter.odds.clear();
            drafter.decoder.cut(self.origins.len() - 1);
            self.struck = (0, Vec::new());
        }
    }
}

impl Drafter {
    /// Drafts one more token.
    fn draft(&mut self, rows: &[Vec<i32>], temperature: f64) -> Result<Pass, CommError> {
        let text = rows.first().map_or(&[][..], Vec::as_slice);
        let text = [text, &self.drafted].concat();
        let new = text[self.decoder.len().min(text.len())..].to_vec();
        // While drafts may be taken back, nothing is let go.
        if self.drafted.is_empty() {
            self.decoder.settle();
        }
        let pass = self.decoder.read(&[new], 1)?;
        let scores = pass.scores.first().and_then(|places| places.last());
        let odds = odds(scores.map_or(&[], Vec::as_slice), temperature);
        self.drafted.push(draw(&odds, &mut self.stream) as i32);
        self.odds.push(odds);
        Ok(pass)
    }
}

/// A token by its scores.
fn chosen(scores: &[f32], temperature: f64, stream: &mut Stream) -> usize {
    if temperature > 0.0 { draw(&odds(scores, temperature), stream) } else { likeliest(scores) }
}
