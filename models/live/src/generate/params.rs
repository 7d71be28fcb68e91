//! Parameters as the run needs them: what is fixed, and the knobs that may be turned between two tokens.

use mlsys_lab::{LabError, Params};
use mlsys_nn::baseline::{NetworkSource, Recipe, Sizes};
use mlsys_nn::cases;
use mlsys_nn::data::{self, DataConfig, Dataset, Examples, Sequence, Vocabulary};
use mlsys_nn::networks::{Architecture, TransformerConfig};
use mlsys_nn::train::data_error;
use serde::Deserialize;

use super::decoder::Bits;
use super::schedule::Batching;

#[derive(Deserialize)]
pub(super) struct FixedParams {
    dataset: Dataset,
    training_steps: u64,
    sizes: Sizes,
    /// The text to be continued; without one, tokens that the model was not trained on.
    pub(super) prompt: Option<String>,
    prompt_tokens: usize,
    #[serde(rename = "batch_size")]
    pub(super) batch: usize,
    cache: bool,
    cache_bits: i64,
    pub(super) window: Option<usize>,
    /// Numbers that stand for a token in the smaller model that drafts, where one does.
    pub(super) draft_width: Option<usize>,
    /// Requests that arrive over time, if any.
    pub(super) requests: Option<usize>,
    pub(super) batching: Batching,
    pub(super) page_tokens: usize,
    /// Steps from one request to the next, on average.
    pub(super) arrival_steps: usize,
    /// Whether the same is also generated the other way: without a cache, or with one if the run has none.
    pub(super) compare: bool,
    /// Whether the bandwidth of the device's memory is measured before the run.
    pub(super) measure_bandwidth: bool,
    pub(super) seed: u64,
}

pub(super) struct Setup {
    pub(super) fixed: FixedParams,
    /// How the model is trained, unless it comes from an earlier lab.
    pub(super) recipe: Recipe,
    /// The bits in which keys and values are cached, if they are.
    pub(super) cached: Option<Bits>,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let fixed: FixedParams = params.read()?;
        if fixed.draft_width.is_some() && fixed.batch > 1 {
            let message = "drafts are judged one sequence at a time, because each would accept another number of them; set \
                           batch_size to 1, or leave draft_width unset";
            return Err(LabError::contradiction(["draft_width", "batch_size"], message));
        }
        fixed.check_requests()?;
        let FixedParams { dataset, sizes, training_steps, seed, .. } = fixed;
        Ok(Self {
            recipe: tokens(dataset, sizes, training_steps, seed)?,
            cached: fixed.cached()?,
            fixed,
        })
    }
}

/// Places of slots in steps that are planned at most, those aside in which something is served.
const MOST_PLACES: usize = 1 << 19;

impl FixedParams {
    fn check_requests(&self) -> Result<(), LabError> {
        let Some(requests) = self.requests else { return Ok(()) };
        if !self.cache || self.cache_bits != 32 || self.draft_width.is_some() {
            let message = "requests that come and go are served with a cache in f32 and without drafts; leave cache, \
                           cache_bits and draft_width as they are, or requests unset";
            return Err(LabError::contradiction(["requests"], message));
        }
        let (slots, apart) = (self.batch, self.arrival_steps);
        let most = MOST_PLACES / (requests * slots).max(1);
        if apart > most {
            let message = format!(
                "{requests} requests {apart} steps apart leave most of {slots} slots empty most of the time, and each step is \
                 planned; set arrival_steps to {most} at most"
            );
            let params = ["arrival_steps", "requests", "batch_size"];
            return Err(LabError::contradiction(params, message));
        }
        Ok(())
    }

    fn cached(&self) -> Result<Option<Bits>, LabError> {
        let bits = match self.cache_bits {
            32 => Bits::Full,
            16 => Bits::Half,
            8 => Bits::Eight,
            4 => Bits::Four,
            bits => {
                let message = format!("a cached number has 32, 16, 8 or 4 bits here, not {bits}");
                return Err(LabError::contradiction(["cache_bits"], message));
            }
        };
        match (self.cache, bits) {
            (true, bits) => Ok(Some(bits)),
            (false, Bits::Full) => Ok(None),
            (false, _) => {
                let message = "without a cache there are no numbers to be kept in few bits; set cache to true, or leave \
                               cache_bits at 32";
                Err(LabError::contradiction(["cache", "cache_bits"], message))
            }
        }
    }
}

