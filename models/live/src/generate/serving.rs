//! A run that serves requests: how it begins, its steps, and the panels of its slots, pages and texts.

use mlsys_device as device;
use mlsys_lab::frame::{Cell, CellRow, Cells, Milestone, Pane, Paragraph, Span, StyledSpan};
use mlsys_lab::frame::{StyledText, Timeline, Tone};
use mlsys_lab::picture::{kinds, pane};
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::value::plural;
use mlsys_lab::{Frame, LabError, Params, Run};
use mlsys_nn::baseline::NetworkSource;
use mlsys_nn::memory_budget::MemoryBudget;

use super::generator::Knobs;
use super::panels::{PROMPT, WRITTEN, span_kinds};
use super::params::{FixedParams, Prompts, Setup};
use super::schedule::{Batching, Schedule, Server, requests};
use super::server::{Service, Serving};
use super::{must_fit, network};
use crate::stepped::{self, StepError, SteppedLab, Steps};

pub(super) fn open(run: &mut Run<'_>, setup: &Setup, count: usize) -> Result<Serving, StepError> {
    let (knobs, fixed) = (run.params.read::<Knobs>()?, &setup.fixed);
    let source = NetworkSource::from_params(&run.params, &setup.recipe)?;
    let asked = Prompts::load(&source, setup, count)?;
    let longest = [asked.prompt(), knobs.generated];
    must_fit(MemoryBudget::for_device(run.device), setup, &asked.config, longest)?;
    let trained = source.network(run)?.ok_or(StepError::Stopped)?;
    let device = device::open(run.device)?;
    let (network, config) = network(&trained, &device)?;
    let FixedParams { batching, batch: slots, page_tokens: page, .. } = *fixed;
    let serving = Serving::new(Service {
        network,
        config,
        vocabulary: asked.vocabulary,
        device,
        window: fixed.window,
        server: Server { batching, slots, page, longest },
        requests: requests(count, longest, fixed.arrival_steps, fixed.seed),
        prompts: asked.prompts,
        temperature: knobs.temperature,
        seed: fixed.seed,
    });
    serving.report_plan(run);
    Ok(serving)
}

impl SteppedLab for Serving {
    type Knobs = Knobs;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.done() < self.schedule.steps.len()
    }

    /// The temperature counts from the next token on, and what is planned stays.
    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        let knobs = params.read::<Knobs>()?;
        let [_, answer] = self.service.server.longest;
        if knobs.generated == answer {
            return Ok(knobs);
        }
        let message = "how long each answer becomes is drawn before the first request is served; set it and run again";
        Err(LabError::contradiction(["generated_tokens"], message))
    }

    fn turn(&mut self, _: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.service.temperature = knobs.temperature;
        Ok(())
    }

    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        self.step()?;
        self.report(run);
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        // Before the first token there is nothing to see.
        if self.steps.done > 0 {
            let at = (self.steps.done, moment);
            stepped::draw(run, at, &PANELS, |_, make| make(self));
        }
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        run.scalar("text", self.answer(0));
        Ok(())
    }
}

type ServerPicture = fn(&Serving) -> Frame;

const PANELS: [(&str, ServerPicture); 7] = [
    ("server", slots),
    ("pages", pages),
    ("text", answers),
    ("cache", no_batch),
    ("latency", no_batch),
    ("phases", no_batch),
    ("attention", no_batch),
];

fn no_batch(_: &Serving) -> Frame {
    let text = "Requests come and go here, each with a cache of its own: look at server and pages, or leave \
                requests unset.";
    Frame::Text(text.to_owned())
}

const ACROSS: usize = 8;

/// Slots over steps so far, and below them those of the other kind of batching, whole.
fn slots(serving: &Serving) -> Frame {
    let own = (&serving.schedule, serving.service.server.batching);
    let other = (&serving.other.1, serving.other.0);
    let whole = other.0.steps.len();
    Frame::Panes(vec![timeline(own, serving.done(), other), timeline(other, whole, own)])
}

