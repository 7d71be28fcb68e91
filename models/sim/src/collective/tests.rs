//! Every collective against the sum, whatever the sizes, and the counts against the closed formulas.

use crate::collective::*;
use mlsys_lab::random;

/// Whole numbers, so that no order of additions rounds.
fn buffers(plan: &Plan, seed: u64) -> Vec<Vec<f64>> {
    let value = |endpoint: usize, element: usize| {
        let place = (endpoint * 1_000_003 + element) as u64;
        (random::bits(seed, place) % 2001) as f64 - 1000.0
    };
    let serves = plan.server();
    (0..plan.endpoints())
        .map(|endpoint| {
            let of = |element| match serves {
                Some(server) if server == endpoint => 0.0,
                _ => value(endpoint, element),
            };
            (0..plan.elements()).map(of).collect()
        })
        .collect()
}

fn sum(plan: &Plan, before: &[Vec<f64>]) -> Vec<f64> {
    let of = |element: usize| before.iter().map(|buffer| buffer[element]).sum();
    (0..plan.elements()).map(of).collect()
}

/// Another order of a round's messages for every seed.
fn shuffle(seed: u64) -> impl FnMut(usize, &mut Vec<Message>) {
    move |round, messages| {
        for last in (1..messages.len()).rev() {
            let draw = random::bits(seed, (round * 100_003 + last) as u64);
            messages.swap(last, (draw % (last as u64 + 1)) as usize);
        }
    }
}

fn plans(ranks: usize, elements: usize, chunks: usize) -> Vec<(String, Plan)> {
    let of = |algorithm: &Algorithm| {
        let plan = Plan::all_reduce(*algorithm, ranks, elements).unwrap();
        (algorithm.name().to_owned(), plan)
    };
    let all = Algorithm::ALL.iter().filter(|one| one.takes(ranks));
    let mut plans: Vec<(String, Plan)> = all.map(of).collect();
    plans.push((
        format!("double-tree in {chunks}"),
        Plan::double_tree(ranks, elements, chunks).unwrap(),
    ));
    plans
}

/// The places at which random sizes are tried: around the number of ranks, none, one, and anything.
fn sizes(ranks: usize) -> Vec<usize> {
    let any = random::bits(7, ranks as u64) as usize % 300;
    vec![0, 1, ranks - 1, ranks, ranks + 1, 3 * ranks + 2, any]
}

#[test]
fn all_reduce_sums_in_any_message_order() {
    for ranks in 1..=33 {
        for elements in sizes(ranks) {
            let chunks = 1 + random::bits(3, elements as u64) as usize % 9;
            for (name, plan) in plans(ranks, elements, chunks) {
                for seed in 0..3 {
                    let before = buffers(&plan, seed);
                    let sum = sum(&plan, &before);
                    let mut after = before;
                    execute_shuffled(&plan, &mut after, shuffle(seed)).unwrap();
                    for (rank, buffer) in after.iter().enumerate().take(ranks) {
                        assert_eq!(*buffer, sum, "{name}, rank {rank} of {ranks}, {elements}");
                    }
                }
            }
        }
    }
}

#[test]
fn reduce_scatter_then_all_gather_is_all_reduce() {
    for ranks in 1..=33 {
        for elements in sizes(ranks) {
            let scatter = Plan::reduce_scatter(ranks, elements).unwrap();
            let before = buffers(&scatter, 5);
            let sum = sum(&scatter, &before);
            let mut after = before;
            execute_shuffled(&scatter, &mut after, shuffle(1)).unwrap();
            let gather = Plan::all_gather(ranks, elements).unwrap();
            for (rank, buffer) in after.iter_mut().enumerate() {
                let own = gather.split().piece(rank);
                assert_eq!(buffer[own.clone()], sum[own.clone()], "{rank} of {ranks}");
                for (place, value) in buffer.iter_mut().enumerate() {
                    if !own.contains(&place) {
                        *value = f64::NAN;
                    }
                }
            }
            execute_shuffled(&gather, &mut after, shuffle(2)).unwrap();
            assert!(after.iter().all(|buffer| *buffer == sum), "{ranks}");
        }
    }
}

