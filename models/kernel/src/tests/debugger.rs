//! Forwards and back.

use crate::examples::{Example, Sizes};
use crate::tests::*;
use mlsys_lab::frame::kernel::{Parsed, Recipe};

fn reduce() -> Machine {
    let example = Example::find("reduce-interleaved").expect("an example");
    let sizes = Sizes { elements: 128, rows: 1, columns: 1, radius: 0 };
    let mut launch = Launch::line(2, 64);
    launch.dynamic_shared = 256;
    launch.schedule = Schedule::Random;
    let arguments = example.arguments(sizes, &launch);
    started(example.source, launch, &arguments)
}

#[test]
fn stepping_back_restores_the_state() {
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
        assert!(by_steps.machine().same_state(&states[clock]), "clock {clock}");
    }
    by_steps.go(100);
    assert_eq!(seek(&mut by_steps, Goal::Instruction, Direction::Backward), SeekResult::Found);
    assert!(by_steps.machine().same_state(&states[99]));
    by_steps.go(0);
    assert_eq!(by_steps.last(), None);
}

/// Looks to the end of the search, a few steps at a time.
fn seek(replay: &mut Replay, goal: Goal, way: Direction) -> SeekResult {
    let mut seek = Seek::new(replay, goal, way, None);
    loop {
        match seek.advance(replay, 7) {
            SeekResult::InProgress => {}
            sought @ (SeekResult::Found | SeekResult::NotFound) => return sought,
        }
    }
}

#[test]
fn what_is_found_going_on_is_found_going_back() {
    let goals = [(Goal::Barrier, 14), (Goal::Block, 2), (Goal::Breakpoint, 22), (Goal::Problem, 0)];
    for (goal, count) in goals {
        let mut replay = Replay::new(reduce());
        replay.breakpoints_mut().insert(12);
        let mut clocks = Vec::new();
        while seek(&mut replay, goal, Direction::Forward) == SeekResult::Found {
            clocks.push(replay.machine().clock());
        }
        // One barrier after the load and one for each of 6 turns, in each of two blocks; line 12 once a turn and
        // warp, but for the last turn, in which the second warp has nothing to add.
        assert_eq!(clocks.len(), count, "{goal:?}");
        // Where one stands does not count.
        let end = replay.machine().clock();
        for clock in clocks.iter().rev().filter(|clock| **clock < end) {
            assert_eq!(seek(&mut replay, goal, Direction::Backward), SeekResult::Found);
            assert_eq!(replay.machine().clock(), *clock, "{goal:?}");
        }
        assert_eq!(seek(&mut replay, goal, Direction::Backward), SeekResult::NotFound);
        assert_eq!(replay.machine().clock(), 0);
    }
}

#[test]
fn the_lines_of_a_warp_are_gone_through_both_ways() {
    let mut replay = Replay::new(reduce());
    let who = Some((1, 1));
    let mut seen = Vec::new();
    loop {
        let mut seek = Seek::new(&replay, Goal::Line, Direction::Forward, who);
        if seek.advance(&mut replay, u64::MAX) != SeekResult::Found {
            break;
        }
        let line = replay.machine().place(1, 1).map(|place| place.line);
        seen.push((replay.machine().clock(), line));
    }
    let lines: Vec<u32> = seen.iter().filter_map(|(_, line)| *line).take(4).collect();
    assert_eq!(lines, [6, 7, 8, 10]);
    let end = replay.machine().clock();
    for (clock, line) in seen.iter().rev().filter(|(clock, _)| *clock < end) {
        let mut seek = Seek::new(&replay, Goal::Line, Direction::Backward, who);
        assert_eq!(seek.advance(&mut replay, u64::MAX), SeekResult::Found);
        assert_eq!(replay.machine().clock(), *clock);
        assert_eq!(replay.machine().place(1, 1).map(|place| place.line), *line);
        assert_eq!(replay.last().map(|step| (step.block, step.warp)), who);
    }
}

#[test]
fn a_recipe_makes_the_launch_it_was_made_of() {
    let machine = reduce();
    let example = Example::find("reduce-interleaved").expect("an example");
    let sizes = Sizes { elements: 128, rows: 1, columns: 1, radius: 0 };
    let launch = machine.launch().clone();
    let given = example.given(sizes, &launch);
    let kernel = Kernel::parse("example.cu", example.source).expect("an example reads");
    let mut recipe = recipe::recipe(example.source, &kernel, &launch, given);
    // The text is not read again: on the screen a long one would stop the keys.
    let unread = Recipe { source: "no kernel".to_owned(), ..recipe.clone() };
    assert!(recipe::start(&unread).expect("it starts").same_state(&machine));
    // A record has the text alone.
    recipe.parsed = Parsed::default();
    let again = recipe::start(&recipe).expect("it starts");
    assert!(again.same_state(&machine));
    recipe.concurrent_blocks = usize::MAX;
    recipe.grid_dim = [1 << 20, 1, 1];
    let error = recipe::start(&recipe).expect_err("too many threads in flight");
    assert!(matches!(error, recipe::StartError::TooLarge { .. }), "{error}");
    recipe.arguments.clear();
    recipe.concurrent_blocks = 1;
    assert!(recipe::start(&recipe).is_err());
}