/// The slots of one kind of batching, on an axis that reaches to the end of both.
fn timeline(
    (schedule, batching): (&Schedule, Batching),
    done: usize,
    compared: (&Schedule, Batching),
) -> Pane {
    let steps = schedule.steps.get(..done).unwrap_or(&schedule.steps);
    let slots = schedule.steps.first().map_or(0, |step| step.slots.len());
    let mut spans: Vec<Span> = Vec::new();
    for slot in 0..slots {
        let mut last: Option<(usize, usize)> = None;
        let mut requests = 0;
        for (at, step) in steps.iter().enumerate() {
            let now = step.slots.get(slot).copied().flatten();
            let before = std::mem::replace(&mut last, now);
            let Some((request, _)) = now else { continue };
            let is_same = before.is_some_and(|(other, _)| other == request);
            requests += usize::from(!is_same);
            // The request keeps its slot without being served; else neighbours in a slot have two colours.
            let class = if before == now { 2 } else { (requests + 1) % 2 };
            let (start, end) = (at as f64, (at + 1) as f64);
            match spans.last_mut() {
                Some(span) if is_same && span.lane == slot && span.class == class => span.end = end,
                Some(_) | None => {
                    let label = format!("request {}", request + 1);
                    spans.push(Span { lane: slot, start, end, class, label, amount: None });
                }
            }
        }
    }
    let all = schedule.steps.len();
    let end = |at: usize, label: String| Milestone { at: at as f64, label };
    let mut marks = vec![
        end(all, "all served".to_owned()),
        end(compared.0.steps.len(), format!("{} ends", compared.1.name())),
    ];
    marks.sort_by(|a, b| a.at.total_cmp(&b.at));
    let classes = ["served", "served, next request", "done, keeps its slot"];
    let timeline = Timeline {
        unit: "step".to_owned(),
        lanes: (1..=slots).map(|slot| format!("slot {slot}")).collect(),
        classes: classes.map(str::to_owned).to_vec(),
        spans,
        marks,
        ..Timeline::default()
    };
    pane(format!("{} batching, {all} steps", batching.name()), Frame::Timeline(timeline))
}

/// The owner of each page, and how full it is; once all are free, at the fullest step.
fn pages(serving: &Serving) -> Frame {
    let now = serving.pool.owners();
    let (step, fullest) = &serving.fullest;
    let (owners, when) = if now.iter().all(Option::is_none) {
        (
            fullest,
            format!("All pages are free again; this is step {step}, which filled most of them. "),
        )
    } else {
        (&now, String::new())
    };
    let size = serving.service.server.page_size();
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
    // Requests that are done have given their pages back, so that the sentence counts what the picture shows.
    let owned: Vec<usize> = owners.iter().flatten().map(|(_, tokens)| *tokens).collect();
    let (held, budget) = (owned.iter().sum::<usize>(), owned.len() * size);
    Frame::Cells(Cells {
        across: "page".to_owned(),
        kinds: kinds([("full", Tone::First), ("has room", Tone::Second), ("free", Tone::Empty)]),
        rows: rows.collect(),
        note: format!(
            "{when}Pages of {}, each with its request and the tokens in it; {held} tokens in room for {budget}.",
            plural(size, "token")
        ),
        ..Cells::default()
    })
}

/// The requests that were served last, with their answers so far.
fn answers(serving: &Serving) -> Frame {
    let step = serving.now();
    let served = step.map_or(&[][..], |step| step.slots.as_slice());
    let paragraphs = served.iter().flatten().map(|(request, _)| {
        let prompt = serving.service.requests[*request].prompt;
        let (given, own) = serving.texts[*request].split_at(prompt);
        let part = |standing, tokens: &[i32]| StyledSpan {
            standing,
            text: serving.service.vocabulary.text(tokens).replace('\n', " "),
        };
        Paragraph {
            label: format!("request {}", request + 1),
            stretches: vec![part(PROMPT, given), part(WRITTEN, own)],
        }
    });
    let waiting = step.map_or(0, |step| step.waiting);
    let (done, all) = (serving.done(), serving.schedule.steps.len());
    Frame::StyledText(StyledText {
        standings: span_kinds(),
        paragraphs: paragraphs.collect(),
        note: format!("step {done} of {all}; {waiting} requests wait"),
    })
}
