//! A kernel that is being written: opening it, typing, and leaving it.

use mlsys_lesson::{Asked, Block, Event, Verdict};
use mlsys_run::storage::Draft;

use crate::command::Motion;
use crate::editor::text::{CursorMove, Select};
use crate::editor::{DraftOrigin, Editor, Subject, TestsReport, Typed};
use crate::key::Key;
use crate::message::Effect;
use crate::state::lab::OwnKernel;
use crate::state::page::{Page, Side};
use crate::state::{App, DraftFollowing};
use crate::view;

/// Said where a text would be longer than a kernel may be.
const FULL: &str = "a kernel has at most 64 KiB of text: that did not fit";

impl App {
    pub(super) fn edit_answer(&mut self, block: usize) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let lesson = page.lesson.clone();
        let Some(Block::Question(question)) = lesson.blocks.get(block) else { return Vec::new() };
        let Asked::Kernel { starter } = question.kind.asked() else { return Vec::new() };
        let starter = starter.unwrap_or_default();
        let given = page.answers.get(&question.id);
        let given = given.and_then(|answered| answered.given.one());
        let draft = Draft::of_question(&lesson.front.id, &question.id);
        let text = given.unwrap_or(&starter).to_owned();
        page.turn_to(Side::Text);
        self.open_editor(Editor::new(Subject::Question(block), draft, &text, &starter))
    }

    pub(super) fn edit_kernel(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let (lesson, current) = (page.lesson.clone(), page.current);
        let Some(lab) = page.lab() else { return Vec::new() };
        let Some((example, source)) = lab.kernel_text() else { return Vec::new() };
        let draft = Draft::of_lab(&lesson.front.id, &lab.id, &example);
        let edited = lab.own_kernel.as_ref().filter(|own| own.example == example);
        let text = edited.map_or(source.as_str(), |own| own.text.as_str());
        let subject = Subject::Lab(current, example);
        let editor = Editor::new(subject, draft, text, &source);
        page.turn_to(Side::Lab);
        self.open_editor(editor)
    }

    fn open_editor(&mut self, editor: Editor) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else { return Vec::new() };
        let effect = Effect::OpenDraft(editor.draft.clone());
        page.entry = None;
        page.rest_walks();
        page.editor = Some(Box::new(editor));
        self.drafts = DraftFollowing::Followed;
        self.follow_cursor();
        vec![effect]
    }

    pub(super) fn leave_editor(&mut self) {
        if let Some(page) = self.page.as_mut() {
            page.editor = None;
        }
        self.keep_marked_in_view();
    }

    pub fn editor(&self) -> Option<&Editor> {
        self.page.as_ref()?.editor.as_deref()
    }

    fn editor_mut(&mut self) -> Option<&mut Editor> {
        self.page.as_mut()?.editor.as_deref_mut()
    }

    pub(super) fn editor_key(&mut self, key: Key) -> Vec<Effect> {
        let page = self.half_screen();
        self.with_editor(|editor| editor.key(key, page))
    }

    pub(super) fn paste_into_editor(&mut self, text: &str) -> Vec<Effect> {
        self.with_editor(|editor| editor.paste(text))
    }

    /// Does something to the text and keeps what it has become.
    fn with_editor(&mut self, work: impl FnOnce(&mut Editor) -> Typed) -> Vec<Effect> {
        let Some(editor) = self.editor_mut() else { return Vec::new() };
        let effects = match work(editor) {
            Typed::Same => Vec::new(),
            Typed::Changed => {
                vec![Effect::KeepDraft(editor.draft.clone(), editor.text.as_str().to_owned())]
            }
            Typed::TextFull => {
                self.screen.notice = Some(FULL.to_owned());
                Vec::new()
            }
        };
        self.follow_cursor();
        effects
    }

    pub(super) fn follow_cursor(&mut self) {
        let Some(area) = view::editor::text_area(self) else { return };
        if let Some(editor) = self.editor_mut() {
            editor.follow(usize::from(area.height), usize::from(area.width));
        }
    }

    pub(super) fn undo_typing(&mut self) -> Vec<Effect> {
        self.retrace_typing(|editor| editor.text.undo(), "nothing to take back")
    }

    pub(super) fn redo_typing(&mut self) -> Vec<Effect> {
        self.retrace_typing(|editor| editor.text.redo(), "nothing was taken back")
    }

    fn retrace_typing(
        &mut self,
        work: impl FnOnce(&mut Editor) -> bool,
        nothing: &str,
    ) -> Vec<Effect> {
        let mut found = true;
        let effects = self.with_editor(|editor| {
            found = work(editor);
            match found {
                true => editor.changed(Ok(())),
                false => Typed::Same,
            }
        });
        if !found {
            self.screen.notice = Some(nothing.to_owned());
        }
        effects
    }

    pub(super) fn start_over(&mut self) -> Vec<Effect> {
        self.screen.notice = Some("as it was at first; ctrl-u brings yours back".to_owned());
        self.with_editor(|editor| {
            let starter = editor.starter.clone();
            editor.become_text(&starter)
        })
    }

    pub(super) fn put_text_cursor(&mut self, line: usize, column: usize) {
        if let Some(editor) = self.editor_mut() {
            editor.text.jump(line, column);
        }
        self.follow_cursor();
    }

    pub(super) fn move_text_cursor(&mut self, motion: Motion, lines: usize) {
        let go = match motion {
            Motion::Up | Motion::PageUp | Motion::Top => CursorMove::Up(lines),
            Motion::Down | Motion::PageDown | Motion::Bottom => CursorMove::Down(lines),
        };
        if let Some(editor) = self.editor_mut() {
            editor.text.go(go, Select::Drop);
        }
        self.follow_cursor();
    }

    pub(super) fn toggle_selection(&mut self) {
        if let Some(editor) = self.editor_mut() {
            editor.text.toggle_selection();
        }
    }

    /// Cuts or copies; what was taken is in the clipboard as well.
    pub(super) fn cut_text(&mut self) -> Vec<Effect> {
        let mut taken = String::new();
        let mut effects = self.with_editor(|editor| {
            taken = editor.text.cut();
            editor.changed(Ok(()))
        });
        effects.extend(self.put_aside(taken));
        effects
    }

    pub(super) fn copy_text(&mut self) -> Vec<Effect> {
        let copied = self.editor().map(|editor| editor.text.copied());
        let effects = self.put_aside(copied.unwrap_or_default());
        self.screen.notice = Some("copied; ctrl-v puts it in".to_owned());
        effects
    }

    fn put_aside(&mut self, text: String) -> Vec<Effect> {
        if text.is_empty() {
            return Vec::new();
        }
        self.recall.clipboard.clone_from(&text);
        vec![Effect::Copy(text)]
    }

    pub(super) fn paste_text(&mut self) -> Vec<Effect> {
        let aside = self.recall.clipboard.clone();
        self.paste_into_editor(&aside)
    }

    pub(super) fn next_complaint(&mut self) {
        if let Some(editor) = self.editor_mut() {
            editor.next_complaint();
            if editor.complaints.is_empty() {
                self.screen.notice = Some("nothing is wrong with the text".to_owned());
            }
        }
        self.follow_cursor();
    }

    pub(super) fn edit_outside(&mut self) -> Vec<Effect> {
        let Some(editor) = self.editor() else { return Vec::new() };
        let text = editor.text.as_str().to_owned();
        vec![Effect::EditOutside(editor.draft.clone(), text)]
    }
}

