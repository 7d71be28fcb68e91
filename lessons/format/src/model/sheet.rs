//! The numbers of one learner.

use mlsys_lab::random::SplitMix64;
use serde::{Deserialize, Serialize};

use crate::model::drawn::{DrawnNumber, Varied};
use crate::model::id::{LearnerId, LessonId};

/// The learner that a lesson's numbers are drawn for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sheet {
    /// The course's own, so that other years and other courses draw other numbers.
    pub salt: String,
    pub learner: LearnerId,
}

impl Sheet {
    /// One of the values: the hash of salt, learner, lesson, directive and name starts the stream that picks it,
    /// for a shared number those of the directive that draws it. It is the same on every machine and in every version; a test pins it.
    pub(super) fn draw(&self, lesson: &LessonId, directive: &str, varied: &Varied) -> f64 {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let learner = self.learner.as_str();
        let DrawnNumber { directive, name } = varied.origin(directive);
        let parts = [&self.salt, learner, lesson.as_str(), &directive, &name];
        // FNV-1a; none of the texts contains a zero byte.
        let bytes = parts.into_iter().flat_map(|part| part.bytes().chain([0]));
        let hash = bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
        SplitMix64(hash).pick(&varied.values)
    }
}
