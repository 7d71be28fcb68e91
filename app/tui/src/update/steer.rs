//! Steps, the rest of a run at once, the end of a run, the frozen view, and the device of the next run.

use std::time::Duration;

use mlsys_lab::control::Command;
use mlsys_lab::device::{DeviceChoice, DeviceState};
use mlsys_lab::report::{Report, RunData};
use mlsys_lesson::{Event, Progress};
use mlsys_run::devices;
use mlsys_run::outcome::Outcome;
use mlsys_run::session::Panels;

use crate::message::Effect;
use crate::records::Speed;
use crate::state::Machine;
use crate::state::lab::State;
use crate::state::overlay::Overlay;
use crate::state::page::Page;
use crate::state::wait::{Wait, Waiting};
use crate::state::{ActiveRun, App, PendingRequest, RunMode};
use crate::text_field::{FieldPurpose, TextField};
use crate::update::run::interval;
use crate::view;

/// Most steps that can be asked for at once.
const MOST_STEPS: u64 = 1_000_000_000;

impl App {
    /// Goes on to the next usable device after the current choice.
    pub(super) fn next_device(&mut self) {
        let Some(devices) = &self.hardware.devices else { return };
        let mut choices = vec![DeviceChoice::Auto];
        choices.extend(devices.iter().filter_map(|info| match info.state {
            DeviceState::Usable | DeviceState::Software => Some(DeviceChoice::Exactly(info.id)),
            DeviceState::Unusable(_) => None,
        }));
        let at = choices.iter().position(|&choice| choice == self.hardware.choice);
        let next = at.map_or(0, |at| (at + 1) % choices.len());
        self.hardware.choice = choices.get(next).copied().unwrap_or_default();
        let name =
            devices.iter().find(|info| DeviceChoice::Exactly(info.id) == self.hardware.choice);
        let name = name.map_or_else(String::new, |info| format!(" ({})", info.name));
        self.screen.notice = Some(format!("new runs use device {}{name}", self.hardware.choice));
    }

