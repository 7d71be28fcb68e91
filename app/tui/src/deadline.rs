//! When the answers to a lesson are due and how many of them count, in words.

use mlsys_lab::value::plural;
use mlsys_lesson::{LessonRules, Timestamp};
use mlsys_run::time::utc;

/// The rules of a lesson, and the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Deadline {
    pub rules: LessonRules,
    /// None until the clock was read.
    pub now: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// More than a day is left.
    Later,
    /// The last day.
    Soon,
    Late,
}

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Time left, or passed, since the due date.
#[derive(Clone, Copy)]
enum Left {
    Seconds(u64),
    Passed { seconds: u64, days: u32 },
}

impl Deadline {
    fn left(&self) -> Option<Left> {
        let (due, now) = (self.rules.due?, self.now?);
        Some(match now.0.checked_sub(due.0) {
            None | Some(0) => Left::Seconds(due.0 - now.0.min(due.0)),
            Some(seconds) => Left::Passed { seconds, days: self.rules.days_late(now) },
        })
    }

    pub fn urgency(&self) -> Option<Urgency> {
        Some(match self.left()? {
            Left::Seconds(seconds) if seconds > DAY => Urgency::Later,
            Left::Seconds(_) => Urgency::Soon,
            Left::Passed { .. } => Urgency::Late,
        })
    }

    /// For a list, in at most 15 characters.
    pub fn short(&self) -> Option<String> {
        Some(match self.left()? {
            Left::Seconds(seconds) => format!("due in {}", short_span(seconds)),
            Left::Passed { days, .. } if self.rules.share(days) == 0.0 => "closed".to_owned(),
            Left::Passed { days, .. } => format!("{days} d late"),
        })
    }

    /// When answers are due, or what a late one counts.
    pub fn words(&self) -> Option<String> {
        Some(match self.left()? {
            Left::Seconds(seconds) => format!("due in {}", span(seconds)),
            Left::Passed { days, .. } => {
                let late = plural(days as usize, "day");
                match self.rules.share(days) {
                    0.0 => format!("{late} late: answers no longer count"),
                    1.0 => format!("{late} late: answers still count in full"),
                    share => format!("{late} late: an answer counts {} %", percent(share)),
                }
            }
        })
    }

    /// The date, and what comes after it.
    pub fn date(&self) -> Option<String> {
        let date = utc(self.rules.due?);
        let date = date.trim_end_matches(":00Z").trim_end_matches('Z').replace('T', " ");
        let after = match self.rules.late {
            None => "nothing counts after it".to_owned(),
            Some(late) => {
                let cost = format!("each day costs {} %", percent(late.percent_per_day / 100.0));
                let last = late
                    .last_day
                    .map(|day| format!(", for {} at most", plural(day as usize, "day")));
                cost + &last.unwrap_or_default()
            }
        };
        Some(format!("{date} UTC; {after}"))
    }

    /// How many answers to a question still count, of those that do.
    pub fn attempts(&self, given: usize) -> Option<String> {
        let most = self.rules.attempts? as usize;
        Some(match most.saturating_sub(given) {
            0 if most == 1 => "the one answer that counts is given".to_owned(),
            0 => format!("the {most} answers that count are given"),
            left => format!("{left} of {} left", plural(most, "answer")),
        })
    }

    /// Seconds until other words are to be said.
    pub fn until_change(&self) -> Option<u64> {
        Some(match self.left()? {
            Left::Seconds(seconds) => seconds - whole(seconds) + 1,
            Left::Passed { seconds, .. } => DAY - (seconds - 1) % DAY,
        })
    }
}

/// The largest unit in which a span is at least two; minutes in the last two hours.
fn unit(seconds: u64) -> (u64, &'static str, &'static str) {
    match seconds {
        _ if seconds >= 2 * DAY => (DAY, "day", "d"),
        _ if seconds >= 2 * HOUR => (HOUR, "hour", "h"),
        _ => (MINUTE, "minute", "min"),
    }
}

/// The span that is said of this one.
fn whole(seconds: u64) -> u64 {
    let (unit, ..) = unit(seconds);
    seconds / unit * unit
}

