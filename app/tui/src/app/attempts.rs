//! Runs that have ended, shared by all labs of a lesson that show several.

use std::collections::BTreeSet;
use std::sync::Arc;

use mlsys_lab::params::Params;
use mlsys_lab::tables::Tables;

use super::App;
use crate::message::Effect;
use crate::own_page;
use crate::page::Page;
use crate::recall::Wanted;
use mlsys_view::attempts::Attempt;

/// All runs that ended in this session, and those of earlier ones that lessons took back in, the oldest first.
#[derive(Default)]
pub(super) struct Attempts {
    all: Vec<Arc<Attempt>>,
    /// What was taken back in from records, by lesson and kind of lab.
    recalled: BTreeSet<(Option<String>, String)>,
}

/// As many are kept: a picture of more would be one of nothing.
const MOST: usize = 400;

impl Attempts {
    fn keep(&mut self, one: Arc<Attempt>) {
        self.all.push(one);
        let surplus = self.all.len().saturating_sub(MOST);
        self.all.drain(..surplus);
    }
}

impl App {
    /// Asks for what earlier sessions recorded of a lesson that shows several runs, once.
    pub(super) fn recall_attempts(&mut self) -> Vec<Effect> {
        let Some(page) = &self.page else {
            return Vec::new();
        };
        let (lesson, mut kinds) = (scope(page), kinds(page));
        let recalled = &mut self.attempts_kept.recalled;
        kinds.retain(|kind| recalled.insert((lesson.clone(), kind.clone())));
        if kinds.is_empty() {
            return Vec::new();
        }
        let kinds = kinds.into_iter().collect();
        vec![Effect::Recall(Wanted { lesson, kinds })]
    }

    /// What earlier sessions recorded; it comes before what has ended in this one.
    pub(super) fn recalled(&mut self, mut found: Vec<Attempt>) -> Vec<Effect> {
        // Another page may have been opened since they were asked for.
        let lesson = self.page.as_ref().map(|page| page.lesson.front.id.to_string());
        let slots = self.page.iter().flat_map(|page| &page.slots);
        for slot in slots {
            let set =
                Params::resolve(slot.schema, &slot.settings, Tables::builtin(), Some(slot.seed));
            let Ok(set) = set else { continue };
            let theirs = |one: &&mut Attempt| {
                one.lesson == lesson && one.lab == slot.id && one.schema.kind == slot.schema.kind
            };
            found.iter_mut().filter(theirs).for_each(|one| one.tell_apart(&set));
        }
        let found = found.into_iter().map(Arc::new);
        self.attempts_kept.all.splice(..0, found);
        self.share_attempts();
        Vec::new()
    }

    /// Keeps what the run of a lab leaves, which has just ended.
    pub(super) fn keep_attempt(&mut self, slot: usize) {
        let Some(page) = self.page.as_mut() else {
            return;
        };
        let lesson = page.lesson.front.id.to_string();
        let left = page.slots.get_mut(slot).and_then(|slot| slot.leave(&lesson));
        if let Some(left) = left {
            self.attempts_kept.keep(left);
            self.share_attempts();
        }
    }

    /// Gives the labs of the open page the runs of their lesson.
    pub(crate) fn share_attempts(&mut self) {
        let Some(page) = self.page.as_mut() else {
            return;
        };
        let kinds = kinds(page);
        if kinds.is_empty() {
            return;
        }
        let (lesson, asked) = (scope(page), Arc::clone(&page.lesson));
        let all = self.attempts_kept.all.iter();
        let here: Arc<[Arc<Attempt>]> = all
            .filter(|one| lesson.is_none() || one.lesson == lesson)
            .filter(|one| kinds.contains(&one.schema.kind))
            .cloned()
            .collect();
        let slots = page.slots.iter_mut();
        for slot in slots.filter(|slot| slot.schema.compares_runs()) {
            slot.share(Arc::clone(&here), &asked);
        }
    }
}

/// The lesson whose runs a page shows; none for a lab's own page, which shows those of all.
fn scope(page: &Page) -> Option<String> {
    (!own_page::is_own(&page.lesson)).then(|| page.lesson.front.id.to_string())
}

/// The kinds of labs whose runs any panel of the page shows.
fn kinds(page: &Page) -> BTreeSet<String> {
    let schemas = page.slots.iter().map(|slot| slot.schema);
    let comparing = schemas.filter(|schema| schema.compares_runs());
    comparing
        .flat_map(|schema| {
            let panels = schema.panels.iter();
            let named = panels.filter_map(|panel| panel.attempts.as_ref());
            let named = named.flat_map(|attempts| attempts.kinds.iter().cloned());
            named.chain([schema.kind.clone()]).collect::<Vec<_>>()
        })
        .collect()
}
