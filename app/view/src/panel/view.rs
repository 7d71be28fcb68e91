//! How a person looks at one picture: what of it is shown and in which way. The picture itself is not in here.

mod frame;
mod held;
mod stretch;

use mlsys_lab::schema::{Panel, Scale};

pub use crate::panel::view::frame::{FrameView, Mark, Way};
pub(crate) use crate::panel::view::held::AxisRange;
pub use crate::panel::view::held::HeldAxes;
pub use crate::panel::view::stretch::{Stretch, Tint};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inspect {
    /// Move the cursor left; in a chart by about a column.
    Left,
    Right,
    /// Move the cursor of the charts to the recorded step before; in a graph a step of the walk back.
    PreviousPoint,
    /// Move the cursor of the charts to the next recorded step; in a graph a step of the walk on.
    NextPoint,
    Closer,
    Wider,
    Earlier,
    Later,
    /// Show all steps, or follow the newest.
    Fit,
    /// Make the axis of values logarithmic, or linear again.
    LogAxis,
    /// Smooth the curves, or show them as they are.
    Smooth,
}

#[derive(Clone, Debug, PartialEq)]
pub struct View {
    pub chart: ChartView,
    pub frame: FrameView,
}

impl View {
    /// A panel as its lab means it to be looked at first.
    pub fn new(panel: &Panel) -> Self {
        Self {
            chart: ChartView {
                scale: panel.scale,
                smoothing: Smoothing::WhereNoisy,
                window: Window::All,
            },
            frame: FrameView::default(),
        }
    }
}

