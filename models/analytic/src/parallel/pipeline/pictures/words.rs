//! A schedule in tables: compared with the others, and step by step.

use mlsys_lab::Frame;
use mlsys_lab::value::number;

use super::MOST_COMPARED;
use crate::parallel::pipeline::{Outcome, Setup};
use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, percent};
use mlsys_sim::pipeline::Schedule;

/// The schedules that the lab plays through.
const COMPARED: [Schedule; 5] = [
    Schedule::GPipe,
    Schedule::OneForwardOneBackward,
    Schedule::Interleaved,
    Schedule::ZeroBubbleH1,
    Schedule::ZeroBubbleH2,
];

/// Chunks that interleaving is compared with where another schedule is chosen.
const CHUNKS: usize = 2;

/// Every schedule with the same stages, microbatches and times.
pub(in crate::parallel::pipeline) fn schedules(setup: &Setup) -> Frame {
    let row = |schedule: Schedule| {
        let interleaves = schedule == Schedule::Interleaved;
        let chunks = match (interleaves, setup.schedule == schedule) {
            (true, true) => setup.chunks,
            (true, false) => CHUNKS,
            (false, _) => 1,
        };
        let places = setup.stages * chunks;
        let large = places.saturating_mul(setup.microbatches) > MOST_COMPARED;
        if large && setup.schedule != schedule {
            return None;
        }
        let outcome = Setup { schedule, chunks, ..*setup }.outcome().ok()?;
        let chosen = if schedule == setup.schedule { " (this)" } else { "" };
        let name = if interleaves {
            format!("{}, {chunks} chunks{chosen}", schedule.name())
        } else {
            format!("{}{chosen}", schedule.name())
        };
        let most = (0..setup.stages).map(|stage| outcome.played.idle(stage));
        Some([
            name.into(),
            outcome.makespan.into(),
            outcome.bubble().into(),
            percent(outcome.fraction()).into(),
            percent(outcome.over_ideal()).into(),
            most.fold(0.0, f64::max).into(),
            outcome.peak(0).into(),
            whole(2 * (places - 1) * setup.microbatches).into(),
        ])
    };
    picture::table(
        [
            "schedule",
            "makespan",
            "bubble",
            "of the whole",
            "over ideal",
            "longest wait of a stage once begun",
            "stage 0 keeps",
            "messages",
        ],
        COMPARED.into_iter().filter_map(row).collect(),
    )
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// What the papers say the schedule waits for, as a formula, with numbers, and its value.
fn theory(setup: &Setup) -> Option<(&'static str, &'static str, String, f64)> {
    let (p, times) = (setup.stages as f64, setup.times);
    let (f, b, w) = (times.forward, times.backward_input, times.backward_weight);
    let numbers = format!("({p} - 1)*({} + {} + {})", number(f), number(b), number(w));
    let whole = (p - 1.0) * (f + b + w);
    Some(match setup.schedule {
        Schedule::GPipe | Schedule::OneForwardOneBackward => {
            ("bubble, in theory", "(p-1)(F+B+W)", numbers, whole)
        }
        Schedule::Interleaved => {
            let v = setup.chunks as f64;
            let numbers = format!("{numbers}/{v}");
            ("bubble, in theory", "(p-1)(F+B+W)/v", numbers, whole / v)
        }
        Schedule::ZeroBubbleH1 => (
            "bubble, in theory",
            "(p-1)(F+B-W)",
            format!("({p} - 1)*({} + {} - {})", number(f), number(b), number(w)),
            (p - 1.0) * (f + b - w),
        ),
        Schedule::ZeroBubbleH2 => (
            "wait of the first stage, in theory",
            "(p-1)(F+B-2W)",
            format!("({p} - 1)*({} + {} - 2*{})", number(f), number(b), number(w)),
            (p - 1.0) * (f + b - 2.0 * w),
        ),
        Schedule::Asynchronous => return None,
    })
}

pub(in crate::parallel::pipeline) fn steps(setup: &Setup, outcome: &Outcome) -> Frame {
    let (p, m) = (setup.stages, setup.microbatches);
    let times = setup.times;
    let (f, b, w) = (times.forward, times.backward_input, times.backward_weight);
    let mut steps = Steps::default();
    steps.add(
        "ideal time, nobody waits",
        "m(F+B+W)",
        format!("{m}*({} + {} + {})", number(f), number(b), number(w)),
        outcome.ideal,
    );
    if let Some((quantity, formula, numbers, value)) = theory(setup) {
        steps.add(quantity, formula, numbers, value);
    }
    steps.add(
        "makespan, played through",
        "end of the last operation",
        format!("{} operations", outcome.plan.operations()),
        outcome.makespan,
    );
    steps.add(
        "bubble",
        "makespan - ideal time",
        format!("{} - {}", number(outcome.makespan), number(outcome.ideal)),
        outcome.bubble(),
    );
    let over = |by: f64| format!("{}/{}", number(outcome.bubble()), number(by));
    steps.add(
        "share of the whole time (GPipe)",
        "bubble/makespan",
        over(outcome.makespan),
        percent(outcome.fraction()),
    );
    steps.add(
        "over the ideal time (Narayanan et al.)",
        "bubble/ideal time",
        over(outcome.ideal),
        percent(outcome.over_ideal()),
    );
    let (formula, numbers) = match setup.schedule {
        Schedule::GPipe => ("m", m.to_string()),
        Schedule::OneForwardOneBackward | Schedule::ZeroBubbleH1 | Schedule::Asynchronous => {
            ("min(p, m)", format!("min({p}, {m})"))
        }
        Schedule::ZeroBubbleH2 => ("min(2p-1, m)", format!("min(2*{p} - 1, {m})")),
        Schedule::Interleaved => {
            let v = setup.chunks;
            let numbers = format!("min(2*({p} - 1) + ({v} - 1)*{p} + 1, {m}*{v})/{v}");
            ("min(2(p-1) + (v-1)p + 1, mv)/v", numbers)
        }
    };
    steps.add("microbatches that stage 0 keeps", formula, numbers, outcome.peak(0));
    let places = p * setup.chunks;
    let (formula, numbers) = match setup.schedule {
        Schedule::Interleaved => ("2m(pv-1)", format!("2*{m}*({p}*{} - 1)", setup.chunks)),
        Schedule::GPipe
        | Schedule::OneForwardOneBackward
        | Schedule::ZeroBubbleH1
        | Schedule::ZeroBubbleH2
        | Schedule::Asynchronous => ("2m(p-1)", format!("2*{m}*({p} - 1)")),
    };
    steps.add("messages between stages", formula, numbers, whole(2 * m * (places - 1)));
    steps.table()
}