#[test]
fn blocks_wait_run_and_end_whatever_the_order() {
    for schedule in [Schedule::InOrder, Schedule::RoundRobin, Schedule::Random] {
        let example = Example::find("vector-add").expect("an example");
        let sizes = Sizes { elements: 40, rows: 1, columns: 1, radius: 0 };
        let mut launch = Launch::line(10, 4);
        launch.schedule = schedule;
        let arguments = example.arguments(sizes, &launch);
        let mut machine = started(example.source, launch, &arguments);
        loop {
            let count = |state: BlockState| {
                let blocks = (0..10).filter(|block| machine.block_state(*block) == state);
                blocks.count() as u64
            };
            assert_eq!(count(BlockState::Ended), machine.ended_blocks());
            assert_eq!(count(BlockState::Resident), machine.blocks().len() as u64);
            if machine.step().is_none() {
                break;
            }
        }
    }
}

#[test]
fn a_panel_reads_variables_states_and_accesses() {
    let example = Example::find("vector-add").expect("an example");
    let sizes = Sizes { elements: 8, rows: 1, columns: 1, radius: 0 };
    let mut launch = Launch::line(2, 6);
    launch.schedule = Schedule::InOrder;
    let arguments = example.arguments(sizes, &launch);
    let mut replay = Replay::new(started(example.source, launch, &arguments));
    // In block 1 threads 2 to 5 have no element.
    while !replay.forward().is_some_and(|step| step.block == 1 && step.place.line == 5) {}
    let machine = replay.machine();
    let states = machine.threads(1);
    assert_eq!(states, [[ThreadState::Active; 2].as_slice(), &[ThreadState::Masked; 4]].concat());
    let variables = machine.variables(1, 1);
    let value =
        |name: &str| variables.iter().find(|v| v.name == name).and_then(|v| v.value.clone());
    assert_eq!(value("i"), Some(mlsys_lab::Value::Int(7)));
    assert_eq!(value("A"), Some(mlsys_lab::Value::Text("&A[0]".into())));
    let (access, lanes) = machine.access(1, 0).expect("an access");
    assert_eq!((access.kind, access.sectors, access.used), (AccessKind::Load, 1, 8));
    assert_eq!(lanes[1], Some(Reach::Global { buffer: "A".into(), element: 7, sector: 0 }));
    assert_eq!(lanes[2], None);
    assert_eq!(machine.lines().get(&5).map(|counts| counts.load.elements), Some(14));
}

/// What a thread's variable shows each time a warp of a block is about to run a line; none where it has no value yet.
fn shown(replay: &mut Replay, block: u32, name: &str) -> Vec<(u32, Option<mlsys_lab::Value>)> {
    let mut seen = Vec::new();
    loop {
        let machine = replay.machine();
        let variables = machine.variables(block, 0);
        let variable = variables.into_iter().find(|v| v.name == name);
        if let Some((place, variable)) = machine.place(block, 0).zip(variable) {
            seen.push((place.line, variable.value));
        }
        if replay.forward().is_none() {
            return seen;
        }
    }
}

#[test]
fn no_value_before_the_declaration() {
    let text = include_str!("declarations.cu");
    let mut launch = Launch::line(2, 1);
    launch.concurrent_blocks = 1;
    let start = || Replay::new(started(text, launch.clone(), &[poison(2)]));
    let int = |value| Some(mlsys_lab::Value::Int(value));
    let poison = || mlsys_lab::Value::Text("poison".to_owned());
    for block in 0..2 {
        let before = |name: &str, line: u32| {
            let seen = shown(&mut start(), block, name);
            let first = seen.into_iter().find(|(at, _)| *at == line);
            first.unwrap_or_else(|| panic!("line {line} is not reached")).1
        };
        assert_eq!(before("x", 2), None, "block {block}");
        assert_eq!(before("x", 5), int(i64::from(block) + 5));
        assert_eq!(before("z", 3), None, "block {block}");
        assert_eq!(before("z", 8), int(4));
        let array = |second| Some(mlsys_lab::Value::Array(vec![poison(), second]));
        assert_eq!(before("own", 3), array(poison()), "block {block}");
        assert_eq!(before("own", 8), array(mlsys_lab::Value::Int(i64::from(block) + 5)));
    }
}