impl App {
    /// Runs what is written: the question's tests, or the lab.
    pub(in crate::update) fn run_written(&mut self) -> Vec<Effect> {
        let Some(editor) = self.editor_mut() else { return Vec::new() };
        editor.check();
        if !editor.complaints.is_empty() {
            self.screen.notice = Some("it cannot run yet: ctrl-n goes to what is wrong".to_owned());
            self.follow_cursor();
            return Vec::new();
        }
        let (subject, text) = (editor.subject.clone(), editor.text.as_str().to_owned());
        match subject {
            Subject::Question(block) => self.try_answer(block, &text),
            Subject::Lab(lab, example) => self.run_lab_with(lab, &example, text),
        }
    }

    fn try_answer(&mut self, block: usize, text: &str) -> Vec<Effect> {
        self.session.tests += 1;
        let attempt = self.session.tests;
        let effect = self.page.as_mut().and_then(|page| page.begin_trial(block, text, attempt));
        self.follow_cursor();
        effect.map(|tried| Effect::TestsJob(Box::new(tried))).into_iter().collect()
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
        let Some(lab) = self.page.as_mut().and_then(|page| page.labs.get_mut(place)) else {
            return Vec::new();
        };
        match lab.kernel_text() {
            Some((now, source)) if now == example => {
                let example = example.to_owned();
                lab.own_kernel = (text != source).then_some(OwnKernel { example, text });
            }
            Some(_) | None => {
                self.screen.notice = Some("the lab shows another kernel now".to_owned());
                return Vec::new();
            }
        }
        self.run_anew(place)
    }

