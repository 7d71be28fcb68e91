//! Properties of the schedules: dependencies, and the bubbles and peaks of the papers.

use crate::pipeline::simulate::{LinkTimes, PipelineRun, Times, simulate};
use crate::pipeline::{Operation, Plan, Schedule, Work, lanes, stream, waiting};
use std::collections::HashSet;

const ONES: Times = Times { forward: 1.0, backward_input: 1.0, backward_weight: 1.0 };

fn near(got: f64, want: f64) -> bool {
    (got - want).abs() <= 1e-9 * want.abs().max(1.0)
}

fn played(plan: &Plan, times: Times) -> PipelineRun {
    simulate(plan, times, None).expect("the orders do not wait for one another")
}

/// Every schedule with p and m in 1..16, and two and three chunks where it interleaves.
fn each(mut check: impl FnMut(Schedule, usize, usize, usize, &Plan)) {
    let mut plans = 0;
    for schedule in Schedule::ALL {
        for stages in 1..=16 {
            for microbatches in 1..=16 {
                for chunks in 1..=3 {
                    let interleaves = schedule == Schedule::Interleaved;
                    if !interleaves && chunks > 1 {
                        continue;
                    }
                    match Plan::new(schedule, stages, microbatches, chunks) {
                        Ok(plan) => {
                            plans += 1;
                            check(schedule, stages, microbatches, chunks, &plan);
                        }
                        Err(_) => assert!(interleaves && microbatches % stages != 0),
                    }
                }
            }
        }
    }
    assert!(plans > 5 * 256, "{plans}");
}

#[test]
fn operations_run_once_after_dependencies() {
    each(|schedule, stages, microbatches, chunks, plan| {
        let played = played(plan, ONES);
        let each = if schedule.splits_backward() { 3 } else { 2 };
        let mut ends = std::collections::HashMap::new();
        for (stage, slots) in played.stages.iter().enumerate() {
            let operations: HashSet<Operation> = slots.iter().map(|slot| slot.operation).collect();
            assert_eq!(operations.len(), slots.len());
            assert_eq!(slots.len(), each * microbatches * chunks);
            for pair in slots.windows(2) {
                assert!(pair[0].end <= pair[1].start);
            }
            for slot in slots {
                let key = match slot.operation.work {
                    Work::Backward | Work::BackwardInput => 'B',
                    Work::Forward => 'F',
                    Work::BackwardWeight => 'W',
                };
                let Operation { microbatch, chunk, .. } = slot.operation;
                ends.insert((key, stage + chunk * stages, microbatch), slot.end);
            }
        }
        for (stage, slots) in played.stages.iter().enumerate() {
            for slot in slots {
                let (i, place) = (slot.operation.microbatch, stage + slot.operation.chunk * stages);
                let needs = match slot.operation.work {
                    Work::Forward => place.checked_sub(1).map(|before| vec![('F', before)]),
                    Work::Backward | Work::BackwardInput if place + 1 < stages * chunks => {
                        Some(vec![('F', place), ('B', place + 1)])
                    }
                    Work::Backward | Work::BackwardInput => Some(vec![('F', place)]),
                    Work::BackwardWeight => Some(vec![('B', place)]),
                };
                for (work, place) in needs.unwrap_or_default() {
                    assert!(ends[&(work, place, i)] <= slot.start, "{schedule:?} {slot:?}");
                }
            }
        }
    });
}

#[test]
fn bubbles_are_those_of_the_papers() {
    let uneven = Times { forward: 2.0, backward_input: 3.0, backward_weight: 1.5 };
    each(|schedule, stages, microbatches, chunks, plan| {
        let (p, m) = (stages as f64, microbatches as f64);
        let bubble = |times: Times| played(plan, times).makespan() - m * times.microbatch();
        match schedule {
            Schedule::GPipe | Schedule::OneForwardOneBackward | Schedule::Asynchronous => {
                for times in [ONES, uneven] {
                    assert!(near(bubble(times), (p - 1.0) * times.microbatch()));
                }
            }
            Schedule::Interleaved => {
                let want = (p - 1.0) * ONES.microbatch() / chunks as f64;
                assert!(near(bubble(ONES), want), "{stages} {microbatches} {chunks}");
            }
            Schedule::ZeroBubbleH1 | Schedule::ZeroBubbleH2 => {
                // With fewer microbatches than stages the last stages have nothing to fill their gaps with.
                let missing = (p - m).max(0.0);
                assert!(near(bubble(ONES), p - 1.0 + missing), "{stages} {microbatches}");
                if schedule == Schedule::ZeroBubbleH1 {
                    let Times { forward, backward_input, backward_weight } = uneven;
                    let want = (p - 1.0) * (forward + backward_input - backward_weight);
                    assert!(near(bubble(uneven), want + missing * backward_weight));
                }
            }
        }
    });
}

