//! A kernel that is being written: opening it, typing, running it, and leaving it.

use mlsys_lesson::{Asked, Block, Verdict};
use mlsys_run::storage::Draft;

use crate::command::Motion;
use crate::editor::text::{CursorMove, Select};
use crate::editor::{
    DraftOrigin, Editor, KernelRead, KernelSource, KernelText, Subject, TestsReport, Then, Typed,
};
use crate::key::Key;
use crate::message::Effect;
use crate::state::{App, DraftFollowing, OwnKernel, Page, RunMode, Side};
use crate::update::knobs::Retrace;
use crate::view;

/// Said where a text would be longer than a kernel may be.
const FULL: &str = "a kernel has at most 512 KiB of text: that did not fit";

impl App {
    pub(super) fn edit_answer(&mut self, block: usize) {
        let Some(page) = self.page.as_mut() else { return };
        let Some(Block::Question(question)) = page.lesson.blocks.get(block) else { return };
        let Asked::Kernel { starter, .. } = question.kind.asked() else { return };
        let starter = starter.unwrap_or_default();
        let answered = page.answers.get(&question.id);
        let text = answered.and_then(|answered| answered.given.one()).unwrap_or(&starter);
        let draft = Draft::of_question(&page.lesson.front.id, &question.id);
        let editor = Editor::new(Subject::Question(block), draft, text, &starter);
        page.turn_to(Side::Text);
        self.open_editor(editor);
    }

    pub(super) fn edit_kernel(&mut self) {
        let Some(page) = self.page.as_mut() else { return };
        let Some(lab) = page.lab() else { return };
        let Some((example, source)) = lab.kernel_text() else { return };
        let draft = Draft::of_lab(&page.lesson.front.id, &lab.id, &example);
        let edited = lab.own_kernel.as_ref().filter(|own| own.example == example);
        let text = edited.map_or(source.as_str(), |own| own.text.as_str());
        let editor = Editor::new(Subject::Lab(page.current, example), draft, text, &source);
        page.turn_to(Side::Lab);
        self.open_editor(editor);
    }

    fn open_editor(&mut self, editor: Editor) {
        let Some(page) = self.page.as_mut() else { return };
        self.effects.push(Effect::OpenDraft(editor.draft.clone()));
        page.entry = None;
        page.rest_walks();
        page.editor = Some(Box::new(editor));
        self.drafts = DraftFollowing::Followed;
        self.follow_cursor();
    }

    /// Leaves the kernel; its text is kept and can be opened again.
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

    pub(super) fn editor_key(&mut self, key: Key) {
        let page = self.half_screen();
        self.with_editor(|editor| editor.key(key, page));
    }

    pub(super) fn paste_into_editor(&mut self, text: &str) {
        self.with_editor(|editor| editor.paste(text));
    }

    /// Does something to the text and keeps what it has become.
    fn with_editor(&mut self, act: impl FnOnce(&mut Editor) -> Typed) {
        let Some(editor) = self.editor_mut() else { return };
        match act(editor) {
            Typed::Same => {}
            Typed::Changed => {
                let kept = Effect::KeepDraft(editor.draft.clone(), editor.text.as_str().to_owned());
                self.effects.push(kept);
            }
            Typed::TextFull => self.notify(FULL),
        }
        self.follow_cursor();
    }

    pub(super) fn follow_cursor(&mut self) {
        let Some(area) = view::editor::text_area(self) else { return };
        if let Some(editor) = self.editor_mut() {
            editor.follow(usize::from(area.height), usize::from(area.width));
        }
    }

    pub(super) fn retrace_typing(&mut self, retrace: Retrace) {
        let mut found = true;
        self.with_editor(|editor| {
            found = match retrace {
                Retrace::Undo => editor.text.undo(),
                Retrace::Redo => editor.text.redo(),
            };
            if found { editor.changed(Ok(())) } else { Typed::Same }
        });
        match retrace {
            Retrace::Undo if !found => self.notify("nothing to take back"),
            Retrace::Redo if !found => self.notify("nothing was taken back"),
            Retrace::Undo | Retrace::Redo => {}
        }
    }