fn span(seconds: u64) -> String {
    let (unit, name, _) = unit(seconds);
    if seconds < MINUTE {
        "less than a minute".to_owned()
    } else {
        plural((seconds / unit) as usize, name)
    }
}

fn short_span(seconds: u64) -> String {
    let (unit, _, name) = unit(seconds);
    format!("{} {name}", seconds / unit)
}

/// A share in percent, without digits that say nothing.
fn percent(share: f64) -> String {
    let text = format!("{:.1}", share * 100.0);
    text.trim_end_matches(".0").to_owned()
}

#[cfg(test)]
mod tests {
    use mlsys_lesson::LatePolicy;

    use super::*;

    const DUE: u64 = 1_803_941_940;

    fn at(now: u64, late: Option<LatePolicy>) -> Deadline {
        let rules = LessonRules { due: Some(Timestamp(DUE)), late, ..LessonRules::default() };
        Deadline { rules, now: Some(Timestamp(now)) }
    }

    #[test]
    fn the_words_change_when_the_clock_says_so() {
        let late = Some(LatePolicy { percent_per_day: 12.5, last_day: Some(2) });
        for (now, words, short, change) in [
            (DUE - 30 * DAY, "due in 30 days", "due in 30 d", 1),
            (DUE - 3 * DAY - 10, "due in 3 days", "due in 3 d", 11),
            (DUE - 2 * DAY + 1, "due in 47 hours", "due in 47 h", HOUR),
            (DUE - 2 * HOUR, "due in 2 hours", "due in 2 h", 1),
            (DUE - 2 * HOUR + 1, "due in 119 minutes", "due in 119 min", MINUTE),
            (DUE - MINUTE, "due in 1 minute", "due in 1 min", 1),
            (DUE - 59, "due in less than a minute", "due in 0 min", MINUTE),
            (DUE, "due in less than a minute", "due in 0 min", 1),
            (DUE + 1, "1 day late: an answer counts 87.5 %", "1 d late", DAY),
            (DUE + DAY, "1 day late: an answer counts 87.5 %", "1 d late", 1),
            (DUE + DAY + 1, "2 days late: an answer counts 75 %", "2 d late", DAY),
            (DUE + 9 * DAY, "9 days late: answers no longer count", "closed", 1),
        ] {
            let deadline = at(now, late);
            assert_eq!(deadline.words().as_deref(), Some(words));
            assert_eq!(deadline.short().as_deref(), Some(short));
            assert_eq!(deadline.until_change(), Some(change), "{words}");
            // Not a second earlier.
            let later = |seconds| at(now + seconds, late).words();
            assert!(change == 1 || later(change - 1) == deadline.words(), "{words}");
        }
        assert_eq!(at(DUE + 5, None).words().unwrap(), "1 day late: answers no longer count");
        let grace = Some(LatePolicy { percent_per_day: 0.0, last_day: None });
        assert_eq!(at(DUE + 5, grace).words().unwrap(), "1 day late: answers still count in full");
    }

    #[test]
    fn dates_say_what_comes_after_them() {
        let late = |percent_per_day, last_day| Some(LatePolicy { percent_per_day, last_day });
        for (late, words) in [
            (None, "2027-03-01 22:59 UTC; nothing counts after it"),
            (late(10.0, None), "2027-03-01 22:59 UTC; each day costs 10 %"),
            (late(0.0, Some(7)), "2027-03-01 22:59 UTC; each day costs 0 %, for 7 days at most"),
        ] {
            assert_eq!(at(0, late).date().unwrap(), words);
        }
        assert_eq!(Deadline::default().date(), None);
        assert_eq!(Deadline::default().words(), None);
    }

    #[test]
    fn attempts_are_counted_down() {
        let limit = |attempts| Deadline {
            rules: LessonRules { attempts, ..LessonRules::default() },
            now: None,
        };
        for (attempts, given, words) in [
            (None, 5, None),
            (Some(3), 0, Some("3 of 3 answers left")),
            (Some(3), 2, Some("1 of 3 answers left")),
            (Some(3), 3, Some("the 3 answers that count are given")),
            (Some(1), 0, Some("1 of 1 answer left")),
            (Some(1), 7, Some("the one answer that counts is given")),
        ] {
            assert_eq!(limit(attempts).attempts(given).as_deref(), words);
        }
    }
}
