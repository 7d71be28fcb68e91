//! Recorded runs: listed, put behind the curves, replayed.

use std::collections::BTreeSet;
use std::sync::Arc;

use mlsys_lab::control::Command;
use mlsys_lab::params::Params;
use mlsys_lab::tables::Tables;
use mlsys_view::attempts::FinishedRun;
use mlsys_view::earlier::{self, Earlier};

use crate::message::{Effect, ReplayStart};
use crate::own_page;
use crate::palette::{Item, Target};
use crate::recall;
use crate::records::{LoadedRecord, Purpose, RecordEntry, Records, Replay, Source, Speed, Wanted};
use crate::state::overlay::Overlay;
use crate::state::page::Page;
use crate::state::{ActiveRun, App, PendingRequest, RunMode};
use crate::update::run::WATCHED;

impl App {
    /// Opens the list of the shown lab's recorded runs, or leaves it.
    pub(super) fn open_records(&mut self) -> Vec<Effect> {
        if matches!(self.overlay, Some(Overlay::Records(_))) {
            self.overlay = None;
            return Vec::new();
        }
        self.overlay = Some(Overlay::Records(Records::default()));
        vec![Effect::ListRecords]
    }

    /// Takes in what has been recorded, the newest first.
    pub(super) fn take_records(&mut self, entries: Vec<RecordEntry>) -> Vec<Effect> {
        let items = entries.iter().filter(|entry| matches!(entry.source, Source::Folder(_)));
        let item = |entry: &RecordEntry| {
            let about = format!("{} {} {}", entry.started, entry.device, entry.standing);
            Item::new(Target::Run(entry.name.clone()), &entry.name, &about)
        };
        self.archive.items = items.map(item).collect();
        self.archive.entries = entries;
        let here = self.records_here();
        if let Some(Overlay::Records(records)) = &mut self.overlay {
            records.entries = Some(here);
            records.chosen = 0;
        }
        Vec::new()
    }

    fn records_here(&self) -> Vec<RecordEntry> {
        let kind = self.page.as_ref().and_then(Page::lab).map(|lab| lab.schema.kind.as_str());
        let of_lab = |entry: &&RecordEntry| Some(entry.lab.as_str()) == kind;
        self.archive.entries.iter().filter(of_lab).cloned().collect()
    }

    /// Puts the marked run behind the curves, or replays it.
    pub(super) fn fetch_marked(&mut self, purpose: Purpose) -> Vec<Effect> {
        let Some(Overlay::Records(records)) = &self.overlay else { return Vec::new() };
        let Some(entry) = records.entry().cloned() else { return Vec::new() };
        let lab = self.page.as_ref().map_or(0, |page| page.current);
        self.overlay = None;
        self.fetch(entry, purpose, lab)
    }

    /// Has a run read for a lab of the page.
    pub(super) fn fetch(
        &mut self,
        entry: RecordEntry,
        purpose: Purpose,
        lab: usize,
    ) -> Vec<Effect> {
        let Some(page) = &self.page else { return Vec::new() };
        self.screen.notice = Some(format!("reading {}", entry.name));
        vec![Effect::ReadRecord(Box::new(Wanted {
            entry,
            purpose,
            lesson: page.lesson.front.id.to_string(),
            lab,
        }))]
    }

    /// Shows a run chosen by its name: on the page of its lab, where it is replayed.
    pub(super) fn go_to_record(&mut self, name: &str) -> Vec<Effect> {
        let Some(entry) = self.archive.entries.iter().find(|entry| entry.name == name).cloned()
        else {
            return Vec::new();
        };
        let shown = self.page.as_ref().and_then(Page::lab);
        let mut effects = match shown {
            Some(lab) if lab.schema.kind == entry.lab => Vec::new(),
            Some(_) | None => self.go_to_lab(&entry.lab),
        };
        if let Some(page) = &self.page
            && page.lab().is_some_and(|lab| lab.schema.kind == entry.lab)
        {
            let lab = page.current;
            effects.extend(self.fetch(entry, Purpose::Replay, lab));
        }
        effects
    }

    pub(super) fn fetched(&mut self, fetched: Result<Box<LoadedRecord>, String>) -> Vec<Effect> {
        let fetched = match fetched {
            Ok(fetched) => *fetched,
            Err(reason) => {
                self.screen.notice = Some(reason);
                return Vec::new();
            }
        };
        let wanted = fetched.wanted.clone();
        let is_here = |page: &&mut Page| page.lesson.front.id.as_str() == wanted.lesson;
        let Some(page) = self.page.as_mut().filter(is_here) else { return Vec::new() };
        let Some(lab) = page.labs.get_mut(wanted.lab) else { return Vec::new() };
        self.screen.notice = fetched.warnings.first().cloned();
        match wanted.purpose {
            Purpose::Overlay => {
                let params = lab.params().ok();
                let differences = params.map(|params| wanted.entry.differences(&params));
                let mut name = wanted.entry.origin();
                if let Some(differences) = differences.filter(|list| !list.is_empty()) {
                    name = format!("{name}: {}", differences.join(", "));
                }
                earlier::keep(
                    &mut lab.others.earlier,
                    Earlier::new(name, Vec::new(), fetched.data),
                );
                if lab.others.overlay == earlier::Overlay::Nothing {
                    lab.others.overlay = earlier::Overlay::Newest;
                }
                Vec::new()
            }
            Purpose::Replay => self.replay(fetched),
        }
    }

