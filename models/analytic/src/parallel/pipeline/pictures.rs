//! What a pipeline's schedule looks like.

mod words;

use mlsys_lab::Frame;
use mlsys_lab::picture;
use mlsys_lab::value::number;
use mlsys_sim::pipeline::{Schedule, lanes, places};

use super::{Outcome, Setup};

pub(super) use words::{schedules, steps};

/// Operations that a row of a comparison may cost.
const MOST_COMPARED: usize = 400_000;

pub(super) fn timeline(setup: &Setup, outcome: &Outcome) -> Frame {
    Frame::Timeline(lanes("time", setup.schedule, setup.chunks, &outcome.played))
}

pub(super) fn kept(setup: &Setup, outcome: &Outcome) -> Frame {
    Frame::Timeline(places("time", setup.chunks, &outcome.played))
}

/// The same schedule with other numbers of microbatches.
pub(super) fn microbatches(setup: &Setup) -> Frame {
    let unit = match setup.schedule {
        Schedule::Interleaved => setup.stages,
        Schedule::GPipe
        | Schedule::OneForwardOneBackward
        | Schedule::ZeroBubbleH1
        | Schedule::ZeroBubbleH2
        | Schedule::Asynchronous => 1,
    };
    let mut counts: Vec<usize> = (0..9).map(|power| unit << power).collect();
    counts.push(setup.microbatches);
    counts.sort_unstable();
    counts.dedup();
    let bar = |count: usize| {
        let large = count.saturating_mul(setup.stages * setup.chunks) > MOST_COMPARED;
        if large && count != setup.microbatches {
            return None;
        }
        let other = Setup { microbatches: count, ..*setup };
        let outcome = other.outcome().ok()?;
        let this = if count == setup.microbatches { " (this)" } else { "" };
        let remark = format!("stage 0 keeps {}", number(outcome.peak(0)));
        let label = format!("{count} microbatches{this}");
        Some(picture::bar(label, 100.0 * outcome.fraction(), remark))
    };
    picture::bars("% idle", counts.into_iter().filter_map(bar).collect())
}