    /// Begins again with the text that stood there at first.
    pub(super) fn start_over(&mut self) {
        self.notify("as it was at first; ctrl-u brings yours back");
        self.with_editor(|editor| {
            let starter = editor.starter.clone();
            editor.become_text(&starter)
        });
    }

    pub(super) fn put_text_cursor(&mut self, line: usize, column: usize) {
        if let Some(editor) = self.editor_mut() {
            editor.text.jump(line, column);
        }
        self.follow_cursor();
    }

    /// The wheel moves the cursor, and so the text under it.
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

    pub(super) fn cut_text(&mut self) {
        let mut cut = String::new();
        self.with_editor(|editor| {
            cut = editor.text.cut();
            editor.changed(Ok(()))
        });
        self.put_aside(cut);
    }

    pub(super) fn copy_text(&mut self) {
        let Some(copied) = self.editor().map(|editor| editor.text.copied()) else { return };
        self.put_aside(copied);
        self.notify("copied; ctrl-v puts it in");
    }

    /// Keeps a text for pasting, here and in the clipboard.
    fn put_aside(&mut self, text: String) {
        if !text.is_empty() {
            self.recall.clipboard.clone_from(&text);
            self.effects.push(Effect::Copy(text));
        }
    }

    pub(super) fn paste_text(&mut self) {
        let aside = self.recall.clipboard.clone();
        self.paste_into_editor(&aside);
    }

    pub(super) fn next_complaint(&mut self) {
        if let Some(editor) = self.editor_mut()
            && editor.is_read_or_then(Then::NextComplaint)
        {
            editor.next_complaint();
            if editor.complaints.is_empty() {
                self.notify("nothing is wrong with the text");
            }
        }
        self.follow_cursor();
    }

    pub(super) fn edit_outside(&mut self) {
        if let Some(editor) = self.editor() {
            let text = editor.text.as_str().to_owned();
            self.effects.push(Effect::EditOutside(editor.draft.clone(), text));
        }
    }

    /// Runs what is written: the question's tests, or the lab.
    pub(super) fn run_written(&mut self) {
        let Some(editor) = self.editor_mut() else { return };
        if !editor.is_read_or_then(Then::Run) {
            return;
        }
        if !editor.complaints.is_empty() {
            self.notify("it cannot run yet: ctrl-n goes to what is wrong");
            return self.follow_cursor();
        }
        let (subject, text) = (editor.subject.clone(), editor.text.as_str().to_owned());
        match subject {
            Subject::Question(block) => {
                self.session.tests += 1;
                let attempt = self.session.tests;
                let page = self.page.as_mut();
                let job = page.and_then(|page| page.begin_tests(block, &text, attempt));
                self.follow_cursor();
                self.effects.extend(job.map(|job| Effect::TestsJob(Box::new(job))));
            }
            Subject::Lab(place, example) => self.run_lab_with(place, &example, text),
        }
    }

    /// Runs a lab with its changed kernel, replacing a run of it in progress.
    fn run_lab_with(&mut self, place: usize, example: &str, text: String) {
        // A text that has not run must not be taken for what the picture shows.
        let is_other = self.session.active.is_some_and(|active| active.lab != place);
        if is_other && !self.may_set_aside() {
            return self.notify("another lab is still running: x ends it");
        }
        let Some(page) = self.page.as_mut() else { return };
        let Some(lab) = page.labs.get_mut(place) else { return };
        match lab.kernel_text() {
            Some((now, source)) if now == example => {
                let example = example.to_owned();
                lab.own_kernel = (text != source).then_some(OwnKernel { example, text });
            }
            Some(_) | None => return self.notify("the lab shows another kernel now"),
        }
        if !is_other {
            self.abandon();
        }
        if let Some(page) = self.page.as_mut() {
            page.current = place;
        }
        self.start(RunMode::Run);
    }

