//! Turning knobs: one by one, back and again, and many at once by a preset of the lab.

use mlsys_lab::control::Command;
use mlsys_lab::params::{Given, Params};
use mlsys_lab::schema::Preset;
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;
use mlsys_run::session::Panels;
use mlsys_run::settings::KnobTurn;

use crate::command::Command::Run;
use crate::message::Effect;
use crate::own_page;
use crate::state::{App, Confirm, KnobError, LabState, Overlay, RunMode, RunStatus, Turned};

/// When the turn of a knob takes effect.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TakesEffect {
    Now,
    WithNextStep,
    WithNextRun,
}

#[derive(Clone, Copy)]
pub(super) enum Retrace {
    Undo,
    Redo,
}

impl App {
    /// Turns knobs of the open lesson; the first that cannot be turned is the error.
    pub(super) fn set_knobs(&mut self, turns: &[KnobTurn]) -> Result<(), KnobError> {
        let Some(page) = self.page.as_mut() else { return Ok(()) };
        for KnobTurn { lab: id, knob: name, value } in turns {
            let all: Vec<_> = page.labs.iter().map(|lab| lab.id.clone()).collect();
            let lab = page.labs.iter_mut().find(|lab| lab.id == *id);
            let no_lab = || KnobError::NoLab { lab: id.clone(), labs: all.join(", ") };
            let lab = lab.ok_or_else(no_lab)?;
            lab.mark_knob(name)?;
            lab.type_value(value)?;
            page.show_lab(id);
        }
        Ok(())
    }

    pub(super) fn set_knob(&mut self, text: &str) -> Result<(), KnobError> {
        let Some(page) = self.page.as_mut() else { return Ok(()) };
        let Some(lab) = page.lab_mut() else { return Ok(()) };
        let (name, value) = lab.type_value(text)?;
        page.entry = None;
        self.knob_turned(&name, Some(value));
        Ok(())
    }

    pub(super) fn turn_knob(&mut self, steps: i32) {
        let Some(lab) = self.lab_mut() else { return };
        match lab.turn(steps) {
            Some((name, value)) => {
                self.knob_turned(&name, Some(value));
            }
            None => {
                let knob = lab.controls.knobs.get(lab.controls.marked);
                self.screen.notice = knob.and_then(|knob| knob.at_end(steps));
            }
        }
    }

    /// A knob has a new value: the run hears of it, or the next one will.
    pub(super) fn knob_turned(&mut self, name: &str, value: Option<Value>) -> TakesEffect {
        let may_set_aside = self.may_set_aside();
        let Some(page) = self.page.as_mut() else { return TakesEffect::Now };
        let current = page.current;
        let Some(lab) = page.lab_mut() else { return TakesEffect::Now };
        let is_other = self.session.active.is_some_and(|active| active.lab != current);
        if !lab.schema.is_live() {
            if is_other && !may_set_aside {
                let refusal = self.available(Run).err();
                self.screen.notice = refusal.map(|refusal| refusal.to_string());
                return TakesEffect::WithNextRun;
            }
            // An answer under way is of a knob that has moved on.
            self.start(RunMode::Run);
            return TakesEffect::Now;
        }
        if self.session.active.is_none() || is_other {
            if lab.run.state == RunStatus::Ready || lab.last_value(name) == value.as_ref() {
                return TakesEffect::Now;
            }
            let then = if is_other { "" } else { ": space starts it" };
            self.notify(format!("{name} takes effect with the next run{then}"));
            return TakesEffect::WithNextRun;
        }
        let is_live = lab.schema.param(name).is_some_and(|param| param.live);
        let (effect, notice) = if lab.run.replay.is_some() {
            let next = format!("{name} takes effect with the next run");
            (TakesEffect::WithNextRun, Some(format!("a recorded run does not hear knobs: {next}")))
        } else if let Some(value) = value.filter(|_| is_live) {
            lab.run.explored = true;
            let order = Effect::Order(Command::Set { name: name.to_owned(), value });
            self.effects.extend([order, Effect::WantPictures(Panels::All)]);
            match lab.run.state == RunStatus::Paused {
                true => {
                    let notice = format!("{name} takes effect with the next step: s does one");
                    (TakesEffect::WithNextStep, Some(notice))
                }
                false => (TakesEffect::Now, None),
            }
        } else {
            // A value that is unset again has no order: the next run is without it.
            let next = "it takes effect with the next run";
            (TakesEffect::WithNextRun, Some(format!("{name} is not turned during a run: {next}")))
        };
        self.screen.notice = notice;
        effect
    }

    pub(super) fn retrace(&mut self, retrace: Retrace) {
        let Some(lab) = self.lab_mut() else { return };
        let history = &mut lab.controls.history;
        let (turned, word) = match retrace {
            Retrace::Undo => (history.undo().map(|turned| (turned.knob, turned.from)), "undone"),
            Retrace::Redo => (history.redo().map(|turned| (turned.knob, turned.to)), "redone"),
        };
        let Some((knob, value)) = turned else { return };
        lab.controls.marked = knob;
        lab.give(knob, value.clone());
        let Some(knob) = lab.controls.knobs.get(knob) else { return };
        let (name, shown) = (knob.name.clone(), knob.value_text());
        // What the turn itself has to say stands in the same line.
        let later = match self.knob_turned(&name, value) {
            TakesEffect::Now => "",
            TakesEffect::WithNextStep => ", with the next step",
            TakesEffect::WithNextRun => ", with the next run",
        };
        self.notify(format!("{word}: {name} is {shown} again{later}"));
    }

