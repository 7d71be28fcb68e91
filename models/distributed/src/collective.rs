//! A collective carried out by workers over their ports: each does its own part of the same plan.

use mlsys_sim::collective::{Message, Plan, take};

use super::transport::{CommError, Endpoint, Payload, Tag};

/// Does one worker's part of a plan on its own buffer, round by round: sends all that it has to send, then takes what
/// comes, in the plan's order. Endpoint and rank of the port are the same number. All endpoints must do the same
/// collectives in the same order; `what` names the buffer in messages.
pub fn carry_out(
    plan: &Plan,
    endpoint: &mut Endpoint,
    what: &'static str,
    buffer: &mut [f32],
) -> Result<(), CommError> {
    for round in 0..plan.rounds() {
        let (sends, receives) = plan.part(round, endpoint.rank());
        let tag = Tag { what, index: round };
        for message in sends {
            let part = buffer.get(message.elements.clone()).ok_or_else(|| beyond(&message))?;
            endpoint.send(message.to, tag, part.to_vec());
        }
        for message in receives {
            let came = endpoint.receive_floats(message.from, tag, message.elements.len())?;
            let own = buffer.get_mut(message.elements.clone());
            take(own.ok_or_else(|| beyond(&message))?, &came, message.action);
        }
    }
    Ok(())
}

/// Gives every worker what each of them has, round a ring; by rank.
pub fn share(
    plan: &Plan,
    endpoint: &mut Endpoint,
    what: &'static str,
    own: Payload,
) -> Result<Vec<Payload>, CommError> {
    let rank = endpoint.rank();
    let mut all: Vec<Option<Payload>> = vec![None; plan.ranks()];
    all[rank] = Some(own);
    for round in 0..plan.rounds() {
        let (sends, receives) = plan.part(round, rank);
        let tag = Tag { what, index: round };
        for message in sends {
            let held = all[message.pieces.start].clone();
            endpoint.send(message.to, tag, held.ok_or_else(|| beyond(&message))?);
        }
        for message in receives {
            all[message.pieces.start] = Some(endpoint.receive(message.from, tag)?);
        }
    }
    Ok(all.into_iter().flatten().collect())
}

fn beyond(message: &Message) -> CommError {
    CommError::Failed(format!(
        "was to send elements {} to {} of a buffer that has fewer",
        message.elements.start, message.elements.end
    ))
}

#[cfg(test)]
mod tests {
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
                let reduce = reduce.map(|one| (true, Plan::all_reduce(one, ranks, elements)));
                let others = [
                    (true, Plan::double_tree(ranks, elements, 3)),
                    (false, Plan::reduce_scatter(ranks, elements)),
                    (false, Plan::all_gather(ranks, elements)),
                    (true, Plan::broadcast(ranks, elements, ranks / 2)),
                ];
                for (is_same, plan) in reduce.chain(others) {
                    let plan = plan.unwrap();
                    let before = buffers(&plan, (100 * ranks + elements) as u64);
                    let mut expected = before.clone();
                    execute(&plan, &mut expected).unwrap();
                    let (after, sent) = on_threads(&plan, &before);
                    let after = bits(&after);
                    assert_eq!(after, bits(&expected), "{plan:?}");
                    // All ranks hold the same bits, where all hold all.
                    assert!(
                        !is_same || after[..ranks].iter().all(|own| *own == after[0]),
                        "{plan:?}"
                    );
                    let counted = Tally::from_plan(&plan).sent.into_iter();
                    let counted: Vec<(u64, u64)> =
                        counted.map(|load| (load.messages, 4 * load.elements)).collect();
                    assert_eq!(sent, counted, "{plan:?}");
                }
            }
        }
    }
}
