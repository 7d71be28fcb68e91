//! Starting, pausing and stepping runs.

use std::time::Duration;

use mlsys_lab::control::{Command, Limits};
use mlsys_lab::device::{DeviceChoice, DeviceId, choose};
use mlsys_lesson::LabDirective;
use mlsys_run::session::Panels;
use mlsys_run::sources::{Earlier, Sources};

use crate::message::{Effect, Start};
use crate::records::{Purpose, Speed};
use crate::state::{
    ActiveRun, App, LabState, PendingRequest, RunMode, RunStatus, SessionState, Side, Tempo,
};
use crate::view::TWO_SIDES;

const REDRAW: Effect = Effect::Order(Command::Redraw);

impl SessionState {
    /// Forgets the active run, which has ended: a run that was set aside for it takes its place again.
    #[must_use]
    pub(super) fn end_active(&mut self) -> Option<Effect> {
        self.active = self.aside.take();
        self.active.map(|_| Effect::TakeUp)
    }
}

impl App {
    /// Steers the active run if it is that of the shown lab; without a run starts one.
    fn steer(
        &mut self,
        start: RunMode,
        act: impl FnOnce(&mut ActiveRun, &mut LabState) -> [Effect; 3],
    ) {
        if self.may_set_aside() {
            return self.ask_or_start(start);
        }
        let Some(page) = self.page.as_mut() else { return };
        let Some(active) = &mut self.session.active else { return self.ask_or_start(start) };
        let current = page.current;
        let Some(lab) = page.lab_mut().filter(|_| active.lab == current) else { return };
        self.effects.extend(act(active, lab));
    }

    /// Space: starts the shown lab, pauses it, or goes on.
    pub(super) fn run_or_pause(&mut self) {
        self.steer(RunMode::Run, |active, lab| {
            let is_paused = lab.run.state == RunStatus::Paused;
            let (state, asked, command) = if is_paused {
                (RunStatus::Running, PendingRequest::Nothing, Command::Resume)
            } else {
                (RunStatus::Paused, PendingRequest::Pause, Command::Pause)
            };
            (lab.run.state, active.asked) = (state, asked);
            lab.run.rate.pause();
            [Effect::Order(command), Effect::WantPictures(Panels::All), REDRAW]
        });
    }

    pub(super) fn step(&mut self, steps: u64) {
        self.steer(RunMode::Steps(steps), |active, lab| {
            (lab.run.state, active.asked) = (RunStatus::Paused, PendingRequest::Pause);
            lab.run.rate.pause();
            [Effect::WantPictures(Panels::All), Effect::Order(Command::Step(steps)), REDRAW]
        });
    }

    /// Goes on to the last step as fast as the device can; the next run has its tempo again.
    pub(super) fn run_to_the_end(&mut self) {
        self.steer(RunMode::ToTheEnd, |active, lab| {
            active.how = RunMode::ToTheEnd;
            (lab.run.state, active.asked) = (RunStatus::Running, PendingRequest::Nothing);
            if let Some(replay) = &mut lab.run.replay {
                replay.speed = Speed::ToTheEnd;
            }
            let unpaced = Effect::Order(Command::Pace(Duration::ZERO));
            [unpaced, Effect::Order(Command::Resume), Effect::WantPictures(Panels::All)]
        });
    }

    /// Asks the run for all its pictures, as they stand now.
    pub(super) fn want_pictures(&mut self) {
        self.effects.extend([Effect::WantPictures(Panels::All), REDRAW]);
    }

    /// The labs of the page that one may start from, with the lesson's own values: the learner's knobs are for trying out,
    /// and what a later lab shows must not hang on them unseen.
    pub(crate) fn sources_of(&self, id: &str) -> Sources {
        let labs = self.page.iter().flat_map(|page| &page.labs);
        let (mut earlier, mut others) = (Vec::new(), Vec::new());
        let mut is_earlier = true;
        for open in labs {
            is_earlier &= open.id != id;
            match (self.registry.find(&open.schema.kind), open.lesson_params()) {
                (Ok(lab), Ok(params)) if is_earlier => {
                    earlier.push(Earlier { id: open.id.clone(), lab, params });
                }
                _ => others.push(open.id.clone()),
            }
        }
        Sources { earlier, others, ..Sources::new(self.registry) }
    }

