//! Searching the open lesson, and the list of lessons.

use crate::command::{Binding, Command, TABLE};
use crate::list::TextField;
use crate::palette::{Item, Palette, Target};
use crate::search::{Hit, Search, hits};
use crate::state::{App, FieldOf, Overlay, Side};
use crate::{document, own_page, view};

const REMEMBERED: usize = 16;

impl App {
    /// Opens the field: on the course page it filters lessons, in a lesson it searches the text.
    pub(super) fn open_search(&mut self) {
        self.overlay = Some(match &mut self.page {
            None => Overlay::Field(FieldOf::Lessons, TextField::over_the_page("")),
            Some(page) => {
                page.turn_to(Side::Text);
                Overlay::Search(Search::new(page.scroll))
            }
        });
    }

    pub fn hits(&self, search: &Search) -> Vec<Hit> {
        let Some(page) = &self.page else { return Vec::new() };
        let (width, _) = view::text_size(self.screen.size);
        let document = document::build(page, width, &self.screen.look);
        hits(&document.lines, search.entry.text(), &[self.glyphs().vertical])
    }

    /// The lessons that the course page lists, by index: all, or those that fit the filter.
    pub fn listed(&self) -> Vec<usize> {
        let wanted = match &self.overlay {
            Some(Overlay::Field(FieldOf::Lessons, entry)) => entry.text().trim().to_lowercase(),
            Some(_) | None => String::new(),
        };
        let words: Vec<&str> = wanted.split_whitespace().collect();
        let fits = |index: &usize| {
            self.course.lessons.get(*index).is_some_and(|lesson| {
                let front = &lesson.front;
                let text = format!("{} {} {}", front.title, front.id, front.teaches.join(" "));
                let text = text.to_lowercase();
                words.iter().all(|word| text.contains(word))
            })
        };
        (0..self.course.lessons.len()).filter(fits).collect()
    }

    /// Goes to the first hit from where the search began; without any, back there.
    pub(super) fn search_from_start(&mut self) {
        let Some(Overlay::Search(search)) = &self.overlay else { return };
        let (hits, from) = (self.hits(search), search.from);
        let below = |hit: &Hit| hit.0.first().is_some_and(|piece| piece.line >= from);
        let at = hits.iter().position(below).unwrap_or(0);
        if let Some(page) = &mut self.page {
            page.scroll = from;
        }
        self.go_to_hit(&hits, at);
    }

    /// The next hit, or the one before; from the last it goes on with the first.
    pub(super) fn next_hit(&mut self, places: isize) {
        let Some(Overlay::Search(search)) = &mut self.overlay else { return };
        if search.entry.text().is_empty() {
            // An empty field repeats what was looked for last.
            search.entry = TextField::over_the_page(self.recall.search.clone());
            return self.search_from_start();
        }
        let search = search.clone();
        let hits = self.hits(&search);
        let count = hits.len().max(1) as isize;
        let at = (search.at as isize + places).rem_euclid(count);
        self.go_to_hit(&hits, at as usize);
    }

    fn go_to_hit(&mut self, hits: &[Hit], at: usize) {
        if let Some(Overlay::Search(search)) = &mut self.overlay {
            search.at = at;
            self.recall.search = search.entry.text().to_owned();
        }
        let line = hits.get(at).and_then(|hit| hit.0.first()).map(|piece| piece.line);
        let (_, height) = view::text_size(self.screen.size);
        if let (Some(line), Some(page)) = (line, &mut self.page) {
            let seen = page.scroll..page.scroll + height.saturating_sub(1).max(1);
            if !seen.contains(&line) {
                self.scroll_to(|_, _| line.saturating_sub(height / 3));
            }
        }
    }

    /// Marks the first lesson of the filtered list if the marked one is not in it.
    pub(super) fn mark_listed(&mut self) {
        let listed = self.listed();
        if !listed.contains(&self.course.chosen) {
            self.course.chosen = listed.first().copied().unwrap_or(self.course.chosen);
        }
    }

    pub(super) fn open_filtered(&mut self) {
        if !self.listed().contains(&self.course.chosen) {
            return self.notify("no lesson has these words");
        }
        self.overlay = None;
        self.open_chosen();
    }

    pub(super) fn open_palette(&mut self) {
        self.overlay = None;
        let palette = Palette::new(self.palette_items(), &self.recall.targets);
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
                refused: self.available(row.command).err().map(|refusal| refusal.to_string()),
                ..Item::new(Target::Command(row.command), row.label, row.help)
            })
            .partition(|item| item.refused.is_none());
        let mut items = usable;
        items.extend(self.course.lessons.iter().map(|lesson| {
            let id = lesson.front.id.to_string();
            Item::new(Target::Lesson(id.clone()), &lesson.front.title, &id)
        }));
        items.extend(self.registry.iter().map(|lab| {
            let schema = lab.schema();
            let about = format!("{} {}", schema.kind, schema.module);
            Item::new(Target::Lab(schema.kind.clone()), &schema.title, &about)
        }));
        items.extend(self.archive.items.iter().cloned());
        items.extend(refused);
        items
    }

    pub(super) fn choose_from_palette(&mut self) {
        let Some(Overlay::Palette(palette)) = &self.overlay else { return };
        let Some(item) = palette.item() else { return };
        if item.refused.is_some() {
            self.screen.notice.clone_from(&item.refused);
            return;
        }
        let target = item.target.clone();
        self.overlay = None;
        self.recall.targets.retain(|other| *other != target);
        self.recall.targets.insert(0, target.clone());
        self.recall.targets.truncate(REMEMBERED);
        match target {
            Target::Command(command) => self.dispatch(command),
            Target::Lesson(_) | Target::Lab(_) => self.ask_to_go(target),
            Target::Run(name) => self.go_to_record(&name),
        }
    }

    pub(super) fn go(&mut self, target: Target) {
        match target {
            Target::Lesson(id) => self.go_to_lesson(&id),
            Target::Lab(kind) => self.go_to_lab(&kind),
            Target::Command(_) | Target::Run(_) => {}
        }
    }

    fn go_to_lesson(&mut self, id: &str) {
        let is_open = self.page.as_ref().is_some_and(|page| page.lesson.front.id.as_str() == id);
        let place = self.course.lessons.iter().position(|lesson| lesson.front.id.as_str() == id);
        if let (false, Some(place)) = (is_open, place) {
            self.leave();
            self.course.chosen = place;
            self.open_chosen();
        }
    }

    pub(super) fn go_to_lab(&mut self, kind: &str) {
        let page = self.registry.find(kind).ok();
        let Some(lesson) =
            page.and_then(|lab| own_page::with_defaults(lab.schema(), self.registry))
        else {
            self.notify(format!("lab {kind} has no page of its own"));
            return;
        };
        self.leave();
        self.enter_lesson(lesson);
        self.start_instant();
    }
}
