//! Lessons run side by side, and labs that measure time alone; results stand in the order of the lessons.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;

use mlsys_run::console::Console;

/// Runs each of `count` jobs, `jobs` of them at a time. What a job returns stands at its place; it is missing if the job
/// returned nothing.
pub fn run<R: Send>(
    (count, jobs): (usize, NonZeroUsize),
    console: &mut Console,
    job: impl Fn(usize, &mut Console) -> Option<R> + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = |console: &mut Console| loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= count {
            return;
        }
        let result = job(index, console).map(|result| (index, result));
        done.lock().unwrap_or_else(PoisonError::into_inner).extend(result);
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get().min(count) {
            scope.spawn(|| work(&mut Console::warnings()));
        }
        work(console);
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Whether other labs may run while a lab does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    Shared,
    Exclusive,
}

/// The machine: shared by labs, or lent to one.
#[derive(Default)]
pub struct Machine(RwLock<()>);

impl Machine {
    /// Waits until the work may run.
    pub fn with<R>(&self, sharing: Sharing, work: impl FnOnce() -> R) -> R {
        match sharing {
            Sharing::Shared => {
                let _others = self.0.read().unwrap_or_else(PoisonError::into_inner);
                work()
            }
            Sharing::Exclusive => {
                let _alone = self.0.write().unwrap_or_else(PoisonError::into_inner);
                work()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_order_and_nothing_runs_with_what_is_exclusive() {
        let (running, machine) = (AtomicUsize::new(0), Machine::default());
        for jobs in [1, 2, 3, 40] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let job = |index: usize, _: &mut Console| {
                let sharing = match index.is_multiple_of(5) {
                    true => Sharing::Exclusive,
                    false => Sharing::Shared,
                };
                machine.with(sharing, || {
                    let others = running.fetch_add(1, Ordering::SeqCst);
                    assert!(sharing == Sharing::Shared || others == 0);
                    thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                });
                (index != 7).then_some(index)
            };
            let done = run((30, jobs), &mut Console::silent(), job);
            assert_eq!(done, (0..30).filter(|&index| index != 7).collect::<Vec<_>>());
        }
    }
}
