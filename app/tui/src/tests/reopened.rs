//! A lesson that is opened in a later session, with what the log kept of the earlier one.

use mlsys_lesson::{Block, Progress, Record};

use super::{Bench, asked, read};
use crate::message::Effect;
use crate::state::Side;

const LESSON: &str = r#"+++
format = 1
id = "a/b"
title = "B"
minutes = 1
+++

```{lab} spare
kind = "train"
```

```{predict} early
type = "numeric"
prompt = "How many warps?"
metric = "blocks.warps_per_sm"
unit = "warps"
explain = "Four schedulers share them."
[[outcome]]
when = "blocks.warps_per_sm > 1"
say = "More than one."
```

```{lab} blocks
kind = "occupancy"
[knob.threads_per_block]
```

```{try} wide
type = "numeric"
lab = "blocks"
set = { threads_per_block = 1024 }
prompt = "And with 1024?"
metric = "wide.warps_per_sm"
explain = "It is a whole block."
```

```{check} c
assert = "blocks.warps_per_sm > 1"
class = "exact"
```
"#;

/// What a learner did, as the lines of a log.
fn log(effects: &[Effect]) -> String {
    let events = asked!(effects, Effect::Save(event) => event.clone());
    events.map(|event| Record::new(0, event).line().unwrap()).collect()
}

fn opened_with(log: &str) -> Bench {
    let replay = Progress::replay(log.as_bytes());
    assert_eq!(replay.skipped, 0);
    let mut bench = Bench::new((120, 60));
    bench.probed();
    bench.app.course.progress = replay.progress;
    bench.app.open(read("a.md", LESSON));
    bench
}

/// Runs what the effects ask for, for real.
fn done(bench: &mut Bench, keys: &str) -> Vec<Effect> {
    let mut effects = bench.keys(keys);
    let mut at = 0;
    while at < effects.len() {
        if let Effect::Start(start) = &effects[at] {
            let kind = mlsys_registry::built_in().find(start.kind).unwrap();
            let (params, device) = (start.params.clone(), start.device);
            let (reports, outcome) =
                crate::picture::run_here(kind, params, device, Default::default());
            effects.extend(bench.report(reports, 1));
            effects.extend(bench.end(outcome));
        }
        at += 1;
    }
    effects
}

/// The log of a learner who has guessed and run all.
fn finished() -> String {
    let mut bench = opened_with("");
    let mut effects = Vec::new();
    for (id, then) in [("early", " "), ("wide", "\t\n1024\n")] {
        let page = bench.app.page.as_mut().unwrap();
        let is_own = |block: &Block| block.id() == Some(id);
        page.mark_at(page.lesson.blocks.iter().position(is_own).unwrap());
        page.turn_to(Side::Text);
        for keys in ["\n9\n", then] {
            effects.extend(done(&mut bench, keys));
        }
    }
    log(&effects)
}

#[test]
fn what_was_revealed_stays_revealed() {
    let log = finished();
    let mut bench = opened_with(&log);
    for (id, told) in [("early", "More than one."), ("wide", "It is a whole block.")] {
        bench.shows(told);
        let made = &bench.page().predictions[id];
        let comparison = made.comparison.as_deref().unwrap();
        assert!(comparison.starts_with("You said 9"), "{comparison}");
        assert!(comparison.contains("computed"), "{comparison}");
    }
    bench.follow(&[("", "Four schedulers share them. | no: kept"), ("", "✓ revealed")]);
}

#[test]
fn labs_and_checks_tell_what_an_earlier_session_gave() {
    let bench = opened_with(&finished());
    bench.shows("blocks ✓");
    bench.hides("spare ✓");
    bench.shows("has run before; space runs it again");
    bench.shows("holds");
    bench.hides("after the run");
}

#[test]
fn a_log_without_what_was_told_says_what_came_out() {
    let log = finished();
    let old: Vec<String> = log
        .lines()
        .map(|line| {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            record.as_object_mut().unwrap().remove("told");
            record.to_string()
        })
        .collect();
    assert_ne!(old.join("\n").len(), log.trim().len());
    let bench = opened_with(&(old.join("\n") + "\n"));
    let made = &bench.page().predictions["early"];
    let comparison = made.comparison.as_deref().unwrap();
    assert!(comparison.starts_with("You said 9") && comparison.contains("the answer is"));
    bench.shows("Four schedulers share them.");
}
