//! Token sequences: a Markov chain with a known entropy rate, lines of sums, and the characters of a text.
//!
//! In the chain each symbol has four successors, drawn once from the seed.

use crate::data::language::{Row, Vocabulary};
use crate::data::{CorpusFault, Data, DataConfig, DataError, Dataset, Examples, Sequence};
use crate::random::Stream;
use std::collections::BTreeSet;
use std::ops::Range;

/// How likely each successor of a symbol is, in fifteenths.
const CHANCES: [usize; 4] = [8, 4, 2, 1];

/// The entropy rate in nats: every symbol has successors of the same probabilities, so that it is the entropy of one
/// draw, -Σ p ln p = 1.137, whatever the symbols' own frequencies.
pub(super) fn entropy_rate() -> f64 {
    let total: usize = CHANCES.iter().sum();
    CHANCES.iter().map(|&chance| chance as f64 / total as f64).map(|p| -p * p.ln()).sum()
}

/// Both halves are walks over the same chain, each with draws of its own.
pub(super) fn chain(config: &DataConfig) -> Row {
    let symbols = config.symbols;
    let mut stream = Stream::new(config.seed, "data/chain");
    let successors: Vec<[usize; 4]> =
        (0..symbols).map(|_| distinct(symbols, &mut stream)).collect();
    let walk = |steps: usize, name: &str| {
        let mut stream = Stream::new(config.seed, &format!("data/{name}/shape"));
        let mut symbol = stream.below(symbols);
        let step = |_| {
            let here = symbol;
            symbol = successors[here][draw(&mut stream)];
            here as i32
        };
        (0..steps).map(step).collect()
    };
    Row {
        train: walk(config.samples, "train"),
        held_out: walk(config.dataset.held_out_samples(), "held-out"),
        vocabulary: Vocabulary::numbers(symbols),
        floor: Some(entropy_rate()),
    }
}

fn distinct(symbols: usize, stream: &mut Stream) -> [usize; 4] {
    let mut chosen: Vec<usize> = Vec::with_capacity(4);
    while chosen.len() < 4.min(symbols) {
        let symbol = stream.below(symbols);
        if !chosen.contains(&symbol) {
            chosen.push(symbol);
        }
    }
    std::array::from_fn(|index| chosen[index % chosen.len()])
}

fn draw(stream: &mut Stream) -> usize {
    let mut rest = stream.below(CHANCES.iter().sum());
    for (index, &chance) in CHANCES.iter().enumerate() {
        if rest < chance {
            return index;
        }
        rest -= chance;
    }
    0
}

// A text: the project's own, or the learner's.

/// Small tales of a harbour town, its weather and its machines (`assets/corpus/README.md`).
const TALES: &str = include_str!("../../../../assets/corpus/tales.txt");
/// Different characters that a text may have: more is no alphabet, and its vocabulary would be the whole network.
const MOST_CHARACTERS: usize = 1024;

pub(super) fn text_vocabulary(corpus: Option<&str>) -> Result<Vocabulary, DataError> {
    let text = corpus.unwrap_or(TALES);
    if text.trim().is_empty() {
        return Err(CorpusFault::Empty.into());
    }
    for (line, row) in text.lines().enumerate() {
        if let Some((column, found)) = row.chars().enumerate().find(|(_, c)| is_no_text(*c)) {
            let (line, column, code) = (line + 1, column + 1, u32::from(found));
            return Err(CorpusFault::NotText { line, column, code }.into());
        }
    }
    if text.starts_with('@') && !text.contains(char::is_whitespace) {
        return Err(CorpusFault::FileName(text.to_owned()).into());
    }
    let characters: BTreeSet<char> = text.chars().filter(|&c| c != '\r').collect();
    if let (Some(&only), 1) = (characters.first(), characters.len()) {
        return Err(CorpusFault::OneCharacter(only).into());
    }
    if characters.len() > MOST_CHARACTERS {
        let (found, most) = (characters.len(), MOST_CHARACTERS);
        return Err(CorpusFault::TooManyCharacters { found, most }.into());
    }
    Ok(Vocabulary::new(&characters.into_iter().collect::<String>()))
}

/// Control characters but tab and line ends, and what stands for a byte that could not be read.
fn is_no_text(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r')) || c == char::REPLACEMENT_CHARACTER
}

/// The last tenth is held out, of any text; `samples` takes the first characters of the rest.
pub(super) fn text(config: &DataConfig) -> Result<Row, DataError> {
    let text = config.corpus.as_deref().unwrap_or(TALES);
    let vocabulary = match &config.tokenizer {
        Some(tokenizer) if tokenizer.is_text() => Vocabulary::clone(tokenizer),
        Some(_) => return Err(DataError::NoTokenizer),
        None => text_vocabulary(config.corpus.as_deref())?,
    };
    let mut train = vocabulary.tokens(text);
    // A short text still has one window to judge by.
    let held_out = (train.len() / 10).max(config.context + 1);
    if train.len() < held_out + config.context + 1 {
        let (characters, context) = (train.len(), config.context);
        let least = 2 * (context + 1);
        return Err(CorpusFault::TooShort { characters, least, context }.into());
    }
    let held_out = train.split_off(train.len() - held_out);
    train.truncate(config.samples);
    Ok(Row { train, held_out, vocabulary, floor: None })
}

