//! What lies over the page: laying it there, typing into it, moving through it, leaving it.

use super::App;
use crate::command::Motion;
use crate::entry::Edit;
use crate::key::Key;
use crate::message::Effect;
use crate::overlay::Overlay;
use crate::preview::Preview;
use crate::records::Purpose;
use crate::view;

impl App {
    /// Lays something over the page, in place of what lies there; if it is there already, takes it away.
    pub(super) fn lay_over(&mut self, overlay: Overlay) {
        let there = self.overlay.take();
        if !there.is_some_and(|there| there.is_like(&overlay)) {
            self.overlay = Some(overlay);
        }
    }

    /// Takes a key that is no command there.
    pub(super) fn overlay_key(&mut self, key: Key) -> Vec<Effect> {
        match &mut self.overlay {
            Some(Overlay::Palette(palette)) => palette.key(key),
            Some(Overlay::Glossary(terms)) => terms.key(key),
            Some(Overlay::Steps(entry) | Overlay::Rows(entry) | Overlay::Weights(entry)) => {
                match entry.key(key) {
                    Edit::Typed | Edit::Done | Edit::Dropped | Edit::Unused => {}
                }
            }
            Some(Overlay::Search(_) | Overlay::Filter(_)) => self.search_key(key),
            Some(Overlay::Confirm(_)) => {
                self.overlay = None;
                self.notice = Some("nothing was changed".to_owned());
            }
            Some(
                Overlay::Help { .. }
                | Overlay::Problems { .. }
                | Overlay::Presets { .. }
                | Overlay::Records(_)
                | Overlay::Line(_),
            )
            | None => {}
        }
        Vec::new()
    }

    /// Takes pasted text.
    pub(super) fn paste_over(&mut self, text: &str) {
        match &mut self.overlay {
            Some(Overlay::Palette(palette)) => palette.paste(text),
            Some(Overlay::Glossary(terms)) => terms.paste(text),
            Some(
                Overlay::Steps(entry)
                | Overlay::Filter(entry)
                | Overlay::Rows(entry)
                | Overlay::Weights(entry),
            ) => entry.paste(text),
            Some(Overlay::Search(search)) => {
                search.entry.paste(text);
                self.sought();
            }
            Some(
                Overlay::Help { .. }
                | Overlay::Problems { .. }
                | Overlay::Presets { .. }
                | Overlay::Records(_)
                | Overlay::Line(_)
                | Overlay::Confirm(_),
            )
            | None => {}
        }
    }

    /// Does or opens what is marked or typed.
    pub(super) fn enter_overlay(&mut self) -> Vec<Effect> {
        match &mut self.overlay {
            Some(Overlay::Palette(_)) => return self.choose_from_palette(),
            Some(Overlay::Presets { .. }) => return self.choose_preset(),
            Some(Overlay::Records(_)) => return self.fetch_marked(Purpose::Overlay),
            Some(Overlay::Steps(_)) => return self.do_steps(),
            Some(Overlay::Weights(_)) => return self.save_weights(),
            Some(Overlay::Filter(_)) => return self.open_filtered(),
            Some(Overlay::Rows(_)) => self.filter_rows(),
            Some(Overlay::Search(_)) => self.next_hit(1),
            Some(Overlay::Glossary(terms)) => terms.enter(),
            Some(
                Overlay::Help { .. }
                | Overlay::Problems { .. }
                | Overlay::Line(_)
                | Overlay::Confirm(_),
            )
            | None => {}
        }
        Vec::new()
    }

    /// Goes back in what lies over the page, or takes it away.
    pub(super) fn leave_overlay(&mut self) {
        let went_back = match &mut self.overlay {
            Some(Overlay::Glossary(terms)) => terms.back(),
            Some(_) | None => false,
        };
        if !went_back {
            self.overlay = None;
        }
    }

    /// Moves through what lies over the page.
    pub(super) fn move_overlay(&mut self, motion: Motion) {
        let half = self.half_screen();
        let last = self.last_of_overlay();
        match &mut self.overlay {
            Some(
                Overlay::Help { scroll: at }
                | Overlay::Problems { scroll: at }
                | Overlay::Presets { chosen: at },
            ) => *at = motion.from(*at, half, last),
            Some(Overlay::Palette(palette)) => palette.move_by(motion, half),
            Some(Overlay::Glossary(terms)) => terms.move_by(motion, half),
            Some(Overlay::Records(records)) => records.move_by(motion, half),
            Some(Overlay::Search(_)) => match motion {
                Motion::Up | Motion::PageUp => self.next_hit(-1),
                Motion::Down | Motion::PageDown => self.next_hit(1),
                Motion::Top | Motion::Bottom => {}
            },
            Some(Overlay::Filter(_)) => {
                let listed = self.listed();
                let at = listed.iter().position(|&index| index == self.chosen);
                let to = motion.from(at.unwrap_or(0), half, listed.len().saturating_sub(1));
                self.chosen = listed.get(to).copied().unwrap_or(self.chosen);
            }
            Some(
                Overlay::Line(_)
                | Overlay::Confirm(_)
                | Overlay::Steps(_)
                | Overlay::Rows(_)
                | Overlay::Weights(_),
            )
            | None => {}
        }
    }

    /// How far one gets in what lies over the page, where it does not know that itself.
    fn last_of_overlay(&self) -> usize {
        match &self.overlay {
            Some(Overlay::Help { .. }) => view::help::longest(self),
            Some(Overlay::Problems { .. }) => {
                let lines = self.preview.as_ref().map_or(0, Preview::lines);
                lines.saturating_sub(usize::from(self.size.1.saturating_sub(2)))
            }
            Some(Overlay::Presets { .. }) => self.presets().len().saturating_sub(1),
            Some(_) | None => 0,
        }
    }
}
