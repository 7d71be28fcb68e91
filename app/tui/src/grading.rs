//! The open lesson judged: answers graded, predictions compared, checks decided, all by the lesson crate.

use mlsys_lab::Registry;
use mlsys_lab::device::DeviceId;
use mlsys_lesson::{
    Answer, Asked, Block, CheckOutcome, DeviceFacts, Event, Grade, KnownNames, LessonEnv, Predict,
    Progress, Question, Verdict,
};

use crate::answer::{self, AnswerError};
use crate::editor::{KernelTests, TestsJob, TestsReport, TestsState};
use crate::state::{Answered, CheckState, Machine, Page, Prediction, Seen};

fn answered(given: Answer, grade: Grade) -> Result<Answered, AnswerError> {
    let feedback = grade.feedback.unwrap_or_default();
    match grade.verdict {
        Verdict::Right => Ok(Answered { given, right: true, feedback, earned: None }),
        Verdict::Wrong | Verdict::Recorded => {
            Ok(Answered { given, right: false, feedback, earned: None })
        }
        Verdict::Malformed => Err(AnswerError::Malformed(feedback)),
    }
}

impl Page {
    /// Takes what was typed for a block; an error is a complaint for the field, and nothing has changed.
    ///
    /// A prediction that waits for a run may still change until that starts.
    pub fn submit(
        &mut self,
        block: usize,
        text: &str,
        registry: &Registry,
    ) -> Result<Event, AnswerError> {
        let lesson = self.lesson.clone();
        let id = lesson.front.id.clone();
        match lesson.blocks.get(block) {
            Some(Block::Predict(predict)) => {
                let given = answer::read_prediction(text, predict)?;
                predict.accepts(&given)?;
                // Its run reveals it, and space starts that one.
                let labs = lesson.labs_of(predict);
                labs.iter().take(1).for_each(|lab| self.show_lab(lab));
                let facts = DeviceFacts::default();
                let known = predict.compare(&given, &self.env(&facts)).ok();
                let known = known.filter(|_| labs.is_empty());
                let (prediction, made) = (predict.id.clone(), given.clone());
                let event = match &known {
                    None => Event::PredictionMade { lesson: id, prediction, given: made },
                    Some(_) => Event::PredictionLocked { lesson: id, prediction, given: made },
                };
                let prediction = Prediction {
                    given,
                    locked: known.is_some(),
                    comparison: known.map(|comparison| comparison.statement),
                    outcome: None,
                };
                self.predictions.insert(predict.id.clone(), prediction);
                Ok(event)
            }
            Some(Block::Question(question)) => {
                let given = answer::read(text, &lesson, question)?;
                let grade = question.grade(&given, &self.env(&DeviceFacts::default()), registry);
                let points = grade.points;
                let answered = answered(given.clone(), grade)?;
                let right = answered.right;
                self.show_answer(question.id.clone(), answered);
                Ok(Event::AnswerGiven {
                    lesson: id,
                    question: question.id.clone(),
                    given,
                    right,
                    points,
                })
            }
            Some(Block::Prose(_) | Block::Lab(_) | Block::Check(_) | Block::Notes(_)) | None => {
                Err(AnswerError::NothingAsked)
            }
        }
    }

    pub fn begin_tests(&mut self, block: usize, text: &str, attempt: u64) -> Option<TestsJob> {
        let lesson = self.lesson.clone();
        let question = lesson.blocks.get(block)?.as_question()?;
        let known = KnownNames::for_question(question, &self.env(&DeviceFacts::default()));
        let trial = KernelTests { attempt, text: text.to_owned(), state: TestsState::Going };
        self.trials.insert(question.id.clone(), trial);
        Some(TestsJob {
            attempt,
            question: question.id.clone(),
            text: text.to_owned(),
            known,
            lesson,
        })
    }