    pub(super) fn tests_ended(&mut self, report: TestsReport) {
        let is_it = |page: &&mut Page| page.lesson.front.id == report.lesson;
        let left = self.left_pages.get_mut(report.lesson.as_str());
        let Some(page) = self.page.as_mut().filter(is_it).or(left) else { return };
        let (verdict, complaint) = (report.grade.verdict, report.grade.feedback.clone());
        let event = page.end_tests(report);
        if let (Verdict::Malformed, Some(complaint)) = (verdict, complaint) {
            self.notify(complaint);
        }
        if let Some(event) = event {
            self.save(event);
        }
        self.note_completion();
        // What came of the tests stands below the question too.
        self.keep_marked_in_view();
        self.follow_cursor();
    }

    /// The stored text of a draft, or what another program saved.
    pub(super) fn take_draft(&mut self, draft: &Draft, text: Option<String>, whence: DraftOrigin) {
        let Some(text) = text else { return };
        let is_open = self.editor().is_some_and(|editor| editor.draft == *draft);
        match whence {
            DraftOrigin::Kept => {
                if let Some(editor) = self.editor_mut().filter(|_| is_open) {
                    // As it was found: what was typed in another sitting is not to be undone in this one.
                    let (subject, starter) = (editor.subject.clone(), editor.starter.clone());
                    *editor = Editor::new(subject, draft.clone(), &text, &starter);
                }
                self.follow_cursor();
            }
            DraftOrigin::Saved if is_open => self.saved_elsewhere(&text),
            DraftOrigin::Saved => self.saved_while_closed(draft, text),
        }
    }

    /// Another program has saved the open text: it is taken, and a lab runs it.
    fn saved_elsewhere(&mut self, text: &str) {
        let Some(editor) = self.editor_mut() else { return };
        if editor.become_text(text) == Typed::TextFull {
            return self.notify(FULL);
        }
        let is_sound = matches!(editor.subject, Subject::Lab(..))
            && editor.is_read_or_then(Then::RunIfSound)
            && editor.complaints.is_empty();
        self.follow_cursor();
        if is_sound {
            self.run_written();
        }
    }

    /// Another program has saved a lab's kernel while its editor is closed: the lab runs it if it reads.
    fn saved_while_closed(&mut self, draft: &Draft, text: String) {
        if self.lab_of_draft(draft).is_some() {
            let source = KernelSource::Saved(draft.clone());
            self.effects.push(Effect::ReadKernel(KernelText { source, text }));
        }
    }

    /// The lab of the open page, by its place, and the example that a draft is a change of.
    fn lab_of_draft(&self, draft: &Draft) -> Option<(usize, String)> {
        let page = self.page.as_ref()?;
        let id = &page.lesson.front.id;
        page.labs.iter().enumerate().find_map(|(place, lab)| {
            let (example, _) = lab.kernel_text()?;
            (Draft::of_lab(id, &lab.id, &example) == *draft).then_some((place, example))
        })
    }

    /// Has the open kernel read, if it has changed and none is being read.
    pub(super) fn read_changed(&mut self) {
        let revision = self.session.revisions + 1;
        let text = self.editor_mut().and_then(|editor| editor.to_read(revision));
        if let Some(text) = text {
            self.session.revisions = revision;
            self.effects.push(Effect::ReadKernel(text));
        }
    }

    /// A kernel's text was read.
    pub(super) fn kernel_read(&mut self, read: KernelRead) {
        let KernelRead { kernel: KernelText { source, text }, complaints } = read;
        match source {
            KernelSource::Editor(revision) => {
                let Some(editor) = self.editor_mut() else { return };
                let then = editor.take_complaints(revision, complaints);
                let is_sound = editor.complaints.is_empty();
                match then {
                    Some(Then::NextComplaint) => self.next_complaint(),
                    Some(Then::Run) => self.run_written(),
                    Some(Then::RunIfSound) if is_sound => self.run_written(),
                    Some(Then::RunIfSound) | None => {}
                }
            }
            KernelSource::Saved(draft) => {
                let Some((place, example)) = self.lab_of_draft(&draft) else { return };
                match complaints.first() {
                    None => self.run_lab_with(place, &example, text),
                    Some(first) => {
                        let (line, column) = (first.place.line, first.place.column);
                        let place = format!("line {line}, column {column}");
                        self.notify(format!(
                            "the kernel that was saved is not run: {place}: {}",
                            first.message
                        ));
                    }
                }
            }
        }
    }
}