    /// Replays a run in place of one.
    fn replay(&mut self, fetched: LoadedRecord) -> Vec<Effect> {
        let LoadedRecord { wanted, data, .. } = fetched;
        let mut effects = self.abandon();
        let Some(page) = self.page.as_mut() else { return effects };
        let Some(lab) = page.labs.get_mut(wanted.lab) else { return effects };
        lab.begin();
        lab.run.explored = false;
        lab.run.device = None;
        let Ok(params) = lab.params() else { return effects };
        let steps = data.series.values().map(|series| series.points().len() + series.gaps().len());
        let replay = Replay {
            origin: wanted.entry.origin(),
            speed: Speed::Watch,
            seconds: wanted.entry.seconds,
            steps: steps.max().unwrap_or(0),
        };
        let interval = replay.interval(WATCHED);
        lab.run.replay = Some(replay);
        page.current = wanted.lab;
        self.session.runs += 1;
        self.session.active = Some(ActiveRun {
            run: self.session.runs,
            lab: wanted.lab,
            waiting: false,
            how: RunMode::Run,
            asked: PendingRequest::Nothing,
        });
        effects.push(Effect::Replay(Box::new(ReplayStart {
            run: self.session.runs,
            schema: lab.schema,
            params,
            data: Arc::new(data),
        })));
        effects.push(Effect::Order(Command::Pace(interval)));
        effects
    }

    /// The next speed of the replay that is going on, if one is.
    pub(super) fn change_speed(&mut self) -> Option<Vec<Effect>> {
        let active = self.session.active?;
        let replay = self.page.as_mut()?.labs.get_mut(active.lab)?.run.replay.as_mut()?;
        replay.speed = replay.speed.next();
        self.screen.notice = Some(format!("the recorded run goes {}", replay.speed.word()));
        let interval = replay.interval(WATCHED);
        Some(vec![Effect::Order(Command::Pace(interval))])
    }

    /// The recording that may stand in for a missing device in a lab of the page: one of that very lab, which ships.
    pub(super) fn recording_for(&self, place: usize) -> Option<RecordEntry> {
        let page = self.page.as_ref()?;
        let lesson = &page.lesson;
        let lab = lesson.lab(&page.labs.get(place)?.id)?;
        let is_meant = |entry: &&RecordEntry| {
            let ships = matches!(entry.source, Source::Shipped(_));
            let theirs = entry.lesson.as_ref().map(|(lesson, lab)| (lesson.as_str(), lab.as_str()));
            ships && theirs == Some((lesson.front.id.as_str(), lab.id.as_str()))
        };
        self.archive.entries.iter().find(is_meant).filter(|_| lab.may_replay()).cloned()
    }
}

impl App {
    /// Asks for what earlier sessions recorded of a lesson that shows several runs, once.
    pub(super) fn recall_attempts(&mut self) -> Vec<Effect> {
        let Some(page) = &self.page else { return Vec::new() };
        let (lesson, mut kinds) = (scope(page), kinds(page));
        let recalled = &mut self.session.finished.recalled;
        kinds.retain(|kind| recalled.insert((lesson.clone(), kind.clone())));
        if kinds.is_empty() {
            return Vec::new();
        }
        let kinds = kinds.into_iter().collect();
        vec![Effect::Recall(recall::Wanted { lesson, kinds })]
    }

    /// What earlier sessions recorded; it comes before what has ended in this one.
    pub(super) fn recalled(&mut self, mut found: Vec<FinishedRun>) -> Vec<Effect> {
        // Another page may have been opened since they were asked for.
        let lesson = self.page.as_ref().map(|page| page.lesson.front.id.to_string());
        let labs = self.page.iter().flat_map(|page| &page.labs);
        for lab in labs {
            let set = Params::resolve(lab.schema, &lab.settings, Tables::builtin(), Some(lab.seed));
            let Ok(set) = set else { continue };
            let theirs = |one: &&mut FinishedRun| {
                one.lesson == lesson && one.lab == lab.id && one.schema.kind == lab.schema.kind
            };
            found.iter_mut().filter(theirs).for_each(|one| one.tell_apart(&set));
        }
        let found = found.into_iter().map(Arc::new);
        self.session.finished.all.splice(..0, found);
        self.share_attempts();
        Vec::new()
    }

    /// Keeps what the run of a lab leaves, which has just ended.
    pub(super) fn keep_attempt(&mut self, lab: usize) {
        let Some(page) = self.page.as_mut() else { return };
        let lesson = page.lesson.front.id.to_string();
        let left = page.labs.get_mut(lab).and_then(|lab| lab.leave(&lesson));
        if let Some(left) = left {
            self.session.finished.keep(left);
            self.share_attempts();
        }
    }

    /// Gives the labs of the open page the runs of their lesson.
    pub(crate) fn share_attempts(&mut self) {
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
        let labs = page.labs.iter_mut();
        for lab in labs.filter(|lab| lab.schema.compares_runs()) {
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