    /// A number of steps, then a pause; starts the lab if it is not running.
    pub(super) fn step(&mut self, steps: u64) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let current = page.current;
        match &mut self.session.active {
            Some(active) if active.lab == current => {
                active.asked = PendingRequest::Pause;
                if let Some(lab) = page.lab_mut() {
                    lab.run.state = State::Paused;
                }
                vec![
                    Effect::WantPictures(Panels::All),
                    Effect::Order(Command::Step(steps)),
                    Effect::Order(Command::Redraw),
                ]
            }
            Some(_) => Vec::new(),
            None => self.ask_or_start(RunMode::Steps(steps)),
        }
    }

    /// Opens the field for a number of steps; it holds the last one.
    pub(super) fn ask_for_steps(&mut self) {
        let entry = TextField::new(FieldPurpose::Steps, self.recall.steps.to_string());
        self.overlay = Some(Overlay::Steps(entry));
    }

    /// Does as many steps as the field says.
    pub(super) fn do_steps(&mut self) -> Vec<Effect> {
        let Some(Overlay::Steps(entry)) = &mut self.overlay else { return Vec::new() };
        match entry.text().trim().replace(['_', ','], "").parse::<u64>() {
            Ok(steps @ 1..=MOST_STEPS) => {
                self.overlay = None;
                self.recall.steps = steps;
                self.step(steps)
            }
            Ok(_) | Err(_) => {
                entry.complaint = Some("a whole number of steps, at least 1".to_owned());
                Vec::new()
            }
        }
    }

    /// Goes on to the last step as fast as the device can; the next run has its tempo again.
    pub(super) fn run_to_the_end(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let current = page.current;
        match &mut self.session.active {
            Some(active) if active.lab == current => {
                active.how = RunMode::ToTheEnd;
                active.asked = PendingRequest::Nothing;
                if let Some(lab) = page.lab_mut() {
                    lab.run.state = State::Running;
                    if let Some(replay) = &mut lab.run.replay {
                        replay.speed = Speed::ToTheEnd;
                    }
                }
                vec![
                    Effect::Order(Command::Pace(Duration::ZERO)),
                    Effect::Order(Command::Resume),
                    Effect::WantPictures(Panels::All),
                ]
            }
            Some(_) => Vec::new(),
            None => self.ask_or_start(RunMode::ToTheEnd),
        }
    }

    pub(super) fn stop(&mut self) -> Vec<Effect> {
        let unanswered = self.session.waiting.as_ref().is_some_and(Waiting::is_unanswered);
        match &mut self.session.active {
            None => Vec::new(),
            Some(ActiveRun { waiting: true, .. }) => self.abandon(),
            Some(_) if unanswered => {
                self.screen.notice = Some(
                    "the run was left behind: its device may stay busy; d takes another".to_owned(),
                );
                self.abandon()
            }
            Some(active) => {
                active.asked = PendingRequest::Stop;
                vec![Effect::Order(Command::Stop)]
            }
        }
    }

    /// Keeps the pictures as they are while the run goes on, or lets them catch up.
    pub(super) fn freeze(&mut self) -> Vec<Effect> {
        let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) else { return Vec::new() };
        match lab.pictures.frozen.take() {
            Some(_) => vec![Effect::WantPictures(Panels::All), Effect::Order(Command::Redraw)],
            None => {
                lab.pictures.frozen = Some(Box::new(lab.run.data.clone()));
                Vec::new()
            }
        }
    }

    /// The run has stopped at its next step and waits for orders.
    pub(super) fn settled(&mut self, run: u64) {
        let active = self.session.active.as_mut().filter(|active| active.run == run);
        if let Some(active) = active.filter(|active| active.asked == PendingRequest::Pause) {
            active.asked = PendingRequest::Nothing;
        }
    }

    pub(super) fn change_tempo(&mut self) -> Vec<Effect> {
        if let Some(effects) = self.change_speed() {
            return effects;
        }
        self.session.tempo = self.session.tempo.other();
        self.screen.notice = Some(self.session.tempo.sentence().to_owned());
        let Some(active) = &mut self.session.active else { return Vec::new() };
        if active.how == RunMode::ToTheEnd {
            active.how = RunMode::Run;
        }
        let labs = self.page.as_ref().map(|page| &page.labs);
        let lab = labs.and_then(|labs| labs.get(active.lab));
        lab.map(|lab| Effect::Order(Command::Pace(interval(self.session.tempo, lab))))
            .into_iter()
            .collect()
    }

    /// Notes what is being waited for, and begins to count anew when it is something else.
    pub(super) fn note_wait(&mut self) {
        let what = self.awaited();
        if self.session.waiting.as_ref().map(|waiting| &waiting.what) != what.as_ref() {
            self.session.waiting = what.map(|what| Waiting { what, seconds: 0 });
        }
    }

    fn awaited(&self) -> Option<Wait> {
        let active = self.session.active?;
        let lab = self.page.as_ref()?.labs.get(active.lab)?;
        if active.waiting {
            return Some(Wait::Devices);
        }
        match active.asked {
            PendingRequest::Stop => Some(Wait::Stop),
            // It waits for us, be it in what comes before its first step.
            PendingRequest::Nothing if lab.run.state == State::Paused => None,
            PendingRequest::Pause | PendingRequest::Nothing if !lab.run.data.status.is_empty() => {
                Some(Wait::Preparing(lab.run.data.status.clone()))
            }
            PendingRequest::Pause => Some(Wait::Pause),
            PendingRequest::Nothing => None,
        }
    }
}

/// Time between two pictures of a run: a picture costs it about a millisecond, and the eye asks for no more.
const PICTURE_PERIOD: Duration = Duration::from_millis(125);

impl App {
    pub(super) fn reports(
        &mut self,
        run: u64,
        reports: Vec<Report>,
        since: Duration,
    ) -> Vec<Effect> {
        let Some(active) = self.session.active.filter(|active| active.run == run) else {
            return Vec::new();
        };
        let Some(lab) = self.page.as_mut().and_then(|page| page.labs.get_mut(active.lab)) else {
            return Vec::new();
        };
        lab.run.elapsed = since;
        lab.receive(reports);
        let due = since.saturating_sub(lab.run.pictured) >= PICTURE_PERIOD;
        if !due || lab.pictures.frozen.is_some() || lab.run.state != State::Running {
            return Vec::new();
        }
        // A run of a lab that is not shown has nothing to draw.
        let shown = match &self.page {
            Some(page) if page.current == active.lab => view::lab::shown(self, page),
            Some(_) | None => Vec::new(),
        };
        let lab = self.page.as_mut().and_then(|page| page.labs.get_mut(active.lab));
        let Some(lab) = lab else { return Vec::new() };
        let wanted: Vec<&'static str> = lab.pictures_of_the_lab(&shown).collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        lab.run.pictured = since;
        vec![Effect::WantPictures(Panels::These(wanted))]
    }

