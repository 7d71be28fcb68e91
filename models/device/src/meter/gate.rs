//! Where threads wait for each other without sleeping, so that none begins late.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A gate that somebody opens once all have arrived.
#[derive(Default)]
pub(super) struct Gate {
    arrived: AtomicUsize,
    open: AtomicUsize,
}

impl Gate {
    /// Arrives, and waits until it is opened.
    pub(super) fn wait(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        spin(|| self.open.load(Ordering::Acquire) > 0);
    }

    /// Waits until so many have arrived.
    pub(super) fn await_all(&self, threads: usize) {
        spin(|| self.arrived.load(Ordering::Acquire) >= threads);
    }

    /// Lets all go.
    pub(super) fn open(&self) {
        self.open.store(1, Ordering::Release);
    }
}

/// Looks until it is so; where that takes long, others may have the core in between.
fn spin(is_so: impl Fn() -> bool) {
    /// Some tens of microseconds.
    const PATIENCE: u32 = 5_000;
    let mut looks = 0_u32;
    while !is_so() {
        looks = looks.saturating_add(1);
        if looks < PATIENCE {
            std::hint::spin_loop();
        } else {
            thread::yield_now();
        }
    }
}
