//! Points in time as courses and submissions name them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mlsys_lesson::Timestamp;

/// By the clock of this machine.
pub fn now() -> Timestamp {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp(since_1970.map_or(0, |since| since.as_secs()))
}

/// In UTC, as RFC 3339 has it: `2027-03-01T22:59:00Z`.
pub fn utc(at: Timestamp) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(at.0)).to_string()
}
