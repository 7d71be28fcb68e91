//! The glossary: a list of terms that typing narrows, below it what the marked one means, and a page for each term.

use std::sync::Arc;

use mlsys_lesson::ListedLesson;
use mlsys_run::glossary::{Glossary, Term};
use mlsys_view::text::wrap_spans;
use mlsys_view::theme::Look;
use ratatui::prelude::*;

use crate::command::Motion;
use crate::lines::{draw_cut, draw_lines};
use crate::list::{self, FilteredList};

const PREVIEW: u16 = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlossaryList {
    pub list: FilteredList,
    /// How many of the listed terms stand on the screen below.
    here: usize,
    /// The terms that were opened, the newest last; empty while the list is shown.
    opened: Vec<usize>,
    related: usize,
    on_screen: Vec<usize>,
    glossary: Arc<Glossary>,
}

impl GlossaryList {
    pub fn new(glossary: Arc<Glossary>, on_screen: Vec<usize>) -> Self {
        let (list, opened) = (FilteredList::empty(), Vec::new());
        let mut terms = Self { list, here: 0, opened, related: 0, on_screen, glossary };
        terms.search();
        terms
    }

    fn term(&self) -> Option<&Term> {
        let index = self.opened.last().copied().or_else(|| self.list.marked())?;
        self.glossary.terms().get(index)
    }

    fn open_term(&self) -> Option<&Term> {
        self.glossary.terms().get(*self.opened.last()?)
    }

    pub fn move_by(&mut self, motion: Motion, half: usize) {
        match self.open_term().map(|term| term.see.len()) {
            Some(related) => {
                self.related = motion.from(self.related, half, related.saturating_sub(1));
            }
            None => self.list.move_by(motion, half),
        }
    }

    pub fn enter(&mut self) {
        let next = match self.open_term() {
            Some(term) => term.see.get(self.related).and_then(|name| self.glossary.named(name)),
            None => self.list.marked(),
        };
        if let Some(next) = next {
            self.opened.push(next);
            self.related = 0;
        }
    }

    /// Goes back to the term before, or to the list; says whether there was a way back.
    pub fn back(&mut self) -> bool {
        self.related = 0;
        self.opened.pop().is_some()
    }

    pub fn search(&mut self) {
        self.opened.clear();
        self.related = 0;
        let matching = self.glossary.searched(self.list.entry.text());
        // What begins with the letters comes first; without letters the order is the page's.
        let typed = !self.list.entry.text().trim().is_empty();
        let here = self.on_screen.iter().copied();
        let mut found: Vec<usize> = here.filter(|term| !typed && matching.contains(term)).collect();
        self.here = found.len();
        let rest = matching.into_iter().filter(|term| typed || !self.on_screen.contains(term));
        found.extend(rest);
        self.list.show(found);
    }

    pub fn draw(
        &self,
        look: &Look,
        lessons: &[Arc<ListedLesson>],
        area: Rect,
        buffer: &mut Buffer,
    ) -> Option<Position> {
        let (field, inside) = list::draw_box(look, area, buffer)?;
        if let Some(term) = self.open_term() {
            let whole = Rect { y: field.y, height: inside.height + 1, ..inside };
            let lines = self.page(look, lessons, term, usize::from(whole.width));
            // A narrow screen shows the meaning first, and the related terms once the mark goes down to them.
            let below = term.see.len().saturating_sub(self.related + 1);
            let to_mark = lines.len().saturating_sub(below + usize::from(whole.height));
            let skip = if self.related > 0 { to_mark } else { 0 };
            draw_lines(look, lines.into_iter().skip(skip), whole, buffer);
            return None;
        }
        let preview = PREVIEW.min(inside.height / 2);
        let [names, below] =
            Layout::vertical([Constraint::Min(1), Constraint::Length(preview)]).areas(inside);
        let hint = match self.here {
            0 => "all terms; letters narrow the list".to_owned(),
            here => format!("{here} terms on the screen come first; letters narrow the list"),
        };
        let cursor = self.list.draw_field(look, " K ", hint, field, buffer);
        self.draw_names(look, names, buffer);
        if let Some(term) = self.term() {
            let lines = indented(term.about.clone(), look.theme.text, usize::from(below.width));
            let below = Rect { y: below.y + 1, height: below.height.saturating_sub(1), ..below };
            draw_cut(look, lines, ": enter shows them all", below, buffer);
        }
        Some(cursor)
    }

