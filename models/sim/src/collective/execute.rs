//! A plan executed on buffers in one place: what workers do with messages, without the workers.

use std::ops::AddAssign;

use super::{Action, Message, Plan, PlanError};

/// Executes a plan; `buffers` holds one of [`Plan::elements`] elements for each of [`Plan::endpoints`], a parameter
/// server's zeros among them.
///
/// # Errors
/// Another number of buffers, or a buffer of another length; nothing is changed then.
pub fn execute<T: Copy + AddAssign>(plan: &Plan, buffers: &mut [Vec<T>]) -> Result<(), PlanError> {
    execute_shuffled(plan, buffers, |_, _| ())
}

/// The same with the messages of each round taken in an order that `order` makes of the plan's, as if some had been
/// longer under way than others.
///
/// # Errors
/// As for [`execute`].
pub fn execute_shuffled<T: Copy + AddAssign>(
    plan: &Plan,
    buffers: &mut [Vec<T>],
    mut order: impl FnMut(usize, &mut Vec<Message>),
) -> Result<(), PlanError> {
    let (endpoints, elements) = (plan.endpoints(), plan.elements());
    if buffers.len() != endpoints {
        return Err(PlanError::WrongBuffers { endpoints, buffers: buffers.len() });
    }
    let wrong = |(_, buffer): &(usize, &Vec<T>)| buffer.len() != elements;
    if let Some((endpoint, buffer)) = buffers.iter().enumerate().find(wrong) {
        return Err(PlanError::WrongLength { endpoint, elements, given: buffer.len() });
    }
    for round in 0..plan.rounds() {
        let mut messages: Vec<Message> = plan.round(round).collect();
        order(round, &mut messages);
        // All are sent before any is taken: with what the senders held when the round began.
        let sent: Vec<(Message, Vec<T>)> = messages
            .into_iter()
            .map(|message| {
                let held = buffers.get(message.from);
                let held = held.and_then(|buffer| buffer.get(message.elements.clone()));
                let held = held.unwrap_or_default().to_vec();
                (message, held)
            })
            .collect();
        for (message, held) in sent {
            let own = buffers.get_mut(message.to);
            if let Some(own) = own.and_then(|buffer| buffer.get_mut(message.elements)) {
                take(own, &held, message.action);
            }
        }
    }
    Ok(())
}

/// What a receiver does with a message: its own elements at that place, and those that came.
pub fn take<T: Copy + AddAssign>(own: &mut [T], came: &[T], action: Action) {
    for (own, came) in own.iter_mut().zip(came) {
        match action {
            Action::Add => *own += *came,
            Action::Replace => *own = *came,
        }
    }
}
