//! Presets: a lab's settings that are worth looking at.

use mlsys_lab::params::Params;
use mlsys_lab::schema::Preset;
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;

use crate::message::Effect;
use crate::own_page;
use crate::state::App;
use crate::state::knob::{History, Turned};
use crate::state::lab::LabState;
use crate::state::overlay::{Confirm, Overlay};
use crate::state::page::Page;

impl App {
    /// The presets of the lab shown, and why each cannot be taken here, if it cannot.
    pub fn presets(&self) -> Vec<(&'static Preset, Option<String>)> {
        let Some((page, lab)) = self.page.as_ref().and_then(|page| Some((page, page.lab()?)))
        else {
            return Vec::new();
        };
        let own = own_page::is_own(&page.lesson);
        let refused = |preset: &Preset| if own { None } else { turns(lab, preset).err() };
        let presets = lab.schema.presets.iter();
        presets.map(|preset| (preset, refused(preset))).collect()
    }

    /// Takes the marked preset; one that the lesson's knobs do not allow says why and stays.
    pub(super) fn choose_preset(&mut self) -> Vec<Effect> {
        let Some(Overlay::Presets { chosen }) = self.overlay else { return Vec::new() };
        let Some((_, refused)) = self.presets().into_iter().nth(chosen) else { return Vec::new() };
        if refused.is_some() {
            self.screen.notice = refused;
            return Vec::new();
        }
        if self.is_on_own_page() && self.is_at_stake() {
            return self.ask(Confirm::Preset(chosen));
        }
        self.take_preset(chosen)
    }

    /// Takes a preset by its place in the list.
    pub(super) fn take_preset(&mut self, chosen: usize) -> Vec<Effect> {
        let Some((preset, None)) = self.presets().into_iter().nth(chosen) else {
            return Vec::new();
        };
        self.overlay = None;
        self.screen.notice = Some(format!("{}: {}", preset.name, preset.about));
        if self.is_on_own_page() {
            self.open_with_preset(preset)
        } else {
            self.turn_to_preset(preset)
        }
    }

    fn is_on_own_page(&self) -> bool {
        let page = self.page.as_ref();
        page.is_some_and(|page| own_page::is_own(&page.lesson))
    }

    /// Opens the lab's own page anew; what has been run stays behind the curves.
    fn open_with_preset(&mut self, preset: &Preset) -> Vec<Effect> {
        let mut effects = self.abandon();
        let Some(page) = self.page.as_mut() else { return effects };
        let Some(lab) = page.lab_mut() else { return effects };
        let tables = Tables::builtin();
        let params = Params::resolve(lab.schema, &preset.settings(), tables, None).ok();
        let lesson = params.and_then(|params| own_page::lesson(lab.schema, &params));
        let Some(lesson) = lesson else { return effects };
        lab.begin();
        let mut fresh = Page::open(lesson, self.registry, self.session.seed)
            .with_workers(self.session.workers.as_deref());
        fresh.side = page.side;
        fresh.telling = page.telling;
        if let (Some(old), Some(new)) = (page.lab_mut(), fresh.lab_mut()) {
            new.others.earlier = std::mem::take(&mut old.others.earlier);
            new.pictures.views = std::mem::take(&mut old.pictures.views);
            (new.pictures.chosen, new.others.overlay, new.others.retired) =
                (old.pictures.chosen, old.others.overlay, old.others.retired);
        }
        *page = fresh;
        self.share_attempts();
        effects.extend(self.start_instant());
        effects
    }

    /// Turns the lesson's knobs to where the preset wants them, and all others back.
    fn turn_to_preset(&mut self, preset: &Preset) -> Vec<Effect> {
        let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) else { return Vec::new() };
        let Ok(wanted) = turns(lab, preset) else { return Vec::new() };
        let mut moved = Vec::new();
        for (index, (knob, to)) in lab.controls.knobs.iter_mut().zip(wanted).enumerate() {
            if knob.value != to {
                let from = std::mem::replace(&mut knob.value, to.clone());
                moved.push((knob.name.clone(), to.clone()));
                lab.controls.history.record(Turned { knob: index, from, to });
            }
        }
        // A calculator answers once for all knobs.
        if !lab.schema.is_live() {
            moved.truncate(1);
        }
        let notice = self.screen.notice.take();
        let mut effects = Vec::new();
        for (name, value) in moved {
            effects.extend(self.knob_turned(&name, value));
        }
        self.screen.notice = notice;
        effects
    }
}

/// The values of a lab's knobs with a preset, or why the lesson does not allow it.
fn turns(lab: &LabState, preset: &Preset) -> Result<Vec<Option<Value>>, String> {
    let mut wanted: Vec<Option<Value>> =
        lab.controls.knobs.iter().map(|knob| knob.initial.clone()).collect();
    let params = lab.params().ok();
    for (name, value) in preset.set.iter().flat_map(|(name, value)| by_entry(lab, name, value)) {
        let (name, value) = (&name, &value);
        let Some(place) = lab.controls.knobs.iter().position(|knob| knob.name == *name) else {
            // What the lesson itself has set so needs no knob.
            if set_to(params.as_ref(), name).as_ref() == Some(value) {
                continue;
            }
            return Err(format!("this lesson has no knob for {name}"));
        };
        wanted[place] = Some(lab.accepts(place, value.clone())?);
    }
    Ok(wanted)
}

/// A setting as the lab's knobs have it: a table as its entries, where only these have knobs.
fn by_entry(lab: &LabState, name: &str, value: &Value) -> Vec<(String, Value)> {
    let whole = lab.controls.knobs.iter().any(|knob| knob.name == name);
    match value {
        Value::Table(entries) if !whole => {
            let entries = entries.iter();
            entries.map(|(entry, value)| (format!("{name}.{entry}"), value.clone())).collect()
        }
        Value::Table(_)
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Array(_) => vec![(name.to_owned(), value.clone())],
    }
}

/// What a parameter, or one entry of a table, is set to.
fn set_to(params: Option<&Params>, name: &str) -> Option<Value> {
    let params = params?;
    match name.split_once('.') {
        None => params.get(name).cloned(),
        Some((table, entry)) => match params.get(table)? {
            Value::Table(entries) => entries.get(entry).cloned(),
            Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::Array(_) => {
                None
            }
        },
    }
}

/// Which way through the turns.
#[derive(Clone, Copy)]
enum Way {
    Back,
    Again,
}

impl App {
    pub(super) fn undo(&mut self) -> Vec<Effect> {
        self.retrace(Way::Back)
    }

    pub(super) fn redo(&mut self) -> Vec<Effect> {
        self.retrace(Way::Again)
    }

    fn retrace(&mut self, way: Way) -> Vec<Effect> {
        let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) else { return Vec::new() };
        let turned = match way {
            Way::Back => History::undo(&mut lab.controls.history),
            Way::Again => History::redo(&mut lab.controls.history),
        };
        let Some(turned) = turned else { return Vec::new() };
        let (word, value) = match way {
            Way::Back => ("undone", turned.from),
            Way::Again => ("redone", turned.to),
        };
        lab.controls.marked = turned.knob;
        lab.give(turned.knob, value.clone());
        let Some(knob) = lab.controls.knobs.get(turned.knob) else { return Vec::new() };
        let name = knob.name.clone();
        let shown = value.as_ref().map_or("unset".to_owned(), Value::to_string);
        let effects = self.knob_turned(&name, value);
        // What the turn itself has to say stands in the same line.
        let later = if self.screen.notice.is_some() { ", with the next run" } else { "" };
        self.screen.notice = Some(format!("{word}: {name} is {shown} again{later}"));
        effects
    }
}
