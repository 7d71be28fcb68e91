//! Runs: starting and steering.

use std::time::Duration;

use mlsys_lab::control::{Command, Limits};
use mlsys_lab::device::{DeviceChoice, DeviceId, choose};
use mlsys_lab::params::Params;
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;
use mlsys_lesson::Lesson;
use mlsys_run::session::Panels;
use mlsys_run::sources::{Earlier, Sources};

use crate::message::{Effect, Start};
use crate::records::Purpose;
use crate::state::lab::{LabState, State};
use crate::state::page::Side;
use crate::state::{ActiveRun, App, PendingRequest, RunMode, Tempo};
use crate::view::TWO_SIDES;

impl App {
    /// Space: starts the shown lab, pauses it, or goes on.
    pub(super) fn run_or_pause(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let current = page.current;
        match &mut self.session.active {
            Some(active) if active.lab == current => {
                let Some(lab) = page.lab_mut() else { return Vec::new() };
                let order = match lab.run.state {
                    State::Paused => {
                        lab.run.state = State::Running;
                        active.asked = PendingRequest::Nothing;
                        Command::Resume
                    }
                    State::Ready
                    | State::Running
                    | State::Finished
                    | State::Diverged(_)
                    | State::Stopped
                    | State::Failed(_) => {
                        lab.run.state = State::Paused;
                        active.asked = PendingRequest::Pause;
                        Command::Pause
                    }
                };
                vec![
                    Effect::Order(order),
                    Effect::WantPictures(Panels::All),
                    Effect::Order(Command::Redraw),
                ]
            }
            Some(_) => Vec::new(),
            None => self.ask_or_start(RunMode::Run),
        }
    }

    /// The labs of the page that one may start from, with the lesson's own values: the learner's knobs are for trying out,
    /// and what a later lab shows must not hang on them unseen.
    pub(crate) fn sources_of(&self, id: &str) -> Sources {
        let labs = self.page.iter().flat_map(|page| &page.labs);
        let (mut earlier, mut others) = (Vec::new(), Vec::new());
        let mut is_earlier = true;
        for open in labs {
            is_earlier &= open.id != id;
            let seed = Some(open.seed);
            let params = Params::resolve(open.schema, &open.settings, Tables::builtin(), seed);
            match (self.registry.find(&open.schema.kind), params) {
                (Ok(lab), Ok(params)) if is_earlier => {
                    earlier.push(Earlier { id: open.id.clone(), lab, params })
                }
                _ => others.push(open.id.clone()),
            }
        }
        Sources { earlier, others, ..Sources::default() }
    }

    /// Forgets the run and puts the knobs back.
    pub(super) fn reset(&mut self) -> Vec<Effect> {
        let shown = self.page.as_ref().map(|page| page.current);
        let mut effects = match self.session.active {
            Some(active) if Some(active.lab) == shown => self.abandon(),
            Some(_) | None => Vec::new(),
        };
        if let Some(lab) = self.page.as_mut().and_then(|page| page.lab_mut()) {
            lab.begin();
            lab.run.state = State::Ready;
            lab.run.explored = false;
            lab.reset_knobs();
            lab.own_kernel = None;
        }
        effects.extend(self.start_instant());
        effects
    }

    pub(super) fn abandon(&mut self) -> Vec<Effect> {
        let Some(active) = self.session.active.take() else { return Vec::new() };
        if let Some(lab) = self.page.as_mut().and_then(|page| page.labs.get_mut(active.lab)) {
            lab.run.state = State::Stopped;
            lab.run.data.status.clear();
        }
        vec![Effect::Abandon]
    }

    /// Runs the shown lab if it answers at once and has not run yet.
    pub(crate) fn start_instant(&mut self) -> Vec<Effect> {
        let instant = self.page.as_ref().is_some_and(|page| {
            page.lab().is_some_and(|lab| {
                !lab.schema.is_live()
                    && lab.run.state == State::Ready
                    && page.unmade_prediction(&lab.id).is_none()
            })
        });
        if instant && self.session.active.is_none() { self.start(RunMode::Run) } else { Vec::new() }
    }

    /// Whether a lab cannot run because another does, which is said.
    pub(super) fn is_kept_from_running(&mut self, place: usize) -> bool {
        let another = self.session.active.is_some_and(|active| active.lab != place);
        if another {
            self.screen.notice = Some("another lab is still running: x ends it".to_owned());
        }
        another
    }

    /// Runs a lab with its changed kernel, replacing a run in progress.
    pub(super) fn run_anew(&mut self, place: usize) -> Vec<Effect> {
        let mut effects = self.abandon();
        if let Some(page) = self.page.as_mut() {
            page.current = place;
        }
        effects.extend(self.start(RunMode::Run));
        effects
    }

    pub(super) fn turn_knob(&mut self, notches: i32) -> Vec<Effect> {
        let Some(lab) = self.page.as_mut().and_then(|page| page.lab_mut()) else {
            return Vec::new();
        };
        match lab.turn(notches) {
            Some((name, value)) => self.knob_turned(&name, Some(value)),
            None => Vec::new(),
        }
    }

