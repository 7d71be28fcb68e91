//! Foreign code that may panic or hang, kept away from the caller.

use std::any::Any;
#[cfg(target_os = "linux")]
use std::num::NonZeroU64;
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
            sleep_long();
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

/// The thread that feeds an open device looks for its end every 150 microseconds (cubecl's `PARK_STEP_SERVER`), which
/// costs a processor 4 % while nothing runs. New work wakes it at once. A timer with this slack wakes it 20 times a second
/// instead, and threads have the slack of the one that starts them; other systems have no such setting.
fn sleep_long() {
    #[cfg(target_os = "linux")]
    {
        const SLACK_NANOSECONDS: Option<NonZeroU64> = NonZeroU64::new(50_000_000);
        // Without it the thread only wakes more often.
        let _ = rustix::thread::set_current_timer_slack(SLACK_NANOSECONDS);
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

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_of_a_driver_inherit_long_sleeps() {
        let inherited = || thread::spawn(|| rustix::thread::current_timer_slack().unwrap());
        assert_eq!(guarded(move || inherited().join().unwrap()).unwrap(), 50_000_000);
    }

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
