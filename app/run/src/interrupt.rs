//! Ctrl-C: once ends the run in order, twice kills at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::exit::Exit;

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

    /// Whether it has been asked for.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag that a run looks at between two steps.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
