//! A text: the project's own, or the learner's.

use std::collections::BTreeSet;

use super::language::{Row, Vocabulary};
use super::{CorpusFault, DataConfig, DataError};

/// Small tales of a harbour town, its weather and its machines (`assets/corpus/README.md`).
const TALES: &str = include_str!("../../../../assets/corpus/tales.txt");
/// Different characters that a text may have: more is no alphabet, and its vocabulary would be the whole network.
const MOST_CHARACTERS: usize = 1024;

/// Every character of the text, in the order of Unicode.
pub(super) fn vocabulary(corpus: Option<&str>) -> Result<Vocabulary, DataError> {
    let text = corpus.unwrap_or(TALES);
    if text.trim().is_empty() {
        return Err(CorpusFault::Empty.into());
    }
    for (line, row) in text.lines().enumerate() {
        if let Some(column) = row.chars().position(is_no_text) {
            let found = row.chars().nth(column).unwrap_or_default();
            return Err(CorpusFault::NotText {
                line: line + 1,
                column: column + 1,
                code: u32::from(found),
            }
            .into());
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
        return Err(CorpusFault::TooManyCharacters {
            found: characters.len(),
            most: MOST_CHARACTERS,
        }
        .into());
    }
    Ok(Vocabulary::of(&characters.into_iter().collect::<String>()))
}

/// Control characters but tab and line ends, and what stands for a byte that could not be read.
fn is_no_text(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r')) || c == char::REPLACEMENT_CHARACTER
}

/// The last tenth is held out, of any text; `samples` takes the first characters of the rest.
pub(super) fn read(config: &DataConfig) -> Result<Row, DataError> {
    let text = config.corpus.as_deref().unwrap_or(TALES);
    let vocabulary = vocabulary(config.corpus.as_deref())?;
    let mut train = vocabulary.tokens(text);
    // A short text still has one window to judge by.
    let held_out = (train.len() / 10).max(config.context + 1);
    if train.len() < held_out + config.context + 1 {
        return Err(CorpusFault::TooShort {
            characters: train.len(),
            least: 2 * (config.context + 1),
            context: config.context,
        }
        .into());
    }
    let held_out = train.split_off(train.len() - held_out);
    train.truncate(config.samples);
    Ok(Row { train, held_out, vocabulary, floor: None })
}
