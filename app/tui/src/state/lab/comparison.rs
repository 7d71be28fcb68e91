//! Other runs in a lab's pictures of several runs.

use std::cell::OnceCell;
use std::sync::Arc;

use mlsys_lab::frame::Frame;
use mlsys_lab::params::Params;
use mlsys_lab::schema::{Draw, Panel, Schema};
use mlsys_lab::{RunData, Value};
use mlsys_lesson::{Goal, Lesson};
use mlsys_view::attempts::{FinishedRun, OWN_PAGES, Own, RunComparison};
use mlsys_view::earlier::{self, Earlier, MOST, Overlay};

use crate::state::lab::LabState;

/// The runs of the lesson, as one of its labs holds them.
#[derive(Default)]
pub struct Attempts {
    /// All that have ended, the oldest first.
    all: Arc<[Arc<FinishedRun>]>,
    /// What the run on the screen left, if it has ended.
    pub(in crate::state) left: Option<Arc<FinishedRun>>,
    /// The lab's parameters as its lesson sets them.
    set: Option<Params>,
    /// What the lesson wants reached, by the panel's place in the schema.
    goals: Vec<Vec<Goal>>,
    /// The curves of the newest other runs, by the panel's place in the schema; empty for a panel that has none.
    behind: Vec<Vec<Earlier>>,
    /// The pictures of several runs, by the panel's place in the schema, made on demand.
    pub(in crate::state) drawn: Vec<OnceCell<Option<Frame>>>,
}

/// What a run's lab is called: on a lab's own page all have one id, and the kind tells more.
fn named(lesson: &str, lab: &str, schema: &Schema) -> String {
    let own = lesson.starts_with(OWN_PAGES);
    if own { &schema.kind } else { lab }.to_owned()
}

impl LabState {
    pub fn leave(&mut self, lesson: &str) -> Option<Arc<FinishedRun>> {
        let is_compared = self.schema.compares_runs() || self.kernel_text().is_some();
        if !is_compared || self.run.replay.is_some() {
            return None;
        }
        let params = self.run.begun_params.as_ref()?.iter();
        let params = params.map(|(name, value)| (name.to_owned(), value.clone()));
        let left = Arc::new(FinishedRun::new(
            self.schema,
            (Some(lesson.to_owned()), named(lesson, &self.id, self.schema)),
            params.collect(),
            self.run.turned_at_start.clone(),
            &self.run.data,
        ));
        self.others.finished.left = Some(Arc::clone(&left));
        Some(left)
    }

    /// What earlier runs of other source texts found, the oldest first: on the same arguments and the same launch, or
    /// they would not be comparable.
    pub fn other_versions<'a>(
        &'a self,
        lesson: &'a str,
        all: &'a [Arc<FinishedRun>],
    ) -> impl Iterator<Item = &'a RunData> {
        let lab = named(lesson, &self.id, self.schema);
        let own = self.others.finished.left.as_ref();
        let set = self.run.begun_params.as_ref();
        let is_other = move |one: &&Arc<FinishedRun>| {
            let is_same = |(name, value): (&String, &Value)| {
                name == "source" || set.is_some_and(|set| set.get(name) == Some(value))
            };
            own.is_none_or(|own| !Arc::ptr_eq(one, own))
                && (one.lesson.as_deref(), &one.lab) == (Some(lesson), &lab)
                && one.schema.kind == self.schema.kind
                && one.params.iter().all(is_same)
        };
        all.iter().filter(is_other).map(|one| &one.data)
    }

    /// Drops the pictures of several runs: they are made anew on demand.
    pub fn forget_drawn(&mut self) {
        if self.schema.compares_runs() {
            let panels = self.schema.panels.iter();
            self.others.finished.drawn = panels.map(|_| OnceCell::new()).collect();
        }
    }

    pub fn share(&mut self, all: Arc<[Arc<FinishedRun>]>, lesson: &Lesson) {
        self.others.finished.all = all;
        self.others.finished.set = self.lesson_params().ok();
        self.forget_drawn();
        let panels = self.schema.panels.iter();
        self.others.finished.goals =
            panels.map(|panel| lesson.goals(&panel.name).to_vec()).collect();
        let company = self.company(None);
        let curves = |panel: &Panel| {
            if panel.draw != Draw::Line || panel.attempts.is_none() {
                return Vec::new();
            }
            let behind = company.behind(self.schema, &panel.name).into_iter().take(MOST);
            let curve = |one: &FinishedRun| {
                let params = one.params.clone().into_iter().collect();
                Earlier::new(one.label(), params, one.data.clone())
            };
            behind.map(|one| curve(one)).collect()
        };
        self.others.finished.behind = self.schema.panels.iter().map(curves).collect();
    }

    /// The runs compared with the one on the screen, and what a panel of the schema wants reached.
    pub(super) fn company(&self, panel: Option<usize>) -> RunComparison<'_> {
        let goals = panel.and_then(|panel| self.others.finished.goals.get(panel));
        RunComparison {
            all: &self.others.finished.all,
            own: self.run.begun_params.as_ref().map(|params| Own {
                lab: &self.id,
                params,
                turned: &self.run.turned_at_start,
                left: self.others.finished.left.as_ref(),
            }),
            set: self.others.finished.set.as_ref(),
            goals: goals.map_or(&[], Vec::as_slice),
        }
    }

    /// The runs drawn behind the curves of a panel: those of this lab, or of all that the panel shows.
    pub(super) fn behind(&self, panel: usize) -> &[Earlier] {
        match self.others.finished.behind.get(panel).filter(|runs| !runs.is_empty()) {
            Some(runs) if self.others.overlay != Overlay::Nothing => runs,
            Some(_) => &[],
            None => {
                let kept = earlier::before(&self.others.earlier, &self.run.data);
                self.others.overlay.runs(kept)
            }
        }
    }
}