/// How a model is trained that drafts for another: of `width`, with one block and the other's heads, on the same data.
pub(super) fn drafting(
    config: &TransformerConfig,
    width: usize,
    (data, steps, seed): (&DataConfig, u64, u64),
) -> Result<Recipe, LabError> {
    if !width.is_multiple_of(2 * config.heads) {
        let message = format!(
            "the drafting model has the heads of the other, and {} do not divide a width of {width} into parts of an even \
             size; set draft_width to a multiple of {}",
            config.heads,
            2 * config.heads
        );
        return Err(LabError::contradiction(["draft_width", "heads"], message));
    }
    let TransformerConfig { heads, kv_heads, context, .. } = *config;
    let sizes = Sizes { width, depth: 1, heads, kv_heads, context };
    // Its tokens are the other's, whatever a data set of this name has by default.
    let architecture = cases::transformer(sizes.config(config.vocab))?;
    Ok(Recipe { data: data.clone(), architecture, ..tokens(data.dataset, sizes, steps, seed)? })
}

/// How a model is trained here: on long sequences, to learn far positions, and on few at once, so that it is quick.
fn tokens(dataset: Dataset, sizes: Sizes, steps: u64, seed: u64) -> Result<Recipe, LabError> {
    const TOKENS: usize = 1024;
    Ok(Recipe {
        batch_size: (TOKENS / sizes.context.max(1)).clamp(4, 32),
        ..Recipe::tokens(dataset, sizes, steps, seed)?
    })
}

/// What a run is asked to continue, and with what sizes: known and checked before anything is trained.
pub(super) struct Prompts {
    pub(super) config: TransformerConfig,
    pub(super) vocabulary: Vocabulary,
    /// A row a sequence, all of one length.
    pub(super) prompts: Vec<Vec<i32>>,
}

impl Prompts {
    /// The prompts of `count` sequences, for the network that comes from `source`.
    pub(super) fn load(
        source: &NetworkSource<'_>,
        setup: &Setup,
        sequences: usize,
    ) -> Result<Self, LabError> {
        let config = transformer(source.architecture())?.clone();
        let (vocabulary, held_out) = match &source.data().tokenizer {
            Some(numbers) if !numbers.is_text() => {
                (Vocabulary::clone(numbers), setup.fixed.no_text(config.vocab)?)
            }
            Some(_) | None => {
                let data = data::load(source.data()).map_err(data_error)?;
                let (Examples::Sequence(held_out), Some(language)) = (data.held_out, data.language)
                else {
                    return Err(LabError::Data("the data set has no tokens".to_owned()));
                };
                (language.vocabulary, held_out)
            }
        };
        let prompts = setup.fixed.rows(sequences, &held_out, &vocabulary, config.context)?;
        Ok(Self { config, vocabulary, prompts })
    }

    pub(super) fn prompt(&self) -> usize {
        self.prompts.first().map_or(0, Vec::len)
    }
}

pub(super) fn transformer(architecture: &Architecture) -> Result<&TransformerConfig, LabError> {
    match architecture {
        Architecture::Transformer(config) => Ok(config),
        Architecture::Mlp(_) | Architecture::Cnn(_) | Architecture::Filters(_) => {
            let message = format!(
                "what is to be continued are tokens, and the network is a {}; name a lab whose model is a transformer",
                architecture.in_words()
            );
            Err(LabError::contradiction(["model_from"], message))
        }
    }
}

const LISTED: usize = 40;

impl FixedParams {
    /// What is held out where a model has no tokenizer: nothing, so that it needs a prompt.
    fn no_text(&self, vocab: usize) -> Result<Sequence, LabError> {
        if self.prompt.is_none() {
            let message = format!(
                "the model's folder has no tokenizer.json, so that its tokens are numbers only; set prompt to some from 0 \
                 to {}, with spaces between",
                vocab.saturating_sub(1)
            );
            return Err(LabError::contradiction(["prompt", "model_from"], message));
        }
        Ok(Sequence { tokens: Vec::new(), context: 1, stride: 1 })
    }

