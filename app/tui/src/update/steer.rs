//! Steering and ending runs: typed steps, the frozen view, tempo, waits, and the device of the next run.

use std::time::Duration;

use mlsys_lab::control::Command;
use mlsys_lab::device::{DeviceChoice, DeviceState};
use mlsys_lab::report::{Report, RunData};
use mlsys_lesson::{Event, Progress, Told};
use mlsys_run::devices;
use mlsys_run::outcome::Outcome;
use mlsys_run::session::Panels;

use crate::list::{FieldPurpose, TextField};
use crate::message::Effect;
use crate::state::{
    ActiveRun, App, FieldOf, Machine, Overlay, Page, PendingRequest, RunMode, RunStatus, Wait,
    Waiting,
};
use crate::update::run::interval;
use crate::view;

const MOST_STEPS: u64 = 1_000_000_000;

/// Time between two pictures of a run: a picture costs it about a millisecond, and the eye asks for no more.
const PICTURE_PERIOD: Duration = Duration::from_millis(125);

impl App {
    pub(super) fn next_device(&mut self) {
        let Some(devices) = &self.hardware.devices else { return };
        let mut choices = vec![DeviceChoice::Auto];
        choices.extend(devices.iter().filter_map(|info| match info.state {
            DeviceState::Usable | DeviceState::Software => Some(DeviceChoice::Exactly(info.id)),
            DeviceState::Unusable(_) => None,
        }));
        let at = choices.iter().position(|&choice| choice == self.hardware.choice);
        let choice = choices[at.map_or(0, |at| (at + 1) % choices.len())];
        let device = devices.iter().find(|info| DeviceChoice::Exactly(info.id) == choice);
        let name = device.map_or_else(String::new, |info| format!(" ({})", info.name));
        self.hardware.choice = choice;
        self.notify(format!("new runs use device {choice}{name}"));
    }

    pub(super) fn ask_for_steps(&mut self) {
        let entry = TextField::to_replace(FieldPurpose::Overlay, self.recall.steps.to_string());
        self.overlay = Some(Overlay::Field(FieldOf::Steps, entry));
    }

    pub(super) fn do_steps(&mut self) {
        let Some(Overlay::Field(FieldOf::Steps, entry)) = &mut self.overlay else { return };
        match entry.text().trim().replace(['_', ','], "").parse::<u64>() {
            Ok(steps @ 1..=MOST_STEPS) => {
                self.overlay = None;
                self.recall.steps = steps;
                self.step(steps);
            }
            Ok(_) | Err(_) => {
                entry.complaint = Some("a whole number of steps, at least 1".to_owned());
            }
        }
    }

    /// Ends the run; one that was asked long ago and does not answer is left behind.
    pub(super) fn stop(&mut self) {
        let unanswered = self.session.waiting.as_ref().is_some_and(Waiting::is_unanswered);
        match &mut self.session.active {
            None => {}
            Some(ActiveRun { waiting: true, .. }) => self.abandon(),
            Some(_) if unanswered => {
                self.notify("the run was left behind: its device may stay busy; d takes another");
                self.abandon();
            }
            Some(active) => {
                active.asked = PendingRequest::Stop;
                self.effects.push(Effect::Order(Command::Stop));
            }
        }
    }

    pub(super) fn freeze(&mut self) {
        let Some(lab) = self.lab_mut() else { return };
        match lab.pictures.frozen.take() {
            Some(_) => self.want_pictures(),
            None => lab.pictures.frozen = Some(Box::new(lab.run.data.clone())),
        }
    }

    pub(super) fn settled(&mut self, run: u64) {
        let active = self.session.active.as_mut().filter(|active| active.run == run);
        if let Some(active) = active.filter(|active| active.asked == PendingRequest::Pause) {
            active.asked = PendingRequest::Nothing;
        }
    }

    /// Full speed, or a pace that can be watched; a run that is going on changes with it.
    pub(super) fn change_tempo(&mut self) {
        if self.change_speed() {
            return;
        }
        self.session.tempo = self.session.tempo.other();
        self.screen.notice = Some(self.session.tempo.sentence().to_owned());
        if let Some(active) = &mut self.session.active
            && active.how == RunMode::ToTheEnd
        {
            active.how = RunMode::Run;
        }
        if let Some(lab) = self.active_lab() {
            let pace = Command::Pace(interval(self.session.tempo, lab));
            self.effects.push(Effect::Order(pace));
        }
    }

    /// Notes what is being waited for, and begins to count anew when it is something else.
    pub(super) fn note_wait(&mut self) {
        let what = self.awaited();
        if self.session.waiting.as_ref().map(|waiting| &waiting.what) != what.as_ref() {
            self.session.waiting = what.map(|what| Waiting { what, seconds: 0 });
        }
    }

    fn awaited(&self) -> Option<Wait> {
        let (active, lab) = (self.session.active?, self.active_lab()?);
        if active.waiting {
            return Some(Wait::Devices);
        }
        match active.asked {
            PendingRequest::Stop => Some(Wait::Stop),
            // It waits for us, be it in what comes before its first step.
            PendingRequest::Nothing if lab.run.state == RunStatus::Paused => None,
            PendingRequest::Pause | PendingRequest::Nothing if !lab.run.data.status.is_empty() => {
                Some(Wait::Preparing(lab.run.data.status.clone()))
            }
            PendingRequest::Pause => Some(Wait::Pause),
            PendingRequest::Nothing => None,
        }
    }

