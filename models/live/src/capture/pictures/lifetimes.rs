//! Tensors from birth to last use.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Milestone, Span, Timeline, Total};

use super::{Shown, layer};
use mlsys_nn::capture::life::{Life, Phase, alive};
use mlsys_nn::capture::table::Source;

/// Bars beyond these are left out; the curve counts all.
const MOST_LANES: usize = 400;

/// One bar per tensor over the operations of a step, the largest amounts first to be kept, and the total as a curve.
pub(super) fn picture(shown: Shown<'_>) -> Frame {
    let Shown { count, counting, .. } = shown;
    let step = &count.step;
    let mut lives: Vec<&Life> = step.lives.iter().collect();
    if lives.len() > MOST_LANES {
        lives.sort_by_key(|life| std::cmp::Reverse(life.numbers));
        lives.truncate(MOST_LANES);
    }
    lives.sort_by_key(|life| (life.start, life.end));
    let names = super::names(shown.record);
    let mut lanes: Vec<String> = Vec::new();
    let span = |life: &&Life| {
        let label = name(shown, &names, life);
        let known = lanes.iter().position(|lane| *lane == label);
        let lane = known.unwrap_or_else(|| {
            lanes.push(label.clone());
            lanes.len() - 1
        });
        Span {
            lane,
            start: life.start as f64,
            end: (life.end + 1) as f64,
            class: match life.phase {
                Phase::Passing => 0,
                Phase::Kept => 1,
                Phase::Rebuilt => 2,
                Phase::Gradient => 3,
            },
            label,
            amount: Some((counting.bytes * life.numbers) as f64),
        }
    };
    let spans: Vec<Span> = lives.iter().map(span).collect();
    let alive = alive(&step.lives, step.length);
    let points = alive.into_iter().enumerate();
    let points = points.map(|(at, numbers)| (at as f64, (counting.bytes * numbers) as f64));
    Frame::Timeline(Timeline {
        unit: "operation".to_owned(),
        lanes,
        classes: ["passing", "kept for backward", "computed again", "gradient"]
            .map(str::to_owned)
            .to_vec(),
        spans,
        marks: vec![Milestone { at: step.forward as f64, label: "backward begins".to_owned() }],
        total: Some(Total {
            name: "activations alive, by rule".to_owned(),
            unit: "bytes".to_owned(),
            points: points.collect(),
        }),
    })
}

fn name(shown: Shown<'_>, names: &[String], life: &Life) -> String {
    let table = &shown.record.table;
    let Some(tensor) = life.tensor else {
        return "one number a row".to_owned();
    };
    let of = match table.tensors[tensor].source {
        Source::Input => "input".to_owned(),
        Source::Node(node) | Source::Inside(node) => {
            format!("{} {}", layer(shown.record, node), names[node])
        }
        Source::Labels => "labels".to_owned(),
        Source::Parameter(_) | Source::Constant | Source::Moment => "constant".to_owned(),
    };
    match life.phase {
        Phase::Passing | Phase::Kept | Phase::Rebuilt => of,
        Phase::Gradient => format!("gradient of {of}"),
    }
}
