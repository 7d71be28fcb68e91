//! Kind `divergence`: a branch evaluated for every thread of a block: the warps that must run both sides.

use mlsys_lab::frame::{Cells, Pane, Tone};
use mlsys_lab::{Frame, LabError, Params, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::integer::div_up;
use mlsys_sim::pattern::{LANES, Pattern};

/// What a condition may speak of.
const NAMES: [&str; 5] = ["tid", "lane", "warp", "warpSize", "s"];

/// Values of s that are drawn.
const DRAWN_STEPS: usize = 32;

/// Values of s that one run takes.
const MOST_STEPS: usize = 4096;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let branch = Branch::read(&run.params)?;
    let steps = branch.evaluate(run.params.text("condition")?)?;
    let divergent: Vec<i64> = steps.iter().map(Outcome::divergent).collect();
    let passes: i64 = steps.iter().map(Outcome::passes).sum();
    let issued = LANES * passes;
    let useful = branch.threads * steps.len() as i64;
    values.set("warps", branch.warps());
    let listed = divergent.iter().copied().map(Value::Int).collect();
    values.set("divergent_warps_per_step", Value::Array(listed));
    values.set("divergent_warps", divergent.iter().sum::<i64>());
    values.set("lane_efficiency", useful as f64 / issued as f64);
    picture::offer(run, "lanes", || branch.lanes(&steps));
    picture::offer(run, "evaluations", || evaluations(&steps));
    picture::offer(run, "steps", || branch.steps(&steps, passes));
    Ok(values)
}

/// What is branched on.
struct Branch {
    threads: i64,
    /// What s takes, one evaluation each.
    values: Vec<i64>,
}

/// One evaluation: for each thread whether it takes the branch.
struct Outcome {
    s: i64,
    taken: Vec<bool>,
}

impl Branch {
    fn read(params: &Params) -> Result<Self, LabError> {
        let refuse = || {
            LabError::contradiction(
                ["steps"],
                format!("expected 1 to {MOST_STEPS} whole numbers, such as [1, 2, 4]"),
            )
        };
        let Some(Value::Array(list)) = params.get("steps") else {
            return Err(refuse());
        };
        if list.is_empty() || list.len() > MOST_STEPS {
            return Err(refuse());
        }
        let whole = |value: &Value| match value.as_f64() {
            Some(x) if x.fract() == 0.0 && x.abs() <= (1_i64 << 53) as f64 => Ok(x as i64),
            Some(_) | None => Err(refuse()),
        };
        Ok(Self {
            threads: params.int("threads")?,
            values: list.iter().map(whole).collect::<Result<_, _>>()?,
        })
    }

    fn warps(&self) -> i64 {
        div_up(self.threads, LANES)
    }

    fn evaluate(&self, condition: &str) -> Result<Vec<Outcome>, LabError> {
        let pattern = Pattern::read("condition", condition, &NAMES)?;
        let taken = |s: i64| {
            (0..self.threads)
                .map(|tid| Ok(pattern.at(&[tid, tid % LANES, tid / LANES, LANES, s])? != 0))
                .collect::<Result<Vec<bool>, LabError>>()
        };
        let outcome = |&s: &i64| Ok(Outcome { s, taken: taken(s)? });
        self.values.iter().map(outcome).collect()
    }

    /// Each evaluation, a row a warp: which lanes take the branch, which the other side.
    fn lanes(&self, outcomes: &[Outcome]) -> Frame {
        let panes: Vec<Pane> = outcomes
            .iter()
            .take(DRAWN_STEPS)
            .map(|outcome| {
                let (divergent, warps) = (outcome.divergent(), self.warps());
                let title = format!("s = {}: {divergent} of {warps} warps diverge", outcome.s);
                picture::pane(title, outcome.picture())
            })
            .collect();
        match <[Pane; 1]>::try_from(panes) {
            Ok([only]) => only.frame,
            Err(panes) => Frame::Panes(panes),
        }
    }

    fn steps(&self, outcomes: &[Outcome], passes: i64) -> Frame {
        let mut steps = Steps::default();
        let numbers = format!("div_up({}, 32)", self.threads);
        steps.add("warps", "div_up(threads, 32)", numbers, self.warps());
        let divergent: i64 = outcomes.iter().map(Outcome::divergent).sum();
        steps.add(
            "divergent_warps",
            "warps whose threads disagree, over all values of s",
            "",
            divergent,
        );
        let whole = self.warps() * outcomes.len() as i64;
        let numbers = format!("{whole} + {divergent}");
        steps.add("passes", "one a warp, two if divergent", numbers, passes);
        let (threads, count) = (self.threads, outcomes.len());
        steps.add(
            "lane_efficiency",
            "threads*len(steps)/(32*passes)",
            format!("{threads}*{count}/(32*{passes})"),
            (threads * count as i64) as f64 / (LANES * passes) as f64,
        );
        steps.table()
    }
}

impl Outcome {
    fn warps(&self) -> impl Iterator<Item = &[bool]> {
        self.taken.chunks(LANES as usize)
    }

    /// Warps of which some threads take the branch and others do not.
    fn divergent(&self) -> i64 {
        let disagree = |warp: &&[bool]| warp.contains(&true) && warp.contains(&false);
        self.warps().filter(disagree).count() as i64
    }

    fn passes(&self) -> i64 {
        self.warps().count() as i64 + self.divergent()
    }

    fn picture(&self) -> Frame {
        let row = |(place, warp): (usize, &[bool])| {
            let lane = |lane: usize| warp.get(lane).map(|taken| usize::from(!taken));
            let remark = match (warp.contains(&true), warp.contains(&false)) {
                (true, true) => "diverges: both sides, 2 passes",
                (true, false) => "all take it: 1 pass",
                (false, _) => "none takes it: 1 pass",
            };
            picture::row(format!("warp {place}"), (0..LANES as usize).map(lane), remark)
        };
        Frame::Cells(Cells {
            across: "lane".to_owned(),
            group: 8,
            first: 0,
            kinds: picture::kinds([
                ("takes the branch", Tone::First),
                ("takes the other side", Tone::Second),
            ]),
            rows: self.warps().enumerate().map(row).collect(),
            note: format!(
                "A warp issues one instruction for all its lanes: it runs a side as long as one lane needs it. {} of {} warps run both.",
                self.divergent(),
                self.warps().count()
            ),
            ..Cells::default()
        })
    }
}

fn evaluations(steps: &[Outcome]) -> Frame {
    let row = |step: &Outcome| {
        let taking = step.taken.iter().filter(|taken| **taken).count();
        [
            Value::Int(step.s),
            Value::Int(taking as i64),
            Value::Int(step.divergent()),
            Value::Int(step.passes()),
        ]
    };
    picture::table(
        ["s", "threads that take it", "divergent warps", "passes"],
        steps.iter().map(row).collect(),
    )
}