    fn draw_names(&self, look: &Look, area: Rect, buffer: &mut Buffer) {
        let theme = &look.theme;
        if self.list.found.is_empty() {
            Line::styled(" no term has these letters", theme.dim).render(area, buffer);
        }
        for (place, index, row) in self.list.shown(area) {
            let Some(term) = self.glossary.terms().get(index) else { continue };
            let mut line = marked_line(look, "", &term.name, place == self.list.chosen);
            let also = term.aliases.join(", ");
            if !also.is_empty() && line.width() + also.len() + 2 <= usize::from(row.width) {
                line.spans.push(Span::styled(format!("  {also}"), theme.dim));
            }
            if place < self.here {
                let here = Line::from(Span::styled("here ", theme.dim));
                if line.width() + here.width() < usize::from(row.width) {
                    here.right_aligned().render(row, buffer);
                }
            }
            line.render(row, buffer);
        }
    }

    /// A term by itself: names, meaning, where it is taught, and the related terms, one of them marked.
    fn page(
        &self,
        look: &Look,
        lessons: &[Arc<ListedLesson>],
        term: &Term,
        width: usize,
    ) -> Vec<Line<'static>> {
        let theme = &look.theme;
        let mut lines = vec![Line::styled(format!(" {}", term.name), theme.title)];
        let mut say = |text: String, style| lines.extend(indented(text, style, width));
        if !term.aliases.is_empty() {
            say(format!("also: {}", term.aliases.join(", ")), theme.dim);
        }
        for text in [String::new(), term.about.clone(), String::new()] {
            say(text, theme.text);
        }
        if let Some(lesson) = lessons.iter().find(|lesson| lesson.front.id.as_str() == term.lesson)
        {
            say(format!("lesson: {} ({})", lesson.front.title, term.lesson), theme.dim);
        }
        if let Some(source) = &term.source {
            say(format!("source: {source}"), theme.dim);
        }
        if !term.see.is_empty() {
            lines.push(Line::styled(" see also", theme.dim));
        }
        for (place, name) in term.see.iter().enumerate() {
            lines.push(marked_line(look, " ", name, place == self.related));
        }
        lines
    }
}

fn indented(text: String, style: Style, width: usize) -> Vec<Line<'static>> {
    wrap_spans(&[(text, style)], width.saturating_sub(1), Span::raw(" "), Span::raw(" "))
}

fn marked_line(look: &Look, indent: &str, name: &str, marked: bool) -> Line<'static> {
    let mark = if marked { look.glyphs.arrow } else { " " };
    let style = if marked { look.theme.selection } else { look.theme.text };
    Line::from(vec![
        Span::styled(format!("{indent}{mark:<2}"), look.theme.accent),
        Span::styled(name.to_owned(), style),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(terms: &mut GlossaryList, text: &str) {
        terms.list.entry.paste(text);
        terms.search();
    }

    #[test]
    fn terms_on_screen_come_first() {
        let glossary = Arc::clone(Glossary::builtin());
        let warp = glossary.named("warp").unwrap();
        let mut terms = GlossaryList::new(Arc::clone(&glossary), vec![warp]);
        assert_eq!(terms.term().unwrap().name, "warp");
        assert_eq!((terms.here, terms.list.found.len()), (1, glossary.terms().len()));
        typed(&mut terms, "cross-e");
        assert_eq!(terms.term().unwrap().name, "cross-entropy");
    }

    #[test]
    fn related_terms_are_followed_and_left_one_by_one() {
        let mut terms = GlossaryList::new(Arc::clone(Glossary::builtin()), Vec::new());
        typed(&mut terms, "ring all");
        terms.enter();
        terms.enter();
        assert_eq!(terms.open_term().unwrap().name, "all-reduce");
        assert!(terms.back());
        assert_eq!(terms.open_term().unwrap().name, "ring all-reduce");
        assert!(terms.back());
        assert!(terms.open_term().is_none() && !terms.back());
    }
}
