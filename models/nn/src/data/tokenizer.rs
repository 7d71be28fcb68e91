//! The tokenizer of a model folder, read from Hugging Face's `tokenizer.json`.
//!
//! Three kinds are read: byte-level byte pair encoding (Radford et al. 2019; Llama 3, SmolLM), and the two that a folder
//! saved here has, a token a character and a token a number. Letters are Unicode's alphabetic characters, where the
//! patterns say `\p{L}`: they differ in a few combining marks.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value as Json};

use self::pieces::Splitter;
use super::Vocabulary;

mod pieces;

/// The largest file that is read; that of Llama 3 has 9 MB.
pub const MAX_BYTES: usize = 32 << 20;

/// Why a tokenizer cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenizerError {
    #[error("tokenizer.json does not read as JSON: {0}")]
    NotJson(String),
    #[error(
        "tokenizer.json is {0}; supported are byte-level BPE (as of Llama 3 and SmolLM) and what mlsys saves"
    )]
    Kind(String),
    #[error("tokenizer.json: {0}")]
    Broken(String),
    #[error("tokenizer.json has token {token} for {name:?}, and the model has {vocab} tokens")]
    TooManyTokens { token: u64, name: String, vocab: usize },
}

/// Byte pair encoding: bytes are merged, the pair that was learned first before all others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pairs {
    /// What each token is written as.
    bytes: Vec<Vec<u8>>,
    of_byte: Vec<i32>,
    /// Of two tokens their rank among the merges, and the token that they become.
    merges: HashMap<(i32, i32), (usize, i32)>,
    /// Whole pieces that are tokens, where these go before the merges.
    whole: HashMap<Vec<u8>, i32>,
    splitter: Splitter,
    /// Tokens before every text.
    first: Vec<i32>,
}

/// Reads a tokenizer for a model of `vocab` tokens; those that it does not name are called by their numbers.
pub fn read(json: &[u8], vocab: usize) -> Result<Vocabulary, TokenizerError> {
    let kind = |what: &str| TokenizerError::Kind(what.to_owned());
    let root: Json =
        serde_json::from_slice(json).map_err(|error| TokenizerError::NotJson(error.to_string()))?;
    let model =
        root.get("model").and_then(Json::as_object).ok_or_else(|| kind("without a model"))?;
    let name = model.get("type").and_then(Json::as_str).unwrap_or("BPE");
    if !["BPE", "WordLevel"].contains(&name) {
        return Err(kind(&format!("a {}", short(name))));
    }
    if !root.get("normalizer").is_none_or(Json::is_null) {
        return Err(kind(&format!("a {} with a normalizer", short(name))));
    }
    let mut names = names(model, vocab)?;
    let merges = model.get("merges").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let splitter = root.get("pre_tokenizer").filter(|splitter| !splitter.is_null());
    match (name, splitter) {
        ("BPE", None) if merges.is_empty() => characters(names, vocab),
        ("WordLevel", _) => numbers(names, vocab),
        ("BPE", Some(splitter)) => {
            let splitter = Splitter::read(splitter)?;
            let first = first_tokens(root.get("post_processor"), &root)?;
            let ignores = model.get("ignore_merges").and_then(Json::as_bool).unwrap_or(false);
            let special = special(&root, vocab)?;
            names.extend(special.clone());
            let pairs = pairs(&names, &special, merges, vocab)?;
            let whole = pairs.bytes.iter().zip(0..).filter(|_| ignores);
            let whole = whole.map(|(bytes, token)| (bytes.clone(), token)).collect();
            Ok(Vocabulary::of_pairs(Pairs { splitter, first, whole, ..pairs }))
        }
        (other, _) => Err(kind(&format!("a {} without byte-level pieces", short(other)))),
    }
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !mlsys_lab::steers_terminal(*c)).take(40).collect()
}

/// Names by token.
fn names(
    model: &Map<String, Json>,
    vocab: usize,
) -> Result<BTreeMap<usize, String>, TokenizerError> {
    let missing = || TokenizerError::Broken("it has no vocabulary".to_owned());
    let listed = model.get("vocab").and_then(Json::as_object).ok_or_else(missing)?;
    let token = |(name, token): (&String, &Json)| Ok((in_range(token, name, vocab)?, name.clone()));
    listed.iter().map(token).collect()
}

fn in_range(token: &Json, name: &str, vocab: usize) -> Result<usize, TokenizerError> {
    let name = short(name);
    let Some(token) = token.as_u64() else {
        return Err(TokenizerError::Broken(format!("the token of {name:?} is no number")));
    };
    match usize::try_from(token) {
        Ok(place) if place < vocab => Ok(place),
        Ok(_) | Err(_) => Err(TokenizerError::TooManyTokens { token, name, vocab }),
    }
}

fn special(root: &Json, vocab: usize) -> Result<BTreeMap<usize, String>, TokenizerError> {
    let added = root.get("added_tokens").and_then(Json::as_array);
    let token = |one: &Json| {
        let name = one.get("content").and_then(Json::as_str).unwrap_or("");
        Ok((in_range(one.get("id").unwrap_or(&Json::Null), name, vocab)?, name.to_owned()))
    };
    added.into_iter().flatten().map(token).collect()
}

fn characters(names: BTreeMap<usize, String>, vocab: usize) -> Result<Vocabulary, TokenizerError> {
    let all: String = names.values().map(String::as_str).collect();
    if names.len() != vocab || names.values().any(|name| name.chars().count() != 1) {
        return Err(TokenizerError::Kind(
            "a BPE without merges and without byte-level pieces".into(),
        ));
    }
    Ok(Vocabulary::new(&all))
}