    /// Prompts of one length: the given one each time, or stretches of what was held out, from line starts if any.
    pub(super) fn rows(
        &self,
        sequences: usize,
        held_out: &Sequence,
        vocabulary: &Vocabulary,
        context: usize,
    ) -> Result<Vec<Vec<i32>>, LabError> {
        let wrong = |name: &str, message: String| LabError::contradiction([name], message);
        if let Some(text) = &self.prompt {
            if let Some((place, symbol)) = vocabulary.strange(text) {
                let unit = if vocabulary.is_characters() { "character" } else { "word" };
                let message = format!(
                    "{unit} {place} is '{symbol}', which the model has never seen; it knows {}",
                    known(vocabulary)
                );
                return Err(wrong("prompt", message));
            }
            let mut tokens = vocabulary.tokens(text);
            if tokens.is_empty() {
                let message = "the prompt is empty, and a model continues something; give it a token at least, or \
                               leave prompt unset for a built-in one";
                return Err(wrong("prompt", message.to_owned()));
            }
            tokens.splice(..0, vocabulary.first().iter().copied());
            must_fit("prompt", tokens.len(), context)?;
            return Ok(vec![tokens; sequences]);
        }
        let length = self.prompt_tokens;
        must_fit("prompt_tokens", length, context)?;
        let tokens = &held_out.tokens;
        if length > tokens.len() {
            let message = format!(
                "{length} tokens are asked for, and {} are held out of training; set prompt_tokens to that at most",
                tokens.len()
            );
            return Err(wrong("prompt_tokens", message));
        }
        let starts = starts(tokens, length, vocabulary);
        let apart = (starts.len() / sequences.max(1)).max(1);
        let start = |row: usize| starts[row * apart % starts.len()];
        Ok((0..sequences).map(start).map(|at| tokens[at..at + length].to_vec()).collect())
    }
}

fn must_fit(name: &str, tokens: usize, context: usize) -> Result<(), LabError> {
    if tokens <= context {
        return Ok(());
    }
    let message = format!(
        "a prompt of {tokens} tokens is longer than the model's window: it was trained on sequences of {context}; shorten \
         it, or set context to {tokens} at least"
    );
    Err(LabError::contradiction([name, "context"], message))
}

/// Positions followed by at least this many tokens: the starts of lines, or all if there are none.
fn starts(tokens: &[i32], length: usize, vocabulary: &Vocabulary) -> Vec<usize> {
    let last = tokens.len() - length;
    let newline = vocabulary.tokens("\n").first().copied();
    let newline = newline.filter(|_| vocabulary.is_characters());
    // The first line may have been cut.
    let begins = |&place: &usize| {
        place > 0 && Some(tokens[place - 1]) == newline && Some(tokens[place]) != newline
    };
    let lines: Vec<usize> = (0..=last).filter(begins).collect();
    if lines.is_empty() { (0..=last).collect() } else { lines }
}

fn known(vocabulary: &Vocabulary) -> String {
    let count = vocabulary.len();
    if !vocabulary.is_characters() {
        return format!("the numbers 0 to {}, with spaces between", count.saturating_sub(1));
    }
    let labels = (0..count.min(LISTED)).map(|token| vocabulary.label(token as i32));
    let labels = labels.collect::<Vec<_>>().join(" ");
    let more = match count.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{labels}{more} (_ is a space, \\n a line end)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::lab;
    use crate::trial::params;

    fn rows(set: &[&str], tokens: usize, context: usize) -> Result<Vec<Vec<i32>>, LabError> {
        let mut fixed: FixedParams = params(&lab().unwrap(), set).read().unwrap();
        fixed.prompt_tokens = tokens;
        let data = data::load(&DataConfig::new(fixed.dataset, 1)).unwrap();
        let Examples::Sequence(held_out) = data.held_out else { panic!("no tokens") };
        fixed.rows(3, &held_out, &data.language.unwrap().vocabulary, context)
    }

    #[test]
    fn what_cannot_be_continued_is_refused_with_its_place() {
        let chain = "dataset=chain";
        for (set, part) in [
            (&["prompt="][..], "the prompt is empty"),
            (&["prompt=1+x=3"], "character 3 is 'x'"),
            (&["prompt=1+1= "], "character 5 is ' '"),
            (&[chain, "prompt=1 2 64 3"], "word 3 is '64'"),
            (&[chain, "prompt=  "], "the prompt is empty"),
            (&["prompt=12345+6=1"], "9 tokens is longer than the model's window"),
            (&[], "9 tokens is longer than the model's window"),
        ] {
            let error = rows(set, 9, 8).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = rows(&[], 9000, 9000).unwrap_err().to_string();
        assert!(error.contains("5000 are held out"), "{error}");
        // Built-in prompts begin with a line and differ.
        let rows = rows(&[], 8, 8).unwrap();
        assert!(rows.iter().all(|row| row.len() == 8 && row[0] > 2), "{rows:?}");
        assert!(rows[0] != rows[1] && rows[1] != rows[2]);
    }
}
