//! Names of terms in running text: whole words in any case, unless the term says otherwise, singular or plural, with
//! hyphens, line ends and spaces equal.
//!
//! aho-corasick is no help: it matches bytes, so that folding, plurals and gaps would need a normalised copy of each text
//! and a map of offsets back, which is more code than walking over the words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub range: Range<usize>,
    pub term: usize,
}

/// Names by their first word.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Matcher {
    names: HashMap<String, Vec<Name>>,
    beginnings: Beginnings,
}

/// The first two letters of all names, which rule out most words of a text at a fraction of the cost.
#[derive(Debug, PartialEq, Eq)]
struct Beginnings([u32; 128]);

impl Beginnings {
    fn add(&mut self, word: &str) {
        if let Some((first, second)) = Self::letters(word) {
            self.0[first] |= second;
        }
    }

    /// Whether a name may begin with this word; beyond ASCII nothing is ruled out.
    fn may_begin(&self, word: &str) -> bool {
        Self::letters(word).is_none_or(|(first, second)| self.0[first] & second != 0)
    }

    /// The index of the first letter and the bit of the second, lower-case; all that is no letter shares one bit.
    fn letters(word: &str) -> Option<(usize, u32)> {
        let [first, rest @ ..] = word.as_bytes() else { return None };
        let second = rest.first().map(u8::to_ascii_lowercase);
        let bit = match second {
            Some(letter @ b'a'..=b'z') => 1 << (letter - b'a'),
            Some(letter) if !letter.is_ascii() => return None,
            Some(_) | None => 1 << 31,
        };
        first.is_ascii().then(|| (usize::from(first.to_ascii_lowercase()), bit))
    }
}

/// Which capitals a name has in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spelling {
    #[default]
    AnyCase,
    /// Those of the glossary: ZeRO is a method, zero a number.
    Exact,
}

#[derive(Debug, PartialEq, Eq)]
struct Name {
    /// The first word as it must be spelled, if any case will not do.
    spelled: Option<String>,
    /// The words after the first, each with the text before it.
    rest: Vec<(String, String)>,
    term: usize,
}

impl Matcher {
    /// Names of terms, in the terms' order.
    pub(super) fn new<'a, N: Iterator<Item = &'a str>>(
        terms: impl Iterator<Item = (Spelling, N)>,
    ) -> Self {
        let mut names: HashMap<String, Vec<Name>> = HashMap::new();
        for (term, (spelling, spellings)) in terms.enumerate() {
            for name in spellings {
                let words = words(name);
                let Some(first) = words.first() else { continue };
                let gaps = words.iter().zip(words.iter().skip(1));
                let rest = gaps.map(|(before, word)| {
                    (name[before.end..word.start].to_owned(), folded(&name[word.clone()]))
                });
                let (first, rest) = (&name[first.clone()], rest.collect());
                let spelled = match spelling {
                    Spelling::AnyCase => None,
                    Spelling::Exact => Some(first.to_owned()),
                };
                names.entry(folded(first)).or_default().push(Name { spelled, rest, term });
            }
        }
        for names in names.values_mut() {
            names.sort_by_key(|name| std::cmp::Reverse(name.rest.len()));
        }
        let mut beginnings = Beginnings([0; 128]);
        names.keys().for_each(|word| beginnings.add(word));
        Self { names, beginnings }
    }

    /// All names in a text, from left to right and never overlapping.
    pub(super) fn occurrences(&self, text: &str) -> Vec<Occurrence> {
        let words = words(text);
        let mut found = Vec::new();
        let mut first = String::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let spelled = &text[word.clone()];
            if !self.beginnings.may_begin(spelled) {
                at += 1;
                continue;
            }
            fold_into(&mut first, spelled);
            match self.at(text, &first, &words[at..]) {
                Some((count, term)) => {
                    let last = words.get(at + count - 1).unwrap_or(word);
                    found.push(Occurrence { range: word.start..last.end, term });
                    at += count;
                }
                None => at += 1,
            }
        }
        found
    }

    /// The longest name that begins with these words, the first of them folded: its number of words and its term.
    fn at(&self, text: &str, first: &str, words: &[Range<usize>]) -> Option<(usize, usize)> {
        let named = |first: &str| self.names.get(first);
        let spelled = words.first().map_or("", |word| &text[word.clone()]);
        let whole = named(first).and_then(|names| {
            let mut names = names.iter().filter(|name| name.is_spelled(spelled));
            let fits = names.find(|name| name.follows(text, words))?;
            Some((fits.rest.len() + 1, fits.term))
        });
        // Only the last word of a name takes an ending, and of a single word that is the first.
        whole.or_else(|| {
            let is_one = |name: &&Name| {
                let mut stems = std::iter::once(spelled.into()).chain(singulars(spelled));
                name.rest.is_empty() && stems.any(|one| name.is_spelled(&one))
            };
            let mut names = singulars(first).filter_map(|one| named(&one));
            let name = names.find_map(|names| names.iter().find(is_one))?;
            Some((1, name.term))
        })
    }
}