    /// A knob has a new value: the run hears of it, or the next one will.
    pub(super) fn knob_turned(&mut self, name: &str, value: Option<Value>) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let current = page.current;
        let Some(lab) = page.lab_mut() else { return Vec::new() };
        let live = lab.schema.param(name).is_some_and(|param| param.live);
        let instant = !lab.schema.is_live();
        match self.session.active {
            // The answer under way is of a knob that has moved on.
            Some(active) if active.lab == current && instant => self.start(RunMode::Run),
            None if instant => self.start(RunMode::Run),
            Some(active) if active.lab == current && lab.run.replay.is_some() => {
                self.screen.notice = Some(format!(
                    "a recorded run does not hear knobs: {name} takes effect with the next run"
                ));
                Vec::new()
            }
            // A value that is unset again has no order: the next run is without it.
            Some(active)
                if active.lab == current
                    && live
                    && let Some(value) = value =>
            {
                lab.run.explored = true;
                let name = name.to_owned();
                vec![Effect::Order(Command::Set { name, value }), Effect::WantPictures(Panels::All)]
            }
            Some(active) if active.lab == current => {
                self.screen.notice =
                    Some(format!("{name} changes the network: it takes effect with the next run"));
                Vec::new()
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// Asks for a missing prediction once, then starts.
    pub(super) fn ask_or_start(&mut self, how: RunMode) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let current = page.current;
        let Some(lab) = page.labs.get(current) else { return Vec::new() };
        if page.reminded != Some(current)
            && let Some(block) = page.unmade_prediction(&lab.id)
        {
            page.reminded = Some(current);
            page.marked = Some(block);
            page.turn_to(Side::Text);
            self.screen.notice = Some(
                "predict first: enter types your guess; space again runs without one".to_owned(),
            );
            self.keep_marked_in_view();
            return Vec::new();
        }
        self.start(how)
    }

    /// Starts the shown lab, now or as soon as the devices are known.
    fn start(&mut self, how: RunMode) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let slot_index = page.current;
        let Some(lab) = page.labs.get_mut(slot_index) else { return Vec::new() };
        self.session.runs += 1;
        lab.begin();
        let live = lab.schema.is_live();
        let id = lab.id.clone();
        if self.screen.size.0 < TWO_SIDES && live && page.side == Side::Text {
            page.turn_to(Side::Lab);
        }
        let mut effects: Vec<Effect> =
            page.lock_predictions(&id).into_iter().map(Effect::Save).collect();
        self.share_attempts();
        self.session.active = Some(ActiveRun {
            run: self.session.runs,
            lab: slot_index,
            waiting: true,
            how,
            asked: match how {
                RunMode::Steps(_) => PendingRequest::Pause,
                RunMode::Run | RunMode::ToTheEnd => PendingRequest::Nothing,
            },
        });
        effects.extend(self.start_waiting());
        effects
    }

    /// Starts the run that waits for the devices, if they are known and it needs one.
    pub(super) fn start_waiting(&mut self) -> Vec<Effect> {
        let Some(active) = self.session.active.filter(|active| active.waiting) else {
            return Vec::new();
        };
        let recording = self.recording_for(active.lab);
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let lesson = page.lesson.clone();
        let Some(open) = page.labs.get_mut(active.lab) else { return Vec::new() };
        let params = open.params();
        let uses_device = match &params {
            Ok(params) => open.schema.uses_device(params),
            Err(_) => open.schema.is_live(),
        };
        let device = if !uses_device {
            Ok(DeviceId::CPU)
        } else if let Some(devices) = &self.hardware.devices {
            match (choose(self.hardware.choice, devices, &backends(&lesson, &open.id)), recording) {
                (Ok(device), _) => Ok(device),
                (Err(_), Some(recording)) if self.hardware.choice == DeviceChoice::Auto => {
                    open.run.state = State::Ready;
                    self.session.active = None;
                    return self.fetch(recording, Purpose::Replay, active.lab);
                }
                (Err(missing), _) => Err(missing.to_string()),
            }
        } else {
            return Vec::new();
        };
        let prepared = device.and_then(|device| {
            let params = params.map_err(|errors| {
                errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
            })?;
            Ok((device, params))
        });
        match prepared {
            Ok((device, params)) => {
                open.run.device = Some(device);
                open.run.begun_params = Some(params.clone());
                self.session.active = Some(ActiveRun { waiting: false, ..active });
                let mut effects = vec![Effect::Start(Box::new(Start {
                    run: active.run,
                    kind: &open.schema.kind,
                    params,
                    device,
                    limits: Limits::default(),
                    lesson: lesson.front.id.to_string(),
                    lab: open.id.clone(),
                }))];
                if open.schema.is_live() {
                    let pace = match active.how {
                        RunMode::ToTheEnd => Duration::ZERO,
                        RunMode::Run | RunMode::Steps(_) => interval(self.session.tempo, open),
                    };
                    effects.push(Effect::Order(Command::Pace(pace)));
                }
                if let RunMode::Steps(steps) = active.how {
                    open.run.state = State::Paused;
                    effects.push(Effect::Order(Command::Pause));
                    effects.push(Effect::Order(Command::Step(steps)));
                    effects.push(Effect::Order(Command::Redraw));
                }
                effects
            }
            Err(reason) => {
                open.run.state = State::Failed(reason);
                self.session.active = None;
                Vec::new()
            }
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

/// The back ends a lab of a lesson may run on, in the lesson's order.
fn backends(lesson: &Lesson, lab: &str) -> Vec<mlsys_lab::Backend> {
    lesson.lab(lab).map(mlsys_lesson::LabDirective::backends).unwrap_or_default()
}
