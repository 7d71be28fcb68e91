//! How a timeline is looked at: which part of its axis, and what its colours tell.

use mlsys_lab::frame::Timeline;

use crate::panel::view::Inspect;

/// What the colour of a bar tells; its fill always tells its class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tint {
    /// Its class, such as "forward".
    #[default]
    Class,
    /// Its label, such as the number of a microbatch: bars of one label have one colour.
    Label,
}

impl Tint {
    pub fn next(self) -> Self {
        if self == Self::Class { Self::Label } else { Self::Class }
    }
}

/// The part of the axis that is shown; absent for all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch(Option<(f64, f64)>);

/// The narrowest part, of the whole.
const NARROWEST: f64 = 1e-6;

impl Stretch {
    /// From one place to another.
    pub fn between(from: f64, to: f64) -> Self {
        Self(Some((from, to)))
    }

    /// Its ends on a timeline's axis; nothing if nothing is on it.
    pub fn range(self, timeline: &Timeline) -> Option<(f64, f64)> {
        let (low, high) = timeline.extent()?;
        let (from, to) = self.0.unwrap_or((low, high));
        // A timeline of another run may end before the part begins.
        let (from, to) = (from.clamp(low, high), to.clamp(low, high));
        Some(if from < to { (from, to) } else { (low, high) })
    }

    /// Less or more of the axis, or another part of it; `about` stays in sight.
    pub(crate) fn inspect(self, timeline: &Timeline, about: Option<f64>, inspect: Inspect) -> Self {
        let (Some((low, high)), Some((from, to))) = (timeline.extent(), self.range(timeline))
        else {
            return self;
        };
        let width = to - from;
        let middle = f64::midpoint(from, to);
        match inspect {
            Inspect::Closer if width > NARROWEST * (high - low) => {
                let about = about.filter(|at| (from..=to).contains(at)).unwrap_or(middle);
                Self::placed(about - width / 4.0, width / 2.0, (low, high))
            }
            Inspect::Wider if width * 2.0 < high - low => {
                Self::placed(middle - width, width * 2.0, (low, high))
            }
            Inspect::Wider | Inspect::Fit => Self(None),
            Inspect::Earlier => Self::placed(from - width / 4.0, width, (low, high)),
            Inspect::Later => Self::placed(from + width / 4.0, width, (low, high)),
            Inspect::Closer | Inspect::Left | Inspect::Right | Inspect::PreviousPoint => self,
            Inspect::NextPoint | Inspect::LogAxis | Inspect::Smooth => self,
        }
    }

    /// Moved just so far that a place is in it.
    pub(crate) fn around(self, timeline: &Timeline, at: f64) -> Self {
        let (Some(ends), Some((from, to))) = (timeline.extent(), self.range(timeline)) else {
            return self;
        };
        if self.0.is_none() || (from..=to).contains(&at) {
            return self;
        }
        Self::placed(at - (to - from) / 4.0, to - from, ends)
    }

    fn placed(from: f64, width: f64, (low, high): (f64, f64)) -> Self {
        if width >= high - low {
            return Self(None);
        }
        let from = from.clamp(low, (high - width).max(low));
        Self(Some((from, from + width)))
    }
}