    /// The presets of the lab shown, and why each cannot be taken here, if it cannot.
    pub fn presets(&self) -> Vec<(&'static Preset, Option<KnobError>)> {
        let Some(lab) = self.lab() else { return Vec::new() };
        let own = self.is_on_own_page();
        let refused = |preset: &Preset| if own { None } else { preset_values(lab, preset).err() };
        lab.schema.presets.iter().map(|preset| (preset, refused(preset))).collect()
    }

    /// Takes the marked preset; one that the lesson's knobs do not allow says why and stays.
    pub(super) fn choose_preset(&mut self) {
        let Some(Overlay::Presets { chosen }) = self.overlay else { return };
        match self.presets().into_iter().nth(chosen) {
            Some((_, Some(refused))) => self.screen.notice = Some(refused.to_string()),
            Some((_, None)) if self.is_on_own_page() && self.is_at_stake() => {
                self.ask(Confirm::Preset(chosen));
            }
            Some((_, None)) => self.take_preset(chosen),
            None => {}
        }
    }

    pub(super) fn take_preset(&mut self, chosen: usize) {
        let Some((preset, None)) = self.presets().into_iter().nth(chosen) else { return };
        self.overlay = None;
        let notice = Some(format!("{}: {}", preset.name, preset.about));
        if self.is_on_own_page() {
            self.screen.notice = notice;
            self.open_with_preset(preset);
        } else {
            self.turn_to_preset(preset);
            self.screen.notice = notice;
        }
    }

    fn is_on_own_page(&self) -> bool {
        self.page.as_ref().is_some_and(|page| own_page::is_own(&page.lesson))
    }

    /// Opens the lab's own page anew; what has been run stays behind the curves.
    fn open_with_preset(&mut self, preset: &Preset) {
        self.abandon();
        let Some(schema) = self.lab().map(|lab| lab.schema) else { return };
        let params = Params::resolve(schema, &preset.settings(), Tables::builtin(), None).ok();
        let lesson = params.and_then(|params| own_page::lesson(schema, &params, self.registry));
        let Some(lesson) = lesson else { return };
        let mut fresh = self.fresh_page(lesson);
        let Some(page) = self.page.as_mut() else { return };
        (fresh.side, fresh.telling) = (page.side, page.telling);
        if let (Some(old), Some(new)) = (page.lab_mut(), fresh.lab_mut()) {
            old.begin();
            new.others.earlier = std::mem::take(&mut old.others.earlier);
            new.pictures.views = std::mem::take(&mut old.pictures.views);
            (new.pictures.chosen, new.others.overlay, new.others.retired) =
                (old.pictures.chosen, old.others.overlay, old.others.retired);
        }
        *page = fresh;
        self.share_attempts();
        self.start_instant();
    }

    /// Turns the lesson's knobs to where the preset wants them, and all others back.
    fn turn_to_preset(&mut self, preset: &Preset) {
        let Some(lab) = self.lab_mut() else { return };
        let Ok(wanted) = preset_values(lab, preset) else { return };
        let mut moved = Vec::new();
        for (index, (knob, to)) in lab.controls.knobs.iter_mut().zip(wanted).enumerate() {
            if knob.value != to {
                let from = std::mem::replace(&mut knob.value, to.clone());
                moved.push((knob.name.clone(), to.clone()));
                lab.controls.history.record(Turned { knob: index, from, to });
            }
        }
        lab.follow_tables();
        // A calculator answers once for all knobs.
        if !lab.schema.is_live() {
            moved.truncate(1);
        }
        for (name, value) in moved {
            self.knob_turned(&name, value);
        }
    }
}

/// The values of a lab's knobs with a preset, or why the lesson does not allow it.
fn preset_values(lab: &LabState, preset: &Preset) -> Result<Vec<Option<Value>>, KnobError> {
    let knobs = &lab.controls.knobs;
    let mut wanted: Vec<_> = knobs.iter().map(|knob| knob.initial.clone()).collect();
    let params = lab.params().ok();
    for (name, value) in preset.set.iter().flat_map(|(name, value)| by_entry(lab, name, value)) {
        if let Some(place) = knobs.iter().position(|knob| knob.name == name) {
            wanted[place] = Some(knobs[place].accepts(lab.schema, Given::Value(value))?);
        } else if params.as_ref().and_then(|params| set_to(params, &name)) != Some(&value) {
            // What the lesson itself has set so needs no knob.
            return Err(KnobError::Missing(name));
        }
    }
    Ok(wanted)
}

/// A setting as the lab's knobs have it: a table as its entries, where only these have knobs.
fn by_entry(lab: &LabState, name: &str, value: &Value) -> Vec<(String, Value)> {
    let whole = lab.controls.knobs.iter().any(|knob| knob.name == name);
    if let (Value::Table(entries), false) = (value, whole) {
        let entries = entries.iter();
        entries.map(|(entry, value)| (format!("{name}.{entry}"), value.clone())).collect()
    } else {
        vec![(name.to_owned(), value.clone())]
    }
}

/// What a parameter, or one entry of a table, is set to.
fn set_to<'a>(params: &'a Params, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => params.get(name),
        Some((table, entry)) if let Value::Table(entries) = params.get(table)? => {
            entries.get(entry)
        }
        Some(_) => None,
    }
}