// Sums of two numbers below a hundred, a line each: 17+25=42.

/// Numbers are 0 to this less one.
const BOUND: usize = 100;
/// Of all pairs of numbers, those that are held out: a tenth.
const HELD_OUT: usize = BOUND * BOUND / 10;

const CHARACTERS: &str = "\n+=0123456789";

pub(super) fn sums_vocabulary() -> Vocabulary {
    Vocabulary::new(CHARACTERS)
}

/// Lines of pairs that come again and again, but a pair is either trained on or held out: a network that is right on
/// the held-out pairs has learned to add.
pub(super) fn sums(config: &DataConfig) -> Row {
    let vocabulary = sums_vocabulary();
    let mut pairs: Vec<usize> = (0..BOUND * BOUND).collect();
    Stream::new(config.seed, "data/sums").shuffle(&mut pairs);
    let (held_out, train) = pairs.split_at(HELD_OUT);
    let lines = |pairs: &[usize], characters: usize, name: &str| {
        let mut stream = Stream::new(config.seed, &format!("data/{name}/shape"));
        let mut text = String::with_capacity(characters + 16);
        while text.len() < characters {
            let pair = pairs[stream.below(pairs.len())];
            let (a, b) = (pair / BOUND, pair % BOUND);
            text.push_str(&format!("{a}+{b}={}\n", a + b));
        }
        text.truncate(characters);
        vocabulary.tokens(&text)
    };
    Row {
        train: lines(train, config.samples, "train"),
        held_out: lines(held_out, config.dataset.held_out_samples(), "held-out"),
        vocabulary,
        floor: None,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers(Vec<Range<usize>>);

impl Answers {
    /// The answers in the windows of `data`; none unless they are sums.
    pub fn new(dataset: Dataset, data: &Data) -> Self {
        match (&data.held_out, &sums_vocabulary().tokens("\n=")[..]) {
            (Examples::Sequence(held_out), &[line_end, equals]) if dataset == Dataset::Sums => {
                Self(answers(held_out, line_end, equals))
            }
            (Examples::Sequence(_) | Examples::Labelled(_), _) => Self(Vec::new()),
        }
    }

    /// The share of answers whose every digit was thought likeliest, and the line's end after them: what would be written
    /// right if the likeliest were written each time. `hits` says of each label whether it was.
    pub fn right(&self, hits: &[bool]) -> Option<f64> {
        let all = |answer: &&Range<usize>| {
            let hits = hits.get(answer.start..answer.end);
            hits.is_some_and(|hits| hits.iter().all(|&hit| hit))
        };
        let right = self.0.iter().filter(all).count();
        (!self.0.is_empty()).then(|| right as f64 / self.0.len() as f64)
    }
}

/// Of each line that lies whole in a window: where the labels from behind its equals sign to its end are among those of
/// all windows. A sum that begins outside the window cannot be computed from it.
fn answers(held_out: &Sequence, line_end: i32, equals: i32) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for window in 0..held_out.len() {
        let first = window * held_out.stride;
        let (input, labels) = (held_out.input(window), held_out.labels(window));
        let mut begun = first == 0 || held_out.tokens[first - 1] == line_end;
        let mut answer = None;
        for (place, (&token, &label)) in input.iter().zip(labels).enumerate() {
            if token == equals && begun {
                answer = Some(place);
            }
            if label == line_end {
                let label_of = |place: usize| window * held_out.context + place;
                if let Some(start) = answer.take() {
                    found.push(label_of(start)..label_of(place + 1));
                }
                begun = true;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_whole_lines_are_found() {
        let tokens = sums_vocabulary().tokens("1+2=3\n40+5=45\n6+7=13\n");
        let windows = |context: usize| {
            let held_out = Sequence { tokens: tokens.clone(), context, stride: context };
            answers(&held_out, 0, 2)
        };
        // Labels are one place before their tokens.
        assert_eq!(windows(20), [3..5, 10..13, 17..20]);
        // The second window begins with "+5=45": where that sum begins is not seen in it.
        assert_eq!(windows(8).as_slice(), std::slice::from_ref(&(3..5)));
        assert!(windows(4).is_empty());
    }

    #[test]
    fn an_answer_is_right_if_all_of_it_is() {
        let answers = Answers(vec![1..3, 4..6]);
        let hits = [false, true, true, false, true, false];
        assert_eq!(answers.right(&hits), Some(0.5));
        assert_eq!(Answers(Vec::new()).right(&hits), None);
    }
}
