//! What is known of a row of tokens: what they are called, and how well they can be foretold without a network.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::tokenizer::Pairs;
use super::{Data, DataConfig, DataError, Examples, Sequence};

/// A row of tokens in two halves, before it is cut into windows.
pub(super) struct Row {
    pub(super) train: Vec<i32>,
    pub(super) held_out: Vec<i32>,
    pub(super) vocabulary: Vocabulary,
    /// The entropy rate in nats, where it is known.
    pub(super) floor: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Language {
    pub vocabulary: Vocabulary,
    /// Nats a token, on the half held out, of a model that knows how often each token comes.
    pub unigram_entropy: f64,
    /// Nats a token, on the half held out, of a model that knows how often each token follows each.
    pub bigram_entropy: f64,
    /// Nats a token that no model can go below in expectation, where it is known.
    pub floor: Option<f64>,
}

/// The names of tokens; a token is an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary {
    names: Vec<String>,
    spelling: Spelling,
}

#[derive(Clone, Debug, PartialEq)]
enum Spelling {
    Characters(BTreeMap<char, i32>),
    /// Each is a number, with spaces between.
    Numbers,
    /// Pieces of words.
    Pairs(Arc<Pairs>),
}

impl Vocabulary {
    /// One token a character, which must differ.
    pub(super) fn new(characters: &str) -> Self {
        let tokens = characters.chars().zip(0_i32..);
        Self {
            names: characters.chars().map(String::from).collect(),
            spelling: Spelling::Characters(tokens.collect()),
        }
    }

    /// The tokens 0 to `count` less one.
    pub fn numbers(count: usize) -> Self {
        Self {
            names: (0..count).map(|number| number.to_string()).collect(),
            spelling: Spelling::Numbers,
        }
    }

    pub(super) fn of_pairs(pairs: Pairs) -> Self {
        Self { names: pairs.names().collect(), spelling: Spelling::Pairs(Arc::new(pairs)) }
    }

    /// Tokens that the model is given before every text.
    pub fn first(&self) -> &[i32] {
        match &self.spelling {
            Spelling::Characters(_) | Spelling::Numbers => &[],
            Spelling::Pairs(pairs) => pairs.first(),
        }
    }

    /// In the order of the tokens.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether tokens are of a text, which they make without spaces between them.
    pub fn is_text(&self) -> bool {
        self.spelling != Spelling::Numbers
    }

    pub fn is_characters(&self) -> bool {
        matches!(self.spelling, Spelling::Characters(_))
    }

    /// The symbols of a text with their tokens: characters, or words where tokens are numbers.
    fn symbols<'a>(
        &'a self,
        text: &'a str,
    ) -> Box<dyn Iterator<Item = (&'a str, Option<i32>)> + 'a> {
        match &self.spelling {
            Spelling::Characters(tokens) => {
                Box::new(text.char_indices().map(|(place, c)| {
                    (&text[place..place + c.len_utf8()], tokens.get(&c).copied())
                }))
            }
            Spelling::Pairs(pairs) => {
                Box::new(pairs.tokens(text).into_iter().map(|token| ("", Some(token))))
            }
            Spelling::Numbers => Box::new(text.split_whitespace().map(|word| {
                let known = self.names.iter().position(|name| name == word);
                (word, known.map(|index| index as i32))
            })),
        }
    }

    /// The tokens of a text; what is not in the vocabulary is left out.
    pub fn tokens(&self, text: &str) -> Vec<i32> {
        self.symbols(text).filter_map(|(_, token)| token).collect()
    }

    /// The first symbol that is not in the vocabulary, and its place: character, or word of numbers, counted from 1.
    pub fn strange(&self, text: &str) -> Option<(usize, String)> {
        let mut symbols = (1..).zip(self.symbols(text));
        let unknown = symbols.find(|(_, (_, token))| token.is_none());
        unknown.map(|(place, (symbol, _))| (place, symbol.to_owned()))
    }

    pub fn text(&self, tokens: &[i32]) -> String {
        let names: Vec<&str> = tokens.iter().map(|&token| self.name(token)).collect();
        match &self.spelling {
            Spelling::Pairs(pairs) => pairs.text(tokens),
            Spelling::Characters(_) => names.concat(),
            Spelling::Numbers => names.join(" "),
        }
    }

    /// A token as a label that can be seen: a space is `_`, a line end `\n`.
    pub fn label(&self, token: i32) -> String {
        self.name(token).replace(' ', "_").replace('\n', "\\n").replace('\t', "\\t")
    }

    fn name(&self, token: i32) -> &str {
        let index = usize::try_from(token).ok();
        index.and_then(|index| self.names.get(index)).map_or("", String::as_str)
    }
}

