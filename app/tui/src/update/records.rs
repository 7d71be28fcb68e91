//! Recorded runs: listed, put behind the curves, replayed.

use std::collections::BTreeSet;
use std::sync::Arc;

use mlsys_lab::control::Command;
use mlsys_view::attempts::FinishedRun;
use mlsys_view::earlier::{self, Earlier};

use crate::message::{Effect, ReplayStart};
use crate::own_page;
use crate::palette::{Item, Target};
use crate::records::{
    LoadError, LoadRequest, LoadedRecord, Purpose, RecallRequest, RecordEntry, Records, Replay,
    Source, Speed,
};
use crate::state::{ActiveRun, App, Overlay, Page, PendingRequest, RunMode};
use crate::update::run::WATCHED;

impl App {
    pub(super) fn open_records(&mut self) {
        self.lay_over(Overlay::Records(Records::default()));
        if self.overlay.is_some() {
            self.effects.push(Effect::ListRecords);
        }
    }

    pub(super) fn take_records(&mut self, entries: Vec<RecordEntry>) {
        let items = entries.iter().filter(|entry| matches!(entry.source, Source::Folder(_)));
        let item = |entry: &RecordEntry| {
            let about = format!("{} {} {}", entry.started, entry.device, entry.standing);
            Item::new(Target::Run(entry.name.clone()), &entry.name, &about)
        };
        self.archive.items = items.map(item).collect();
        self.archive.entries = entries;
        let kind = self.lab().map(|lab| lab.schema.kind.as_str());
        let of_lab = |entry: &&RecordEntry| Some(entry.lab.as_str()) == kind;
        let here = self.archive.entries.iter().filter(of_lab).cloned().collect();
        if let Some(Overlay::Records(records)) = &mut self.overlay {
            *records = Records { entries: Some(here), chosen: 0 };
        }
    }

    pub(super) fn load_marked(&mut self, purpose: Purpose) {
        let Some(Overlay::Records(records)) = &self.overlay else { return };
        let Some(entry) = records.entry().cloned() else { return };
        let lab = self.page.as_ref().map_or(0, |page| page.current);
        self.overlay = None;
        self.load(entry, purpose, lab);
    }

    pub(super) fn load(&mut self, entry: RecordEntry, purpose: Purpose, lab: usize) {
        let Some(page) = &self.page else { return };
        let lesson = page.lesson.front.id.to_string();
        self.notify(format!("reading {}", entry.name));
        let wanted = LoadRequest { entry, purpose, lesson, lab };
        self.effects.push(Effect::ReadRecord(Box::new(wanted)));
    }

    /// Shows a run chosen by its name: on the page of its lab, where it is replayed.
    pub(super) fn go_to_record(&mut self, name: &str) {
        let mut entries = self.archive.entries.iter();
        let Some(entry) = entries.find(|entry| entry.name == name).cloned() else { return };
        let is_shown = |app: &Self| app.lab().is_some_and(|lab| lab.schema.kind == entry.lab);
        if !is_shown(self) {
            self.go_to_lab(&entry.lab);
        }
        if let Some(page) = self.page.as_ref().filter(|_| is_shown(self)) {
            let lab = page.current;
            self.load(entry, Purpose::Replay, lab);
        }
    }

    pub(super) fn loaded(&mut self, loaded: Result<Box<LoadedRecord>, LoadError>) {
        let loaded = match loaded {
            Ok(loaded) => *loaded,
            Err(error) => return self.notify(error.to_string()),
        };
        let wanted = &loaded.wanted;
        let is_here = |page: &&mut Page| page.lesson.front.id.as_str() == wanted.lesson;
        let Some(page) = self.page.as_mut().filter(is_here) else { return };
        let Some(lab) = page.labs.get_mut(wanted.lab) else { return };
        self.screen.notice = loaded.warnings.first().cloned();
        match wanted.purpose {
            Purpose::Overlay => {
                let mut name = wanted.entry.origin();
                let differences = lab.params().map(|params| wanted.entry.differences(&params));
                if let Some(differences) = differences.ok().filter(|list| !list.is_empty()) {
                    name = format!("{name}: {}", differences.join(", "));
                }
                let earlier = Earlier::new(name, Vec::new(), loaded.data);
                earlier::keep(&mut lab.others.earlier, earlier);
                if lab.others.overlay == earlier::Overlay::Nothing {
                    lab.others.overlay = earlier::Overlay::Newest;
                }
            }
            Purpose::Replay => self.replay(loaded),
        }
    }

