//! What lies over the page: laying it there, typing into it, moving through it, leaving it.

use std::sync::Arc;

use mlsys_run::glossary::Glossary;

use crate::command::Motion;
use crate::glossary::GlossaryList;
use crate::key::Key;
use crate::list::FieldEvent;
use crate::message::Effect;
use crate::palette::Target;
use crate::records::Purpose;
use crate::search::running_text;
use crate::state::{App, Confirm, FieldOf, LabState, Overlay, Side};
use crate::{document, view};

impl App {
    /// Lays something over the page, in place of what lies there; if it is there already, takes it away.
    pub(super) fn lay_over(&mut self, overlay: Overlay) {
        let there = self.overlay.take();
        if !there.is_some_and(|there| there.is_like(&overlay)) {
            self.overlay = Some(overlay);
        }
    }

    pub(super) fn overlay_key(&mut self, key: Key) {
        if let Some(Overlay::Confirm(_)) = self.overlay {
            self.overlay = None;
            self.notify("nothing was changed");
        } else if let Some(field) = self.overlay.as_mut().and_then(Overlay::field)
            && field.key(key) == FieldEvent::Typed
        {
            self.field_changed();
        }
    }

    pub(super) fn paste_over(&mut self, text: &str) {
        if let Some(field) = self.overlay.as_mut().and_then(Overlay::field) {
            field.paste(text);
            self.field_changed();
        }
    }

    /// Lists and searches follow what is typed; other fields wait for enter.
    fn field_changed(&mut self) {
        match &mut self.overlay {
            Some(Overlay::Palette(palette)) => palette.search(),
            Some(Overlay::Glossary(terms)) => terms.search(),
            Some(Overlay::Search(_)) => self.search_from_start(),
            Some(Overlay::Field(FieldOf::Lessons, _)) => self.mark_listed(),
            Some(_) | None => {}
        }
    }

    pub(super) fn enter_overlay(&mut self) {
        match &mut self.overlay {
            Some(Overlay::Palette(_)) => self.choose_from_palette(),
            Some(Overlay::Presets { .. }) => self.choose_preset(),
            Some(Overlay::Records(_)) => self.load_marked(Purpose::Overlay),
            Some(Overlay::Field(FieldOf::Steps, _)) => self.do_steps(),
            Some(Overlay::Field(FieldOf::Weights, _)) => self.save_weights(),
            Some(Overlay::Field(FieldOf::Lessons, _)) => self.open_filtered(),
            Some(Overlay::Field(FieldOf::Rows, _)) => self.filter_rows(),
            Some(Overlay::Search(_)) => self.next_hit(1),
            Some(Overlay::Glossary(terms)) => terms.enter(),
            Some(_) | None => {}
        }
    }

    pub(super) fn leave_overlay(&mut self) {
        if let Some(Overlay::Glossary(terms)) = &mut self.overlay
            && terms.back()
        {
            return;
        }
        self.overlay = None;
    }

    pub(super) fn move_overlay(&mut self, motion: Motion) {
        let half = self.half_screen();
        let last = self.last_of_overlay();
        match &mut self.overlay {
            Some(
                Overlay::Help { scroll: at }
                | Overlay::Problems { scroll: at }
                | Overlay::Presets { chosen: at },
            ) => *at = motion.from(*at, half, last),
            Some(Overlay::Palette(palette)) => palette.list.move_by(motion, half),
            Some(Overlay::Glossary(terms)) => terms.move_by(motion, half),
            Some(Overlay::Records(records)) => records.move_by(motion, half),
            Some(Overlay::Search(_)) => match motion {
                Motion::Up | Motion::PageUp => self.next_hit(-1),
                Motion::Down | Motion::PageDown => self.next_hit(1),
                Motion::Top | Motion::Bottom => {}
            },
            Some(Overlay::Field(FieldOf::Lessons, _)) => {
                let listed = self.listed();
                let at = listed.iter().position(|&index| index == self.course.chosen);
                let to = motion.from(at.unwrap_or(0), half, listed.len().saturating_sub(1));
                self.course.chosen = listed.get(to).copied().unwrap_or(self.course.chosen);
            }
            Some(_) | None => {}
        }
    }

