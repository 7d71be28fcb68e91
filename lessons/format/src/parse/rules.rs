//! The table `[grading]` of a course.

use crate::diagnostic::{Code, Located, Place};
use crate::model::{Credit, LatePolicy, ListedRules};
use crate::parse::fields::Fields;
use crate::parse::keys::lesson_id;

pub(super) fn read(fields: &mut Fields<'_, '_>) -> ListedRules {
    let attempts = attempts(fields);
    let credit = if fields.flag("partial_credit") { Credit::Partial } else { Credit::Whole };
    let late = fields.table("late", late);
    let mut due = Vec::new();
    let example = "{ \"gpu/warps\" = 2027-03-01T23:59:00Z }";
    for (name, time) in fields.times_by_name("due", example) {
        let place = name.place;
        let id = lesson_id(&name, fields);
        due.extend(id.map(|value| (Located { value, place }, time.value)));
    }
    ListedRules { late, attempts, credit, due }
}

pub(super) fn attempts(fields: &mut Fields<'_, '_>) -> Option<u32> {
    fields.integer("attempts", 1..=1000).map(|most| most.value as u32)
}

pub(super) fn late(fields: &mut Fields<'_, '_>) -> Option<LatePolicy> {
    if !fields.has("percent_per_day") && !fields.has("last_day") {
        let help = "write { percent_per_day = 10, last_day = 7 }, or one of the two";
        fields.error(Code::MissingKey, fields.owner(), "`late` says nothing", help);
    }
    let percent = fields.number("percent_per_day");
    if let Some(percent) = percent.as_ref().filter(|p| !(0.0..=100.0).contains(&p.value)) {
        let help = "write a number from 0 to 100: what a day costs, in percent of the points";
        let message = format!("`percent_per_day` is {}", percent.value);
        fields.error(Code::BadValue, percent.place, message, help);
    }
    let last_day = fields.integer("last_day", 1..=1000).map(|day| day.value as u32);
    Some(LatePolicy { percent_per_day: percent.map_or(0.0, |percent| percent.value), last_day })
}

/// Says that what lateness costs has no effect where nothing is due.
pub(super) fn warn_unused(rules: &ListedRules, place: Place, fields: &mut Fields<'_, '_>) {
    if rules.late.is_some() && rules.due.is_empty() {
        fields.warning(
            Code::Contradiction,
            place,
            "`grading.late` has no effect: nothing in this course is due",
            "add due = 2027-03-01T23:59:00Z to a [[module]], or lessons to [grading.due]",
        );
    }
}