#[test]
fn a_broadcast_reaches_everybody_from_any_root() {
    for ranks in 1..=33 {
        for root in 0..ranks {
            let plan = Plan::broadcast(ranks, 5, root).unwrap();
            let before = buffers(&plan, 1);
            let mut after = before.clone();
            execute_shuffled(&plan, &mut after, shuffle(9)).unwrap();
            assert!(after.iter().all(|buffer| *buffer == before[root]));
            let tally = Tally::from_plan(&plan);
            assert_eq!(tally.messages, ranks as u64 - 1);
            assert!(tally.fan_in <= 1);
        }
    }
}

#[test]
fn walked_counts_equal_the_formulas() {
    for ranks in 1..=33 {
        // Divisible, so that pieces are even and the formulas exact.
        let elements = ranks * 24;
        for (name, plan) in plans(ranks, elements, 1) {
            let Ok(algorithm) = name.parse::<Algorithm>() else { continue };
            let closed = algorithm.closed(ranks, elements as f64);
            let tally = Tally::from_plan(&plan);
            if algorithm == Algorithm::DoubleTree {
                continue;
            }
            assert_eq!(tally.rounds, closed.steps, "{name} of {ranks}");
            assert_eq!(tally.fan_in, closed.fan_in, "{name} of {ranks}");
            let serial = tally.serial_elements as f64;
            assert!((serial - closed.serial_bytes).abs() < 1e-6, "{name} of {ranks}: {serial}");
        }
    }
}

#[test]
fn double_tree_approaches_its_formula() {
    for ranks in 4..=33 {
        let elements = 4096 * 8;
        let closed = Algorithm::DoubleTree.closed(ranks, elements as f64);
        let unpipelined = Tally::from_plan(&Plan::double_tree(ranks, elements, 1).unwrap());
        assert_eq!(unpipelined.rounds, closed.steps, "{ranks}");
        for chunks in [1, 8, 64, 4096] {
            let tally = Tally::from_plan(&Plan::double_tree(ranks, elements, chunks).unwrap());
            let filling = closed.steps - 1;
            assert_eq!(tally.rounds, chunks as u64 + filling);
            let most = closed.serial_bytes * (1.0 + filling as f64 / chunks as f64);
            assert!(tally.serial_elements as f64 <= most, "{ranks} in {chunks}");
            assert_eq!(tally.busiest().elements as f64, closed.serial_bytes, "{ranks}");
        }
    }
}

#[test]
fn counting_by_runs_is_counting_every_message() {
    for ranks in 1..=33 {
        for elements in sizes(ranks) {
            for (name, plan) in plans(ranks, elements, 3) {
                let tally = Tally::from_plan(&plan);
                let mut sent = vec![Load::default(); plan.endpoints()];
                let mut received = sent.clone();
                let mut all = Load::default();
                for message in (0..plan.rounds()).flat_map(|round| plan.round(round)) {
                    let elements = message.elements.len() as u64;
                    for load in [&mut sent[message.from], &mut received[message.to], &mut all] {
                        load.messages += 1;
                        load.elements += elements;
                    }
                    assert_ne!(message.from, message.to, "{name}");
                }
                assert_eq!((tally.sent, tally.received), (sent, received), "{name}");
                assert_eq!((tally.messages, tally.elements), (all.messages, all.elements));
                let links: u64 = Tally::links(&plan).values().map(|load| load.messages).sum();
                assert_eq!(links, all.messages);
            }
        }
    }
}

