//! The process: exit codes and the errors that lead to one, Ctrl-C, standard error put aside, and background tasks
//! that must be done before the program ends.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use mlsys_lab::device::NoDevice;
use mlsys_lab::{LabError, UnknownKind};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

pub use stderr::{hush, speak};

/// The exit codes; of several that apply the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Ctrl-C or a request to terminate.
    Interrupted,
    /// Something was typed wrong, or a lesson is not valid.
    Usage,
    DeviceMissing,
    /// A run failed: out of memory, device lost, too slow, not finite. Or a full disk lost what was to be kept.
    RunFailed,
    CheckFailed,
    Passed,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Interrupted => 130,
            Self::Usage => 2,
            Self::DeviceMissing => 3,
            Self::RunFailed => 4,
            Self::CheckFailed => 1,
            Self::Passed => 0,
        }
    }

    /// The worse of the two.
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Ends the program, on Unix without the clean-up that libraries ask for at exit: a driver's threads may still be
    /// probing for devices, and a driver that is unloaded under its own threads crashes.
    pub fn leave(self) -> ! {
        let _ = io::stdout().flush();
        #[cfg(unix)]
        signal_hook::low_level::exit(self.code().into());
        #[cfg(not(unix))]
        std::process::exit(self.code().into())
    }
}

/// Something that was to be kept and is lost, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct Loss {
    sentence: String,
    exit: Exit,
}

impl Loss {
    /// `sentence` is about this error.
    ///
    /// A full disk is a failure. A folder that was never to be written into, such as that of a container, is not: what
    /// was to be kept there is told as lost, and nothing more was asked for.
    pub fn new(sentence: impl Into<String>, error: &io::Error) -> Self {
        let is_full = matches!(
            error.kind(),
            io::ErrorKind::StorageFull
                | io::ErrorKind::QuotaExceeded
                | io::ErrorKind::FileTooLarge
                | io::ErrorKind::WriteZero
        );
        let exit = if is_full { Exit::RunFailed } else { Exit::Passed };
        Self { sentence: sentence.into(), exit }
    }

    pub fn exit(&self) -> Exit {
        self.exit
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Standard output was closed by its reader, which is no error.
    #[error("standard output is closed")]
    Closed,
    /// Something was typed wrong, or a file that was named cannot be used.
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Device(#[from] NoDevice),
    #[error("{0}")]
    Run(String),
    #[error("interrupted{0}")]
    Interrupted(String),
    #[error("output cannot be written: {0}")]
    Output(io::Error),
}

impl Failure {
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub fn exit(&self) -> Exit {
        match self {
            Self::Closed => Exit::Passed,
            Self::Usage(_) => Exit::Usage,
            Self::Device(_) => Exit::DeviceMissing,
            Self::Run(_) | Self::Output(_) => Exit::RunFailed,
            Self::Interrupted(_) => Exit::Interrupted,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Self::Closed } else { Self::Output(error) }
    }
}

impl From<UnknownKind> for Failure {
    fn from(unknown: UnknownKind) -> Self {
        Self::Usage(unknown.to_string())
    }
}

pub fn lab_error_exit(error: &LabError) -> Exit {
    match error {
        LabError::Param(_) | LabError::Contradiction { .. } | LabError::Expression { .. } => {
            Exit::Usage
        }
        LabError::Device { .. } | LabError::Worker(_) => Exit::DeviceMissing,
        LabError::NotFinite { .. } | LabError::Data(_) | LabError::Failed { .. } => Exit::RunFailed,
    }
}

/// Whether an end was requested by a signal.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for Ctrl-C and for the request to terminate.
    pub fn listen() -> io::Result<Self> {
        let asked = Self::default();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag down, passes, and raises it; the second finds it up.
            flag::register_conditional_shutdown(
                signal,
                Exit::Interrupted.code().into(),
                Arc::clone(&asked.0),
            )?;
            flag::register(signal, Arc::clone(&asked.0))?;
        }
        Ok(asked)
    }

    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag that a run looks at between two steps.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

#[cfg(unix)]
mod stderr {
    use std::fs::File;
    use std::os::fd::OwnedFd;
    use std::sync::Mutex;