fn numbers(names: BTreeMap<usize, String>, vocab: usize) -> Result<Vocabulary, TokenizerError> {
    if names.len() != vocab || names.iter().any(|(token, name)| token.to_string() != *name) {
        return Err(TokenizerError::Kind("a list of words".to_owned()));
    }
    Ok(Vocabulary::numbers(vocab))
}

fn pairs(
    names: &BTreeMap<usize, String>,
    special: &BTreeMap<usize, String>,
    merges: &[Json],
    vocab: usize,
) -> Result<Pairs, TokenizerError> {
    let of_char: BTreeMap<char, u8> = (0..=u8::MAX).map(|byte| (letter(byte), byte)).collect();
    let mut bytes: Vec<Vec<u8>> =
        (0..vocab).map(|token| format!("<{token}>").into_bytes()).collect();
    let mut tokens: HashMap<&str, i32> = HashMap::new();
    for (&token, name) in names {
        let spelled: Option<Vec<u8>> = name.chars().map(|c| of_char.get(&c).copied()).collect();
        bytes[token] = match spelled {
            Some(spelled) if !special.contains_key(&token) => spelled,
            Some(_) | None => name.clone().into_bytes(),
        };
        tokens.insert(name, token as i32);
    }
    let broken = |reason: String| TokenizerError::Broken(reason);
    let of_byte = (0..=u8::MAX).map(|byte| {
        let letter = letter(byte).to_string();
        let token = tokens.get(letter.as_str()).copied();
        token.ok_or_else(|| broken(format!("it has no token for the byte {byte}")))
    });
    let of_byte = of_byte.collect::<Result<Vec<i32>, _>>()?;
    let mut ranks = HashMap::with_capacity(merges.len());
    for (rank, merge) in merges.iter().enumerate() {
        let both = match merge {
            Json::String(text) => text.split_once(' '),
            Json::Array(both) => match both.as_slice() {
                [Json::String(a), Json::String(b)] => Some((a.as_str(), b.as_str())),
                _ => None,
            },
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_) => None,
        };
        let token = |name: &str| tokens.get(name).copied();
        let known =
            both.and_then(|(a, b)| Some(((token(a)?, token(b)?), token(&format!("{a}{b}"))?)));
        let Some((pair, merged)) = known else {
            return Err(broken(format!("merge {} is not one of its tokens", rank + 1)));
        };
        ranks.entry(pair).or_insert((rank, merged));
    }
    let splitter = Splitter::default();
    Ok(Pairs { bytes, of_byte, merges: ranks, whole: HashMap::new(), splitter, first: Vec::new() })
}

/// The character that stands for a byte in names of tokens: itself if it can be seen, else one behind the first 256.
fn letter(byte: u8) -> char {
    let seen = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if seen(byte) {
        return char::from(byte);
    }
    let before = (0..byte).filter(|&byte| !seen(byte)).count();
    char::from_u32(256 + before as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Special tokens that a template puts before a text, such as Llama 3's begin of text.
fn first_tokens(processor: Option<&Json>, root: &Json) -> Result<Vec<i32>, TokenizerError> {
    let Some(processor) = processor.filter(|one| !one.is_null()) else { return Ok(Vec::new()) };
    let sequence = processor.get("processors").and_then(Json::as_array);
    let parts = sequence.map_or(std::slice::from_ref(processor), Vec::as_slice);
    let template = parts.iter().find_map(|part| part.get("single").and_then(Json::as_array));
    let special =
        template.into_iter().flatten().map_while(|piece| piece.pointer("/SpecialToken/id"));
    let added = root.get("added_tokens").and_then(Json::as_array);
    let token = |name: &Json| {
        let known = added.into_iter().flatten().find(|one| one.get("content") == Some(name))?;
        i32::try_from(known.get("id")?.as_i64()?).ok()
    };
    let unknown = || TokenizerError::Broken("its template names a token that it lacks".to_owned());
    special.map(|name| token(name).ok_or_else(unknown)).collect()
}

impl Pairs {
    /// What tokens are called.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.bytes.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    pub(super) fn first(&self) -> &[i32] {
        &self.first
    }

    pub(super) fn text(&self, tokens: &[i32]) -> String {
        let known = tokens.iter().filter_map(|&token| self.bytes.get(usize::try_from(token).ok()?));
        String::from_utf8_lossy(&known.flatten().copied().collect::<Vec<u8>>()).into_owned()
    }

    pub(super) fn tokens(&self, text: &str) -> Vec<i32> {
        let mut known: HashMap<&str, Vec<i32>> = HashMap::new();
        let spaced;
        let needs_space = self.splitter.space_first && !text.starts_with(char::is_whitespace);
        let text = if needs_space && !text.is_empty() {
            spaced = format!(" {text}");
            spaced.as_str()
        } else {
            text
        };
        let mut tokens = Vec::new();
        for piece in self.splitter.pieces(text) {
            tokens
                .extend(known.entry(piece).or_insert_with(|| self.merged(piece.as_bytes())).iter());
        }
        tokens
    }

    fn merged(&self, piece: &[u8]) -> Vec<i32> {
        if let Some(&token) = self.whole.get(piece) {
            return vec![token];
        }
        let mut tokens: Vec<i32> =
            piece.iter().map(|&byte| self.of_byte[usize::from(byte)]).collect();
        loop {
            let ranked = tokens.windows(2).enumerate().filter_map(|(place, pair)| {
                let (rank, merged) = self.merges.get(&(pair[0], pair[1]))?;
                Some((*rank, place, *merged))
            });
            let Some((_, place, merged)) = ranked.min() else { return tokens };
            tokens[place] = merged;
            tokens.remove(place + 1);
        }
    }
}