    fn replay(&mut self, loaded: LoadedRecord) {
        let LoadedRecord { wanted, data, .. } = loaded;
        self.abandon_all();
        let Some(page) = self.page.as_mut() else { return };
        let Some(lab) = page.labs.get_mut(wanted.lab) else { return };
        lab.begin();
        lab.run.explored = false;
        let Ok(params) = lab.params() else { return };
        let steps = data.series.values().map(|series| series.points().len() + series.gaps().len());
        let replay = Replay {
            origin: wanted.entry.origin(),
            params: wanted.entry.params.clone(),
            speed: Speed::Watch,
            seconds: wanted.entry.seconds,
            steps: steps.max().unwrap_or(0),
        };
        let interval = replay.interval(WATCHED);
        lab.run.replay = Some(replay);
        page.current = wanted.lab;
        self.session.runs += 1;
        let run = self.session.runs;
        self.session.active = Some(ActiveRun {
            run,
            lab: wanted.lab,
            waiting: false,
            how: RunMode::Run,
            asked: PendingRequest::Nothing,
        });
        let start = ReplayStart { run, schema: lab.schema, params, data: Arc::new(data) };
        self.effects
            .extend([Effect::Replay(Box::new(start)), Effect::Order(Command::Pace(interval))]);
    }

    /// Gives the replay that is going on its next speed; false if there is none.
    pub(super) fn change_speed(&mut self) -> bool {
        let lab = self.active_lab_mut();
        let Some(replay) = lab.and_then(|lab| lab.run.replay.as_mut()) else { return false };
        replay.speed = replay.speed.next();
        let (word, interval) = (replay.speed.word(), replay.interval(WATCHED));
        self.notify(format!("the recorded run goes {word}"));
        self.effects.push(Effect::Order(Command::Pace(interval)));
        true
    }

    /// The recording that may stand in for a missing device in a lab of the page: one of that very lab, which ships.
    pub(super) fn recording_for(&self, place: usize) -> Option<RecordEntry> {
        let page = self.page.as_ref()?;
        let lesson = &page.lesson;
        let lab = lesson.lab(&page.labs.get(place)?.id).filter(|lab| lab.may_replay())?;
        let wanted = Some((lesson.front.id.to_string(), lab.id.clone()));
        let is_meant = |entry: &&RecordEntry| {
            matches!(entry.source, Source::Shipped(_)) && entry.lesson == wanted
        };
        self.archive.entries.iter().find(is_meant).cloned()
    }

    pub(super) fn recall_attempts(&mut self) {
        let Some(page) = &self.page else { return };
        let (lesson, mut kinds) = (scope(page), kinds(page));
        let recalled = &mut self.session.finished.recalled;
        kinds.retain(|kind| recalled.insert((lesson.clone(), kind.clone())));
        if !kinds.is_empty() {
            let kinds = kinds.into_iter().collect();
            self.effects.push(Effect::Recall(RecallRequest { lesson, kinds }));
        }
    }

    /// What earlier sessions recorded; it comes before what has ended in this one.
    pub(super) fn recalled(&mut self, mut found: Vec<FinishedRun>) {
        // Another page may have been opened since they were asked for.
        let lesson = self.page.as_ref().map(|page| page.lesson.front.id.to_string());
        for lab in self.page.iter().flat_map(|page| &page.labs) {
            let Ok(set) = lab.lesson_params() else { continue };
            let theirs = |one: &&mut FinishedRun| {
                one.lesson == lesson && one.lab == lab.id && one.schema.kind == lab.schema.kind
            };
            found.iter_mut().filter(theirs).for_each(|one| one.tell_apart(&set));
        }
        let found = found.into_iter().map(Arc::new);
        self.session.finished.all.splice(..0, found);
        self.share_attempts();
    }

    pub(super) fn keep_attempt(&mut self, place: usize) {
        let Some(page) = self.page.as_mut() else { return };
        let lesson = page.lesson.front.id.to_string();
        if let Some(left) = page.labs.get_mut(place).and_then(|lab| lab.leave(&lesson)) {
            self.session.finished.keep(left);
            self.share_attempts();
        }
    }

    pub(super) fn share_attempts(&mut self) {
        let Some(page) = self.page.as_mut() else { return };
        let kinds = kinds(page);
        if kinds.is_empty() {
            return;
        }
        let (lesson, asked) = (scope(page), Arc::clone(&page.lesson));
        let all = self.session.finished.all.iter();
        let here: Arc<[Arc<FinishedRun>]> = all
            .filter(|one| lesson.is_none() || one.lesson == lesson)
            .filter(|one| kinds.contains(&one.schema.kind))
            .cloned()
            .collect();
        for lab in page.labs.iter_mut().filter(|lab| lab.schema.compares_runs()) {
            lab.share(Arc::clone(&here), &asked);
        }
    }
}

/// The lesson that a page compares runs of; none for a lab's own page, which compares those of all.
fn scope(page: &Page) -> Option<String> {
    (!own_page::is_own(&page.lesson)).then(|| page.lesson.front.id.to_string())
}

/// The kinds of labs that any panel of the page compares runs of.
fn kinds(page: &Page) -> BTreeSet<String> {
    let schemas = page.labs.iter().map(|lab| lab.schema);
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
