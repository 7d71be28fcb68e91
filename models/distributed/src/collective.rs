//! A collective carried out by workers over their ports: each does its own part of the same plan.

use mlsys_sim::collective::{Message, Plan, take};

use super::transport::{CommError, Endpoint, Payload, Tag};

/// Does one worker's part of a plan on its own buffer, round by round: sends all that it has to send, then takes what
/// comes, in the plan's order. Endpoint and rank of the port are the same number. All endpoints must do the same
/// collectives in the same order; `what` names the buffer in messages.
///
/// # Errors
/// If a message does not come, or is not what the plan says.
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
            endpoint.send(message.to, tag, part(buffer, &message)?.to_vec());
        }
        for message in receives {
            let came = endpoint.receive_floats(message.from, tag, message.elements.len())?;
            let (elements, action) = (message.elements.clone(), message.action);
            let own = buffer.get_mut(elements).ok_or_else(|| beyond(&message))?;
            take(own, &came, action);
        }
    }
    Ok(())
}

/// Gives every worker what each of them has, round a ring; by rank.
///
/// # Errors
/// If a message does not come.
pub fn share(
    plan: &Plan,
    endpoint: &mut Endpoint,
    what: &'static str,
    own: Payload,
) -> Result<Vec<Payload>, CommError> {
    let rank = endpoint.rank();
    let mut all: Vec<Option<Payload>> = vec![None; plan.ranks()];
    if let Some(place) = all.get_mut(rank) {
        *place = Some(own);
    }
    for round in 0..plan.rounds() {
        let (sends, receives) = plan.part(round, rank);
        let tag = Tag { what, index: round };
        for message in sends {
            let held = all.get(message.pieces.start).cloned().flatten();
            endpoint.send(message.to, tag, held.ok_or_else(|| beyond(&message))?);
        }
        for message in receives {
            let came = endpoint.receive(message.from, tag)?;
            if let Some(place) = all.get_mut(message.pieces.start) {
                *place = Some(came);
            }
        }
    }
    Ok(all.into_iter().flatten().collect())
}

fn part<'a>(buffer: &'a [f32], message: &Message) -> Result<&'a [f32], CommError> {
    let part = buffer.get(message.elements.clone());
    part.ok_or_else(|| beyond(message))
}

fn beyond(message: &Message) -> CommError {
    CommError::Failed(format!(
        "was to send elements {} to {} of a buffer that has fewer",
        message.elements.start, message.elements.end
    ))
}

#[cfg(test)]
mod tests;
