//! The timeline of a pipeline run: operations by stage, and the activations that each stage keeps.

use crate::pipeline::order::{Operation, Schedule, Work};
use crate::pipeline::simulate::{PipelineRun, Slot};
use mlsys_lab::frame::{Milestone, Span, Timeline, Total};

/// Boxes beyond these are left out, the latest first.
const MOST_BOXES: usize = 20_000;

/// Lanes beyond these are left out, the last stages first.
pub const MOST_LANES: usize = 400;

/// A microbatch's number, with the chunk as a letter where a stage has several.
pub fn label(operation: Operation, chunks: usize) -> String {
    if chunks < 2 {
        return operation.microbatch.to_string();
    }
    let letter = u8::try_from(operation.chunk).ok().filter(|&c| c < 26);
    match letter {
        Some(c) => format!("{}{}", operation.microbatch, char::from(b'a' + c)),
        None => format!("{}.{}", operation.microbatch, operation.chunk),
    }
}

/// The names of the classes of boxes, and the place of an operation's among them.
fn classes(schedule: Schedule) -> Vec<String> {
    let names: &[&str] = if schedule.splits_backward() {
        &["forward", "backward for inputs", "backward for weights"]
    } else {
        &["forward", "backward"]
    };
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The place of an operation's class among [`classes`].
fn class(work: Work) -> usize {
    match work {
        Work::Forward => 0,
        Work::Backward | Work::BackwardInput => 1,
        Work::BackwardWeight => 2,
    }
}

/// A schedule that was played or really ran, in lanes, with the number of stages at work above them.
pub fn lanes(unit: &str, schedule: Schedule, chunks: usize, played: &PipelineRun) -> Timeline {
    let boxes = played.stages.iter().enumerate().take(MOST_LANES);
    let mut spans: Vec<Span> = boxes
        .flat_map(|(lane, slots)| {
            // What takes no time is no box.
            let lasting = slots.iter().filter(|slot| slot.start < slot.end);
            lasting.map(move |slot| Span {
                lane,
                start: slot.start,
                end: slot.end,
                class: class(slot.operation.work),
                label: label(slot.operation, chunks),
                amount: None,
            })
        })
        .collect();
    let mut marks = Vec::new();
    if played.stages.len() > 1 {
        let last = played.stages.last();
        let fill = last.and_then(|slots| slots.first()).map(|slot| slot.start);
        let drain = last.and_then(|slots| slots.last()).map(|slot| slot.end);
        let milestone =
            |(at, label): (Option<f64>, &str)| Some(Milestone { at: at?, label: label.to_owned() });
        let ends = [(fill, "filled"), (drain, "drains")];
        marks.extend(ends.into_iter().filter_map(milestone));
    }
    let slots = played.stages.iter().flatten();
    let working = slots.flat_map(|slot| [(slot.start, 1.0), (slot.end, -1.0)]);
    let mut points = sums(working.collect());
    if spans.len() > MOST_BOXES {
        spans.sort_by(|a, b| a.start.total_cmp(&b.start));
        spans.truncate(MOST_BOXES);
        let until = spans.last().map_or(0.0, |span| span.start);
        points.retain(|&(at, _)| at <= until);
        marks.retain(|mark| mark.at <= until);
        marks.push(Milestone { at: until, label: "goes on".to_owned() });
    }
    let names = played.stages.len().min(MOST_LANES);
    Timeline {
        unit: unit.to_owned(),
        lanes: (0..names).map(|stage| format!("stage {stage}")).collect(),
        classes: classes(schedule),
        spans,
        marks,
        total: Some(Total { name: "stages at work".to_owned(), unit: String::new(), points }),
        ..Timeline::default()
    }
}

/// The sum of changes as a step function.
fn sums(mut changes: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut sum = 0.0;
    for (at, change) in changes {
        sum += change;
        match points.last_mut() {
            Some(last) if last.0 == at => last.1 = sum,
            Some(_) | None => points.push((at, sum)),
        }
    }
    points.dedup_by(|next, last| next.1 == last.1);
    points
}

/// Where a microbatch's activations lie on a stage, and from when to when.
struct Stay {
    place: usize,
    operation: Operation,
    start: f64,
    end: f64,
}

/// Gives every microbatch the first free place from its forward's start to its backward's end.
fn stays(slots: &[Slot]) -> Vec<Stay> {
    let mut places: Vec<Option<(Operation, f64)>> = Vec::new();
    let mut stays = Vec::new();
    for slot in slots {
        let operation = slot.operation;
        match operation.work {
            Work::Forward => {
                let taken = Some((operation, slot.start));
                match places.iter().position(Option::is_none) {
                    Some(free) => places[free] = taken,
                    None => places.push(taken),
                }
            }
            Work::Backward | Work::BackwardInput => {
                let of = |held: &Option<(Operation, f64)>| {
                    held.is_some_and(|(held, _)| {
                        (held.microbatch, held.chunk) == (operation.microbatch, operation.chunk)
                    })
                };
                let Some(place) = places.iter().position(of) else { continue };
                if let Some((operation, start)) = places[place].take() {
                    stays.push(Stay { place, operation, start, end: slot.end });
                }
            }
            Work::BackwardWeight => {}
        }
    }
    // What is still held goes on: an asynchronous pipeline does not drain.
    let end = slots.last().map_or(0.0, |slot| slot.end);
    for (place, held) in places.into_iter().enumerate() {
        if let Some((operation, start)) = held {
            stays.push(Stay { place, operation, start, end });
        }
    }
    stays
}

/// Memory slots of each stage between forward and backward, and how many the first stage keeps above them.
pub fn places(unit: &str, chunks: usize, played: &PipelineRun) -> Timeline {
    let what = if chunks > 1 { "chunks" } else { "microbatches" };
    let mut timeline = Timeline {
        unit: unit.to_owned(),
        // Neighbouring places would be one body in one colour.
        classes: ["even", "odd"]
            .map(|which| format!("{which} microbatch, kept for backward"))
            .to_vec(),
        ..Timeline::default()
    };
    for (stage, slots) in played.stages.iter().enumerate() {
        let stays = stays(slots);
        let needed = stays.iter().map(|stay| stay.place + 1).max().unwrap_or(0);
        // Of what does not fit the first places are shown, and the first microbatches.
        let lanes = needed.min(MOST_LANES - timeline.lanes.len());
        let boxes = MOST_BOXES - timeline.spans.len();
        if lanes == 0 || boxes == 0 {
            break;
        }
        if stage == 0 {
            let changes = stays.iter();
            let changes = changes.flat_map(|stay| [(stay.start, 1.0), (stay.end, -1.0)]);
            timeline.total = Some(Total {
                name: format!("{what} kept on stage 0"),
                unit: String::new(),
                points: sums(changes.collect()),
            });
        }
        let first = timeline.lanes.len();
        let names = (1..=lanes).map(|place| format!("stage {stage}, place {place}"));
        timeline.lanes.extend(names);
        let lasting = stays.iter().filter(|stay| stay.start < stay.end);
        let shown = lasting.filter(|stay| stay.place < lanes).take(boxes);
        timeline.spans.extend(shown.map(|stay| Span {
            lane: first + stay.place,
            start: stay.start,
            end: stay.end,
            class: stay.operation.microbatch % 2,
            label: label(stay.operation, chunks),
            amount: Some(1.0),
        }));
    }
    timeline
}