#[test]
fn peaks_are_those_of_the_papers() {
    each(|schedule, stages, microbatches, chunks, plan| {
        for stage in 0..stages {
            let left = stages - stage;
            let want = match schedule {
                Schedule::GPipe => microbatches,
                Schedule::OneForwardOneBackward
                | Schedule::ZeroBubbleH1
                | Schedule::Asynchronous => left.min(microbatches),
                Schedule::ZeroBubbleH2 => {
                    let few = microbatches.max(stages) - stage;
                    (2 * left - 1).min(few).min(microbatches)
                }
                Schedule::Interleaved => {
                    (2 * (left - 1) + (chunks - 1) * stages + 1).min(microbatches * chunks)
                }
            };
            assert_eq!(plan.peak_chunks(stage), want, "{schedule:?} {stage}");
        }
    });
}

/// Qi et al. 2024: at the peak stage s keeps p - s microbatches for B and s for W in ZB-H1, 2(p - s) - 1 and 2s in ZB-H2.
#[test]
fn split_backward_passes_keep_the_microbatches_of_the_paper_unfinished() {
    each(|schedule, stages, microbatches, _, plan| {
        let most = match schedule {
            Schedule::ZeroBubbleH1 => stages,
            Schedule::ZeroBubbleH2 => 2 * stages - 1,
            Schedule::GPipe
            | Schedule::OneForwardOneBackward
            | Schedule::Interleaved
            | Schedule::Asynchronous => return,
        };
        for stage in 0..stages {
            let mut unfinished = 0_usize;
            let mut peak = 0;
            for operation in plan.stage(stage) {
                match operation.work {
                    Work::Forward => unfinished += 1,
                    Work::BackwardWeight => unfinished -= 1,
                    Work::Backward | Work::BackwardInput => {}
                }
                peak = peak.max(unfinished);
            }
            assert_eq!(peak, most.min(microbatches), "{schedule:?} {stages} {microbatches}");
        }
    });
}

#[test]
fn no_stage_of_zb_h2_waits_once_it_has_begun() {
    for stages in 1..=16 {
        for microbatches in 2 * stages - 1..=2 * stages + 16 {
            let plan = Plan::new(Schedule::ZeroBubbleH2, stages, microbatches, 1).unwrap();
            let played = played(&plan, ONES);
            assert!((0..stages).all(|stage| near(played.idle(stage), 0.0)));
        }
    }
}

#[test]
fn links_serialize_messages() {
    let plan = Plan::new(Schedule::GPipe, 2, 3, 1).unwrap();
    let wire = LinkTimes { transfer: 4.0, latency: 0.5 };
    let played = simulate(&plan, ONES, Some(wire)).unwrap();
    // Forwards end at 1, 2, 3; the link is busy 1-5, 5-9, 9-13.
    let forward: Vec<_> = played.transfers.iter().filter(|t| t.from == 0).collect();
    let times: Vec<_> = forward.iter().map(|t| (t.start, t.arrival)).collect();
    assert_eq!(times, [(1.0, 5.5), (5.0, 9.5), (9.0, 13.5)]);
    let last: Vec<_> = played.stages[1].iter().map(|s| (s.start, s.end)).collect();
    let want = [(5.5, 6.5), (9.5, 10.5), (13.5, 14.5), (14.5, 16.5), (16.5, 18.5), (18.5, 20.5)];
    assert_eq!(last, want);
    // Gradients 2, 1, 0 end at 16.5, 18.5, 20.5 and are sent till 20.5, 24.5, 28.5; stage 0 has the last at 29.
    assert_eq!(played.makespan(), 31.0);
}

