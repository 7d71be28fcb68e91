//! What has been trained in this process, by recipe and device. Whoever asks first trains, and others wait for it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mlsys_lab::{DeviceId, LabError};

use super::teach::teach;
use super::{Recipe, Trained};

/// Networks that are kept; the oldest goes first. A lesson has a few, and a small one takes half a megabyte.
const MOST: usize = 24;

/// How often a run that waits for another's training looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);

static KNOWN: Known = Known { entries: Mutex::new(Vec::new()), changed: Condvar::new() };

struct Known {
    entries: Mutex<Vec<Entry>>,
    /// Told when a training is over.
    changed: Condvar,
}

struct Entry {
    recipe: Recipe,
    device: DeviceId,
    /// None while somebody trains it.
    trained: Option<Arc<Trained>>,
}

/// The right to train what a recipe says. Given back when dropped, so that others can try if this training fails.
struct Claim<'a> {
    recipe: &'a Recipe,
    device: DeviceId,
}

/// The network of a recipe. `has_next` is asked before each step, and now and then while somebody else trains it; none if
/// it says no. `smaller` names what bears on its size, for whoever has too little memory.
pub(super) fn trained(
    recipe: &Recipe,
    device: DeviceId,
    smaller: &str,
    has_next: &mut dyn FnMut(u64) -> bool,
) -> Result<Option<Arc<Trained>>, LabError> {
    loop {
        let mut entries = lock();
        let known = entries.iter().find(|entry| entry.is(recipe, device));
        match known.map(|entry| entry.trained.clone()) {
            Some(Some(trained)) => return Ok(Some(trained)),
            Some(None) => {
                // Which of the two woke it does not matter: it looks again.
                let waited = KNOWN.changed.wait_timeout(entries, LOOK);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
                if !has_next(0) {
                    return Ok(None);
                }
            }
            None => {
                entries.push(Entry { recipe: recipe.clone(), device, trained: None });
                break;
            }
        }
    }
    let claim = Claim { recipe, device };
    let trained = teach(recipe, device, smaller, has_next)?;
    Ok(trained.map(|trained| claim.fulfil(Arc::new(trained))))
}

impl Entry {
    fn is(&self, recipe: &Recipe, device: DeviceId) -> bool {
        self.device == device && self.recipe == *recipe
    }
}

impl Claim<'_> {
    fn fulfil(self, trained: Arc<Trained>) -> Arc<Trained> {
        let mut entries = lock();
        if let Some(own) = entries.iter_mut().find(|entry| entry.is(self.recipe, self.device)) {
            own.trained = Some(Arc::clone(&trained));
        }
        let old = entries.iter().position(|entry| entry.trained.is_some());
        if entries.len() > MOST
            && let Some(old) = old
        {
            entries.remove(old);
        }
        trained
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        lock().retain(|entry| entry.trained.is_some() || !entry.is(self.recipe, self.device));
        KNOWN.changed.notify_all();
    }
}

/// The entries; whoever panicked while it held them has left them whole.
fn lock() -> MutexGuard<'static, Vec<Entry>> {
    KNOWN.entries.lock().unwrap_or_else(PoisonError::into_inner)
}
