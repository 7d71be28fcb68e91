//! A page of the new version of a lesson with everything of the old one that still belongs to it.

use mlsys_lesson::{Answer, Block, Knob, LabDirective, Lesson, Setting};

use super::super::app::App;
use super::super::editor::Subject;
use super::super::entry::For;
use super::super::page::{Answered, Page};
use super::super::slot::Slot;
use super::super::view;
use super::anchor;

/// What came of it.
pub(super) struct Renewed {
    /// The page of the new version.
    pub(super) page: Page,
    /// Where the lab whose run goes on is now, if it is still there.
    pub(super) running: Option<usize>,
    /// What the author should know.
    pub(super) notice: Option<String>,
}

/// Carries over what belongs together by its id: labs that are set as they were with their runs, answers graded
/// afresh, predictions and hints, the marked activity, the open field and the place in the text.
pub(super) fn renew(mut old: Page, mut fresh: Page, running: Option<usize>, app: &App) -> Renewed {
    let running_id = running.and_then(|slot| old.slots.get(slot).map(|slot| slot.id.clone()));
    let shown_id = old.slot().map(|slot| slot.id.clone());
    let reminded_id = old.reminded.and_then(|slot| old.slots.get(slot).map(|slot| slot.id.clone()));
    let old_slot_ids: Vec<String> = old.slots.iter().map(|slot| slot.id.clone()).collect();
    let before = anchor::lines(&old, app);

    let mut changed = Vec::new();
    let mut kept_run = None;
    for (index, slot) in fresh.slots.iter_mut().enumerate() {
        let Some(at) = old.slots.iter().position(|old| old.id == slot.id) else {
            continue;
        };
        if is_set_alike(&old.lesson, &fresh.lesson, &slot.id) && old.slots[at].seed == slot.seed {
            if running_id.as_ref() == Some(&slot.id) {
                kept_run = Some(index);
            }
            let old = old.slots.remove(at);
            take_over(slot, old);
        } else {
            changed.push((slot.id.clone(), running_id.as_ref() == Some(&slot.id)));
        }
    }
    let removed = running_id.filter(|id| !fresh.slots.iter().any(|slot| slot.id == *id));

    let slot_at = |id: Option<String>| {
        let id = id?;
        fresh.slots.iter().position(|slot| slot.id == id)
    };
    fresh.current = slot_at(shown_id).unwrap_or(0);
    fresh.reminded = slot_at(reminded_id);
    if !fresh.slots.is_empty() {
        fresh.side = old.side;
        fresh.full_screen = old.full_screen;
    }
    fresh.telling = old.telling;
    fresh.audience = old.audience;
    fresh.marked =
        old.marked.and_then(|block| same_block(&old.lesson, &fresh.lesson, block)).or(fresh.marked);
    fresh.entry = old.entry.take().and_then(|mut entry| {
        if let For::Block(block) = entry.purpose {
            entry.purpose = For::Block(same_block(&old.lesson, &fresh.lesson, block)?);
        }
        Some(entry)
    });
    fresh.editor = old.editor.take().and_then(|mut editor| {
        match &mut editor.subject {
            Subject::Question(block) => {
                *block = same_block(&old.lesson, &fresh.lesson, *block)?;
            }
            Subject::Lab(place, _) => {
                let id = old_slot_ids.get(*place)?;
                *place = fresh.slots.iter().position(|slot| slot.id == *id)?;
            }
        }
        Some(editor)
    });
    fresh.trials = std::mem::take(&mut old.trials);
    keep_answers(&mut old, &mut fresh, app);
    fresh.judge(app.machine());
    fresh.scroll = anchor::scroll(&before, old.scroll, &anchor::lines(&fresh, app))
        .min(longest_scroll(&fresh, app));
    Renewed { notice: notice(&changed, removed.as_deref()), page: fresh, running: kept_run }
}

/// What an author reads about labs that could not be kept.
fn notice(changed: &[(String, bool)], removed: Option<&str>) -> Option<String> {
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
    let setting = |setting: &Setting| (setting.name.clone(), setting.value.clone());
    let knob = |knob: &Knob| {
        (knob.param.clone(), knob.values.clone(), (knob.min, knob.max), knob.default.clone())
    };
    let what = |lab: &LabDirective| {
        (
            lab.kind.value.clone(),
            lab.devices.clone(),
            lab.set.iter().map(setting).collect::<Vec<_>>(),
            lab.knobs.iter().map(knob).collect::<Vec<_>>(),
        )
    };
    match (old.lab(id), new.lab(id)) {
        (Some(old), Some(new)) => what(old) == what(new),
        _ => false,
    }
}

/// Puts the old lab, with its run and its knobs, in the place of the new one, whose titles and panels hold.
fn take_over(slot: &mut Slot, mut old: Slot) {
    old.title = std::mem::take(&mut slot.title);
    let shown = old.panels.get(old.panel).copied();
    old.panels = std::mem::take(&mut slot.panels);
    old.panel = old.panels.iter().position(|&panel| Some(panel) == shown).unwrap_or(0);
    *slot = old;
}

/// The block of the new version that is the same activity.
fn same_block(old: &Lesson, new: &Lesson, block: usize) -> Option<usize> {
    let id = activity(old.blocks.get(block)?)?;
    new.blocks.iter().position(|block| activity(block) == Some(id))
}

/// What kind of activity a block is, and its id.
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
    let given: Vec<(String, Answer)> = std::mem::take(&mut old.answers)
        .into_iter()
        .map(|(id, answered)| (id, answered.given))
        .collect();
    for (id, given) in given {
        let Some(question) = lesson.question(&id) else {
            continue;
        };
        if let Some((right, feedback)) = fresh.graded(question, &given, app.registry) {
            let answered = Answered { given, right, feedback };
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
    let (width, height) = view::text_size(app.size);
    super::super::document::length(page, width, &app.look).saturating_sub(height)
}
