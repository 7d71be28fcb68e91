//! The open glossary: a list of terms that typing narrows, and the definition of one.

use std::sync::Arc;

use super::command::Motion;
use super::key::Key;
use super::text_field::{FieldEvent, FieldPurpose, TextField};
use mlsys_run::glossary::{Glossary, Term};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlossaryList {
    pub entry: TextField,
    /// How many of the listed terms stand on the screen below.
    pub here: usize,
    /// The listed terms by index, those on the screen first.
    pub found: Vec<usize>,
    pub chosen: usize,
    /// The terms that were opened, the newest last; empty while the list is shown.
    pub opened: Vec<usize>,
    /// Which of the related terms of the opened one is marked.
    pub related: usize,
    on_screen: Vec<usize>,
    glossary: Arc<Glossary>,
}

impl GlossaryList {
    /// Opens it with the terms on the screen first.
    pub fn new(glossary: Arc<Glossary>, on_screen: Vec<usize>) -> Self {
        let mut terms = Self {
            entry: TextField::new(FieldPurpose::Search, ""),
            here: 0,
            found: Vec::new(),
            chosen: 0,
            opened: Vec::new(),
            related: 0,
            on_screen,
            glossary,
        };
        terms.search();
        terms
    }

    /// The defined term: the opened one, else the marked one.
    pub fn term(&self) -> Option<&Term> {
        let index = self.opened.last().or_else(|| self.found.get(self.chosen))?;
        self.glossary.terms().get(*index)
    }

    /// The term opened over the list.
    pub fn open_term(&self) -> Option<&Term> {
        self.opened.last()?;
        self.term()
    }

    pub fn key(&mut self, key: Key) {
        match self.entry.key(key) {
            FieldEvent::Typed => self.search(),
            FieldEvent::Done | FieldEvent::Dropped | FieldEvent::Unused => {}
        }
    }

    pub fn paste(&mut self, text: &str) {
        self.entry.paste(text);
        self.search();
    }

    pub fn get(&self, index: usize) -> Option<&Term> {
        self.glossary.terms().get(index)
    }

    /// Moves the mark, in the list or among the related terms.
    pub fn move_by(&mut self, motion: Motion, half: usize) {
        match self.open_term().map(|term| term.see.len()) {
            Some(related) => {
                let last = related.saturating_sub(1);
                self.related = motion.from(self.related, half, last);
            }
            None => {
                let last = self.found.len().saturating_sub(1);
                self.chosen = motion.from(self.chosen, half, last);
            }
        }
    }

    /// Opens the marked term, or the marked one of the related terms.
    pub fn enter(&mut self) {
        let next = match self.open_term() {
            Some(term) => term.see.get(self.related).and_then(|name| self.glossary.named(name)),
            None => self.found.get(self.chosen).copied(),
        };
        if let Some(next) = next {
            self.opened.push(next);
            self.related = 0;
        }
    }

    /// Goes back to the term before, or to the list; says whether there was a way back.
    pub fn back(&mut self) -> bool {
        self.related = 0;
        self.opened.pop().is_some()
    }

    fn search(&mut self) {
        self.opened.clear();
        self.related = 0;
        self.chosen = 0;
        let matching = self.glossary.searched(self.entry.text());
        // What begins with the letters comes first; without letters the order is the page's.
        let typed = !self.entry.text().trim().is_empty();
        let mut found: Vec<usize> = self
            .on_screen
            .iter()
            .copied()
            .filter(|term| !typed && matching.contains(term))
            .collect();
        self.here = found.len();
        let rest = matching.into_iter().filter(|term| typed || !self.on_screen.contains(term));
        found.extend(rest);
        self.found = found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(terms: &mut GlossaryList, text: &str) {
        text.chars().for_each(|c| terms.key(Key::Char(c)));
    }

    #[test]
    fn terms_on_screen_come_first() {
        let glossary = Arc::clone(Glossary::builtin());
        let warp = glossary.named("warp").unwrap();
        let mut terms = GlossaryList::new(Arc::clone(&glossary), vec![warp]);
        assert_eq!(terms.term().unwrap().name, "warp");
        assert_eq!((terms.here, terms.found.len()), (1, glossary.terms().len()));
        typed(&mut terms, "cross-e");
        assert_eq!(terms.term().unwrap().name, "cross-entropy");
    }

    #[test]
    fn related_terms_are_followed_and_left_one_by_one() {
        let mut terms = GlossaryList::new(Arc::clone(Glossary::builtin()), Vec::new());
        typed(&mut terms, "ring all");
        terms.enter();
        terms.enter();
        assert_eq!(terms.open_term().unwrap().name, "all-reduce");
        assert!(terms.back());
        assert_eq!(terms.open_term().unwrap().name, "ring all-reduce");
        assert!(terms.back());
        assert!(terms.open_term().is_none() && !terms.back());
    }
}
