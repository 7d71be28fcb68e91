//! Background tasks that must be done before the program ends: files that are being written.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Clones share the tasks.
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
    fn waiting_ends_when_all_tasks_ended() {
        let background = BackgroundTasks::default();
        background.wait();
        let (release, held) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        let also = tell.clone();
        background.start("panics", || panic!("on purpose")).unwrap();
        background
            .start("held", move || {
                let _ = held.recv();
                let _ = also.send("work");
            })
            .unwrap();
        let waiting = background.clone();
        let waits = thread::spawn(move || {
            waiting.wait();
            let _ = tell.send("waited");
        });
        release.send(()).unwrap();
        waits.join().unwrap();
        assert_eq!(told.iter().collect::<Vec<_>>(), ["work", "waited"]);
    }
}
