//! What runs of this process have left, by lab, parameters and device.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mlsys_lab::device::DeviceId;
use mlsys_lab::value::Value;
use mlsys_lab::{Artifact, Params};

/// So many are kept; the oldest goes first.
const MOST: usize = 16;
/// So many bytes of all that are kept but the newest.
const MOST_BYTES: usize = 128 << 20;

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

struct Kept {
    kind: String,
    params: Vec<(String, Value)>,
    device: DeviceId,
    artifact: Arc<Artifact>,
}

/// Keeps what a run has left.
pub(super) fn keep(kind: &str, params: &Params, device: DeviceId, artifact: Arc<Artifact>) {
    let kept = Kept {
        kind: kind.to_owned(),
        params: values(params),
        device,
        artifact,
    };
    let mut all = lock();
    all.retain(|old| !(old.kind == kept.kind && old.device == device && old.params == kept.params));
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
pub(super) fn find(kind: &str, params: &Params, device: DeviceId) -> Option<Arc<Artifact>> {
    let values = values(params);
    let all = lock();
    let found = all
        .iter()
        .find(|kept| kept.kind == kind && kept.device == device && kept.params == values);
    found.map(|kept| Arc::clone(&kept.artifact))
}

/// The values alone: who set them makes no difference.
fn values(params: &Params) -> Vec<(String, Value)> {
    params
        .iter()
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

/// Whoever panicked while it held the list has left it whole.
fn lock() -> MutexGuard<'static, Vec<Kept>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}
