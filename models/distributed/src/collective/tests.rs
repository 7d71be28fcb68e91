//! Workers on threads against the same plan executed in one place, to the last bit, and what the wires counted against
//! the plan's own counts.

use std::thread;
use std::time::Duration;

use mlsys_sim::collective::{Algorithm, Plan, Tally, execute};

use super::*;
use crate::transport::endpoints;
use mlsys_nn::random::Stream;

/// Numbers of very different sizes, so that the order of additions shows; a server begins with zeros.
fn buffers(plan: &Plan, seed: u64) -> Vec<Vec<f32>> {
    let mut draws = Stream::new(seed, "collectives on threads");
    let mut number = || (draws.normal() * 10_f64.powf(draws.uniform_in(-6.0, 6.0))) as f32;
    let buffer = |endpoint: usize| match plan.server() {
        Some(server) if server == endpoint => vec![0.0; plan.elements()],
        _ => (0..plan.elements()).map(|_| number()).collect(),
    };
    (0..plan.endpoints()).map(buffer).collect()
}

fn bits(buffers: &[Vec<f32>]) -> Vec<Vec<u32>> {
    let of = |buffer: &Vec<f32>| buffer.iter().map(|x| x.to_bits()).collect();
    buffers.iter().map(of).collect()
}

/// All endpoints at once, each on a thread of its own; what they hold then, and what was sent.
fn on_threads(plan: &Plan, before: &[Vec<f32>]) -> (Vec<Vec<f32>>, Vec<(u64, u64)>) {
    let (endpoints, ledger, _senders) = endpoints(plan.endpoints(), Duration::from_secs(60));
    let after = thread::scope(|scope| {
        let worker = |(mut endpoint, mut buffer): (Endpoint, Vec<f32>)| {
            scope.spawn(move || {
                carry_out(plan, &mut endpoint, "numbers", &mut buffer).unwrap();
                buffer
            })
        };
        let started = endpoints.into_iter().zip(before.iter().cloned()).map(worker);
        let started: Vec<_> = started.collect();
        started.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let traffic = ledger.take();
    let sent = (0..plan.endpoints()).map(|endpoint| traffic.sent_by(endpoint));
    (after, sent.map(|flow| (flow.messages, flow.bytes)).collect())
}

#[test]
fn threads_carry_out_the_plan_exactly() {
    for ranks in 1..=8 {
        for elements in [0, 1, ranks - 1, 7 * ranks + 3] {
            let reduce = Algorithm::ALL.into_iter().filter(|one| one.takes(ranks));
            let reduce = reduce.map(|one| Plan::all_reduce(one, ranks, elements));
            let others = [
                Plan::double_tree(ranks, elements, 3),
                Plan::reduce_scatter(ranks, elements),
                Plan::all_gather(ranks, elements),
                Plan::broadcast(ranks, elements, ranks / 2),
            ];
            for plan in reduce.chain(others) {
                let plan = plan.unwrap();
                let before = buffers(&plan, (100 * ranks + elements) as u64);
                let mut expected = before.clone();
                execute(&plan, &mut expected).unwrap();
                let (after, sent) = on_threads(&plan, &before);
                assert_eq!(bits(&after), bits(&expected), "{plan:?}");
                let counted = Tally::of(&plan).sent.into_iter();
                let counted: Vec<(u64, u64)> =
                    counted.map(|load| (load.messages, 4 * load.elements)).collect();
                assert_eq!(sent, counted, "{plan:?}");
            }
        }
    }
}

#[test]
fn after_an_all_reduce_all_ranks_hold_the_same_bits() {
    for ranks in 2..=8 {
        for algorithm in Algorithm::ALL.into_iter().filter(|one| one.takes(ranks)) {
            let plan = Plan::all_reduce(algorithm, ranks, 53).unwrap();
            let (after, _) = on_threads(&plan, &buffers(&plan, 7));
            let after = bits(&after);
            assert!(
                after.iter().take(ranks).all(|buffer| *buffer == after[0]),
                "{algorithm:?} of {ranks}"
            );
        }
    }
}
