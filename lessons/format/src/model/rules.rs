//! How a course counts answers: when they are due, what lateness costs, how many of them count.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::value::{Datetime, Offset};

use crate::diagnostic::Located;
use crate::model::LessonId;

/// Seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

/// Text that is no point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write date, time and offset from UTC, such as 2027-03-01T23:59:00+01:00")]
pub struct TimestampError;

const DAY: u64 = 86_400;

/// Dates from then on have no form that other programs read.
const YEAR_10000: u64 = 253_402_300_800;

impl Timestamp {
    /// Started days between a time and a later one.
    fn days_until(self, later: Self) -> u32 {
        let days = later.0.saturating_sub(self.0).div_ceil(DAY);
        u32::try_from(days).unwrap_or(u32::MAX)
    }
}

impl TryFrom<&Datetime> for Timestamp {
    type Error = TimestampError;

    fn try_from(written: &Datetime) -> Result<Self, TimestampError> {
        let (Some(date), Some(time), Some(offset)) = (written.date, written.time, written.offset)
        else {
            return Err(TimestampError);
        };
        let minutes = match offset {
            Offset::Z => 0,
            Offset::Custom { minutes } => i64::from(minutes),
        };
        let days = days_since_1970(date.year.into(), date.month.into(), date.day.into());
        let (hour, minute) = (i64::from(time.hour), i64::from(time.minute) - minutes);
        let seconds = (days * 24 + hour) * 3600 + minute * 60 + i64::from(time.second.unwrap_or(0));
        let seconds = u64::try_from(seconds).map_err(|_| TimestampError)?;
        if seconds < YEAR_10000 { Ok(Self(seconds)) } else { Err(TimestampError) }
    }
}

impl std::str::FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let written: Datetime = text.trim().parse().map_err(|_| TimestampError)?;
        Self::try_from(&written)
    }
}

/// Days of the Gregorian calendar, counted in years that begin in March (H. Hinnant, `days_from_civil`).
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The rules of a course.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GradingRules {
    /// For lessons that are not named below.
    pub others: LessonRules,
    pub lessons: BTreeMap<LessonId, LessonRules>,
}

/// How the answers to a lesson count; by default in full at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LessonRules {
    /// When the answers are due.
    pub due: Option<Timestamp>,
    /// What late answers lose; without it they earn nothing.
    pub late: Option<LatePolicy>,
    /// How many answers to a question count.
    pub attempts: Option<u32>,
    pub credit: Credit,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatePolicy {
    /// Points that each started day costs, in percent of the question's.
    pub percent_per_day: f64,
    /// Days after which answers earn nothing.
    pub last_day: Option<u32>,
}

/// What an answer earns that is right in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Credit {
    #[default]
    Whole,
    /// The share of a kernel's tests, of a match's pairs, of a list's numbers.
    Partial,
}

/// The table as it is written, with dates that modules and `[grading.due]` set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedRules {
    pub late: Option<LatePolicy>,
    pub attempts: Option<u32>,
    pub credit: Credit,
    pub due: Vec<(Located<LessonId>, Timestamp)>,
}

impl GradingRules {
    pub fn of(&self, lesson: &LessonId) -> &LessonRules {
        self.lessons.get(lesson).unwrap_or(&self.others)
    }
}

impl LessonRules {
    /// Started days by which an answer is late.
    pub fn days_late(&self, at: Timestamp) -> u32 {
        self.due.map_or(0, |due| due.days_until(at))
    }

    /// The part of its points that an answer still earns when it is this late.
    pub fn share(&self, days_late: u32) -> f64 {
        match (days_late, self.late) {
            (0, _) => 1.0,
            (_, None) => 0.0,
            (days, Some(LatePolicy { last_day: Some(last), .. })) if days > last => 0.0,
            (days, Some(late)) => (1.0 - f64::from(days) * late.percent_per_day / 100.0).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds_since_1970() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2027-03-01T23:59:00+01:00", 1_803_941_940),
            ("2100-03-01 00:00:00-05:30", 4_107_562_200),
        ] {
            assert_eq!(text.parse(), Ok(Timestamp(seconds)), "{text}");
        }
        for text in [
            "",
            "2027-03-01",
            "2027-03-01T23:59:00",
            "1969-12-31T23:59:59Z",
            "tomorrow",
            "9999-12-31T23:59:59-01:00",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(TimestampError), "{text}");
        }
    }

    #[test]
    fn each_started_day_costs_its_share() {
        let due = Some(Timestamp(1000));
        let rules = |late| LessonRules { due, late, ..LessonRules::default() };
        let policy = |percent_per_day, last_day| Some(LatePolicy { percent_per_day, last_day });
        let (hard, soft) = (rules(None), rules(policy(30.0, None)));
        let (grace, both) = (rules(policy(0.0, Some(2))), rules(policy(10.0, Some(1))));
        for (at, days, shares) in [
            (1000, 0, [1.0, 1.0, 1.0, 1.0]),
            (1001, 1, [0.0, 0.7, 1.0, 0.9]),
            (1000 + DAY, 1, [0.0, 0.7, 1.0, 0.9]),
            (1001 + DAY, 2, [0.0, 0.4, 1.0, 0.0]),
            (1001 + 9 * DAY, 10, [0.0, 0.0, 0.0, 0.0]),
        ] {
            assert_eq!(hard.days_late(Timestamp(at)), days);
            assert_eq!([&hard, &soft, &grace, &both].map(|rules| rules.share(days)), shares);
        }
        assert_eq!(LessonRules::default().days_late(Timestamp(u64::MAX)), 0);
    }
}
