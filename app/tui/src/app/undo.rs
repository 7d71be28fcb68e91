//! Taking turns of knobs back, and doing them again.

use mlsys_lab::value::Value;

use super::App;
use crate::history::History;
use crate::message::Effect;
use crate::page::Page;

/// Which way through the turns.
#[derive(Clone, Copy)]
enum Way {
    Back,
    Again,
}

impl App {
    /// Takes the last turn of a knob back.
    pub(super) fn undo(&mut self) -> Vec<Effect> {
        self.retrace(Way::Back)
    }

    /// Does the turn again that was taken back last.
    pub(super) fn redo(&mut self) -> Vec<Effect> {
        self.retrace(Way::Again)
    }

    fn retrace(&mut self, way: Way) -> Vec<Effect> {
        let Some(slot) = self.page.as_mut().and_then(Page::slot_mut) else {
            return Vec::new();
        };
        let turned = match way {
            Way::Back => History::undo(&mut slot.history),
            Way::Again => History::redo(&mut slot.history),
        };
        let Some(turned) = turned else {
            return Vec::new();
        };
        let (word, value) = match way {
            Way::Back => ("undone", turned.from),
            Way::Again => ("redone", turned.to),
        };
        slot.knob = turned.knob;
        slot.give(turned.knob, value.clone());
        let Some(knob) = slot.knobs.get(turned.knob) else {
            return Vec::new();
        };
        let name = knob.name.clone();
        let shown = value.as_ref().map_or("unset".to_owned(), Value::to_string);
        let effects = self.knob_turned(&name, value);
        // What the turn itself has to say stands in the same line.
        let later = if self.notice.is_some() { ", with the next run" } else { "" };
        self.notice = Some(format!("{word}: {name} is {shown} again{later}"));
        effects
    }
}
