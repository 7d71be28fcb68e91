//! What is to be continued: the learner's own text, or tokens that the model was not trained on.

use mlsys_lab::LabError;

use super::setup::Setup;
use mlsys_nn::baseline::Source;
use mlsys_nn::data::{self, Examples, Sequence, Vocabulary};
use mlsys_nn::nets::{Architecture, TransformerConfig};
use mlsys_nn::train::unusable;

/// What is to be continued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Prompt {
    /// A text.
    Given(String),
    /// So many tokens of the half held out.
    Held(usize),
}

/// What a run is asked to continue, and with what sizes: known and checked before anything is trained.
pub(super) struct Asked {
    pub(super) config: TransformerConfig,
    pub(super) vocabulary: Vocabulary,
    /// A row a sequence, all of one length.
    pub(super) prompts: Vec<Vec<i32>>,
}

impl Asked {
    /// So many sequences, for the network that comes from `source`.
    ///
    /// # Errors
    /// If the network is no transformer, or cannot continue the prompt.
    pub(super) fn of(
        source: &Source<'_>,
        setup: &Setup,
        sequences: usize,
    ) -> Result<Self, LabError> {
        let config = transformer(source.architecture())?.clone();
        let data = data::load(source.data()).map_err(unusable)?;
        let (Examples::Sequence(held_out), Some(language)) = (data.held_out, data.language) else {
            return Err(LabError::Data("the data set has no tokens".to_owned()));
        };
        let vocabulary = language.vocabulary;
        let prompts = setup.prompt.rows(sequences, &held_out, &vocabulary, config.context)?;
        Ok(Self { config, vocabulary, prompts })
    }

    /// Tokens of each prompt.
    pub(super) fn prompt(&self) -> usize {
        self.prompts.first().map_or(0, Vec::len)
    }
}

/// The sizes of a network that continues tokens.
///
/// # Errors
/// If it is none.
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

/// Characters that are told of a vocabulary.
const TOLD: usize = 40;

impl Prompt {
    /// As many prompts as there are sequences, all of one length: the given one each time, or stretches of what was held
    /// out, each from the start of a line where there are lines.
    ///
    /// # Errors
    /// If it is empty, has symbols that are not in the vocabulary, or is longer than the model's context.
    pub(super) fn rows(
        &self,
        sequences: usize,
        held_out: &Sequence,
        vocabulary: &Vocabulary,
        context: usize,
    ) -> Result<Vec<Vec<i32>>, LabError> {
        let wrong = |name: &str, message: String| Err(LabError::contradiction([name], message));
        match self {
            Self::Given(text) => {
                if let Some((place, symbol)) = vocabulary.strange(text) {
                    let unit = if vocabulary.is_characters() { "character" } else { "word" };
                    let message = format!(
                        "{unit} {place} is '{symbol}', which the model has never seen; it knows {}",
                        known(vocabulary)
                    );
                    return wrong("prompt", message);
                }
                let tokens = vocabulary.tokens(text);
                if tokens.is_empty() {
                    let message = "the prompt is empty, and a model continues something; give it a token at least, or \
                                   leave prompt unset for a built-in one";
                    return wrong("prompt", message.to_owned());
                }
                must_fit("prompt", tokens.len(), context)?;
                Ok(vec![tokens; sequences])
            }
            Self::Held(length) => {
                must_fit("prompt_tokens", *length, context)?;
                let tokens = &held_out.tokens;
                if *length > tokens.len() {
                    let message = format!(
                        "{length} tokens are asked for, and {} are held out of training; set prompt_tokens to that at most",
                        tokens.len()
                    );
                    return wrong("prompt_tokens", message);
                }
                let starts = starts(tokens, *length, vocabulary);
                let apart = (starts.len() / sequences.max(1)).max(1);
                let row = |row: usize| {
                    let start = starts.get(row * apart % starts.len().max(1));
                    let start = start.copied().unwrap_or(0);
                    tokens[start..start + length].to_vec()
                };
                Ok((0..sequences).map(row).collect())
            }
        }
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

/// Places from which so many tokens follow: the starts of lines, or all if there are none.
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

/// The vocabulary in a few words.
fn known(vocabulary: &Vocabulary) -> String {
    if !vocabulary.is_characters() {
        return format!(
            "the numbers 0 to {}, with spaces between",
            vocabulary.len().saturating_sub(1)
        );
    }
    let all: Vec<String> =
        (0..vocabulary.len()).map(|token| vocabulary.label(token as i32)).collect();
    let mut text = all.iter().take(TOLD).cloned().collect::<Vec<_>>().join(" ");
    if all.len() > TOLD {
        text.push_str(&format!(" and {} more", all.len() - TOLD));
    }
    format!("{text} (_ is a space, \\n a line end)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_nn::data::{DataConfig, Dataset, Examples, load};

    fn rows(dataset: Dataset, prompt: Prompt, context: usize) -> Result<Vec<Vec<i32>>, String> {
        let data = load(&DataConfig::new(dataset, 1)).unwrap();
        let Examples::Sequence(held_out) = data.held_out else { panic!("no tokens") };
        let vocabulary = data.language.unwrap().vocabulary;
        let rows = prompt.rows(3, &held_out, &vocabulary, context);
        rows.map_err(|error| error.to_string())
    }

    #[test]
    fn what_cannot_be_continued_is_refused_with_its_place() {
        let given = |text: &str| Prompt::Given(text.to_owned());
        for (dataset, prompt, said) in [
            (Dataset::Sums, given(""), "the prompt is empty"),
            (Dataset::Sums, given("1+x=3"), "character 3 is 'x'"),
            (Dataset::Sums, given("1+1= "), "character 5 is ' '"),
            (Dataset::Chain, given("1 2 64 3"), "word 3 is '64'"),
            (Dataset::Chain, given("  "), "the prompt is empty"),
            (Dataset::Sums, given("12345+6=1"), "9 tokens is longer than the model's window"),
            (Dataset::Sums, Prompt::Held(9), "9 tokens is longer than the model's window"),
        ] {
            let error = rows(dataset, prompt, 8).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        let error = rows(Dataset::Sums, Prompt::Held(9000), 9000).unwrap_err();
        assert!(error.contains("5000 are held out"), "{error}");
    }

    #[test]
    fn built_in_prompts_begin_with_a_line_and_differ() {
        let rows = rows(Dataset::Sums, Prompt::Held(8), 8).unwrap();
        assert!(rows.iter().all(|row| row.len() == 8 && row[0] > 2), "{rows:?}");
        assert!(rows[0] != rows[1] && rows[1] != rows[2]);
    }
}