/// Which curves are smoothed; the raw curve stays visible behind a smoothed one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Smoothing {
    /// Those that jump about so much that the trend is hard to see.
    #[default]
    WhereNoisy,
    Off,
    On,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChartView {
    /// How the axis of values divides its range.
    pub scale: Scale,
    pub smoothing: Smoothing,
    pub window: Window,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    All,
    /// A number of the newest, as new ones come.
    Newest(u64),
    Between(u64, u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first step of any run in the chart.
    pub first: u64,
    /// The last step of any run in the chart.
    pub last: u64,
    /// The newest step of the run that is looked at.
    pub newest: u64,
}

/// The fewest steps a chart shows.
const NARROWEST: u64 = 4;
/// A chart that follows a run begins with this part of what there is.
const FOLLOWED: u64 = 4;
/// The columns by which the cursor goes are this part of the window, whatever the screen is.
const COLUMNS: u64 = 64;

impl Window {
    /// The first and the last step shown.
    pub fn steps(self, there: Extent) -> (u64, u64) {
        match self {
            Self::All => (there.first, there.last),
            Self::Newest(count) => {
                let from = there.newest.saturating_sub(count).max(there.first);
                (from.min(there.newest), there.newest)
            }
            Self::Between(from, to) => (from.min(to), to.max(from)),
        }
    }

    /// Half as many steps, about the cursor if it is in sight, else the newest or the middle.
    pub fn closer(self, there: Extent, cursor: Option<u64>) -> Self {
        let (from, to) = self.steps(there);
        let half = ((to - from) / 2).max(NARROWEST);
        if half >= to - from {
            return self;
        }
        match (cursor.filter(|step| (from..=to).contains(step)), self) {
            // What is under the cursor stays where it is on the screen.
            (Some(at), _) => {
                let left = at - from;
                let start = at - (left / 2).min(left);
                Self::Between(start, start + half)
            }
            (None, Self::All | Self::Newest(_)) => Self::Newest(half),
            (None, Self::Between(..)) => {
                let start = from + (to - from - half) / 2;
                Self::Between(start, start + half)
            }
        }
    }

    /// Twice as many steps about the same middle, until all are shown.
    pub fn wider(self, there: Extent) -> Self {
        let (from, to) = self.steps(there);
        let width = (to - from).saturating_mul(2).max(NARROWEST);
        let all = there.last - there.first.min(there.last);
        match self {
            // What is left out at half of all and its double is a step or two: not worth leaving out.
            _ if width.saturating_add(width / 16) >= all => Self::All,
            Self::All => Self::All,
            Self::Newest(_) => Self::Newest(width),
            Self::Between(..) => Self::placed(from.saturating_sub((to - from) / 2), width, there),
        }
    }

    /// A quarter of the window towards the first step.
    pub fn earlier(self, there: Extent) -> Self {
        let (from, to) = self.steps(there);
        let by = ((to - from) / 4).max(1);
        match self {
            Self::All => Self::All,
            Self::Newest(_) | Self::Between(..) => {
                let from = from.saturating_sub(by).max(there.first);
                Self::Between(from, from.saturating_add(to - self.steps(there).0))
            }
        }
    }

    /// A quarter of the window towards the last step; at the last it follows the run.
    pub fn later(self, there: Extent) -> Self {
        let (from, to) = self.steps(there);
        let by = ((to - from) / 4).max(1);
        match self {
            Self::All | Self::Newest(_) => self,
            Self::Between(..) if to.saturating_add(by) >= there.last => {
                match to - from >= there.last - there.first.min(there.last) {
                    true => Self::All,
                    false => Self::Newest(to - from),
                }
            }
            Self::Between(..) => Self::Between(from + by, to + by),
        }
    }

    /// All, or the newest if all are shown.
    pub fn fit(self, there: Extent) -> Self {
        match self {
            Self::All => {
                let all = there.newest.saturating_sub(there.first);
                Self::Newest((all / FOLLOWED).max(NARROWEST))
            }
            Self::Newest(_) | Self::Between(..) => Self::All,
        }
    }

    /// The window moved just so far that a step is in it.
    pub fn around(self, step: u64, there: Extent) -> Self {
        let (from, to) = self.steps(there);
        if (from..=to).contains(&step) || self == Self::All {
            self
        } else if step < from {
            Self::Between(step, step + (to - from))
        } else {
            Self::Between(step - (to - from), step)
        }
    }

    /// How many steps the cursor goes at once.
    pub fn column(self, there: Extent) -> u64 {
        let (from, to) = self.steps(there);
        ((to - from) / COLUMNS).max(1)
    }

    /// What is shown, in words; nothing if that is everything.
    pub fn describe(self, there: Extent) -> Option<String> {
        let (from, to) = self.steps(there);
        match self {
            Self::All => None,
            Self::Newest(_) => Some(format!("newest {} steps", (to - from).saturating_add(1))),
            Self::Between(..) => Some(format!("steps {from}-{to}")),
        }
    }

    fn placed(from: u64, width: u64, there: Extent) -> Self {
        let latest = there.last.saturating_sub(width).max(there.first);
        let from = from.clamp(there.first, latest);
        Self::Between(from, from.saturating_add(width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Extent = Extent { first: 1, last: 400, newest: 300 };

    fn ways(window: Window, there: Extent, step: u64) -> [Window; 6] {
        [
            window.closer(there, Some(step)),
            window.closer(there, None),
            window.wider(there),
            window.earlier(there),
            window.later(there),
            window.around(step, there),
        ]
    }

    #[test]
    fn every_window_shows_steps_in_order_whatever_led_to_it() {
        let extents = [(0, 0, 0), (1, 1, 1), (1, 400, 300), (5, 7, 6), (0, u64::MAX, u64::MAX)];
        for (first, last, newest) in extents {
            let there = Extent { first, last, newest };
            let mut reached = vec![Window::All];
            for round in 0..6 {
                let further = reached.iter().flat_map(|window| {
                    let steps = [first, last, newest, first.midpoint(last)];
                    ways(*window, there, steps[round % 4])
                });
                reached = further.collect();
                reached.dedup();
                for window in &reached {
                    let (from, to) = window.steps(there);
                    assert!(from <= to, "{window:?} in {there:?}");
                    assert!(window.column(there) >= 1);
                }
            }
        }
    }

    #[test]
    fn what_is_under_the_cursor_stays_in_the_window() {
        let mut window = Window::All;
        for step in [1, 400, 77, 200] {
            for _ in 0..12 {
                window = window.around(step, RUN).closer(RUN, Some(step));
                let (from, to) = window.steps(RUN);
                assert!((from..=to).contains(&step), "{window:?} without {step}");
            }
            assert!(window.steps(RUN).1 - window.steps(RUN).0 <= 2 * NARROWEST);
            for _ in 0..12 {
                window = window.wider(RUN);
            }
            assert_eq!(window, Window::All);
        }
    }

    #[test]
    fn going_later_ends_in_following() {
        let mut window = Window::Between(1, 50);
        for _ in 0..60 {
            window = window.later(RUN);
        }
        assert_eq!(window, Window::Newest(49));
        assert_eq!(window.steps(RUN), (251, 300));
        assert_eq!(window.earlier(RUN), Window::Between(239, 288));
        assert_eq!(Window::All.fit(RUN), Window::Newest(74));
        assert_eq!(Window::Newest(74).fit(RUN), Window::All);
    }
}
