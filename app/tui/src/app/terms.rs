//! The glossary over the page.

use std::sync::Arc;

use super::App;
use crate::document;
use crate::overlay::Overlay;
use crate::page::Side;
use crate::search::running_text;
use crate::slot::Slot;
use crate::terms::Terms;
use crate::view;
use mlsys_run::glossary::Glossary;

impl App {
    /// Opens the glossary, or closes it.
    pub(super) fn toggle_glossary(&mut self) {
        self.overlay = match self.overlay {
            Some(Overlay::Glossary(_)) => None,
            Some(_) | None => {
                let page = self.page.as_ref();
                let glossary = match page {
                    Some(page) => &page.glossary,
                    None => Glossary::builtin(),
                };
                let terms = glossary.terms_in(&self.readable());
                Some(Overlay::Glossary(Terms::new(Arc::clone(glossary), terms)))
            }
        };
    }

    /// What can be read on the screen: the shown part of the text, and what the lab calls its things.
    fn readable(&self) -> String {
        let Some(page) = &self.page else {
            let chosen = self.lessons.get(self.chosen);
            return chosen.map_or_else(String::new, |lesson| {
                let front = &lesson.front;
                plain(&format!("{}\n{}", front.title, front.teaches.join("\n")))
            });
        };
        let both = view::sides(self.size).tabs.is_none();
        let mut text = String::new();
        if both || page.side == Side::Text {
            let (width, height) = view::text_size(self.size);
            let lines = document::build(page, width, &self.look).lines;
            let from = page.scroll.min(lines.len());
            let shown = &lines[from..(from + height).min(lines.len())];
            text = running_text(shown, &[self.look.glyphs.vertical]);
        }
        if both || page.side != Side::Text {
            text.push('\n');
            text.push_str(&page.slot().map_or_else(String::new, named));
        }
        text
    }
}

/// What a lab calls itself, its knobs and its pictures.
fn named(slot: &Slot) -> String {
    let mut names = vec![slot.title.as_str()];
    names.extend(slot.knobs.iter().map(|knob| knob.name.as_str()));
    let panels = slot.panels.iter().filter_map(|&panel| slot.schema.panels.get(panel));
    names.extend(panels.map(|panel| panel.name.as_str()));
    plain(&names.join("\n"))
}

/// Names of parameters and pictures as people write them.
fn plain(text: &str) -> String {
    text.replace(['_', '-'], " ")
}
