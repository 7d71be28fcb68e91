//! A lab in plain lines: its knobs, its run and its pictures.

use mlsys_lab::value::number;
use mlsys_lesson::LabDirective;

use super::sentence;
use crate::state::lab::{Knob, LabState, State};
use crate::state::page::Page;
use mlsys_view::panel::words;

pub(super) fn lab_lines(page: &Page, lab: &LabDirective) -> Vec<String> {
    let Some(slot) = page.labs.iter().find(|slot| slot.id == lab.id) else {
        return Vec::new();
    };
    let mut lines = sentence(&format!(
        "Lab {}: {}. {}",
        slot.id,
        slot.title,
        match &slot.run.state {
            State::Ready => "Type run to run it.".to_owned(),
            state @ (State::Running
            | State::Paused
            | State::Finished
            | State::Diverged(_)
            | State::Stopped
            | State::Failed(_)) => format!("It has {}.", past(state)),
        }
    ));
    lines.extend(knobs(slot));
    lines
}

fn past(state: &State) -> &'static str {
    match state {
        State::Ready => "not run",
        State::Running => "started and runs",
        State::Paused => "paused",
        State::Finished => "finished",
        State::Diverged(_) => "diverged",
        State::Stopped => "stopped",
        State::Failed(_) => "failed",
    }
}

/// The knobs of a lab with their values and what they may be.
pub fn knobs(slot: &LabState) -> Vec<String> {
    if slot.controls.knobs.is_empty() {
        return Vec::new();
    }
    let mut lines = vec!["Knobs, turned by set NAME VALUE:".to_owned()];
    for knob in &slot.controls.knobs {
        lines.extend(sentence(&format!("- {}", knob_words(knob))));
    }
    lines
}

fn knob_words(knob: &Knob) -> String {
    let value = knob.value.as_ref().map_or("not set".to_owned(), ToString::to_string);
    let may_be = if knob.values.is_empty() {
        knob.range_text()
    } else {
        let values: Vec<_> = knob.values.iter().map(ToString::to_string).collect();
        values.join(", ")
    };
    let turned = match &knob.initial {
        Some(initial) if knob.initial != knob.value => format!("; in the lesson {initial}"),
        Some(_) | None => String::new(),
    };
    format!("{} is {value} ({may_be}{turned})", knob.name)
}

/// The pictures of a lab in words.
pub fn pictures(slot: &LabState) -> Vec<String> {
    slot.pictures
        .panels
        .iter()
        .filter_map(|&index| slot.scene(index))
        .flat_map(|scene| sentence(&words(&scene).replace("press space to run", "type run")))
        .collect()
}

/// How far a run is.
pub fn progress(slot: &LabState) -> String {
    let data = &slot.run.data;
    if data.step == 0 {
        let status = if data.status.is_empty() { "starting" } else { &data.status };
        return format!("{}: {status}.", slot.id);
    }
    let of = slot.steps().map_or_else(String::new, |all| format!(" of {all}"));
    let loss = data.series.get("loss").and_then(|loss| loss.last());
    let loss = loss.map_or_else(String::new, |loss| format!(", loss {}", number(loss)));
    format!("{}: step {}{of}{loss}.", slot.id, data.step)
}

/// How a run ended.
pub fn end(slot: &LabState) -> Vec<String> {
    let took = format!(
        "{} steps in {:.1} s{}",
        slot.run.data.step,
        slot.run.elapsed.as_secs_f64(),
        slot.run.device.map_or_else(String::new, |device| format!(" on {device}"))
    );
    let mut lines = sentence(&match &slot.run.state {
        State::Finished if slot.schema.is_live() => format!("{} finished: {took}.", slot.id),
        State::Finished => format!("{} has answered.", slot.id),
        State::Diverged(reason) => format!("{} diverged: {took}. {reason}", slot.id),
        State::Stopped => format!("{} stopped: {took}.", slot.id),
        State::Failed(reason) => format!(
            "{} failed: {}",
            slot.id,
            reason.replace("d takes another device, space runs again", "run runs it again")
        ),
        State::Ready | State::Running | State::Paused => String::new(),
    });
    lines.extend(slot.run.data.notices.iter().flat_map(|said| sentence(said)));
    lines.extend(pictures(slot));
    lines
}