#[test]
fn ring_loads_are_equal() {
    let tally = Tally::from_plan(&Plan::all_reduce(Algorithm::Ring, 4, 209_472).unwrap());
    // The default of the lab that trains on four workers: 6 messages, 1,256,832 bytes of f32 each.
    for load in tally.sent {
        assert_eq!((load.messages, 4 * load.elements), (6, 1_256_832));
    }
    for (name, plan) in plans(1, 10, 4) {
        assert_eq!(plan.rounds(), 0, "{name}");
        assert_eq!(Tally::from_plan(&plan).messages, 0, "{name}");
        assert_eq!(plan.endpoints(), 1, "{name}");
    }
}

#[test]
fn endpoint_part_is_its_share_of_the_round() {
    let plan = Plan::all_reduce(Algorithm::ParameterServer, 3, 4).unwrap();
    let (sends, receives) = plan.part(0, 3);
    assert!(sends.is_empty());
    assert_eq!(receives.iter().map(|m| m.from).collect::<Vec<_>>(), [0, 1, 2]);
    let (sends, receives) = plan.part(1, 1);
    assert!(sends.is_empty());
    assert_eq!(receives.len(), 1);
    assert_eq!(plan.phase(0), Some(Phase::Reduce));
    assert_eq!(plan.phase(1), Some(Phase::Broadcast));
    assert_eq!(plan.phase(2), None);
    assert_eq!(plan.round(2).count(), 0);
}

#[test]
fn what_cannot_be_planned_says_why() {
    let told = |plan: Result<Plan, PlanError>| plan.unwrap_err().to_string();
    for (error, words) in [
        (told(Plan::all_reduce(Algorithm::Ring, 0, 1)), "at least one rank"),
        (told(Plan::all_reduce(Algorithm::DoubleTree, 65_537, 1)), "at most 65536"),
        (
            told(Plan::all_reduce(Algorithm::RecursiveHalvingDoubling, 6, 1)),
            "6 is none, choose 4 or 8",
        ),
        (told(Plan::broadcast(4, 1, 4)), "none of the ranks 0 to 3"),
        (told(Plan::double_tree(4, 1, 0)), "at least one chunk"),
    ] {
        assert!(error.contains(words), "{error}");
    }
    let plan = Plan::all_reduce(Algorithm::Ring, 2, 3).unwrap();
    assert_eq!(
        execute(&plan, &mut [vec![0.0; 3]]),
        Err(PlanError::WrongBuffers { endpoints: 2, buffers: 1 })
    );
    assert_eq!(
        execute(&plan, &mut [vec![0.0; 3], vec![0.0; 2]]),
        Err(PlanError::WrongLength { endpoint: 1, elements: 3, given: 2 })
    );
}

#[test]
fn the_largest_plans_are_walked_without_being_held() {
    let plan = Plan::all_reduce(Algorithm::Ring, MOST_RANKS, 1 << 20).unwrap();
    assert_eq!(plan.rounds(), 2 * (MOST_RANKS - 1));
    assert_eq!(plan.round(70_000).count(), MOST_RANKS);
    let tree = Plan::all_reduce(Algorithm::DoubleTree, MOST_RANKS, 1 << 20).unwrap();
    let tally = Tally::from_plan(&tree);
    assert_eq!(tally.rounds, 2 * 16 + CHUNKS as u64 - 1);
    // Two children, and a parent in one tree or both.
    assert!((2..=4).contains(&tally.fan_in), "{}", tally.fan_in);
}

#[test]
fn large_rings_are_counted_exactly() {
    let (ranks, elements) = (16_384_u64, 250_000_001_u64);
    let plan = Plan::all_reduce(Algorithm::Ring, ranks as usize, elements as usize).unwrap();
    let tally = Tally::from_plan(&plan);
    assert_eq!(tally.messages, 536_838_144);
    // Every piece passes p - 1 links to be summed and as many to be handed out.
    assert_eq!(tally.elements, 2 * (ranks - 1) * elements);
    assert!(tally.sent.iter().all(|load| load.messages == 2 * (ranks - 1)));
    assert_eq!(tally.serial_elements, 2 * (ranks - 1) * elements.div_ceil(ranks));
    assert_eq!(tally.fan_in, 1);
}
