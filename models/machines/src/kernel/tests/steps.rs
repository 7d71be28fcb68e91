//! Forwards and back.

use super::super::examples::{Example, Sizes};
use super::*;

fn reduce() -> Machine {
    let example = Example::of("reduce-interleaved").expect("an example");
    let sizes = Sizes {
        elements: 128,
        rows: 1,
        columns: 1,
        radius: 0,
    };
    let mut launch = Launch::line(2, 64);
    launch.dynamic_shared = 256;
    launch.schedule = Schedule::Random;
    let arguments = example.arguments(sizes, &launch);
    started(example.source, launch, &arguments)
}

#[test]
fn stepping_and_running_are_one_and_going_back_returns_to_the_same_state() {
    let mut by_steps = Replay::new(reduce());
    let mut states = vec![by_steps.machine().clone()];
    while by_steps.forward().is_some() {
        states.push(by_steps.machine().clone());
    }
    let mut at_once = reduce();
    assert_eq!(at_once.run(u64::MAX), Progress::Finished);
    assert!(at_once.same_state(by_steps.machine()));
    for clock in [0, 1, 63, 64, 65, 200, states.len() - 1, 17, 130, 3] {
        by_steps.go(clock as u64);
        assert!(
            by_steps.machine().same_state(&states[clock]),
            "clock {clock}"
        );
    }
    by_steps.go(100);
    assert!(by_steps.back() && by_steps.machine().same_state(&states[99]));
    by_steps.go(0);
    assert!(!by_steps.back());
}

#[test]
fn barriers_and_blocks_are_found_in_both_directions() {
    let mut replay = Replay::new(reduce());
    let mut clocks = Vec::new();
    while replay.next_barrier() {
        clocks.push(replay.machine().clock());
    }
    // One barrier after the load and one for each of 6 turns, in each of two blocks.
    assert_eq!(clocks.len(), 14);
    for clock in clocks.iter().rev() {
        assert!(replay.barrier_back());
        assert_eq!(replay.machine().clock(), *clock);
    }
    assert!(!replay.barrier_back());
    assert_eq!(replay.machine().clock(), 0);
    assert!(replay.next_block() && replay.next_block() && !replay.next_block());
    assert!(replay.block_back());
    replay.go(0);
    replay.breakpoints().insert(12);
    assert!(replay.run(1000));
    assert_eq!(replay.last().map(|step| step.place.line), Some(12));
    let line = replay.last().map(|step| step.place.line);
    assert!(replay.next_line() && replay.last().map(|step| step.place.line) != line);
    assert!(replay.line_back());
}

#[test]
fn a_panel_reads_variables_states_and_accesses() {
    let example = Example::of("vector-add").expect("an example");
    let sizes = Sizes {
        elements: 8,
        rows: 1,
        columns: 1,
        radius: 0,
    };
    let mut launch = Launch::line(2, 6);
    launch.schedule = Schedule::InOrder;
    let arguments = example.arguments(sizes, &launch);
    let mut replay = Replay::new(started(example.source, launch, &arguments));
    // In block 1 threads 2 to 5 have no element.
    assert!(replay.forward_until(|step| step.block == 1 && step.place.line == 5));
    let machine = replay.machine();
    let states = machine.threads(1);
    assert_eq!(
        states,
        [
            [ThreadState::Active; 2].as_slice(),
            &[ThreadState::Masked; 4]
        ]
        .concat()
    );
    let variables = machine.variables(1, 1);
    let value = |name: &str| {
        variables
            .iter()
            .find(|v| v.name == name)
            .and_then(|v| v.value.clone())
    };
    assert_eq!(value("i"), Some(mlsys_lab::Value::Int(7)));
    assert_eq!(value("A"), Some(mlsys_lab::Value::Text("&A[0]".into())));
    let (access, lanes) = machine.access(1, 0).expect("an access");
    assert_eq!(
        (access.kind, access.sectors, access.used),
        (AccessKind::Load, 1, 8)
    );
    assert_eq!(
        lanes[1],
        Some(Reach::Global {
            buffer: "A".into(),
            element: 7,
            sector: 0
        })
    );
    assert_eq!(lanes[2], None);
    assert_eq!(
        machine.lines().get(&5).map(|counts| counts.load.elements),
        Some(14)
    );
}
