//! Foreign code that may panic or hang, kept away from the caller.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{io, thread};

/// The longest a driver may take to answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error)]
pub(super) enum DriverError {
    #[error("no thread could be started for it: {0}")]
    NoThread(io::Error),
    #[error("its driver failed: {0}")]
    Panicked(String),
    #[error("its driver did not answer within {} s", .0.as_secs())]
    Timeout(Duration),
    #[error("its driver ended without an answer")]
    Ended,
    #[cfg(feature = "wgpu")]
    #[error("its driver did not answer at once")]
    Pending,
}

/// Runs `call` on a thread of its own; a panic or a wait of more than [`TIMEOUT`] becomes an error.
///
/// A call that hangs keeps its thread: there is no way to end a thread from outside.
pub(super) fn guarded<T: Send + 'static>(
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, DriverError> {
    guarded_for(TIMEOUT, call)
}

fn guarded_for<T: Send + 'static>(
    timeout: Duration,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, DriverError> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new()
        .name("device-probe".to_owned())
        .spawn(move || {
            // The receiver may have timed out; then the answer is dropped.
            let _ = sender.send(panic::catch_unwind(AssertUnwindSafe(call)));
        })
        .map_err(DriverError::NoThread)?;
    match receiver.recv_timeout(timeout) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(payload)) => Err(DriverError::Panicked(first_line(&payload))),
        Err(RecvTimeoutError::Timeout) => Err(DriverError::Timeout(timeout)),
        Err(RecvTimeoutError::Disconnected) => Err(DriverError::Ended),
    }
}

fn first_line(payload: &Box<dyn Any + Send>) -> String {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("it gave no reason");
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or("it gave no reason").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_and_a_hang_become_errors() {
        assert_eq!(guarded(|| 7).unwrap(), 7);
        // Resuming an unwinding skips the panic hook, so that the test prints nothing.
        let panicked =
            guarded(|| panic::resume_unwind(Box::new("\n  no such device\n  more".to_owned())));
        let error = panicked.map(|()| 0).unwrap_err().to_string();
        assert_eq!(error, "its driver failed: no such device");
        let error = guarded_for(Duration::ZERO, thread::park).unwrap_err().to_string();
        assert_eq!(error, "its driver did not answer within 0 s");
    }
}
