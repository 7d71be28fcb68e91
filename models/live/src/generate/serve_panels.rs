//! The panels of a server: when each request was served, which request owns each page, and the text.

use mlsys_lab::Frame;
use mlsys_lab::frame::{
    Cell, CellRow, Cells, Kind, Milestone, Pane, Paragraph, Span, SpanKind, StyledSpan, StyledText,
    Timeline, Tone,
};

use super::plan::Batching;
use super::plan::Played;
use super::serve::Serving;

/// Makes a picture.
pub(super) type Draw = fn(&Serving) -> Frame;

/// Every panel of a server.
pub(super) const ALL: [(&str, Draw); 3] = [("server", server), ("pages", pages), ("text", text)];

/// Pages in a row.
const ACROSS: usize = 8;

/// Slots over steps, as far as this way has come, and below them those of the other way, whole.
fn server(of: &Serving) -> Frame {
    let own = timeline(&of.played, of.of.server.batching, of.done());
    let (batching, played) = &of.other;
    let other = timeline(played, *batching, played.steps.len());
    Frame::Panes(vec![own, other])
}

fn timeline(played: &Played, batching: Batching, done: usize) -> Pane {
    let steps = played.steps.get(..done).unwrap_or(&played.steps);
    let slots = played.steps.first().map_or(0, |step| step.slots.len());
    let mut spans: Vec<Span> = Vec::new();
    for slot in 0..slots {
        let mut last: Option<(usize, usize)> = None;
        let mut turns = 0;
        for (at, step) in steps.iter().enumerate() {
            let here = step.slots.get(slot).copied().flatten();
            let Some((request, served)) = here else {
                last = None;
                continue;
            };
            // A request that keeps its slot without being served stands there for nothing.
            let has_next = last.is_some_and(|(before, _)| before == request);
            turns += usize::from(!has_next);
            let class = match last {
                Some(before) if before == (request, served) => 2,
                // One after the other in a slot: two colours, so that one sees where the next begins.
                Some(_) | None => (turns + 1) % 2,
            };
            let label = format!("request {}", request + 1);
            match spans.last_mut() {
                Some(span) if has_next && span.lane == slot && span.class == class => {
                    span.end = (at + 1) as f64;
                }
                Some(_) | None => spans.push(Span {
                    lane: slot,
                    start: at as f64,
                    end: (at + 1) as f64,
                    class,
                    label,
                    amount: None,
                }),
            }
            last = here;
        }
    }
    let end = Milestone { at: played.steps.len() as f64, label: "all served".to_owned() };
    let all = played.steps.len();
    Pane {
        title: format!("{} batching, {all} steps", batching.name()),
        frame: Frame::Timeline(Timeline {
            unit: "step".to_owned(),
            lanes: (1..=slots).map(|slot| format!("slot {slot}")).collect(),
            classes: ["served", "served, the next", "done, keeps its slot"]
                .map(str::to_owned)
                .to_vec(),
            spans,
            marks: vec![end],
            total: None,
        }),
    }
}

/// The owner of each page, and how full it is.
fn pages(of: &Serving) -> Frame {
    let owners = of.pool.owners();
    let size = match of.of.server.batching {
        Batching::Static => of.of.server.budget(0),
        Batching::Continuous => of.of.server.page,
    };
    let cell = |owner: &Option<(usize, usize)>| {
        Some(match owner {
            None => Cell::new(2),
            Some((request, tokens)) => Cell {
                kind: usize::from(*tokens < size),
                text: format!("{}:{tokens}", request + 1),
            },
        })
    };
    let rows = owners.chunks(ACROSS).enumerate().map(|(row, part)| CellRow {
        label: (row * ACROSS).to_string(),
        cells: part.iter().map(cell).collect(),
        remark: String::new(),
    });
    // Who is done has given its pages back already, so that the sentence counts what the picture shows.
    let owned: Vec<usize> = owners.iter().flatten().map(|(_, tokens)| *tokens).collect();
    let (held, budget) = (owned.iter().sum::<usize>(), owned.len() * size);
    let kind = |name: &str, tone| Kind { name: name.to_owned(), tone };
    Frame::Cells(Cells {
        across: "page".to_owned(),
        first: 0,
        group: 0,
        kinds: vec![
            kind("full", Tone::First),
            kind("has room", Tone::Second),
            kind("free", Tone::Empty),
        ],
        rows: rows.collect(),
        note: format!(
            "Pages of {size} tokens, each with its request and the tokens in it; {held} tokens in room for {budget}."
        ),
        ..Cells::default()
    })
}

/// The last requests that were served, with what they have been answered.
fn text(of: &Serving) -> Frame {
    let now = of.now().map_or(&[][..], |step| step.slots.as_slice());
    let paragraphs = now.iter().flatten().map(|(request, _)| {
        let prompt = of.of.requests[*request].prompt;
        let (given, own) = of.texts[*request].split_at(prompt);
        let part = |standing, tokens: &[i32]| StyledSpan {
            standing,
            text: of.of.vocabulary.text(tokens).replace('\n', " "),
        };
        Paragraph {
            label: format!("request {}", request + 1),
            stretches: vec![part(0, given), part(1, own)],
        }
    });
    let standing = |name: &str, tone| SpanKind {
        name: name.to_owned(),
        tone,
        marks: [String::new(), String::new()],
    };
    let waiting = of.now().map_or(0, |step| step.waiting);
    Frame::StyledText(StyledText {
        standings: vec![standing("prompt", Tone::Faint), standing("written", Tone::First)],
        paragraphs: paragraphs.collect(),
        note: format!("step {} of {}; {waiting} requests wait", of.done(), of.played.steps.len()),
    })
}
