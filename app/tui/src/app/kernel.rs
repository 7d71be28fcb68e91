//! A kernel that is being written: opening it, typing, and leaving it.

mod run;
mod saved;

use mlsys_lesson::{Asked, Block};

use super::{App, Drafts};
use crate::command::Motion;
use crate::editor::text::{Go, Select};
use crate::editor::{Editor, Subject, Typed};
use crate::key::Key;
use crate::message::Effect;
use crate::page::Side;
use crate::view;
use mlsys_run::drafts::Draft;

/// Said where a text would be longer than a kernel may be.
const FULL: &str = "a kernel has at most 64 KiB of text: that did not fit";

impl App {
    /// Writes the kernel that answers a question.
    pub(super) fn edit_answer(&mut self, block: usize) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else {
            return Vec::new();
        };
        let lesson = page.lesson.clone();
        let Some(Block::Question(question)) = lesson.blocks.get(block) else {
            return Vec::new();
        };
        let Asked::Kernel { starter } = question.kind.asked() else {
            return Vec::new();
        };
        let starter = starter.unwrap_or_default();
        let given = page.answers.get(&question.id);
        let given = given.and_then(|answered| answered.given.one());
        let draft = Draft::of_question(&lesson.front.id, &question.id);
        let text = given.unwrap_or(&starter).to_owned();
        page.turn_to(Side::Text);
        self.open_editor(Editor::new(Subject::Question(block), draft, &text, &starter))
    }

    /// Writes the kernel of the shown lab.
    pub(super) fn edit_kernel(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else {
            return Vec::new();
        };
        let (lesson, current) = (page.lesson.clone(), page.current);
        let Some(slot) = page.slot() else {
            return Vec::new();
        };
        let Some((example, source)) = slot.kernel_text() else {
            return Vec::new();
        };
        let draft = Draft::of_lab(&lesson.front.id, &slot.id, &example);
        let edited = slot.edited.as_ref().filter(|own| own.example == example);
        let text = edited.map_or(source.as_str(), |own| own.text.as_str());
        let subject = Subject::Lab(current, example);
        let editor = Editor::new(subject, draft, text, &source);
        page.turn_to(Side::Lab);
        self.open_editor(editor)
    }

    fn open_editor(&mut self, editor: Editor) -> Vec<Effect> {
        let Some(page) = self.page.as_mut() else {
            return Vec::new();
        };
        let effect = Effect::OpenDraft(editor.draft.clone());
        page.entry = None;
        page.rest_walks();
        page.editor = Some(Box::new(editor));
        self.drafts = Drafts::Followed;
        self.follow_cursor();
        vec![effect]
    }

    /// Leaves the kernel; its text is kept and can be opened again.
    pub(super) fn leave_editor(&mut self) {
        if let Some(page) = self.page.as_mut() {
            page.editor = None;
        }
        self.keep_marked_in_view();
    }

    /// The open editor.
    pub fn editor(&self) -> Option<&Editor> {
        self.page.as_ref()?.editor.as_deref()
    }

    fn editor_mut(&mut self) -> Option<&mut Editor> {
        self.page.as_mut()?.editor.as_deref_mut()
    }

    /// A key that is no command there.
    pub(super) fn editor_key(&mut self, key: Key) -> Vec<Effect> {
        let page = self.half_screen();
        self.with_editor(|editor| editor.key(key, page))
    }

    /// Pasted text.
    pub(super) fn paste_into_editor(&mut self, text: &str) -> Vec<Effect> {
        self.with_editor(|editor| editor.paste(text))
    }

    /// Does something to the text and keeps what it has become.
    fn with_editor(&mut self, work: impl FnOnce(&mut Editor) -> Typed) -> Vec<Effect> {
        let Some(editor) = self.editor_mut() else {
            return Vec::new();
        };
        let effects = match work(editor) {
            Typed::Same => Vec::new(),
            Typed::Changed => {
                vec![Effect::KeepDraft(editor.draft.clone(), editor.text.as_str().to_owned())]
            }
            Typed::Full => {
                self.notice = Some(FULL.to_owned());
                Vec::new()
            }
        };
        self.follow_cursor();
        effects
    }

    /// Scrolls the text so that its cursor is seen.
    pub(super) fn follow_cursor(&mut self) {
        let Some(area) = view::editor::text_area(self) else {
            return;
        };
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
            self.notice = Some(nothing.to_owned());
        }
        effects
    }

    /// Begins again with the text that stood there at first.
    pub(super) fn start_over(&mut self) -> Vec<Effect> {
        self.notice = Some("as it was at first; ctrl-u brings yours back".to_owned());
        self.with_editor(|editor| {
            let starter = editor.starter.clone();
            editor.become_text(&starter)
        })
    }

    /// Puts the cursor where somebody clicked.
    pub(super) fn put_text_cursor(&mut self, line: usize, column: usize) {
        if let Some(editor) = self.editor_mut() {
            editor.text.jump(line, column);
        }
        self.follow_cursor();
    }

    /// The wheel moves the cursor, and so the text under it.
    pub(super) fn move_text_cursor(&mut self, motion: Motion, lines: usize) {
        let go = match motion {
            Motion::Up | Motion::PageUp | Motion::Top => Go::Up(lines),
            Motion::Down | Motion::PageDown | Motion::Bottom => Go::Down(lines),
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
        self.notice = Some("copied; ctrl-v puts it in".to_owned());
        effects
    }

    fn put_aside(&mut self, text: String) -> Vec<Effect> {
        if text.is_empty() {
            return Vec::new();
        }
        self.aside.clone_from(&text);
        vec![Effect::Copy(text)]
    }

    pub(super) fn paste_text(&mut self) -> Vec<Effect> {
        let aside = self.aside.clone();
        self.paste_into_editor(&aside)
    }

    pub(super) fn next_complaint(&mut self) {
        if let Some(editor) = self.editor_mut() {
            editor.next_complaint();
            if editor.complaints.is_empty() {
                self.notice = Some("nothing is wrong with the text".to_owned());
            }
        }
        self.follow_cursor();
    }

    /// Opens the text in the learner's own editor.
    pub(super) fn edit_outside(&mut self) -> Vec<Effect> {
        let Some(editor) = self.editor() else {
            return Vec::new();
        };
        let text = editor.text.as_str().to_owned();
        vec![Effect::EditOutside(editor.draft.clone(), text)]
    }
}
