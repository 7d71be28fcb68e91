//! A lesson file that is followed while its author writes it: what it says now, and what is wrong with it.

use std::collections::HashMap;
use std::sync::Arc;

use mlsys_lesson::{Block, Knob, Lesson, ListedLesson, Setting};

use crate::editor::Subject;
use crate::list::FieldPurpose;
use crate::message::{Effect, PreviewState};
use crate::state::{Answered, App, LabState, Page};
use crate::{document, view};

impl App {
    /// Takes in what the followed file says now. What is wrong with it is shown, and the last good lesson stays.
    pub(super) fn previewed(&mut self, seen: PreviewState) {
        let Some(preview) = self.preview.as_mut() else { return };
        match seen {
            PreviewState::Unreadable(reason) => preview.unreadable = Some(reason),
            PreviewState::Read(parsed) => {
                preview.unreadable = None;
                preview.problems = parsed.diagnostics;
                if let Some(lesson) = parsed.lesson {
                    self.show_anew(Arc::new(lesson));
                }
            }
        }
    }

    fn show_anew(&mut self, lesson: Arc<Lesson>) {
        let Some(preview) = self.preview.as_mut() else { return };
        let before = preview.id.replace(lesson.front.id.clone());
        let id = lesson.front.id.to_string();
        self.course.sources.insert(id.clone(), preview.file.clone());
        let ids = [Some(&lesson.front.id), before.as_ref()];
        let listed = Arc::new(ListedLesson::from(Arc::clone(&lesson)));
        let mut lessons = self.course.lessons.iter_mut();
        match lessons.find(|known| ids.contains(&Some(&known.front.id))) {
            Some(place) => *place = listed,
            None => self.course.lessons.push(listed),
        }
        let is_open = self.page.as_ref().map(|page| &page.lesson.front.id) == before.as_ref();
        match before {
            None => {
                self.enter_lesson(lesson);
                self.start_instant();
            }
            Some(_) if is_open => self.renew_open(&lesson),
            Some(before) => {
                if let Some(page) = self.left_pages.remove(before.as_str()) {
                    // Left behind, it has no run that could go on.
                    let renewed = self.renewed(page, &lesson, None);
                    self.left_pages.insert(id, renewed.page);
                }
            }
        }
    }

    fn renew_open(&mut self, lesson: &Arc<Lesson>) {
        if self.session.aside.is_some() {
            self.abandon();
        }
        let Some(page) = self.page.take() else { return };
        let running = self.session.active.map(|active| active.lab);
        let renewed = self.renewed(page, lesson, running);
        self.page = Some(renewed.page);
        match (self.session.active.as_mut(), renewed.running) {
            (Some(active), Some(lab)) => active.lab = lab,
            (Some(_), None) => {
                self.session.active = None;
                self.effects.push(Effect::Abandon);
            }
            (None, _) => {}
        }
        self.screen.notice = renewed.notice;
        self.share_attempts();
        self.start_instant();
    }

    fn renewed(&self, page: Page, lesson: &Arc<Lesson>, running: Option<usize>) -> Renewed {
        renew(page, self.fresh_page(Arc::clone(lesson)), running, self)
    }
}

struct Renewed {
    page: Page,
    running: Option<usize>,
    notice: Option<String>,
}

/// Carries over what belongs together by its id: labs that are set as they were with their runs, answers graded
/// afresh, predictions and hints, the marked activity, the open field and the place in the text.
fn renew(mut old: Page, mut fresh: Page, running: Option<usize>, app: &App) -> Renewed {
    let old_ids: Vec<String> = old.labs.iter().map(|lab| lab.id.clone()).collect();
    let running_id = running.and_then(|place| old_ids.get(place));
    let before = lines(&old, app);

    let mut changed = Vec::new();
    let mut kept_run = None;
    for (index, lab) in fresh.labs.iter_mut().enumerate() {
        let Some(at) = old.labs.iter().position(|old| old.id == lab.id) else { continue };
        let runs = running_id == Some(&lab.id);
        if is_set_alike(&old.lesson, &fresh.lesson, &lab.id) && old.labs[at].seed == lab.seed {
            kept_run = kept_run.or(runs.then_some(index));
            take_over(lab, old.labs.remove(at));
        } else {
            changed.push((lab.id.clone(), runs));
        }
    }
    let removed = running_id.filter(|id| !fresh.labs.iter().any(|lab| lab.id == **id));

    // The new place of a lab that had this place.
    let moved = |labs: &[LabState], place: usize| {
        let id = old_ids.get(place)?;
        labs.iter().position(|lab| lab.id == *id)
    };
    fresh.current = moved(&fresh.labs, old.current).unwrap_or(0);
    fresh.reminded = old.reminded.and_then(|place| moved(&fresh.labs, place));
    if !fresh.labs.is_empty() {
        fresh.side = old.side;
        fresh.full_screen = old.full_screen;
    }
    (fresh.telling, fresh.audience) = (old.telling, old.audience);
    let (before_blocks, blocks) = (old.lesson.clone(), fresh.lesson.clone());
    let same_block = |block| same_block(&before_blocks, &blocks, block);
    fresh.marked = old.marked.and_then(same_block).or(fresh.marked);
    fresh.seen = old.seen;
    fresh.entry = old.entry.take().and_then(|mut entry| {
        if let FieldPurpose::Block(block) = &mut entry.purpose {
            *block = same_block(*block)?;
        }
        Some(entry)
    });
    fresh.editor = old.editor.take().and_then(|mut editor| {
        match &mut editor.subject {
            Subject::Question(block) => *block = same_block(*block)?,
            Subject::Lab(place, _) => *place = moved(&fresh.labs, *place)?,
        }
        Some(editor)
    });
    fresh.trials = std::mem::take(&mut old.trials);
    keep_answers(&mut old, &mut fresh, app);
    fresh.judge(app.hardware.machine());
    let (lines, longest) = (lines(&fresh, app), longest_scroll(&fresh, app));
    fresh.scroll = scroll(&before, old.scroll, &lines).min(longest);
    Renewed { notice: notice(&changed, removed), page: fresh, running: kept_run }
}

