//! How a person looks at one picture: what of it is shown and in which way. The picture itself is not in here.

use mlsys_lab::schema::{Panel, Scale};

pub use crate::figure::Smoothing;

/// How one picture of a lab is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// As a line chart.
    pub chart: ChartView,
}

impl View {
    /// A panel as its lab means it to be looked at first.
    pub fn of(panel: &Panel) -> Self {
        Self {
            chart: ChartView {
                scale: panel.scale,
                smoothing: Smoothing::WhereNoisy,
                window: Window::All,
            },
        }
    }
}

/// How a line chart is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartView {
    /// How the axis of values divides its range.
    pub scale: Scale,
    /// Which curves are smoothed.
    pub smoothing: Smoothing,
    /// Which steps are shown.
    pub window: Window,
}

/// Which steps a chart shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// From the first to the newest.
    All,
    /// The newest so many, whatever the newest is.
    Newest(u64),
    /// From one step to another.
    Between(u64, u64),
}

/// The steps there are to look at.
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
            _ if width >= all => Self::All,
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
                Self::Newest(to - from).within(there)
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
    pub fn said(self, there: Extent) -> Option<String> {
        let (from, to) = self.steps(there);
        match self {
            Self::All => None,
            Self::Newest(_) => Some(format!("following, steps {from} to {to}")),
            Self::Between(..) => Some(format!("steps {from} to {to}")),
        }
    }

    fn placed(from: u64, width: u64, there: Extent) -> Self {
        let latest = there.last.saturating_sub(width).max(there.first);
        let from = from.clamp(there.first, latest);
        Self::Between(from, from.saturating_add(width))
    }

    /// A window as wide as all is all.
    fn within(self, there: Extent) -> Self {
        match self {
            Self::Newest(count) if count >= there.last - there.first.min(there.last) => Self::All,
            Self::All | Self::Newest(_) | Self::Between(..) => self,
        }
    }
}
