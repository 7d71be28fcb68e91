//! The course's vocabulary: what its terms mean, and where they occur in running text.

mod matcher;

use std::sync::{Arc, LazyLock};

use mlsys_lab::nearest::nearest;
use mlsys_lesson::Lesson;
use serde::Deserialize;

use matcher::Matcher;
pub use matcher::{Occurrence, Spelling};

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
    #[serde(default)]
    pub spelling: Spelling,
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
                spelling: Spelling::AnyCase,
            });
        }
        Arc::new(Self::new(terms))
    }

    fn new(mut terms: Vec<Term>) -> Self {
        terms.sort_by_key(|term| term.name.to_lowercase());
        let matcher = Matcher::new(terms.iter().map(|term| {
            let names = std::iter::once(&term.name).chain(&term.aliases);
            (term.spelling, names.map(String::as_str))
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
}