    /// The standard error that the program was started with, while it is closed.
    static SAVED: Mutex<Option<OwnedFd>> = Mutex::new(None);

    /// Discards what graphics drivers write to standard error until [`speak`]; without effect where that is impossible.
    pub fn hush() {
        let Ok(mut saved) = SAVED.lock() else { return };
        if saved.is_some() {
            return;
        }
        let null = File::options().write(true).open("/dev/null");
        if let (Ok(null), Ok(stderr)) = (null, rustix::io::dup(rustix::stdio::stderr()))
            && rustix::stdio::dup2_stderr(&null).is_ok()
        {
            *saved = Some(stderr);
        }
    }

    /// Gives standard error back.
    pub fn speak() {
        let Ok(mut saved) = SAVED.lock() else { return };
        if let Some(stderr) = saved.take() {
            // It can only fail if the descriptor was closed meanwhile.
            let _ = rustix::stdio::dup2_stderr(&stderr);
        }
    }
}

#[cfg(not(unix))]
mod stderr {
    pub fn hush() {}
    pub fn speak() {}
}

/// Files that are being written; clones share the tasks.
#[derive(Clone, Default)]
pub struct BackgroundTasks(Arc<Shared>);

#[derive(Default)]
struct Shared {
    running: Mutex<usize>,
    done: Condvar,
}

impl BackgroundTasks {
    /// Starts a task on a thread of its own.
    ///
    /// # Errors
    /// If no thread can be started; then the task is dropped.
    pub fn start(&self, name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let running = Running::new(&self.0);
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(move || {
            let _running = running;
            work();
        })?;
        Ok(())
    }

    /// Waits until all started tasks are done.
    pub fn wait(&self) {
        let waited = self.0.done.wait_while(self.0.lock(), |count| *count > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts as a running task while it lives, also if the task panics.
struct Running(Arc<Shared>);

impl Running {
    fn new(shared: &Arc<Shared>) -> Self {
        *shared.lock() += 1;
        Self(Arc::clone(shared))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.done.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn exit_codes_have_an_order() {
        let order = [130, 2, 3, 4, 1, 0];
        let exits = [
            Exit::CheckFailed,
            Exit::Passed,
            Exit::RunFailed,
            Exit::DeviceMissing,
            Exit::Interrupted,
            Exit::Usage,
        ];
        for a in exits {
            for b in exits {
                let first = order.iter().find(|code| [a.code(), b.code()].contains(code));
                assert_eq!(Some(&a.and(b).code()), first);
            }
        }
    }

    #[test]
    fn a_full_disk_is_a_failure_and_a_folder_without_rights_is_none() {
        for (kind, exit) in [
            (io::ErrorKind::StorageFull, Exit::RunFailed),
            (io::ErrorKind::QuotaExceeded, Exit::RunFailed),
            (io::ErrorKind::PermissionDenied, Exit::Passed),
            (io::ErrorKind::ReadOnlyFilesystem, Exit::Passed),
            (io::ErrorKind::NotADirectory, Exit::Passed),
        ] {
            let loss = Loss::new("gone", &kind.into());
            assert_eq!((loss.exit(), loss.to_string()), (exit, "gone".to_owned()), "{kind}");
        }
    }

    #[test]
    fn waiting_ends_when_all_tasks_ended() {
        let background = BackgroundTasks::default();
        background.wait();
        let (release, held) = mpsc::channel::<()>();
        let (sender, receiver) = mpsc::channel();
        let other = sender.clone();
        background.start("panics", || panic!("on purpose")).unwrap();
        background
            .start("held", move || {
                let _ = held.recv();
                let _ = other.send("work");
            })
            .unwrap();
        let waiting = background.clone();
        let waits = thread::spawn(move || {
            waiting.wait();
            let _ = sender.send("waited");
        });
        release.send(()).unwrap();
        waits.join().unwrap();
        assert_eq!(receiver.iter().collect::<Vec<_>>(), ["work", "waited"]);
    }
}