    /// How far one gets in what lies over the page, where it does not know that itself.
    fn last_of_overlay(&self) -> usize {
        match &self.overlay {
            Some(Overlay::Help { .. }) => view::pages::longest_help(self),
            Some(Overlay::Problems { .. }) => {
                let lines = self.preview.as_ref().map_or(0, |preview| preview.lines());
                lines.saturating_sub(usize::from(self.screen.size.1.saturating_sub(2)))
            }
            Some(Overlay::Presets { .. }) => self.presets().len().saturating_sub(1),
            Some(_) | None => 0,
        }
    }

    /// Leaves mlsys; asks if that ends a run, but never twice.
    pub(super) fn quit(&mut self) {
        let asked = matches!(self.overlay, Some(Overlay::Confirm(Confirm::Quit)));
        if self.is_at_stake() && !asked {
            return self.ask(Confirm::Quit);
        }
        self.effects.extend([Effect::Abandon, Effect::Quit]);
    }

    pub(super) fn ask_to_leave(&mut self) {
        if self.is_at_stake() { self.ask(Confirm::Leave) } else { self.leave() }
    }

    pub(super) fn ask_to_go(&mut self, target: Target) {
        if self.is_at_stake() { self.ask(Confirm::Go(target)) } else { self.go(target) }
    }

    /// Puts everything back; asks if that ends a run or undoes a turn of a knob.
    pub(super) fn ask_to_reset(&mut self) {
        let turned = self.lab().is_some_and(LabState::is_turned);
        let shown = self.page.as_ref().map(|page| page.current);
        let here = self.session.active.map(|active| active.lab) == shown;
        if turned || here && self.is_at_stake() { self.ask(Confirm::Reset) } else { self.reset() }
    }

    pub(super) fn confirmed(&mut self) {
        let Some(Overlay::Confirm(confirm)) = self.overlay.take() else { return };
        match confirm {
            Confirm::Reset => self.reset(),
            Confirm::Leave => self.leave(),
            Confirm::Go(target) => self.go(target),
            Confirm::Preset(chosen) => self.take_preset(chosen),
            Confirm::Quit => self.effects.extend([Effect::Abandon, Effect::Quit]),
        }
    }

    pub(super) fn ask(&mut self, confirm: Confirm) {
        self.overlay = Some(Overlay::Confirm(confirm));
    }

    /// Whether a run goes on that has done steps: what has none can be had again at once.
    pub(super) fn is_at_stake(&self) -> bool {
        let labs = self.page.as_ref().map_or(&[][..], |page| &page.labs);
        let mut runs = [self.session.active, self.session.aside].into_iter().flatten();
        runs.any(|run| {
            let lab = labs.get(run.lab);
            lab.is_some_and(|lab| lab.schema.is_live() && lab.run.data.step > 0)
        })
    }

    pub(super) fn toggle_glossary(&mut self) {
        let page = self.page.as_ref();
        let glossary = Arc::clone(page.map_or(Glossary::builtin(), |page| &page.glossary));
        let terms = glossary.terms_in(&self.readable());
        self.lay_over(Overlay::Glossary(GlossaryList::new(glossary, terms)));
    }

    /// What can be read on the screen: the shown part of the text, and what the lab calls its things.
    fn readable(&self) -> String {
        let Some(page) = &self.page else {
            let chosen = self.course.lessons.get(self.course.chosen);
            return chosen.map_or_else(String::new, |lesson| {
                let front = &lesson.front;
                plain(&format!("{}\n{}", front.title, front.teaches.join("\n")))
            });
        };
        let both = view::sides(self.screen.size).tabs.is_none();
        let mut text = String::new();
        if both || page.side == Side::Text {
            let (width, height) = view::text_size(self.screen.size);
            let lines = document::build(page, width, &self.screen.look).lines;
            let from = page.scroll.min(lines.len());
            let shown = &lines[from..(from + height).min(lines.len())];
            text = running_text(shown, &[self.glyphs().vertical]);
        }
        if both || page.side != Side::Text {
            text.push('\n');
            text.push_str(&page.lab().map_or_else(String::new, names));
        }
        text
    }
}

fn names(lab: &LabState) -> String {
    let mut names = vec![lab.title.as_str()];
    names.extend(lab.controls.knobs.iter().map(|knob| knob.name.as_str()));
    let panels = lab.pictures.panels.iter().filter_map(|&panel| lab.schema.panels.get(panel));
    names.extend(panels.map(|panel| panel.name.as_str()));
    plain(&names.join("\n"))
}

/// Names of parameters and pictures as people write them.
fn plain(text: &str) -> String {
    text.replace(['_', '-'], " ")
}
