//! The course's vocabulary: what its terms mean, and where they occur in running text.
//!
//! Terms are found as whole words in any case, singular or plural, with hyphens, line ends and spaces taken as equal.
//! aho-corasick is no help: it matches bytes, so that folding, plurals and gaps would need a normalised copy of each text
//! and a map of offsets back, which is more code than walking over the words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use mlsys_lab::nearest::nearest;
use mlsys_lesson::Lesson;
use serde::Deserialize;

const TEXT: &str = include_str!("../../../assets/glossary.toml");

static BUILTIN: LazyLock<Result<Arc<Glossary>, toml::de::Error>> =
    LazyLock::new(|| Glossary::parse(TEXT).map(Arc::new));

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    pub name: String,
    /// Other names and spellings; plurals are understood.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What it is, in one to three sentences.
    pub about: String,
    pub lesson: String,
    #[serde(default)]
    pub see: Vec<String>,
    /// Who introduced or defined it.
    pub source: Option<String>,
}

/// All terms, in the order of their names.
#[derive(Debug, PartialEq, Eq)]
pub struct Glossary {
    terms: Vec<Term>,
    matcher: Matcher,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    term: Vec<Term>,
}

impl Glossary {
    #[expect(clippy::expect_used, reason = "the text is compiled in and read by a test")]
    pub fn builtin() -> &'static Arc<Self> {
        BUILTIN.as_ref().expect("the built-in glossary reads")
    }

    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let File { term } = toml::from_str(text)?;
        Ok(Self::new(term))
    }

    /// The vocabulary while a lesson is open: its own terms take the place of those of the same name.
    pub fn for_lesson(lesson: &Lesson) -> Arc<Self> {
        let front = &lesson.front;
        if front.terms.is_empty() {
            return Arc::clone(Self::builtin());
        }
        let mut terms = Self::builtin().terms.clone();
        for own in &front.terms {
            let has_its_name = |name: &String| name.eq_ignore_ascii_case(&own.name);
            terms.retain(|term| !has_its_name(&term.name));
            for term in &mut terms {
                term.aliases.retain(|alias| {
                    !has_its_name(alias)
                        && !own.aliases.iter().any(|a| a.eq_ignore_ascii_case(alias))
                });
            }
            terms.push(Term {
                name: own.name.clone(),
                aliases: own.aliases.clone(),
                about: own.about.clone(),
                lesson: front.id.to_string(),
                see: Vec::new(),
                source: None,
            });
        }
        Arc::new(Self::new(terms))
    }

    fn new(mut terms: Vec<Term>) -> Self {
        terms.sort_by_key(|term| term.name.to_lowercase());
        let matcher = Matcher::new(terms.iter().map(|term| {
            let names = std::iter::once(&term.name).chain(&term.aliases);
            names.map(String::as_str)
        }));
        Self { terms, matcher }
    }

    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The term of a name or an alias, in any case and number.
    pub fn named(&self, name: &str) -> Option<usize> {
        let name = name.trim();
        let whole = |found: &Occurrence| found.range == (0..name.len());
        let found = self.occurrences(name).into_iter().find(whole);
        found.map(|found| found.term)
    }

    /// The terms with a text in their name or aliases; names that begin with it come first.
    pub fn searched(&self, text: &str) -> Vec<usize> {
        let text = text.trim().to_lowercase();
        let rank = |term: &Term| {
            let name = term.name.to_lowercase();
            let aliased = || term.aliases.iter().any(|a| a.to_lowercase().contains(&text));
            if name.starts_with(&text) {
                Some(0)
            } else if name.contains(&text) {
                Some(1)
            } else {
                aliased().then_some(2)
            }
        };
        let ranked = self.terms.iter().enumerate();
        let mut found: Vec<(u8, usize)> =
            ranked.filter_map(|(index, term)| Some((rank(term)?, index))).collect();
        found.sort_unstable();
        found.into_iter().map(|(_, index)| index).collect()
    }

    /// The name that a misspelt one most likely meant.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let names =
            self.terms.iter().flat_map(|term| std::iter::once(&term.name).chain(&term.aliases));
        nearest(name, names.map(String::as_str))
    }

    /// Where terms occur in a text, from left to right, the longest where several begin at one place.
    pub fn occurrences(&self, text: &str) -> Vec<Occurrence> {
        self.matcher.occurrences(text)
    }

    /// The terms of a text, each once, in the order they come up.
    pub fn terms_in(&self, text: &str) -> Vec<usize> {
        let mut terms = Vec::new();
        for found in self.occurrences(text) {
            if !terms.contains(&found.term) {
                terms.push(found.term);
            }
        }
        terms
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    pub range: Range<usize>,
    pub term: usize,
}