/// Cuts both halves into windows, and works out what they can be compared with.
pub(super) fn data(config: &DataConfig, row: Row) -> Result<Data, DataError> {
    if row.train.len() <= config.context {
        return Err(DataError::TooFewTokens { tokens: row.train.len(), context: config.context });
    }
    let language = Language {
        unigram_entropy: unigram_entropy(&row.train, &row.held_out, row.vocabulary.len()),
        bigram_entropy: bigram_entropy(&row.train, &row.held_out, row.vocabulary.len()),
        vocabulary: row.vocabulary,
        floor: row.floor,
    };
    let windows = |tokens: Vec<i32>, stride: usize| {
        Examples::Sequence(Sequence { tokens, context: config.context, stride })
    };
    Ok(Data {
        train: windows(row.train, 1),
        held_out: windows(row.held_out, config.context),
        language: Some(language),
    })
}

/// The probability of every token by its share of the training half. Each count is one more than it is, so that a token
/// that only the other half has is not impossible.
fn unigrams(train: &[i32], classes: usize) -> Vec<f64> {
    let mut counts = vec![1.0; classes];
    for &token in train {
        counts[token as usize] += 1.0;
    }
    let total = (train.len() + classes) as f64;
    counts.into_iter().map(|count| count / total).collect()
}

/// Mean of -ln p(token) over the half held out but its first token, so that both entropies speak of the same tokens.
fn unigram_entropy(train: &[i32], held_out: &[i32], classes: usize) -> f64 {
    let shares = unigrams(train, classes);
    let nats = held_out.iter().skip(1);
    mean(nats.map(|&token| -shares[token as usize].ln()))
}

/// Mean of -ln p(token | token before). A pair's count is one spread over all tokens by their own shares more than it
/// is: (count(a, b) + p(b)) / (count(a) + 1), so that what was never seen together falls back on unigrams.
fn bigram_entropy(train: &[i32], held_out: &[i32], classes: usize) -> f64 {
    let shares = unigrams(train, classes);
    // Of many tokens most pairs never come: a table of all would not fit into memory.
    let mut pairs: HashMap<[i32; 2], f64> = HashMap::new();
    let mut firsts = vec![0.0; classes];
    for pair in train.windows(2) {
        *pairs.entry([pair[0], pair[1]]).or_default() += 1.0;
        firsts[pair[0] as usize] += 1.0;
    }
    let nats = held_out.windows(2).map(|pair| {
        let together = pairs.get(&[pair[0], pair[1]]).copied().unwrap_or(0.0);
        -((together + shares[pair[1] as usize]) / (firsts[pair[0] as usize] + 1.0)).ln()
    });
    mean(nats)
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropies_are_those_worked_out_by_hand() {
        // a a b after a a b: p(a) = 5/8, p(b) = 3/8 with one added to each of 4 and 2.
        let (train, held_out) = ([0, 0, 1, 0, 0, 1], [0, 0, 1]);
        let unigrams = (-(5.0_f64 / 8.0).ln() - (3.0_f64 / 8.0).ln()) / 2.0;
        assert!((unigram_entropy(&train, &held_out, 2) - unigrams).abs() < 1e-12);
        // a is followed by a twice and by b twice.
        let bigrams = (-((2.0_f64 + 0.625) / 5.0).ln() - ((2.0_f64 + 0.375) / 5.0).ln()) / 2.0;
        assert!((bigram_entropy(&train, &held_out, 2) - bigrams).abs() < 1e-12);
    }

    #[test]
    fn a_text_becomes_tokens_and_a_text_again() {
        let letters = Vocabulary::new("\n abc");
        assert_eq!(letters.tokens("cab ?\n"), [4, 2, 3, 1, 0]);
        assert_eq!(letters.text(&[4, 2, 3, 1, 0]), "cab \n");
        assert_eq!((letters.label(1), letters.label(0)), ("_".into(), "\\n".into()));
        let numbers = Vocabulary::numbers(12);
        assert_eq!(numbers.text(&numbers.tokens("11 3 x 0")), "11 3 0");
    }
}
