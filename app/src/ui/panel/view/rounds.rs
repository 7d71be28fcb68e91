//! How an exchange is looked at: after which round, and which rank and chunk.

use mlsys_lab::frame::Exchange;

use super::frame::{FrameView, Mark, Way};
use crate::ui::command::Inspect;

/// Left and right go from round to round, up and down from rank to rank.
pub(super) fn go(view: &mut FrameView, exchange: &Exchange, way: Way) {
    match way {
        Way::Left => step(view, exchange, -1),
        Way::Right => step(view, exchange, 1),
        Way::First => step(view, exchange, isize::MIN),
        Way::Last => step(view, exchange, isize::MAX),
        Way::Up(by) => mark(view, exchange, |mark| Mark {
            row: mark.row.saturating_sub(by),
            ..mark
        }),
        Way::Down(by) => mark(view, exchange, |mark| Mark {
            row: mark.row.saturating_add(by),
            ..mark
        }),
    }
}

/// A round, or another chunk of the rank that is looked at.
pub(super) fn inspect(view: &mut FrameView, exchange: &Exchange, inspect: Inspect) {
    match inspect {
        Inspect::NextPoint | Inspect::Right => step(view, exchange, 1),
        Inspect::PreviousPoint | Inspect::Left => step(view, exchange, -1),
        Inspect::Earlier => mark(view, exchange, |mark| Mark {
            column: mark.column.saturating_sub(1),
            ..mark
        }),
        Inspect::Later => mark(view, exchange, |mark| Mark {
            column: mark.column.saturating_add(1),
            ..mark
        }),
        Inspect::Fit => view.mark = None,
        Inspect::Closer | Inspect::Wider | Inspect::LogAxis | Inspect::Smooth => {}
    }
}

/// Goes so many rounds on, or back.
pub(super) fn step(view: &mut FrameView, exchange: &Exchange, by: isize) {
    let rounds = exchange.rounds.len();
    let at = view.round.min(rounds);
    view.round = at.saturating_add_signed(by).min(rounds);
}

/// Marks another cell; the first time the first.
fn mark(view: &mut FrameView, exchange: &Exchange, to: impl FnOnce(Mark) -> Mark) {
    let all = (exchange.chunks.len(), exchange.ranks);
    let mark = view.mark.map_or_else(Mark::default, to);
    view.mark = (all.0 > 0 && all.1 > 0).then(|| mark.within(all.0, all.1));
}