    pub(super) fn reports(&mut self, run: u64, reports: Vec<Report>, since: Duration) {
        let active = self.session.active.filter(|active| active.run == run);
        let Some((active, page)) = active.zip(self.page.as_mut()) else { return };
        let Some(lab) = page.labs.get_mut(active.lab) else { return };
        lab.run.elapsed = since;
        lab.receive(reports);
        let due = since.saturating_sub(lab.run.pictured) >= PICTURE_PERIOD;
        if !due || lab.pictures.frozen.is_some() || lab.run.state != RunStatus::Running {
            return;
        }
        // A run of a lab that is not shown has nothing to draw.
        let Some(page) =
            self.page.as_ref().filter(|page| page.current == active.lab && page.fault.is_none())
        else {
            return;
        };
        let shown = view::lab::shown(self, page);
        let Some(lab) = self.lab_mut() else { return };
        let wanted: Vec<&'static str> = lab.pictures_of_the_lab(&shown).collect();
        if !wanted.is_empty() {
            lab.run.pictured = since;
            self.effects.push(Effect::WantPictures(Panels::These(wanted)));
        }
    }

    pub(super) fn ended(&mut self, run: u64, outcome: Outcome, after: Duration) {
        let active = self.session.active.filter(|active| active.run == run);
        let Some((active, page)) = active.zip(self.page.as_mut()) else { return };
        self.effects.extend(self.session.end_active());
        let Some(lab) = page.labs.get_mut(active.lab) else { return };
        lab.run.elapsed = after;
        lab.run.data.status.clear();
        lab.run.state = match outcome {
            Outcome::Finished => RunStatus::Finished,
            Outcome::Diverged(_, reason) => RunStatus::Diverged(reason),
            Outcome::Stopped(_) => RunStatus::Stopped,
            Outcome::Failed(error) => RunStatus::Failed(error.to_string()),
            Outcome::Panicked(message) => RunStatus::Failed(format!(
                "the run broke off on its device ({message}); d takes another device, space runs again"
            )),
        };
        if matches!(lab.run.state, RunStatus::Failed(_)) && std::mem::take(&mut lab.run.superseded)
        {
            // What stood there answers another question.
            lab.run.data = RunData::default();
            lab.run.data.status = "no picture of these values: why stands below".to_owned();
            lab.debugger = None;
        }
        if !matches!(lab.run.state, RunStatus::Finished | RunStatus::Diverged(_)) {
            return;
        }
        // What was recorded before proves nothing of this learner: it earns nothing and is held against nothing.
        let counts = !lab.run.explored && lab.run.replay.is_none();
        if lab.run.replay.is_none() {
            // The knobs may have been turned since.
            let params = lab.run.begun_params.as_ref();
            let measured = params.and_then(|params| {
                devices::peak_measured_by(&lab.schema.kind, params, &lab.run.data)
            });
            let mut devices = self.hardware.devices.iter().flatten();
            let device = devices.find(|info| Some(info.id) == lab.run.device);
            if let (Some(peak), Some(device)) = (measured, device) {
                self.hardware.peaks.insert(device.name.clone(), peak);
            }
        }
        if counts {
            lab.others.reference = Some(lab.run.data.clone());
        }
        self.keep_attempt(active.lab);
        if counts {
            self.judge_run(active.lab);
        }
        self.judge_tries(active.lab);
    }

    /// Tries compared with the lab's last run, if that had the knobs turned as they say.
    pub(super) fn judge_tries(&mut self, place: usize) {
        let Some(page) = self.page.as_mut() else { return };
        let mut events = page.take_tries(place);
        if page.tried.is_empty() {
            return;
        }
        let machine = self.hardware.machine();
        page.judge(machine);
        events.extend(told_first(page, machine, &self.course.progress));
        if page.is_at_prediction() {
            self.keep_marked_in_view();
        }
        for event in events {
            self.save(event);
        }
        self.tell_revealed();
        self.note_completion();
    }

    /// Predictions compared and checks decided on a run with the lesson's own values, which has just ended.
    fn judge_run(&mut self, place: usize) {
        let Some(page) = self.page.as_mut() else { return };
        let Some(lab) = page.labs.get(place) else { return };
        let lesson = page.lesson.front.id.clone();
        let mut events =
            vec![Event::RunFinished { lesson: lesson.clone(), lab: lab.id.clone(), record: None }];
        let held: Vec<String> = page.passed_checks().map(str::to_owned).collect();
        let machine = self.hardware.machine();
        page.judge(machine);
        let newly = page.passed_checks().filter(|check| !held.iter().any(|h| h == check));
        let passed =
            |check: &str| Event::CheckPassed { lesson: lesson.clone(), check: check.into() };
        events.extend(newly.map(passed));
        events.extend(told_first(page, machine, &self.course.progress));
        if page.is_at_prediction() {
            // The comparison has just grown below the prediction.
            self.keep_marked_in_view();
        }
        for event in events {
            self.save(event);
        }
        self.tell_revealed();
        self.note_completion();
    }
}

/// What predictions came to and which checks cannot be told here, as far as the progress does not know it yet.
fn told_first(page: &Page, machine: Machine<'_>, progress: &Progress) -> Vec<Event> {
    let lesson = page.lesson.front.id.clone();
    let known = progress.lesson(&lesson);
    let mut events = Vec::new();
    for (prediction, actual) in page.truths(machine) {
        if known.and_then(|known| known.outcomes.get(&prediction)) != Some(&actual) {
            let made = page.predictions.get(&prediction);
            let told = made.and_then(|made| {
                let (comparison, outcome) = (made.comparison.clone()?, made.outcome.clone());
                Some(Told { comparison, outcome })
            });
            let lesson = lesson.clone();
            events.push(Event::PredictionCompared { lesson, prediction, actual, told });
        }
    }
    for check in page.skipped_checks() {
        if !known.is_some_and(|known| known.skipped.contains(check) || known.checks.contains(check))
        {
            let check = check.to_owned();
            events.push(Event::CheckSkipped { lesson: lesson.clone(), check });
        }
    }
    events
}
