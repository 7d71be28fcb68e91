//! Where a number comes from, in one word.

use serde::{Deserialize, Serialize};

use crate::named_enum;

named_enum! {
    /// Where a number comes from. The order is that of an expression over several: the first one present names it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Label {
        /// Stated by a vendor or an author about their own work, and not verified.
        Claimed = "claimed",
        /// A figure of a datasheet, paper or table.
        Published = "published",
        /// What a model of a machine or of training predicts.
        Modelled = "modelled",
        /// Read from a clock or a counter, or the result of a real run.
        Measured = "measured",
        /// The same quantity of the run without the method, to compare with.
        Baseline = "baseline",
        /// Follows from a formula or a count.
        Computed = "computed",
    }
}