    /// The run is over: its last state, what it says to predictions and checks.
    pub(super) fn ended(&mut self, run: u64, outcome: Outcome, after: Duration) -> Vec<Effect> {
        let Some(active) = self.session.active.filter(|active| active.run == run) else {
            return Vec::new();
        };
        self.session.active = None;
        let usable = self.hardware.devices.clone().unwrap_or_default();
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let Some(open) = page.labs.get_mut(active.lab) else { return Vec::new() };
        open.run.elapsed = after;
        open.run.data.status.clear();
        open.run.state = match outcome {
            Outcome::Finished => match &open.run.data.diverged {
                Some((_, reason)) => State::Diverged(reason.clone()),
                None => State::Finished,
            },
            Outcome::Stopped(_) => State::Stopped,
            Outcome::Failed(error) => State::Failed(error.to_string()),
            Outcome::Panicked(message) => State::Failed(format!(
                "the run broke off on its device ({message}); d takes another device, space runs again"
            )),
        };
        if matches!(open.run.state, State::Failed(_)) && std::mem::take(&mut open.run.superseded) {
            // What stood there answers another question.
            open.run.data = RunData::default();
            open.debugger = None;
        }
        let complete = matches!(open.run.state, State::Finished | State::Diverged(_));
        let (explored, replayed) = (open.run.explored, open.run.replay.is_some());
        if complete && !replayed {
            // The knobs may have been turned since.
            let params = open.run.begun_params.as_ref();
            let measured = params
                .and_then(|params| peaks::measured_by(&open.schema.kind, params, &open.run.data));
            let device = usable.iter().find(|info| Some(info.id) == open.run.device);
            if let (Some(peak), Some(device)) = (measured, device) {
                self.hardware.peaks.insert(device.name.clone(), peak);
            }
        }
        if complete {
            self.keep_attempt(active.lab);
        }
        // What was recorded before proves nothing of this learner: it earns nothing and is held against nothing.
        if !complete || explored || replayed {
            return Vec::new();
        }
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let Some(open) = page.labs.get_mut(active.lab) else { return Vec::new() };
        open.others.reference = Some(open.run.data.clone());
        let lesson = page.lesson.front.id.clone();
        let mut effects = vec![Effect::Save(Event::RunFinished {
            lesson: lesson.clone(),
            lab: open.id.clone(),
            record: None,
        })];
        let held: Vec<String> = page.passed_checks().map(str::to_owned).collect();
        let machine = Machine { devices: &usable, peaks: &self.hardware.peaks };
        page.judge(machine);
        let newly = page.passed_checks().filter(|check| !held.iter().any(|h| h == check));
        effects.extend(newly.map(|check| {
            Effect::Save(Event::CheckPassed { lesson: lesson.clone(), check: check.to_owned() })
        }));
        effects.extend(told_first(page, machine, &self.course.progress));
        if page.marked_block().is_some_and(|block| block.as_predict().is_some()) {
            // The comparison has just grown below the prediction.
            self.keep_marked_in_view();
        }
        self.note_progress(&effects);
        effects.extend(self.completed());
        effects
    }
}

fn told_first(page: &Page, machine: Machine<'_>, progress: &Progress) -> Vec<Effect> {
    let lesson = page.lesson.front.id.clone();
    let known = progress.lesson(&lesson);
    let mut effects = Vec::new();
    for (prediction, actual) in page.truths(machine) {
        if known.and_then(|known| known.outcomes.get(&prediction)) != Some(&actual) {
            effects.push(Effect::Save(Event::PredictionCompared {
                lesson: lesson.clone(),
                prediction,
                actual,
            }));
        }
    }
    for check in page.skipped_checks() {
        if !known.is_some_and(|known| known.skipped.contains(check) || known.checks.contains(check))
        {
            effects.push(Effect::Save(Event::CheckSkipped {
                lesson: lesson.clone(),
                check: check.to_owned(),
            }));
        }
    }
    effects
}
