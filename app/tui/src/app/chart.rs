//! Looking at a line chart: its cursor, the steps it shows, its scale and its smoothing.

use mlsys_lab::schema::{Draw, Scale};

use crate::slot::Slot;
use mlsys_view::panel::Inspect;
use mlsys_view::panel::{Extent, Smoothing, Window, extent, is_smoothed, step_after, step_before};

/// What becomes another by looking in another way.
enum Change {
    Cursor(u64),
    Window(Window),
    Scale,
    Smoothing,
}

/// The steps of the chosen chart.
fn chosen_extent(slot: &Slot) -> Option<Extent> {
    let index = slot.chosen().filter(|_| slot.draws() == Some(Draw::Line))?;
    extent(&slot.scene(index)?)
}

/// Puts the cursor of all charts at a step and keeps it in sight in the chosen one.
pub(super) fn put_cursor(slot: &mut Slot, at: impl Fn(Extent) -> u64) {
    if let Some(there) = chosen_extent(slot) {
        let at = at(there).clamp(there.first, there.last);
        slot.cursor = Some(at);
        if let Some(view) = slot.chosen_view() {
            view.chart.window = view.chart.window.around(at, there);
        }
    }
}

/// Looks at the chosen chart in another way; returns what is to be said of it.
pub(super) fn inspect_chart(slot: &mut Slot, inspect: Inspect) -> Option<String> {
    let there = chosen_extent(slot)?;
    let scene = slot.scene(slot.chosen()?)?;
    let window = scene.view.chart.window;
    let (from, to) = window.steps(there);
    let column = window.column(there);
    // The first press shows the cursor where the newest values are.
    let moved = |by: &dyn Fn(u64) -> u64| Change::Cursor(slot.cursor.map_or(to, by));
    let change = match inspect {
        Inspect::Left => moved(&|at| at.clamp(from, to).saturating_sub(column)),
        Inspect::Right => moved(&|at| at.clamp(from, to).saturating_add(column)),
        Inspect::PreviousPoint => moved(&|at| step_before(&scene, at).unwrap_or(at)),
        Inspect::NextPoint => moved(&|at| step_after(&scene, at).unwrap_or(at)),
        Inspect::Closer => Change::Window(window.closer(there, slot.cursor)),
        Inspect::Wider => Change::Window(window.wider(there)),
        Inspect::Earlier => Change::Window(window.earlier(there)),
        Inspect::Later => Change::Window(window.later(there)),
        Inspect::Fit => Change::Window(window.fit(there)),
        Inspect::LogAxis => Change::Scale,
        Inspect::Smooth => Change::Smoothing,
    };
    let smoothed = is_smoothed(&scene);
    match change {
        Change::Cursor(at) => {
            put_cursor(slot, |_| at);
            return None;
        }
        Change::Window(window) => slot.chosen_view()?.chart.window = window,
        Change::Scale => {
            let scale = &mut slot.chosen_view()?.chart.scale;
            *scale = match scale {
                Scale::Linear => Scale::Log,
                Scale::Log => Scale::Linear,
            };
        }
        Change::Smoothing => {
            let (smoothing, said) = if smoothed {
                (Smoothing::Off, "no curve is smoothed")
            } else {
                (Smoothing::On, "all curves are smoothed; the raw ones stay behind")
            };
            slot.chosen_view()?.chart.smoothing = smoothing;
            return Some(said.to_owned());
        }
    }
    None
}
