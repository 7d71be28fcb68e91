//! A kernel's launch as it is stepped through: where the walk stands, and what of it a picture shows, for screen and files.

mod blocks;
mod formula;
mod lanes;
mod listing;
mod said;
mod walk;

use mlsys_lab::frame::Table;
use mlsys_lab::frame::kernel::{Kernel, View};

pub use blocks::{Block, blocks, threads, warp_word};
pub use formula::{builtin, formulas, global_index};
pub use lanes::{Lane, LaneState, lanes, shown_variable, touches, variables};
pub use listing::{Line, listing};
pub use said::{Weight, about_thread, said};
pub use walk::{Play, Thread, Walk, Whence};

/// What a picture of a launch shows as rows and columns, for files and for words.
pub fn table(kernel: &Kernel, walk: Option<&Walk>) -> Table {
    // Without anybody who steps, it is as before the first step.
    let fresh;
    let walk = match walk.filter(|walk| walk.is_of(kernel)) {
        Some(walk) => walk,
        None => {
            fresh = Walk::of(kernel);
            &fresh
        }
    };
    match kernel.view {
        View::Source => listing::table(kernel, walk),
        View::Grid => blocks::table(walk),
        View::Lanes => lanes::table(walk),
    }
}
