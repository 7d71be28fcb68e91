//! Predictions and tries of the open lesson: which a run reveals, and what was guessed.

use mlsys_lesson::{Event, Predict};

use crate::state::Page;
use crate::state::lab::RunStatus;

impl Page {
    /// The predictions that a run with the lesson's values reveals; a try waits for its own.
    pub fn predictions_of<'a>(&'a self, lab: &'a str) -> impl Iterator<Item = &'a Predict> {
        let all = self.lesson.predictions().filter(|predict| predict.turn.is_none());
        all.filter(move |predict| self.lesson.labs_of(predict).contains(&lab))
    }

    pub fn lock_predictions(&mut self, lab: &str) -> Vec<Event> {
        let ids: Vec<String> = self.predictions_of(lab).map(|predict| predict.id.clone()).collect();
        let mut events = Vec::new();
        for id in ids {
            if let Some(made) = self.predictions.get_mut(&id).filter(|made| !made.locked) {
                made.locked = true;
                events.push(Event::PredictionLocked {
                    lesson: self.lesson.front.id.clone(),
                    prediction: id,
                    given: made.given.clone(),
                });
            }
        }
        events
    }

    /// Takes the last run of a lab for the guessed tries that it had turned the knobs of; each guess then stands.
    pub fn take_tries(&mut self, place: usize) -> Vec<Event> {
        let Some(lab) = self.labs.get(place) else { return Vec::new() };
        let is_over = matches!(lab.run.state, RunStatus::Finished | RunStatus::Diverged(_));
        if !is_over || lab.run.replay.is_some() || lab.own_kernel.is_some() {
            return Vec::new();
        }
        let lesson = self.lesson.clone();
        let mut events = Vec::new();
        for attempt in lesson.predictions() {
            let is_own = attempt.lab.as_ref().is_some_and(|own| own.value == lab.id);
            let Some(turn) = attempt.turn.as_ref().filter(|_| is_own) else { continue };
            let Some(made) = self.predictions.get_mut(&attempt.id) else { continue };
            if !lab.has_run_with(turn) {
                continue;
            }
            self.tried.insert(attempt.id.clone(), lab.run.data.clone());
            if !std::mem::replace(&mut made.locked, true) {
                events.push(Event::PredictionLocked {
                    lesson: lesson.front.id.clone(),
                    prediction: attempt.id.clone(),
                    given: made.given.clone(),
                });
            }
        }
        events
    }

    /// The labs whose runs with the lesson's values a try is held against too, as far as there is none.
    pub fn unrun_labs_of(&self, attempt: &Predict) -> Vec<&str> {
        let names = attempt.target.formula().map_or_else(Vec::new, |formula| formula.expr.names());
        let is_named = |id: &str| names.iter().any(|(name, _)| name.parts().next() == Some(id));
        let unrun = self.labs.iter().filter(|lab| lab.others.reference.is_none());
        unrun.map(|lab| lab.id.as_str()).filter(|id| is_named(id)).collect()
    }

    /// What the marked try still waits for, if its guess is made: `hot: learning_rate = 1`, and which other knobs have to
    /// go back for it.
    pub fn pending_turn(&self) -> Option<String> {
        let attempt = self.marked_block()?.as_predict()?;
        let is_guessed = self.predictions.get(&attempt.id).is_some_and(|made| !made.locked);
        let turn = attempt.turned_text().filter(|_| is_guessed)?;
        let lab = self
            .labs
            .iter()
            .find(|lab| attempt.lab.as_ref().is_some_and(|own| own.value == lab.id));
        let others = lab
            .into_iter()
            .flat_map(|lab| lab.turned_besides(attempt.turn.as_deref().unwrap_or_default()));
        let back: Vec<_> = others.map(|(name, value)| format!("{name} back at {value}")).collect();
        Some(if back.is_empty() { turn } else { format!("{turn}, and {}", back.join(", ")) })
    }

    /// The first prediction of a lab that has not been made, as an index into the blocks.
    pub fn unmade_prediction(&self, lab: &str) -> Option<usize> {
        let is_unmade = |predict: &&Predict| !self.predictions.contains_key(&predict.id);
        let unmade = self.predictions_of(lab).find(is_unmade)?;
        self.lesson.blocks.iter().position(|block| block.as_predict() == Some(unmade))
    }
}