#[test]
fn a_fast_network_changes_nothing() {
    each(|_, stages, _, chunks, plan| {
        let with = simulate(plan, ONES, Some(LinkTimes::default())).unwrap();
        assert_eq!(with.stages, played(plan, ONES).stages);
        let sent = (0..stages).map(|stage| {
            let operations = plan.stage(stage).iter();
            let to = operations.filter_map(|&o| waiting(stages, chunks, stage, o));
            to.filter(|to| to.0 != stage).count()
        });
        assert_eq!(with.transfers.len(), sent.sum::<usize>());
    });
}

#[test]
fn orders_that_wait_for_one_another_end() {
    let operation = |work| Operation { work, microbatch: 0, chunk: 0 };
    let (f, b) = (operation(Work::Forward), operation(Work::Backward));
    assert!(simulate(&Plan::from_stages(1, 1, vec![vec![b, f], vec![f, b]]), ONES, None).is_none());
    assert!(simulate(&Plan::from_stages(1, 1, vec![vec![f, b], vec![f, b]]), ONES, None).is_some());
}

#[test]
fn a_stream_is_as_stale_as_there_are_stages_after_it() {
    for stages in 1..=8 {
        for microbatches in 1..=5 {
            for stage in 0..stages {
                let order: Vec<_> =
                    (0..6).flat_map(|step| stream(stages, stage, microbatches, step)).collect();
                let at = |work, i| {
                    let is = |o: &Operation| o.work == work && o.microbatch == i;
                    order.iter().position(is).unwrap()
                };
                for i in stages..6 * microbatches {
                    let (from, to) = (at(Work::Forward, i), at(Work::Backward, i));
                    let between = &order[from + 1..to];
                    let updates = between.iter().filter(|o| o.work == Work::Backward);
                    assert_eq!(updates.count(), stages - 1 - stage);
                }
            }
            let plan = Plan::beginning(stages, microbatches, 6).unwrap();
            let played = played(&plan, ONES);
            // Steady: the last step takes as long as its work, and no stage waits.
            let end = |step: usize| {
                let last = step * microbatches + microbatches - 1;
                let slots = played.stages[0].iter();
                let is = |o: Operation| o.work == Work::Backward && o.microbatch == last;
                slots.rev().find(|slot| is(slot.operation)).unwrap().end
            };
            if 4 * microbatches >= stages {
                assert!(near(end(5) - end(4), 3.0 * microbatches as f64));
            }
        }
    }
}

#[test]
fn what_cannot_be_laid_out_is_refused_with_a_reason() {
    let refused = |schedule, p, m, v| Plan::new(schedule, p, m, v).unwrap_err().to_string();
    let text = refused(Schedule::Interleaved, 4, 6, 2);
    assert!(text.contains("a multiple of 4, such as 4 or 8, not 6"), "{text}");
    let text = refused(Schedule::Interleaved, 8, 6, 2);
    assert!(text.contains("a multiple of 8, such as 8, not 6"), "{text}");
    let text = refused(Schedule::Interleaved, 256, 4096, 64);
    assert!(text.contains("too many"), "{text}");
    assert!(refused(Schedule::GPipe, 0, 1, 1).contains("stages"));
    assert!(refused(Schedule::Interleaved, 1, 1, 0).contains("chunks_per_stage"));
    assert!(Plan::beginning(4, usize::MAX, 2).is_err());
}

#[test]
fn every_microbatch_kept_has_a_place_of_its_own() {
    each(|_, stages, _, chunks, plan| {
        let needed: usize = (0..stages).map(|stage| plan.peak_chunks(stage)).sum();
        let needed = needed.min(lanes::MOST_LANES);
        let timeline = lanes::places("time", chunks, &played(plan, ONES));
        assert_eq!(timeline.lanes.len(), needed);
        let peak = timeline.total.as_ref().and_then(|total| total.peak());
        assert_eq!(peak.unwrap().1, plan.peak_chunks(0) as f64);
        assert_eq!(timeline.lanes[0], "stage 0, place 1");
        // Microbatch after microbatch in another colour: neighbouring places are no single body.
        for span in &timeline.spans {
            let microbatch = span.label.split(|c: char| !c.is_ascii_digit()).next().unwrap();
            assert_eq!(span.class, microbatch.parse::<usize>().unwrap() % 2, "{}", span.label);
        }
        for a in &timeline.spans {
            for b in &timeline.spans {
                let apart = a.lane != b.lane || a.end <= b.start || b.end <= a.start;
                assert!(apart || std::ptr::eq(a, b));
            }
        }
    });
}