    /// Takes in what came of the tests, unless others have begun since; what is no kernel is no answer.
    pub fn end_tests(&mut self, tried: TestsReport) -> Option<Event> {
        let trial = self.trials.get_mut(&tried.question)?;
        if trial.attempt != tried.attempt || trial.state != TestsState::Going {
            return None;
        }
        let points = tried.grade.points;
        let answered = match answered(Answer::One(tried.text), tried.grade) {
            Ok(answered) => answered,
            Err(refused) => {
                trial.state = TestsState::Refused(refused.to_string());
                return None;
            }
        };
        trial.state = TestsState::Done(tried.cases);
        let (given, right) = (answered.given.clone(), answered.right);
        self.show_answer(tried.question.clone(), answered);
        let (lesson, question) = (tried.lesson, tried.question);
        Some(Event::AnswerGiven { lesson, question, given, right, points })
    }

    /// Shows the newest answer; a right one given before goes on counting.
    fn show_answer(&mut self, question: String, answered: Answered) {
        let before = self.answers.remove(&question);
        let earned = before.and_then(|one| if one.right { Some(one.given) } else { one.earned });
        let earned = earned.filter(|_| !answered.right);
        self.answers.insert(question, Answered { earned, ..answered });
    }

    pub fn graded(
        &self,
        question: &Question,
        given: Answer,
        registry: &Registry,
    ) -> Result<Answered, AnswerError> {
        let grade = question.grade(&given, &self.env(&DeviceFacts::default()), registry);
        answered(given, grade)
    }

    /// Compares predictions and decides checks with the runs there are; checks wait for all their labs.
    pub fn judge(&mut self, machine: Machine<'_>) {
        let lesson = self.lesson.clone();
        let facts = self.device_facts(machine);
        let env = self.env(&facts);
        let has_run = |id: &str| {
            let mut labs = self.labs.iter();
            labs.any(|lab| lab.id == id && lab.others.reference.is_some())
        };
        let mut checks = Vec::new();
        for check in lesson.checks() {
            let names = check.assert.expr.names();
            let mut labs = names.iter().filter_map(|(name, _)| name.parts().next());
            if labs.all(|id| id == "device" || has_run(id)) {
                let state = match check.evaluate(&env) {
                    CheckOutcome::Passed => CheckState::Passed,
                    CheckOutcome::Failed(values) | CheckOutcome::Error(values) => {
                        CheckState::Failed(values)
                    }
                    CheckOutcome::Skipped(reason) => CheckState::Skipped(reason),
                };
                checks.push((check.id.clone(), state));
            }
        }
        let locked = self.predictions.iter().filter(|(_, made)| made.locked);
        let compared = locked.filter_map(|(id, made)| {
            let predict = lesson.predictions().find(|predict| predict.id == *id)?;
            let has_its_run = match &predict.turn {
                Some(_) => self.tried.contains_key(id),
                None => lesson.labs_of(predict).into_iter().all(has_run),
            };
            if !has_its_run {
                return None;
            }
            let statement = predict.compare(&made.given, &env).ok()?.statement;
            Some((id.clone(), statement, predict.outcome(&env).map(str::to_owned)))
        });
        let compared: Vec<_> = compared.collect();
        self.checks.extend(checks);
        for (id, statement, outcome) in compared {
            if let Some(made) = self.predictions.get_mut(&id) {
                let is_new = made.comparison.replace(statement).is_none();
                made.outcome = outcome;
                let block = |block: &Block| block.as_predict().is_some_and(|one| one.id == id);
                if is_new && let Some(block) = lesson.blocks.iter().position(block) {
                    self.revealed = Some(self.revealed.map_or(block, |first| first.min(block)));
                }
            }
        }
    }

    /// What predictions were held against, as far as that is told.
    pub fn truths(&self, machine: Machine<'_>) -> Vec<(String, Answer)> {
        let facts = self.device_facts(machine);
        let env = self.env(&facts);
        let is_told = |predict: &&Predict| {
            let made = self.predictions.get(&predict.id);
            made.is_some_and(|made| made.comparison.is_some())
        };
        let told = self.lesson.predictions().filter(is_told);
        told.filter_map(|predict| Some((predict.id.clone(), predict.truth(&env)?))).collect()
    }

