//! Collectives that cannot be planned.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use mlsys_lab::LabError;

use super::MOST_RANKS;

/// Why there is no such plan, or why it cannot be executed on these buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// Nobody takes part.
    NoRanks,
    /// More ranks than plans are made for.
    TooManyRanks {
        /// Those asked for.
        ranks: usize,
    },
    /// Halving has no partner for somebody.
    NotPowerOfTwo {
        /// Those asked for.
        ranks: usize,
    },
    /// The root is none of the ranks.
    NoSuchRoot {
        /// The root asked for.
        root: usize,
        /// The ranks.
        ranks: usize,
    },
    /// A buffer in no chunks.
    NoChunks,
    /// A buffer for every endpoint is needed.
    WrongBuffers {
        /// Endpoints of the plan.
        endpoints: usize,
        /// Buffers given.
        buffers: usize,
    },
    /// A buffer of another length.
    WrongLength {
        /// The endpoint whose buffer it is.
        endpoint: usize,
        /// Elements the plan is for.
        elements: usize,
        /// Elements given.
        given: usize,
    },
}

impl PlanError {
    /// The error of a lab whose parameters ask for it.
    pub fn told<'a>(self, params: impl IntoIterator<Item = &'a str>) -> LabError {
        LabError::contradiction(params, self.to_string())
    }
}

impl Error for PlanError {}

impl Display for PlanError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoRanks => write!(f, "a collective needs at least one rank"),
            Self::TooManyRanks { ranks } => {
                write!(f, "{ranks} ranks; choose at most {MOST_RANKS}")
            }
            Self::NotPowerOfTwo { ranks } => {
                let below = (ranks.max(1) / 2 + 1).next_power_of_two();
                let above = ranks.next_power_of_two();
                write!(
                    f,
                    "recursive halving pairs all ranks off in every round, so their number must be a power of two; \
                     {ranks} is none, choose {below} or {above}"
                )
            }
            Self::NoSuchRoot { root, ranks } => {
                write!(f, "rank {root} is none of the ranks 0 to {}", ranks - 1)
            }
            Self::NoChunks => write!(f, "a buffer travels in at least one chunk"),
            Self::WrongBuffers { endpoints, buffers } => {
                write!(f, "the plan has {endpoints} endpoints, but {buffers} buffers were given")
            }
            Self::WrongLength { endpoint, elements, given } => write!(
                f,
                "the buffer of endpoint {endpoint} has {given} elements, but the plan is for {elements}"
            ),
        }
    }
}