    pub(super) fn reset(&mut self) {
        let shown = self.page.as_ref().map(|page| page.current);
        if self.session.active.map(|active| active.lab) == shown {
            self.abandon();
        }
        if let Some(lab) = self.lab_mut() {
            lab.begin();
            lab.run.state = RunStatus::Ready;
            lab.run.explored = false;
            lab.reset_knobs();
            lab.own_kernel = None;
        }
        self.start_instant();
    }

    /// Ends the active run; one that was set aside for it goes on.
    pub(super) fn abandon(&mut self) {
        let Some(active) = self.session.active else { return };
        if let Some(lab) = self.page.as_mut().and_then(|page| page.labs.get_mut(active.lab)) {
            lab.run.state = RunStatus::Stopped;
            lab.run.data.status.clear();
        }
        self.effects.push(Effect::Abandon);
        self.effects.extend(self.session.end_active());
    }

    pub(super) fn abandon_all(&mut self) {
        self.abandon();
        self.abandon();
    }

    /// Whether the shown lab answers at once and the run of another one can be set aside for it: a run that goes on is
    /// not, where both would share a device.
    pub fn may_set_aside(&self) -> bool {
        let (Some(active), Some(page)) = (self.session.active, &self.page) else { return false };
        let (Some(shown), Some(other)) = (page.lab(), page.labs.get(active.lab)) else {
            return false;
        };
        let uses_device = || shown.params().is_ok_and(|params| shown.schema.uses_device(&params));
        active.lab != page.current
            && !active.waiting
            && self.session.aside.is_none()
            && other.schema.is_live()
            && !shown.schema.is_live()
            && (other.run.state == RunStatus::Paused || !uses_device())
    }

    /// Runs the shown lab if it answers at once and has not run yet.
    pub(super) fn start_instant(&mut self) {
        if self.is_instant_due() {
            self.start(RunMode::Run);
        }
    }

    /// Whether the shown lab answers at once, has not been run, and waits for no guess.
    fn is_instant_due(&self) -> bool {
        let lab = self.page.as_ref().and_then(|page| Some((page, page.lab()?)));
        let is_due = lab.is_some_and(|(page, lab)| {
            let is_new = !lab.schema.is_live() && lab.run.state == RunStatus::Ready;
            is_new && page.unmade_prediction(&lab.id).is_none()
        });
        is_due && (self.session.active.is_none() || self.may_set_aside())
    }

    /// Whether such a run answers guesses.
    pub(super) fn is_answer_due(&self) -> bool {
        let lab = self.page.as_ref().and_then(|page| Some((page, page.lab()?)));
        self.is_instant_due()
            && lab.is_some_and(|(page, lab)| page.predictions_of(&lab.id).next().is_some())
    }

    pub(super) fn ask_or_start(&mut self, how: RunMode) {
        let Some(page) = self.page.as_mut() else { return };
        let current = page.current;
        let Some(lab) = page.labs.get(current) else { return };
        if page.reminded != Some(current)
            && let Some(block) = page.unmade_prediction(&lab.id)
        {
            page.reminded = Some(current);
            page.marked = Some(block);
            page.turn_to(Side::Text);
            self.notify("predict first: enter types your guess; space again runs without one");
            return self.keep_marked_in_view();
        }
        // The picture is what the run was asked for, unless its guess is answered in the text.
        let is_guessed = page
            .predictions_of(&lab.id)
            .any(|one| page.predictions.get(&one.id).is_some_and(|made| made.comparison.is_none()));
        if self.screen.size.0 < TWO_SIDES && page.side == Side::Text && !is_guessed {
            page.turn_to(Side::Lab);
        }
        self.start(how);
    }

