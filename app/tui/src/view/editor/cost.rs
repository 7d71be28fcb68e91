//! What a kernel's run cost, compared with the run before it and the best right one of the session.

use std::cmp::Ordering;

use mlsys_lab::{RunData, Value};

use crate::state::{App, LabState, Page, RunStatus};

/// The cost of a lab's run that has ended; none if the lab runs no kernel.
pub(super) fn line(app: &App, page: &Page, lab: &LabState) -> Option<String> {
    if lab.run.state != RunStatus::Finished {
        return None;
    }
    let lesson = page.lesson.front.id.as_str();
    compared(&lab.run.data, lab.other_versions(lesson, &app.session.finished.all))
}

fn compared<'a>(now: &RunData, earlier: impl Iterator<Item = &'a RunData>) -> Option<String> {
    let cycles = count(now, "modelled_cycles")?;
    let sectors = count(now, "global_load_sectors")? + count(now, "global_store_sectors")?;
    let bound = now.metric("limited_by")?;
    let mut line = format!(
        "{} instructions, {sectors} sectors, {} bank replays; modelled: {cycles} cycles, limited by {bound}",
        count(now, "warp_instructions")?,
        count(now, "bank_replays")?,
    );
    let earlier: Vec<&RunData> = earlier.collect();
    if let Some(last) = earlier.last().and_then(|last| count(last, "modelled_cycles")) {
        line += &match cycles - last {
            0 => "; as before".to_owned(),
            more @ 1.. => format!("; {more} more than before"),
            fewer => format!("; {} fewer than before", -fewer),
        };
    }
    let is_right = |one: &RunData| one.metric("correct") == Some(Value::Bool(true));
    let right = earlier.iter().filter(|one| is_right(one));
    if let Some(best) = right.filter_map(|one| count(one, "modelled_cycles")).min() {
        line += &match best.cmp(&cycles) {
            _ if !is_right(now) => format!(", best right {best}"),
            Ordering::Less => format!(", best {best}"),
            Ordering::Equal => ", equal to the best".to_owned(),
            Ordering::Greater => ", the best so far".to_owned(),
        };
    }
    if now.metric("correct") == Some(Value::Bool(false)) {
        line += match count(now, "mismatches")? {
            0 => "; the run has faults",
            _ => "; the result is wrong",
        };
    }
    Some(line)
}

fn count(data: &RunData, name: &str) -> Option<i64> {
    match data.metric(name)? {
        Value::Int(count) => Some(count),
        Value::Bool(_) | Value::Float(_) | Value::Text(_) | Value::Array(_) | Value::Table(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use mlsys_lab::report::{Report, Sink};

    use super::*;

    fn run(cycles: i64, correct: bool) -> RunData {
        run_with(cycles, correct, if correct { 0 } else { 3 })
    }

    fn run_with(cycles: i64, correct: bool, mismatches: i64) -> RunData {
        let mut data = RunData::default();
        let mut scalar = |name: &str, value: Value| {
            data.report(Report::Scalar { name: name.into(), value });
        };
        for name in
            ["global_load_sectors", "global_store_sectors", "warp_instructions", "bank_replays"]
        {
            scalar(name, Value::Int(7));
        }
        scalar("modelled_cycles", Value::Int(cycles));
        scalar("limited_by", Value::Text("latency".to_owned()));
        scalar("correct", Value::Bool(correct));
        scalar("mismatches", Value::Int(mismatches));
        data
    }

    #[test]
    fn a_run_is_compared_with_the_last_and_the_best_right_one() {
        let said =
            "7 instructions, 14 sectors, 7 bank replays; modelled: 436 cycles, limited by latency";
        for (now, earlier, end) in [
            (run(436, true), vec![], ""),
            (run(436, false), vec![], "; the result is wrong"),
            // A race may leave the right values.
            (run_with(436, false, 0), vec![], "; the run has faults"),
            (run(436, true), vec![run(436, true)], "; as before, equal to the best"),
            (run(436, true), vec![run(720, true)], "; 284 fewer than before, the best so far"),
            (
                run(436, false),
                vec![run(720, true)],
                "; 284 fewer than before, best right 720; the result is wrong",
            ),
            (
                run(436, true),
                vec![run(400, true), run(300, false), run(500, true)],
                "; 64 fewer than before, best 400",
            ),
            (run(436, true), vec![run(430, false)], "; 6 more than before"),
        ] {
            assert_eq!(compared(&now, earlier.iter()), Some(format!("{said}{end}")));
        }
        assert_eq!(compared(&RunData::default(), [].into_iter()), None);
    }
}
