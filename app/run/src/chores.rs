//! Work beside whoever must not wait, which has to be done before the program ends: files that are being written.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// What is under way; clones share it.
#[derive(Clone, Default)]
pub struct Chores(Arc<Shared>);

#[derive(Default)]
struct Shared {
    under_way: Mutex<usize>,
    done: Condvar,
}

impl Chores {
    /// Does work on a thread of its own.
    ///
    /// # Errors
    /// If no thread can be started; then the work is dropped.
    pub fn start(&self, name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let one = One::of(&self.0);
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(move || {
            let _one = one;
            work();
        })?;
        Ok(())
    }

    /// Waits until all that was started is done.
    pub fn wait(&self) {
        let waited = self.0.done.wait_while(self.0.lock(), |count| *count > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, usize> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts as under way while it lives, also if the work panics.
struct One(Arc<Shared>);

impl One {
    fn of(shared: &Arc<Shared>) -> Self {
        *shared.lock() += 1;
        Self(Arc::clone(shared))
    }
}

impl Drop for One {
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
    fn waiting_ends_when_all_is_done_whatever_came_of_it() {
        let chores = Chores::default();
        chores.wait();
        let (release, held) = mpsc::channel::<()>();
        let (tell, told) = mpsc::channel();
        let also = tell.clone();
        chores.start("panics", || panic!("on purpose")).unwrap();
        chores
            .start("held", move || {
                let _ = held.recv();
                let _ = also.send("work");
            })
            .unwrap();
        let waiting = chores.clone();
        let waits = thread::spawn(move || {
            waiting.wait();
            let _ = tell.send("waited");
        });
        release.send(()).unwrap();
        waits.join().unwrap();
        assert_eq!(told.iter().collect::<Vec<_>>(), ["work", "waited"]);
    }
}