fn notice(changed: &[(String, bool)], removed: Option<&String>) -> Option<String> {
    if let Some(id) = removed {
        return Some(format!("lab '{id}' was taken out: its run was ended"));
    }
    let names = |running: bool| {
        let names: Vec<&str> =
            changed.iter().filter(|(_, ran)| *ran == running).map(|(id, _)| id.as_str()).collect();
        (!names.is_empty()).then(|| names.join("', '"))
    };
    match (names(true), names(false)) {
        (Some(ended), _) => Some(format!("lab '{ended}' was changed: its run was ended")),
        (None, Some(changed)) => Some(format!("lab '{changed}' was changed and starts afresh")),
        (None, None) => None,
    }
}

/// Whether a run of the lab is the same run in both versions: titles and pictures do not touch it.
fn is_set_alike(old: &Lesson, new: &Lesson, id: &str) -> bool {
    let (Some(old), Some(new)) = (old.lab(id), new.lab(id)) else { return false };
    let setting = |one: &Setting| (one.name.clone(), one.value.clone());
    let knob = |one: &Knob| {
        (one.param.clone(), one.values.clone(), (one.min, one.max), one.default.clone())
    };
    old.kind.value == new.kind.value
        && old.devices == new.devices
        && old.set.iter().map(setting).eq(new.set.iter().map(setting))
        && old.knobs.iter().map(knob).eq(new.knobs.iter().map(knob))
}

/// Replaces the new lab by the old one with its run and knobs, under the new titles and panels.
fn take_over(lab: &mut LabState, mut old: LabState) {
    old.title = std::mem::take(&mut lab.title);
    let shown = old.pictures.panels.get(old.pictures.chosen).copied();
    old.pictures.panels = std::mem::take(&mut lab.pictures.panels);
    old.pictures.listed = std::mem::take(&mut lab.pictures.listed);
    old.pictures.chosen =
        old.pictures.panels.iter().position(|&panel| Some(panel) == shown).unwrap_or(0);
    *lab = old;
}

fn same_block(old: &Lesson, new: &Lesson, block: usize) -> Option<usize> {
    let id = activity(old.blocks.get(block)?)?;
    new.blocks.iter().position(|block| activity(block) == Some(id))
}

fn activity(block: &Block) -> Option<(u8, &str)> {
    match block {
        Block::Lab(lab) => Some((0, &lab.id)),
        Block::Predict(predict) => Some((1, &predict.id)),
        Block::Question(question) => Some((2, &question.id)),
        Block::Check(check) => Some((3, &check.id)),
        Block::Prose(_) | Block::Notes(_) => None,
    }
}

/// Answers are graded by the new version's questions; one that is no answer to them any more is dropped.
fn keep_answers(old: &mut Page, fresh: &mut Page, app: &App) {
    let lesson = fresh.lesson.clone();
    for (id, Answered { given, .. }) in std::mem::take(&mut old.answers) {
        let Some(question) = lesson.question(&id) else { continue };
        if let Ok(answered) = fresh.graded(question, given, app.registry) {
            fresh.answers.insert(id, answered);
        }
    }
    for predict in lesson.predictions() {
        if let Some(made) = old.predictions.remove(&predict.id)
            && predict.accepts(&made.given).is_ok()
        {
            fresh.predictions.insert(predict.id.clone(), made);
        }
    }
    for question in lesson.questions() {
        if let Some(shown) = old.hints.remove(&question.id) {
            let shown = shown.min(question.hints.len());
            fresh.hints.insert(question.id.clone(), shown);
        }
    }
}

fn longest_scroll(page: &Page, app: &App) -> usize {
    let (width, height) = view::text_size(app.screen.size);
    document::build(page, width, &app.screen.look).longest_scroll(height)
}

fn lines(page: &Page, app: &App) -> Vec<String> {
    let (width, _) = view::text_size(app.screen.size);
    document::build(page, width, &app.screen.look).lines.iter().map(ToString::to_string).collect()
}

/// Where the new text is to be scrolled to, so that what was read stays where it was.
///
/// Of all lines that both texts have exactly once, such as headings and the heads of activities, the one nearest to
/// the top of the screen holds. A text without any such line begins at its first.
/// At the first line the scroll stays.
fn scroll(old: &[String], scroll: usize, new: &[String]) -> usize {
    let (in_old, in_new) = (places(old), places(new));
    let anchors =
        in_old.iter().filter_map(|(line, old)| Some(((*old)?, in_new.get(line).copied()??)));
    // On a tie the line below the top wins: it is on the screen, the one above is not.
    let nearest = anchors.min_by_key(|(old, _)| (old.abs_diff(scroll), *old < scroll));
    let scrolled = nearest.filter(|_| scroll > 0);
    scrolled.map_or(0, |(old, new)| (new + scroll).saturating_sub(old))
}

fn places(lines: &[String]) -> HashMap<&str, Option<usize>> {
    let mut places = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim();
        if line.chars().any(char::is_alphanumeric) {
            places.entry(line).and_modify(|place| *place = None).or_insert(Some(at));
        }
    }
    places
}

#[cfg(test)]
mod tests;
