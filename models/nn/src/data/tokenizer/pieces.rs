//! How a text is cut into pieces, over which no token of a byte pair encoding reaches.

use serde_json::Value as Json;

use super::{TokenizerError, short};

/// What the pre-tokenizer of a tokenizer.json says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Splitter {
    pattern: Option<Pattern>,
    /// Whether each digit is a piece of its own.
    digits_apart: bool,
    /// Whether a text that begins without a space gets one.
    pub(super) space_first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Pattern {
    Gpt2,
    /// Of Llama 3 and Qwen, with the most digits of a piece.
    Llama {
        digits: usize,
    },
}

const PATTERNS: [(&str, Pattern); 3] = [
    (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", Pattern::Gpt2),
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Pattern::Llama { digits: 3 },
    ),
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        Pattern::Llama { digits: 1 },
    ),
];

impl Splitter {
    pub(super) fn read(splitter: &Json) -> Result<Self, TokenizerError> {
        let sequence = splitter.get("pretokenizers").and_then(Json::as_array);
        let parts = sequence.map_or(std::slice::from_ref(splitter), Vec::as_slice);
        let mut read = Self::default();
        let mut has_bytes = false;
        for part in parts {
            let flag =
                |name: &str, default| part.get(name).and_then(Json::as_bool).unwrap_or(default);
            let name = part.get("type").and_then(Json::as_str).unwrap_or("");
            match name {
                "ByteLevel" => {
                    has_bytes = true;
                    read.space_first = flag("add_prefix_space", true);
                    if flag("use_regex", true) {
                        read.pattern = Some(Pattern::Gpt2);
                    }
                }
                "Digits" if flag("individual_digits", false) => read.digits_apart = true,
                "Split" => {
                    let text = part.pointer("/pattern/Regex").and_then(Json::as_str).unwrap_or("");
                    let known = PATTERNS.iter().find(|(known, _)| *known == text);
                    let isolated = part.get("behavior").and_then(Json::as_str) == Some("Isolated");
                    match known.filter(|_| isolated && !flag("invert", false)) {
                        Some((_, pattern)) => read.pattern = Some(*pattern),
                        None => {
                            let what =
                                format!("a BPE that splits by another pattern, {}", short(text));
                            return Err(TokenizerError::Kind(what));
                        }
                    }
                }
                other => {
                    let what = format!("a BPE with pieces of type {}", short(other));
                    return Err(TokenizerError::Kind(what));
                }
            }
        }
        match has_bytes {
            true => Ok(read),
            false => Err(TokenizerError::Kind("a BPE of characters, not of bytes".to_owned())),
        }
    }

    pub(super) fn pieces<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let mut pieces = Vec::new();
        let mut parts = vec![text];
        if self.digits_apart {
            let is_edge = |(place, c): &(usize, char)| {
                c.is_numeric() || text[..*place].ends_with(char::is_numeric)
            };
            let edges = text.char_indices().filter(is_edge).map(|(place, _)| place);
            let edges: Vec<usize> = [0].into_iter().chain(edges).chain([text.len()]).collect();
            parts = edges.windows(2).map(|edge| &text[edge[0]..edge[1]]).collect();
        }
        for mut rest in parts {
            while !rest.is_empty() {
                let len = self.pattern.map_or(rest.len(), |pattern| pattern.len(rest));
                let (piece, after) = rest.split_at(len);
                pieces.push(piece);
                rest = after;
            }
        }
        pieces
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !c.is_numeric()
}

fn is_sign(c: char) -> bool {
    !c.is_whitespace() && !is_letter(c) && !c.is_numeric()
}

/// Bytes of the characters at the beginning that are of a kind; `most` bounds their number.
fn run(text: &str, most: usize, is_of_kind: impl Fn(char) -> bool) -> usize {
    text.chars().take(most).take_while(|&c| is_of_kind(c)).map(char::len_utf8).sum()
}

impl Pattern {
    /// Bytes of the next piece of a text that is not empty.
    fn len(self, text: &str) -> usize {
        let all = usize::MAX;
        let is_any_case = self != Self::Gpt2;
        for ending in ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"] {
            let begin = text.get(..ending.len()).unwrap_or("");
            if begin == ending || (is_any_case && begin.eq_ignore_ascii_case(ending)) {
                return ending.len();
            }
        }
        let first = text.chars().next().unwrap_or(' ');
        let behind = &text[first.len_utf8()..];
        let space = usize::from(first == ' ');
        if is_letter(first) {
            return run(text, all, is_letter);
        }
        let may_lead = match self {
            Self::Gpt2 => first == ' ',
            Self::Llama { .. } => !matches!(first, '\r' | '\n') && !first.is_numeric(),
        };
        if may_lead && behind.starts_with(is_letter) {
            return first.len_utf8() + run(behind, all, is_letter);
        }
        let digits = match self {
            Self::Gpt2 => space + run(&text[space..], all, char::is_numeric),
            Self::Llama { digits } => run(text, digits, char::is_numeric),
        };
        if digits > 0 && text[..digits].ends_with(char::is_numeric) {
            return digits;
        }
        let signs = space + run(&text[space..], all, is_sign);
        if signs > space {
            let lines = |c: char| matches!(c, '\r' | '\n');
            let ends = if is_any_case { run(&text[signs..], all, lines) } else { 0 };
            return signs + ends;
        }
        let spaces = &text[..run(text, all, char::is_whitespace).max(first.len_utf8())];
        if let (true, Some(last)) = (is_any_case, spaces.rfind(['\r', '\n'])) {
            return last + 1;
        }
        // The last one before a word goes with the word.
        match spaces.char_indices().next_back() {
            Some((last, _)) if last > 0 && spaces.len() < text.len() => last,
            Some(_) | None => spaces.len(),
        }
    }
}
