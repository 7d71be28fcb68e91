//! The palette's contents, and what choosing from it does.

use super::App;
use crate::command::{Binding, Command, TABLE};
use crate::message::Effect;
use crate::overlay::Overlay;
use crate::own_page;
use crate::palette::{Item, Palette, Target};

/// How many choices are remembered.
const REMEMBERED: usize = 16;

impl App {
    /// Opens the palette over whatever is there.
    pub(super) fn open_palette(&mut self) {
        self.overlay = None;
        let palette = Palette::new(self.palette_items(), &self.recent);
        self.overlay = Some(Overlay::Palette(palette));
    }

    /// Commands that can be done here, lessons, labs, recorded runs, and commands that cannot be done now.
    fn palette_items(&self) -> Vec<Item> {
        let mut commands: Vec<&Binding> = Vec::new();
        let here = |row: &&Binding| row.places.contains(&self.ground());
        // A command with several rows stands there as the row of this place.
        for row in TABLE.iter().filter(here).chain(TABLE) {
            let listed = commands.iter().any(|other| other.command == row.command);
            // What moves a mark means nothing once the palette has closed.
            let lists = !matches!(row.command, Command::Palette | Command::Move(_));
            if lists && !listed {
                commands.push(row);
            }
        }
        let (usable, refused): (Vec<Item>, Vec<Item>) = commands
            .into_iter()
            .map(|row| Item {
                keys: row.keys_text(),
                refused: self.available(row.command).err(),
                ..Item::new(Target::Command(row.command), row.label, row.help)
            })
            .partition(|item| item.refused.is_none());
        let mut items = usable;
        items.extend(self.lessons.iter().map(|lesson| {
            let id = lesson.front.id.to_string();
            Item::new(Target::Lesson(id.clone()), &lesson.front.title, &id)
        }));
        items.extend(self.registry.iter().map(|lab| {
            let schema = lab.schema();
            let about = format!("{} {}", schema.kind, schema.module);
            Item::new(Target::Lab(schema.kind.clone()), &schema.title, &about)
        }));
        items.extend(self.recorded.iter().cloned());
        items.extend(refused);
        items
    }

    /// Does what the marked entry says; one that cannot be done now says why and stays.
    pub(super) fn choose_from_palette(&mut self) -> Vec<Effect> {
        let Some(Overlay::Palette(palette)) = &self.overlay else {
            return Vec::new();
        };
        let Some(item) = palette.item() else {
            return Vec::new();
        };
        if let Some(reason) = &item.refused {
            self.notice = Some(reason.clone());
            return Vec::new();
        }
        let target = item.target.clone();
        self.overlay = None;
        self.recent.retain(|other| *other != target);
        self.recent.insert(0, target.clone());
        self.recent.truncate(REMEMBERED);
        match target {
            Target::Command(command) => self.dispatch(command),
            Target::Lesson(_) | Target::Lab(_) => self.ask_to_go(target),
            Target::Run(name) => self.go_to_record(&name),
        }
    }

    /// Opens a lesson or a lab in place of what is open.
    pub(super) fn go(&mut self, target: Target) -> Vec<Effect> {
        match target {
            Target::Lesson(id) => self.go_to_lesson(&id),
            Target::Lab(kind) => self.go_to_lab(&kind),
            Target::Command(_) | Target::Run(_) => Vec::new(),
        }
    }

    fn go_to_lesson(&mut self, id: &str) -> Vec<Effect> {
        let is_it = |page: &crate::page::Page| page.lesson.front.id.as_str() == id;
        if self.page.as_ref().is_some_and(is_it) {
            return Vec::new();
        }
        let place = self.lessons.iter().position(|lesson| lesson.front.id.as_str() == id);
        let Some(place) = place else {
            return Vec::new();
        };
        let mut effects = self.leave();
        self.chosen = place;
        effects.extend(self.open_chosen());
        effects
    }

    /// Opens a lab with its own defaults on a page of its own.
    pub(super) fn go_to_lab(&mut self, kind: &str) -> Vec<Effect> {
        let page = self.registry.find(kind).ok();
        let Some(lesson) = page.and_then(|lab| own_page::with_defaults(lab.schema())) else {
            self.notice = Some(format!("lab {kind} has no page of its own"));
            return Vec::new();
        };
        let mut effects = self.leave();
        effects.extend(self.open(lesson));
        effects
    }
}
