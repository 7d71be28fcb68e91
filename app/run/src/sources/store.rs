//! What runs have left, by lab, parameters and device.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlsys_lab::device::DeviceId;
use mlsys_lab::value::Value;
use mlsys_lab::{Artifact, Params};

/// So many are kept; the oldest goes first.
const MOST: usize = 16;
/// So many bytes of all that are kept but the newest.
const MOST_BYTES: usize = 128 << 20;

/// What runs have left for others while the program runs; clones are handles to the same store.
#[derive(Clone, Default)]
pub struct Store(Arc<Mutex<Vec<Kept>>>);

struct Kept {
    kind: String,
    params: Vec<(String, Value)>,
    device: DeviceId,
    artifact: Arc<Artifact>,
}

impl Store {
    /// Keeps what a run has left.
    pub(super) fn keep(
        &self,
        kind: &str,
        params: &Params,
        device: DeviceId,
        artifact: Arc<Artifact>,
    ) {
        let kept = Kept { kind: kind.to_owned(), params: values(params), device, artifact };
        let mut all = self.lock();
        all.retain(|old| {
            !(old.kind == kept.kind && old.device == device && old.params == kept.params)
        });
        let mut bytes = 0;
        let fitting = all.iter().rev().take(MOST - 1).take_while(|old| {
            bytes += old.artifact.bytes.len();
            bytes <= MOST_BYTES
        });
        let surplus = all.len() - fitting.count();
        all.drain(..surplus);
        all.push(kept);
    }

    /// What a run with these parameters has left, if there was one.
    pub(super) fn find(
        &self,
        kind: &str,
        params: &Params,
        device: DeviceId,
    ) -> Option<Arc<Artifact>> {
        let values = values(params);
        let all = self.lock();
        let found = all
            .iter()
            .find(|kept| kept.kind == kind && kept.device == device && kept.params == values);
        found.map(|kept| Arc::clone(&kept.artifact))
    }

    /// Whoever panicked while it held the list has left it whole.
    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The values alone: who set them makes no difference.
fn values(params: &Params) -> Vec<(String, Value)> {
    params.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect()
}