    pub(super) fn start(&mut self, how: RunMode) {
        let Some(page) = self.page.as_mut() else { return };
        let place = page.current;
        let Some(lab) = page.labs.get_mut(place) else { return };
        if self.session.active.is_some_and(|active| active.lab != place) {
            self.session.aside = self.session.active.take();
            self.effects.push(Effect::SetAside);
        }
        self.session.runs += 1;
        lab.begin();
        let (id, live) = (lab.id.clone(), lab.schema.is_live());
        if self.screen.size.0 < TWO_SIDES && live && page.side == Side::Text {
            page.turn_to(Side::Lab);
        }
        for event in page.lock_predictions(&id) {
            self.save(event);
        }
        self.share_attempts();
        self.session.active = Some(ActiveRun {
            run: self.session.runs,
            lab: place,
            waiting: true,
            how,
            asked: match how {
                RunMode::Steps(_) => PendingRequest::Pause,
                RunMode::Run | RunMode::ToTheEnd => PendingRequest::Nothing,
            },
        });
        self.start_waiting();
    }

    /// Starts the run that waits for the devices, if they are known or it needs none.
    pub(super) fn start_waiting(&mut self) {
        let Some(active) = self.session.active.filter(|active| active.waiting) else { return };
        let recording = self.recording_for(active.lab);
        let Some(page) = self.page.as_mut() else { return };
        let lesson = page.lesson.clone();
        let Some(lab) = page.labs.get_mut(active.lab) else { return };
        let params = lab.params();
        let uses_device = match &params {
            Ok(params) => lab.schema.uses_device(params),
            Err(_) => lab.schema.is_live(),
        };
        let device = if uses_device {
            let Some(devices) = &self.hardware.devices else { return };
            let backends = lesson.lab(&lab.id).map_or_else(Vec::new, LabDirective::backends);
            choose(self.hardware.choice, devices, &backends)
        } else {
            Ok(DeviceId::CPU)
        };
        let may_replay = device.is_err() && self.hardware.choice == DeviceChoice::Auto;
        if let Some(recording) = recording.filter(|_| may_replay) {
            lab.run.state = RunStatus::Ready;
            self.effects.extend(self.session.end_active());
            return self.load(recording, Purpose::Replay, active.lab);
        }
        let (device, params) = match (device, params) {
            (Ok(device), Ok(params)) => (device, params),
            (device, params) => {
                let error = device.err().map(|error| error.to_string());
                let errors = params.err().unwrap_or_default();
                let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
                lab.run.state = RunStatus::Failed(error.unwrap_or_else(|| errors.join("; ")));
                self.effects.extend(self.session.end_active());
                return;
            }
        };
        lab.run.device = Some(device);
        lab.run.begun_params = Some(params.clone());
        self.session.active = Some(ActiveRun { waiting: false, ..active });
        self.effects.push(Effect::Start(Box::new(Start {
            run: active.run,
            kind: &lab.schema.kind,
            params,
            device,
            limits: Limits::default(),
            lesson: lesson.front.id.to_string(),
            lab: lab.id.clone(),
        })));
        let mut order = |command| self.effects.push(Effect::Order(command));
        if lab.schema.is_live() {
            order(Command::Pace(match active.how {
                RunMode::ToTheEnd => Duration::ZERO,
                RunMode::Run | RunMode::Steps(_) => interval(self.session.tempo, lab),
            }));
        }
        if let RunMode::Steps(steps) = active.how {
            lab.run.state = RunStatus::Paused;
            order(Command::Pause);
            order(Command::Step(steps));
            order(Command::Redraw);
        }
    }
}

/// Long enough to see a boundary bend and to turn a knob, short enough to be waited for.
pub(super) const WATCHED: Duration = Duration::from_secs(6);

/// The least time from step to step at a tempo.
pub(super) fn interval(tempo: Tempo, lab: &LabState) -> Duration {
    match (tempo, lab.steps()) {
        (Tempo::Watch, Some(steps)) => WATCHED / u32::try_from(steps).unwrap_or(u32::MAX).max(1),
        (Tempo::Watch, None) | (Tempo::Full, _) => Duration::ZERO,
    }
}
