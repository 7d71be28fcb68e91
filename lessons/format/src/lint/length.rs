//! Right options that are recognised by being the longest.

use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Lesson, Question, QuestionKind};

/// Fewest choice questions of which a share says something.
const FEWEST: usize = 6;

/// A warning for each choice question whose right option is the longest, if that is more than a third of all such
/// questions in these lessons: a learner who always takes the longest must not do better than by chance.
pub fn telling_lengths<'l>(lessons: impl IntoIterator<Item = &'l Lesson>) -> Vec<Diagnostic> {
    let (mut all, mut telling) = (0, Vec::new());
    for lesson in lessons {
        for question in lesson.questions() {
            let Some(is_longest) = is_right_longest(question) else { continue };
            all += 1;
            if is_longest {
                telling.push((lesson, question));
            }
        }
    }
    let longest = telling.len();
    if all < FEWEST || 3 * longest <= all {
        return Vec::new();
    }
    let warn = |(lesson, question): (&Lesson, &Question)| {
        let message = format!(
            "the right option of `{}` is the longest, as in {longest} of {all} choice questions",
            question.id
        );
        let help = "shorten it or lengthen a wrong one: a third of the questions is the most";
        lesson.source.warning(Code::TellingLength, question.place, message).help(help)
    };
    telling.into_iter().map(warn).collect()
}

/// Whether the right option has more characters than each other; none if there is no choice.
fn is_right_longest(question: &Question) -> Option<bool> {
    let QuestionKind::Choice { answer, wrong } = &question.kind else { return None };
    let length = |text: &str| text.chars().count();
    Some(wrong.iter().all(|wrong| length(&wrong.value) < length(answer)))
}