    pub(in crate::update) fn tried(&mut self, tried: TestsReport) -> Vec<Effect> {
        let is_it = |page: &&mut Page| page.lesson.front.id == tried.lesson;
        let kept = self.left_pages.get_mut(tried.lesson.as_str());
        let Some(page) = self.page.as_mut().filter(is_it).or(kept) else { return Vec::new() };
        let verdict = tried.grade.verdict;
        let complaint = tried.grade.feedback.clone();
        let event: Option<Event> = page.end_trial(tried);
        let mut effects: Vec<Effect> = event.into_iter().map(Effect::Save).collect();
        if let (Verdict::Malformed, Some(complaint)) = (verdict, complaint) {
            self.screen.notice = Some(complaint);
        }
        self.note_progress(&effects);
        effects.extend(self.completed());
        // What came of the tests stands below the question too.
        self.keep_marked_in_view();
        self.follow_cursor();
        effects
    }
}

impl App {
    /// The stored text of a draft, or what another program saved.
    pub(in crate::update) fn take_draft(
        &mut self,
        draft: &Draft,
        text: Option<String>,
        whence: DraftOrigin,
    ) -> Vec<Effect> {
        let Some(text) = text else { return Vec::new() };
        let is_open = self.editor().is_some_and(|editor| editor.draft == *draft);
        match whence {
            DraftOrigin::Kept => {
                if let Some(editor) = self.editor_mut().filter(|_| is_open) {
                    // As it was found: what was typed in another sitting is not to be undone in this one.
                    let (subject, starter) = (editor.subject.clone(), editor.starter.clone());
                    *editor = Editor::new(subject, draft.clone(), &text, &starter);
                }
                self.follow_cursor();
                Vec::new()
            }
            DraftOrigin::Saved if is_open => self.saved_elsewhere(&text),
            DraftOrigin::Saved => self.saved_while_closed(draft, text),
        }
    }

    /// Another program has saved the open text: it is taken, and a lab runs it.
    fn saved_elsewhere(&mut self, text: &str) -> Vec<Effect> {
        let Some(editor) = self.editor_mut() else { return Vec::new() };
        let is_lab = matches!(editor.subject, Subject::Lab(..));
        if editor.become_text(text) == Typed::TextFull {
            self.screen.notice = Some(FULL.to_owned());
            return Vec::new();
        }
        self.follow_cursor();
        let runs = self.editor().is_some_and(|e| e.complaints.is_empty());
        if is_lab && runs {
            return self.run_written();
        }
        Vec::new()
    }

    /// Another program has saved a lab's kernel while its editor is closed: the lab runs it if it parses.
    fn saved_while_closed(&mut self, draft: &Draft, text: String) -> Vec<Effect> {
        let Some(page) = self.page.as_ref() else { return Vec::new() };
        let id = &page.lesson.front.id;
        let found = page.labs.iter().enumerate().find_map(|(place, lab)| {
            let (example, _) = lab.kernel_text()?;
            (Draft::of_lab(id, &lab.id, &example) == *draft).then_some((place, example))
        });
        let Some((place, example)) = found else { return Vec::new() };
        match mlsys_kernel::Kernel::parse("kernel.cu", &text) {
            Ok(_) => self.run_lab_with(place, &example, text),
            Err(refused) => {
                let first = refused.diagnostics.first();
                self.screen.notice = first.map(|complaint| {
                    let place = complaint.place;
                    format!(
                        "the kernel that was saved is not run: line {}, column {}: {}",
                        place.line, place.column, complaint.message
                    )
                });
                Vec::new()
            }
        }
    }
}
