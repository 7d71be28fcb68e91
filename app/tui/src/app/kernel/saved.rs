//! Texts that come from files: what was kept, and what other programs save.

use super::{App, FULL};
use crate::editor::{Editor, Subject, Typed, Whence};
use crate::message::Effect;
use mlsys_run::drafts::Draft;

impl App {
    /// What is kept of a text, or what somebody else has saved of it.
    pub(in crate::app) fn take_draft(
        &mut self,
        draft: &Draft,
        text: Option<String>,
        whence: Whence,
    ) -> Vec<Effect> {
        let Some(text) = text else {
            return Vec::new();
        };
        let is_open = self.editor().is_some_and(|editor| editor.draft == *draft);
        match whence {
            Whence::Kept => {
                if let Some(editor) = self.editor_mut().filter(|_| is_open) {
                    // As it was found: what was typed in another sitting is not to be undone in this one.
                    let (subject, starter) = (editor.subject.clone(), editor.starter.clone());
                    *editor = Editor::new(subject, draft.clone(), &text, &starter);
                }
                self.follow_cursor();
                Vec::new()
            }
            Whence::Saved if is_open => self.saved_elsewhere(&text),
            Whence::Saved => self.saved_while_closed(draft, text),
        }
    }

    /// Another program has saved the open text: it is taken, and a lab runs it.
    fn saved_elsewhere(&mut self, text: &str) -> Vec<Effect> {
        let Some(editor) = self.editor_mut() else {
            return Vec::new();
        };
        let is_lab = matches!(editor.subject, Subject::Lab(..));
        if editor.become_text(text) == Typed::Full {
            self.notice = Some(FULL.to_owned());
            return Vec::new();
        }
        self.follow_cursor();
        let runs = self.editor().is_some_and(|e| e.complaints.is_empty());
        if is_lab && runs {
            return self.run_written();
        }
        Vec::new()
    }

    /// Another program has saved the text of a lab whose editor is closed: the lab runs it if it can be read.
    fn saved_while_closed(&mut self, draft: &Draft, text: String) -> Vec<Effect> {
        let Some(page) = self.page.as_ref() else {
            return Vec::new();
        };
        let id = &page.lesson.front.id;
        let found = page.slots.iter().enumerate().find_map(|(place, slot)| {
            let (example, _) = slot.kernel_text()?;
            (Draft::of_lab(id, &slot.id, &example) == *draft).then_some((place, example))
        });
        let Some((place, example)) = found else {
            return Vec::new();
        };
        match mlsys_kernel::Kernel::parse("kernel.cu", &text) {
            Ok(_) => self.run_lab_with(place, &example, text),
            Err(refused) => {
                let first = refused.diagnostics.first();
                self.notice = first.map(|complaint| {
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
