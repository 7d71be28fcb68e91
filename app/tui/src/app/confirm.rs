//! What asks before it is done, and what is done once it was answered.

use super::App;
use crate::confirm::Confirm;
use crate::message::Effect;
use crate::overlay::Overlay;
use crate::palette::Target;

impl App {
    /// Leaves mlsys; asks if that ends a run, but never twice.
    pub(super) fn quit(&mut self) -> Vec<Effect> {
        let asked = matches!(self.overlay, Some(Overlay::Confirm(Confirm::Quit)));
        if self.is_at_stake() && !asked {
            return self.ask(Confirm::Quit);
        }
        vec![Effect::Abandon, Effect::Quit]
    }

    /// Leaves the lesson; asks if that ends a run that has something to show.
    pub(super) fn ask_to_leave(&mut self) -> Vec<Effect> {
        if self.is_at_stake() { self.ask(Confirm::Leave) } else { self.leave() }
    }

    /// Goes to a lesson or a lab; asks if that ends a run that has something to show.
    pub(super) fn ask_to_go(&mut self, target: Target) -> Vec<Effect> {
        if self.is_at_stake() { self.ask(Confirm::Go(target)) } else { self.go(target) }
    }

    /// Puts everything back; asks if that ends a run or undoes a turn of a knob.
    pub(super) fn ask_to_reset(&mut self) -> Vec<Effect> {
        let page = self.page.as_ref();
        let turned = page
            .and_then(|page| page.slot())
            .is_some_and(|slot| slot.knobs.iter().any(|knob| knob.value != knob.initial));
        let here = self.active.map(|active| active.slot) == page.map(|page| page.current);
        if turned || here && self.is_at_stake() { self.ask(Confirm::Reset) } else { self.reset() }
    }

    /// The answer to the question on the screen is yes.
    pub(super) fn confirmed(&mut self) -> Vec<Effect> {
        let Some(Overlay::Confirm(confirm)) = self.overlay.take() else {
            return Vec::new();
        };
        match confirm {
            Confirm::Reset => self.reset(),
            Confirm::Leave => self.leave(),
            Confirm::Go(target) => self.go(target),
            Confirm::Preset(chosen) => self.take_preset(chosen),
            Confirm::Quit => vec![Effect::Abandon, Effect::Quit],
        }
    }

    pub(super) fn ask(&mut self, confirm: Confirm) -> Vec<Effect> {
        self.overlay = Some(Overlay::Confirm(confirm));
        Vec::new()
    }

    /// Whether a run goes on that has done steps: what has none can be had again at once.
    pub(super) fn is_at_stake(&self) -> bool {
        let running = self.active.and_then(|active| {
            let slot = self.page.as_ref()?.slots.get(active.slot)?;
            Some(slot.schema.is_live() && slot.data.step > 0)
        });
        running == Some(true)
    }
}