/// Names by their first word.
#[derive(Debug, PartialEq, Eq)]
struct Matcher {
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

#[derive(Debug, PartialEq, Eq)]
struct Name {
    /// The words after the first, each with the text before it.
    rest: Vec<(String, String)>,
    term: usize,
}

impl Matcher {
    /// Names of terms, in the terms' order.
    fn new<'a, N: Iterator<Item = &'a str>>(terms: impl Iterator<Item = N>) -> Self {
        let mut names: HashMap<String, Vec<Name>> = HashMap::new();
        for (term, spellings) in terms.enumerate() {
            for name in spellings {
                let words = words(name);
                let Some(first) = words.first() else { continue };
                let gaps = words.iter().zip(words.iter().skip(1));
                let rest = gaps.map(|(before, word)| {
                    (name[before.end..word.start].to_owned(), folded(&name[word.clone()]))
                });
                let (first, rest) = (folded(&name[first.clone()]), rest.collect());
                names.entry(first).or_default().push(Name { rest, term });
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
    fn occurrences(&self, text: &str) -> Vec<Occurrence> {
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
        let whole = named(first).and_then(|names| {
            let fits = names.iter().find(|name| name.follows(text, words))?;
            Some((fits.rest.len() + 1, fits.term))
        });
        // Only the last word of a name takes an ending, and of a single word that is the first.
        whole.or_else(|| {
            let mut names = singulars(first).filter_map(|one| named(&one));
            let name = names.find_map(|names| names.iter().find(|name| name.rest.is_empty()))?;
            Some((1, name.term))
        })
    }
}

impl Name {
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
    use std::collections::BTreeMap;

    #[test]
    fn no_name_stands_for_two_terms() {
        let mut owners = BTreeMap::new();
        for term in Glossary::builtin().terms() {
            for name in std::iter::once(&term.name).chain(&term.aliases) {
                let key = name.to_lowercase().replace('-', " ");
                let before = owners.insert(key, &term.name);
                assert_eq!(before, None, "{name} of {}", term.name);
            }
        }
        assert!(Glossary::builtin().terms().len() >= 120);
    }

    #[test]
    fn every_name_finds_its_own_term() {
        let glossary = Glossary::builtin();
        for (index, term) in glossary.terms().iter().enumerate() {
            for name in std::iter::once(&term.name).chain(&term.aliases) {
                assert_eq!(glossary.named(name), Some(index), "{name}");
            }
        }
    }

    #[test]
    fn every_reference_leads_somewhere_else() {
        let glossary = Glossary::builtin();
        let library = crate::library::Library::built_in(mlsys_registry::built_in());
        let course = library.parsed().into_course().unwrap();
        for term in glossary.terms() {
            assert!(!term.see.is_empty(), "{} stands alone", term.name);
            for other in &term.see {
                let known = glossary.terms().iter().any(|t| t.name == *other);
                assert!(known && *other != term.name, "{}: {other}", term.name);
            }
            let (module, _) = term.lesson.split_once('/').unwrap();
            let taught = course.modules().iter().any(|m| m.id == module);
            assert!(taught, "{}: {}", term.name, term.lesson);
        }
    }

    #[test]
    fn definitions_are_short() {
        for term in Glossary::builtin().terms() {
            let length = term.about.chars().count();
            assert!((20..=300).contains(&length), "{}: {length}", term.name);
            assert!(term.about.ends_with('.'), "{}", term.name);
            let bare = ["A ", "An ", "The "];
            let bare = bare.iter().find_map(|article| term.about.strip_prefix(article));
            let start = bare.unwrap_or(&term.about).to_lowercase();
            assert!(!start.starts_with(&term.name.to_lowercase()), "{}", term.name);
        }
    }

    #[test]
    fn terms_of_a_lesson_replace_built_in_ones() {
        let text = "+++\nformat = 1\nid = \"m/l\"\ntitle = \"T\"\nminutes = 1\n[[term]]\nname = \"Epoch\"\n\
            aliases = [\"minibatch\"]\nabout = \"One pass here.\"\n+++\n# T\n\nText.\n";
        let parsed = mlsys_lesson::read("l.md", text.as_bytes(), mlsys_registry::built_in());
        let glossary = Glossary::for_lesson(&parsed.lesson.unwrap());
        assert_eq!(glossary.terms().len(), Glossary::builtin().terms().len());
        let named = |name| &glossary.terms()[glossary.named(name).unwrap()];
        assert_eq!(named("epochs").about, "One pass here.");
        assert_eq!(named("minibatch").lesson, "m/l");
        assert_eq!(named("mini-batch").name, "batch");
    }

    #[test]
    fn a_search_puts_names_before_aliases() {
        let glossary = Glossary::builtin();
        let names = |text: &str| -> Vec<&str> {
            let found = glossary.searched(text);
            found.iter().map(|&i| glossary.terms()[i].name.as_str()).collect()
        };
        assert_eq!(names("warp"), ["warp", "warp divergence", "warp scheduler"]);
        assert_eq!(names("backprop"), ["backward pass"]);
        assert_eq!(names("").len(), glossary.terms().len());
        assert_eq!(glossary.nearest("atention"), Some("attention"));
    }

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
        let matcher = Matcher::new(terms.iter().map(|names| names.iter().copied()));
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
            ("memory hierarchies", &["memory hierarchies"]),
            ("Moore\u{2019}s law", &["Moore\u{2019}s law"]),
            ("with 2:4 sparsity", &["2:4 sparsity"]),
            ("with 2.4 sparsity", &[]),
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
