//! Foreign code that may panic or hang, kept away from the caller.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The longest a driver may take to answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

/// Runs `call` on a thread of its own; a panic or a wait of more than [`TIMEOUT`] becomes a sentence.
///
/// A call that hangs keeps its thread: there is no way to end a thread from outside.
pub(super) fn guarded<T: Send + 'static>(
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    guarded_for(TIMEOUT, call)
}

fn guarded_for<T: Send + 'static>(
    timeout: Duration,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new()
        .name("device-probe".to_owned())
        .spawn(move || {
            // The receiver may have timed out; then the answer is dropped.
            let _ = sender.send(panic::catch_unwind(AssertUnwindSafe(call)));
        })
        .map_err(|error| format!("no thread could be started for it: {error}"))?;
    match receiver.recv_timeout(timeout) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(payload)) => Err(format!("its driver failed: {}", first_line(&payload))),
        Err(RecvTimeoutError::Timeout) => {
            Err(format!("its driver did not answer within {} s", timeout.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => Err("its driver ended without an answer".to_owned()),
    }
}

fn first_line(payload: &Box<dyn Any + Send>) -> String {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("it gave no reason");
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("it gave no reason")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_and_a_hang_become_sentences() {
        assert_eq!(guarded(|| 7), Ok(7));
        // Resuming an unwinding skips the panic hook, so that the test prints nothing.
        let panicked =
            guarded(|| panic::resume_unwind(Box::new("\n  no such device\n  more".to_owned())));
        assert_eq!(panicked, Err::<(), _>("its driver failed: no such device".to_owned()));
        let hung = guarded_for(Duration::ZERO, thread::park);
        assert_eq!(hung, Err("its driver did not answer within 0 s".to_owned()));
    }
}