    pub fn restore(&mut self, progress: &Progress, registry: &Registry) {
        let lesson = self.lesson.clone();
        let Some(before) = progress.lesson(&lesson.front.id) else { return };
        self.hints.clone_from(&before.hints);
        let given = before.attempts.iter();
        self.given = given.map(|(question, given)| (question.clone(), given.len())).collect();
        for question in lesson.questions() {
            let Some(known) = before.answers.get(&question.id) else { continue };
            let given = known.given.clone();
            let answered = if matches!(question.kind.asked(), Asked::Kernel { .. }) {
                // To test a kernel may take seconds: what was said of it stands until it is tested again.
                Answered { given, right: known.right, feedback: String::new(), earned: None }
            } else {
                // The lesson may have changed since.
                let grade = question.grade(&given, &LessonEnv::new(), registry);
                answered(given.clone(), grade).unwrap_or_else(|error| Answered {
                    given,
                    right: false,
                    feedback: error.to_string(),
                    earned: None,
                })
            };
            self.answers.insert(question.id.clone(), answered);
        }
        for predict in lesson.predictions() {
            if let Some(given) = before.predictions.get(&predict.id) {
                // What no run has told stays untold.
                let actual = before.outcomes.get(&predict.id);
                let told = before.told.get(&predict.id);
                let comparison = actual.and_then(|actual| match told {
                    Some(told) => Some(told.comparison.clone()),
                    None => predict.recall(given, actual).map(|known| known.statement),
                });
                let outcome = told.and_then(|told| told.outcome.clone());
                let prediction =
                    Prediction { given: given.clone(), locked: true, comparison, outcome };
                self.predictions.insert(predict.id.clone(), prediction);
            } else if let Some(given) = before.guesses.get(&predict.id) {
                let (given, locked) = (given.clone(), false);
                let prediction = Prediction { given, locked, comparison: None, outcome: None };
                self.predictions.insert(predict.id.clone(), prediction);
            }
        }
        let held = lesson.checks().filter(|check| before.checks.contains(&check.id));
        self.checks.extend(held.map(|check| (check.id.clone(), CheckState::Passed)));
        self.finished_before.clone_from(&before.labs);
        let is_begun = |block: &Block| match block {
            Block::Predict(predict) => self.predictions.contains_key(&predict.id),
            Block::Question(question) => self.answers.contains_key(&question.id),
            Block::Prose(_) | Block::Lab(_) | Block::Check(_) | Block::Notes(_) => false,
        };
        if let Some(last) = lesson.blocks.iter().rposition(is_begun) {
            self.seen = Seen::before(last + 1);
        }
        if let Some(marked) = self.marked {
            self.mark_at(marked);
        }
    }

    /// The names that expressions of this lesson have values for.
    pub(super) fn env<'a>(&'a self, facts: &'a DeviceFacts) -> LessonEnv<'a> {
        let env = LessonEnv::new().on(facts);
        let env = self.labs.iter().fold(env, |env, lab| match &lab.others.reference {
            Some(data) => env.with_run(&lab.id, lab.schema, data),
            None => env.without_run(&lab.id, "it has not been run with the lesson's own values"),
        });
        self.lesson.predictions().filter(|predict| predict.turn.is_some()).fold(
            env,
            |env, attempt| {
                let named = attempt.lab.iter().map(|lab| lab.value.as_str()).next();
                let lab = self.labs.iter().find(|lab| Some(lab.id.as_str()) == named);
                match (self.tried.get(&attempt.id), lab) {
                    (Some(data), Some(lab)) => env.with_run(&attempt.id, lab.schema, data),
                    (Some(_) | None, _) => env
                        .without_run(&attempt.id, "its knobs have not been turned as the try says"),
                }
            },
        )
    }

    fn device_facts(&self, machine: Machine<'_>) -> DeviceFacts {
        let used = self.labs.iter().rev().find_map(|lab| {
            let of_its_own = |id: &DeviceId| lab.schema.is_live() || *id != DeviceId::CPU;
            lab.run.device.filter(of_its_own)
        });
        let info = machine.devices.iter().find(|info| Some(info.id) == used);
        info.map_or_else(DeviceFacts::default, |info| DeviceFacts {
            name: info.name.clone(),
            backend: info.id.backend.name().to_owned(),
            memory_bytes: info.memory_bytes,
            peak_flops_per_second: machine.peaks.get(&info.name).copied(),
        })
    }
}
