//! Work on many elements, on all cores.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// Elements that are worth a thread.
const LEAST: usize = 1 << 16;

/// The lists of all parts of `0..count`, joined in their order.
pub(crate) fn in_parts<T: Send>(
    count: usize,
    list: impl Fn(Range<usize>) -> Vec<T> + Sync,
) -> Vec<T> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let parts = cores.min(count / LEAST).max(1);
    let range = |part: usize| count * part / parts..count * (part + 1) / parts;
    let list = &list;
    thread::scope(|scope| {
        let others = (1..parts).map(|part| {
            (part, thread::Builder::new().spawn_scoped(scope, move || list(range(part))))
        });
        let others: Vec<_> = others.collect();
        let mut all = list(range(0));
        for (part, other) in others {
            // Where no thread is to be had, this one does its part.
            all.extend(match other {
                Ok(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(_) => list(range(part)),
            });
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_in_order() {
        for count in [0, 1, LEAST, 5 * LEAST + 3] {
            let all = in_parts(count, |range| range.collect());
            assert!(all.iter().copied().eq(0..count), "{count}");
        }
    }
}
