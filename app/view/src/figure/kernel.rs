//! A kernel's launch as it is stepped through: where the walk stands, and what of it a picture shows, for screen and files.

mod blocks;
mod formula;
mod lanes;
mod listing;
mod moved;
mod order;
mod said;
mod strips;
mod walk;

use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::{Kernel, View};

pub use blocks::{Block, blocks, threads, warp_word};
pub use formula::{builtin, formulas, global_index};
pub use lanes::Touch;
pub use lanes::{Lane, LaneState, lanes, shown_variable, touches, variables};
pub use listing::{Line, listing};
pub use moved::{banks, sectors};
pub use order::{current, order, problems};
pub use said::{Weight, about_thread, said};
pub use strips::{Room, memory};
pub use walk::{KernelDebugger, Play, Thread, Whence};

/// A picture of a launch where the walk stands, as files and words have it.
pub fn picture(kernel: &Kernel, walk: Option<&KernelDebugger>) -> Frame {
    // Without a walk, it is as before the first step.
    let fresh;
    let walk = match walk.filter(|walk| walk.is_of(kernel)) {
        Some(walk) => walk,
        None => {
            fresh = KernelDebugger::of(kernel);
            &fresh
        }
    };
    match kernel.view {
        View::Source => Frame::Table(listing::table(kernel, walk)),
        View::Grid => Frame::Table(blocks::table(walk)),
        View::Lanes => Frame::Table(lanes::table(walk)),
        View::Memory => Frame::Cells(memory(walk, Room::PAGE).cells),
        View::Sectors => sectors(walk),
        View::Banks => banks(walk),
        View::Timeline => Frame::Timeline(order(kernel, walk)),
        View::Problems => Frame::Table(problems(kernel)),
    }
}
