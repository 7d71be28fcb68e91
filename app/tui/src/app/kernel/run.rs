//! Running what is written: the tests of an answer, or the lab.

use mlsys_lesson::{Event, Verdict};

use super::App;
use crate::editor::{Subject, Tried};
use crate::message::Effect;
use crate::page::Page;
use crate::slot::Edited;

impl App {
    /// Runs what is written: the question's tests, or the lab.
    pub(in crate::app) fn run_written(&mut self) -> Vec<Effect> {
        let Some(editor) = self.editor_mut() else {
            return Vec::new();
        };
        editor.check();
        if !editor.complaints.is_empty() {
            self.notice = Some("it cannot run yet: ctrl-n goes to what is wrong".to_owned());
            self.follow_cursor();
            return Vec::new();
        }
        let (subject, text) = (editor.subject.clone(), editor.text.as_str().to_owned());
        match subject {
            Subject::Question(block) => self.try_answer(block, &text),
            Subject::Lab(slot, example) => self.run_lab_with(slot, &example, text),
        }
    }

    fn try_answer(&mut self, block: usize, text: &str) -> Vec<Effect> {
        self.attempts += 1;
        let attempt = self.attempts;
        let effect = self.page.as_mut().and_then(|page| page.begin_trial(block, text, attempt));
        self.follow_cursor();
        effect.map(|tried| Effect::Try(Box::new(tried))).into_iter().collect()
    }

    pub(super) fn run_lab_with(
        &mut self,
        place: usize,
        example: &str,
        text: String,
    ) -> Vec<Effect> {
        // A text that has not run must not be taken for what the picture shows.
        if self.is_kept_from_running(place) {
            return Vec::new();
        }
        let Some(slot) = self.page.as_mut().and_then(|page| page.slots.get_mut(place)) else {
            return Vec::new();
        };
        match slot.kernel_text() {
            Some((now, source)) if now == example => {
                let example = example.to_owned();
                slot.edited = (text != source).then_some(Edited { example, text });
            }
            Some(_) | None => {
                self.notice = Some("the lab shows another kernel now".to_owned());
                return Vec::new();
            }
        }
        self.run_anew(place)
    }

    /// The tests of a kernel are over.
    pub(in crate::app) fn tried(&mut self, tried: Tried) -> Vec<Effect> {
        let is_it = |page: &&mut Page| page.lesson.front.id == tried.lesson;
        let kept = self.kept.get_mut(tried.lesson.as_str());
        let Some(page) = self.page.as_mut().filter(is_it).or(kept) else {
            return Vec::new();
        };
        let verdict = tried.grade.verdict;
        let complaint = tried.grade.feedback.clone();
        let event: Option<Event> = page.end_trial(tried);
        let mut effects: Vec<Effect> = event.into_iter().map(Effect::Save).collect();
        if let (Verdict::Malformed, Some(complaint)) = (verdict, complaint) {
            self.notice = Some(complaint);
        }
        self.note_progress(&effects);
        effects.extend(self.completed());
        // What came of the tests stands below the question too.
        self.keep_marked_in_view();
        self.follow_cursor();
        effects
    }
}