impl Name {
    fn is_spelled(&self, first: &str) -> bool {
        self.spelled.as_deref().is_none_or(|spelled| spelled == first)
    }

    /// Whether the words after the first are those of this name.
    fn follows(&self, text: &str, words: &[Range<usize>]) -> bool {
        let last = self.rest.len();
        let mut pairs = words.windows(2);
        self.rest.iter().enumerate().all(|(index, (gap, wanted))| {
            let Some([before, word]) = pairs.next() else { return false };
            let (Some(between), Some(word)) =
                (text.get(before.end..word.start), text.get(word.clone()))
            else {
                return false;
            };
            let word = folded(word);
            let is_last = index + 1 == last;
            let same = word == *wanted || is_last && singulars(&word).any(|one| one == *wanted);
            same && same_gap(between, gap)
        })
    }
}

/// Whether two texts between words are equal; a space, a line end and a hyphen are.
fn same_gap(one: &str, other: &str) -> bool {
    let plain = |gap: &str| match gap {
        "-" | "\n" | "\u{a0}" | "\u{2011}" => " ".to_owned(),
        gap => gap.replace('\u{2019}', "'"),
    };
    plain(one) == plain(other)
}

/// The words that a word may be the plural of.
fn singulars(word: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let stem = |ending| word.strip_suffix(ending).filter(|stem| !stem.is_empty());
    let with_y = stem("ies").map(|stem| Cow::Owned(format!("{stem}y")));
    let plain = ["es", "s"].into_iter().filter_map(stem).map(Cow::Borrowed);
    with_y.into_iter().chain(plain.collect::<Vec<_>>())
}

fn folded(word: &str) -> String {
    let mut folded = String::new();
    fold_into(&mut folded, word);
    folded
}

fn fold_into(folded: &mut String, word: &str) {
    folded.clear();
    folded.extend(word.chars().flat_map(char::to_lowercase));
}

/// The words of a text: runs of letters, digits and underscores.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        if c.is_alphanumeric() || c == '_' {
            start.get_or_insert(at);
        } else if let Some(from) = start.take() {
            words.push(from..at);
        }
    }
    words.extend(start.map(|from| from..text.len()));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let terms = [
            &["batch"][..],
            &["batch size"],
            &["all-reduce", "allreduce"],
            &["bias"],
            &["Moore's law"],
            &["2:4 sparsity"],
            &["memory hierarchy"],
        ];
        let any = terms.iter().map(|names| (Spelling::AnyCase, names.iter().copied()));
        let exact = [(Spelling::Exact, ["ZeRO"].iter().copied())];
        let matcher = Matcher::new(any.chain(exact));
        let found = matcher.occurrences(text);
        found.iter().map(|o| &text[o.range.clone()]).collect()
    }

    #[test]
    fn whole_words_in_any_case_and_number() {
        for (text, expected) in [
            ("a Batch of batches", &["Batch", "batches"][..]),
            ("batched rebatch batch_size", &[]),
            ("the batch sizes grow", &["batch sizes"]),
            ("the batch grows in size", &["batch"]),
            ("an all reduce, an all-reduce", &["all reduce", "all-reduce"]),
            ("after all, reduce it", &[]),
            ("biases", &["biases"]),
            ("BIASES, Batches", &["BIASES", "Batches"]),
            ("memory hierarchies", &["memory hierarchies"]),
            ("Moore\u{2019}s law", &["Moore\u{2019}s law"]),
            ("with 2:4 sparsity", &["2:4 sparsity"]),
            ("with 2.4 sparsity", &[]),
            ("ZeRO skips zeros, zero, ZERO and ZeROs", &["ZeRO", "ZeROs"]),
            ("batch-normalised über-batch", &["batch", "batch"]),
            ("", &[]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn no_text_makes_it_fail_and_places_are_in_order() {
        for text in ["ß'ſ\u{301}batch\u{0}s", "İİİ batch", "-- --", "batch size batch size"] {
            let _ = found(text);
        }
        assert_eq!(found("batch size batch size").len(), 2);
    }
}
