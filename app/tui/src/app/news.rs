//! What comes back from a run.

use std::time::Duration;

use mlsys_lab::report::{Report, RunData};
use mlsys_lesson::{Event, Progress};

use super::App;
use crate::judge::Machine;
use crate::message::Effect;
use crate::page::Page;
use crate::slot::State;
use crate::view;
use mlsys_run::peaks;
use mlsys_run::session::{Outcome, Panels};

/// Time between two pictures of a run: a picture costs it about a millisecond, and the eye asks for no more.
const PICTURE_PERIOD: Duration = Duration::from_millis(125);

impl App {
    /// Takes in what the run says.
    pub(super) fn reports(
        &mut self,
        run: u64,
        reports: Vec<Report>,
        since: Duration,
    ) -> Vec<Effect> {
        let Some(active) = self.active.filter(|active| active.run == run) else {
            return Vec::new();
        };
        let Some(slot) = self.page.as_mut().and_then(|page| page.slots.get_mut(active.slot)) else {
            return Vec::new();
        };
        slot.elapsed = since;
        slot.receive(reports);
        let due = since.saturating_sub(slot.pictured) >= PICTURE_PERIOD;
        if !due || slot.frozen.is_some() || slot.state != State::Running {
            return Vec::new();
        }
        // A run of a lab that is not shown has nothing to draw.
        let shown = match &self.page {
            Some(page) if page.current == active.slot => view::lab::shown(self, page),
            Some(_) | None => Vec::new(),
        };
        let slot = self.page.as_mut().and_then(|page| page.slots.get_mut(active.slot));
        let Some(slot) = slot else {
            return Vec::new();
        };
        let wanted: Vec<&'static str> = slot.pictures_of_the_lab(&shown).collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        slot.pictured = since;
        vec![Effect::WantPictures(Panels::These(wanted))]
    }

    /// The run is over: its last state, what it says to predictions and checks.
    pub(super) fn ended(&mut self, run: u64, outcome: Outcome, after: Duration) -> Vec<Effect> {
        let Some(active) = self.active.filter(|active| active.run == run) else {
            return Vec::new();
        };
        self.active = None;
        let usable = self.devices.clone().unwrap_or_default();
        let Some(page) = self.page.as_mut() else {
            return Vec::new();
        };
        let Some(slot) = page.slots.get_mut(active.slot) else {
            return Vec::new();
        };
        slot.elapsed = after;
        slot.data.status.clear();
        slot.state = match outcome {
            Outcome::Finished => match &slot.data.diverged {
                Some((_, reason)) => State::Diverged(reason.clone()),
                None => State::Finished,
            },
            Outcome::Stopped(_) => State::Stopped,
            Outcome::Failed(error) => State::Failed(error.to_string()),
            Outcome::Panicked(message) => State::Failed(format!(
                "the run broke off on its device ({message}); d takes another device, space runs again"
            )),
        };
        if matches!(slot.state, State::Failed(_)) && std::mem::take(&mut slot.superseded) {
            // What stood there answers another question.
            slot.data = RunData::default();
            slot.walk = None;
        }
        let complete = matches!(slot.state, State::Finished | State::Diverged(_));
        let (explored, replayed) = (slot.explored, slot.replay.is_some());
        if complete && !replayed {
            // The knobs may have been turned since.
            let params = slot.begun_params.as_ref();
            let measured =
                params.and_then(|params| peaks::measured_by(&slot.schema.kind, params, &slot.data));
            let device = usable.iter().find(|info| Some(info.id) == slot.device);
            if let (Some(peak), Some(device)) = (measured, device) {
                self.peaks.insert(device.name.clone(), peak);
            }
        }
        if complete {
            self.keep_attempt(active.slot);
        }
        // What was recorded before proves nothing of this learner: it earns nothing and is held against nothing.
        if !complete || explored || replayed {
            return Vec::new();
        }
        let Some(page) = self.page.as_mut() else {
            return Vec::new();
        };
        let Some(slot) = page.slots.get_mut(active.slot) else {
            return Vec::new();
        };
        slot.reference = Some(slot.data.clone());
        let lesson = page.lesson.front.id.clone();
        let mut effects = vec![Effect::Save(Event::RunFinished {
            lesson: lesson.clone(),
            lab: slot.id.clone(),
            record: None,
        })];
        let held: Vec<String> = page.passed_checks().map(str::to_owned).collect();
        let machine = Machine { devices: &usable, peaks: &self.peaks };
        page.judge(machine);
        let newly = page.passed_checks().filter(|check| !held.iter().any(|h| h == check));
        effects.extend(newly.map(|check| {
            Effect::Save(Event::CheckPassed { lesson: lesson.clone(), check: check.to_owned() })
        }));
        effects.extend(told_first(page, machine, &self.progress));
        if page.marked_block().is_some_and(|block| block.as_predict().is_some()) {
            // The comparison has just grown below the prediction.
            self.keep_marked_in_view();
        }
        self.note_progress(&effects);
        effects.extend(self.completed());
        effects
    }
}

/// What predictions came to and which checks cannot be told here, as far as the progress does not know it yet.
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
