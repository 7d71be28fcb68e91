//! What is typed into a field and what it means: letters stand for the options that are shown.

use std::collections::BTreeSet;

use mlsys_lab::value::plural;
use mlsys_lesson::{
    Answer, Asked, Lesson, Predict, PredictKind, PredictionError, Question, QuestionKind,
};

use crate::state::{Answered, Page};

/// Why what was typed is not taken; nothing has changed.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum AnswerError {
    #[error("'{letter}' is not one of the letters a to {last}")]
    NotALetter { letter: char, last: char },
    #[error("type one of the letters a to {0}")]
    NoLetter(char),
    #[error("one letter is needed")]
    Several,
    #[error("{0} letters are needed, one for each number")]
    Count(usize),
    #[error(transparent)]
    Prediction(#[from] PredictionError),
    /// What grading says of a text that is no answer to the question.
    #[error("{0}")]
    Malformed(String),
    #[error("there is nothing to answer here")]
    NothingAsked,
}

pub fn letter(index: usize) -> char {
    ('a'..='z').nth(index).unwrap_or('?')
}

pub fn points(question: &Question) -> String {
    plural(question.points as usize, "point")
}

/// When an answer is due and how many still count, as long as one may be given.
pub fn worth(page: &Page, question: &Question) -> Vec<String> {
    let answered = page.answers.get(&question.id);
    if answered.is_some_and(Answered::is_earned) {
        return Vec::new();
    }
    let given = page.given.get(&question.id).copied().unwrap_or(0);
    [page.deadline.words(), page.deadline.attempts(given)].into_iter().flatten().collect()
}

/// The options of a question as they read, in the order they are shown.
pub fn options(lesson: &Lesson, question: &Question) -> Vec<String> {
    let choices = question.shown_choices(&lesson.front.id).into_iter();
    choices.map(|text| question.label(text).to_owned()).collect()
}

pub fn choices(predict: &Predict, choices: &[String]) -> Vec<String> {
    let labels = choices.iter().map(|choice| predict.label(choice));
    labels.map(str::to_owned).collect()
}

/// What may be chosen: the text that counts, and how it reads in the reader's language.
struct Choices {
    texts: Vec<String>,
    labels: Vec<String>,
}

/// How a question is answered, for the line below the field.
pub fn how(kind: &QuestionKind) -> String {
    let sentence = match kind.asked() {
        Asked::Numeric { .. } => "a number, 1.9G, or a formula such as 2*512^3; enter gives it",
        Asked::Choice { .. } => "the letter; enter gives it",
        Asked::Multiple { .. } => {
            "the letters of all that are right, such as a c; enter gives them"
        }
        Asked::Match { left, .. } => {
            let example = example(left.len());
            return format!(
                "a letter for each number, in their order, such as {example}; enter gives them"
            );
        }
        Asked::Order { choices } => {
            let example = example(choices.len());
            return format!("all letters, first to last, such as {example}; enter gives them");
        }
        Asked::List => "numbers with commas between them; enter gives them",
        Asked::Expression => "an expression; enter gives it",
        Asked::Text => "a word or a short text; enter gives it",
        Asked::Kernel { .. } => {
            "answer @FILE, with the file that holds the kernel, or edit to write it; enter gives it"
        }
    };
    sentence.to_owned()
}

/// Letters as they may be typed: no more than are asked for, and as few as show how.
fn example(count: usize) -> &'static str {
    match count {
        0 | 1 => "a",
        2 => "b a",
        _ => "b a c",
    }
}

pub fn read(text: &str, lesson: &Lesson, question: &Question) -> Result<Answer, AnswerError> {
    let texts = question.shown_choices(&lesson.front.id).into_iter();
    let options =
        Choices { texts: texts.map(str::to_owned).collect(), labels: options(lesson, question) };
    match question.kind.asked() {
        Asked::Choice { .. } => one(text, &options).map(Answer::One),
        Asked::Multiple { .. } => letters(text, &options).map(once).map(Answer::Many),
        Asked::Order { .. } => letters(text, &options).map(Answer::Many),
        Asked::Match { left, .. } => {
            let rights = letters(&numbered(text), &options)?;
            if rights.len() != left.len() {
                return Err(AnswerError::Count(left.len()));
            }
            Ok(Answer::Pairs(left.into_iter().zip(rights).collect()))
        }
        Asked::Numeric { .. }
        | Asked::List
        | Asked::Expression
        | Asked::Text
        | Asked::Kernel { .. } => Ok(Answer::One(text.to_owned())),
    }
}

pub fn read_prediction(text: &str, predict: &Predict) -> Result<Answer, AnswerError> {
    match &predict.kind {
        PredictKind::Numeric { .. } => Ok(Answer::One(text.to_owned())),
        PredictKind::Choice { choices: texts } => {
            let options = Choices { texts: texts.clone(), labels: choices(predict, texts) };
            one(text, &options).map(Answer::One)
        }
    }
}

/// An answer in words, each text as `label` has it.
pub fn spelled<'t>(answer: &'t Answer, label: impl Fn(&'t str) -> &'t str) -> String {
    let (parts, between): (Vec<String>, _) = match answer {
        Answer::One(text) => (vec![label(text).to_owned()], ""),
        Answer::Many(texts) => (texts.iter().map(|text| label(text).to_owned()).collect(), ", "),
        Answer::Pairs(pairs) => {
            let pairs = pairs.iter();
            (
                pairs.map(|(left, right)| format!("{}: {}", label(left), label(right))).collect(),
                "; ",
            )
        }
    };
    parts.join(between)
}

/// An answer to a question in words: one line, or of pairs one each, in the order in which the question has them.
pub fn given(question: &Question, answer: &Answer, arrow: &str) -> Vec<String> {
    let label = |text| question.label(text);
    let (Asked::Match { left, .. }, Answer::Pairs(pairs)) = (question.kind.asked(), answer) else {
        return vec![spelled(answer, label)];
    };
    let pairs = left.into_iter().enumerate().filter_map(|(place, left)| {
        let (left, right) = pairs.get_key_value(AsRef::<str>::as_ref(&left))?;
        Some(format!("{}. {} {arrow} {}", place + 1, label(left), label(right)))
    });
    pairs.collect()
}

/// Says that an earlier right answer counts.
pub fn earned(question: &Question, answered: &Answered, arrow: &str) -> Option<String> {
    let earned = answered.earned.as_ref()?;
    // A kernel is too long to be repeated.
    Some(match matches!(question.kind.asked(), Asked::Kernel { .. }) {
        true => "your earlier kernel is right and counts".to_owned(),
        false => {
            let given = given(question, earned, arrow).join("; ");
            format!("your earlier answer is right and counts: {given}")
        }
    })
}

/// Letters behind numbers, such as `2b 1a`, in the order of the numbers and without them; any other text as it is.
fn numbered(text: &str) -> String {
    let marks = text.chars().filter(char::is_ascii_alphanumeric).collect::<Vec<_>>();
    let (pairs, rest) = marks.as_chunks::<2>();
    let is_pair = |pair: &[char; 2]| pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic();
    if !rest.is_empty() || !pairs.iter().all(is_pair) {
        return text.to_owned();
    }
    let mut pairs = pairs.to_vec();
    pairs.sort_unstable();
    pairs.iter().map(|pair| pair[1]).collect()
}

fn one(text: &str, options: &Choices) -> Result<String, AnswerError> {
    match letters(text, options)?.as_slice() {
        [option] => Ok(option.clone()),
        _ => Err(AnswerError::Several),
    }
}

/// Each option where it is named first.
fn once(mut options: Vec<String>) -> Vec<String> {
    let mut named = BTreeSet::new();
    options.retain(|option| named.insert(option.clone()));
    options
}

/// The options that letters name; spaces and commas between them do not count.
fn letters(text: &str, options: &Choices) -> Result<Vec<String>, AnswerError> {
    // Typing the option itself is accepted.
    let texts = options.texts.iter().zip(&options.labels);
    let named = |(option, label): &(&String, &String)| {
        option.eq_ignore_ascii_case(text) || label.to_lowercase() == text.to_lowercase()
    };
    if let Some((option, _)) = texts.clone().find(named) {
        return Ok(vec![option.clone()]);
    }
    let last = letter(options.texts.len().saturating_sub(1));
    let letters = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, ',' | ')' | '.'));
    let mut chosen = Vec::new();
    for c in letters {
        let index = (c.to_ascii_lowercase() as usize).checked_sub('a' as usize);
        match index.and_then(|index| options.texts.get(index)) {
            Some(option) => chosen.push(option.clone()),
            None => return Err(AnswerError::NotALetter { letter: c, last }),
        }
    }
    if chosen.is_empty() {
        return Err(AnswerError::NoLetter(last));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_name_options_and_nothing_else_does() {
        let texts = |texts: [&str; 3]| texts.map(str::to_owned).to_vec();
        let options = Choices {
            texts: texts(["red", "green", "blue"]),
            labels: texts(["rouge", "vert", "bleu"]),
        };
        let names = |text: &str| letters(text, &options).map_err(|error| error.to_string());
        for (typed, chosen) in
            [("b", "green"), ("C, a)", "blue red"), ("Blue", "blue"), ("Bleu", "blue")]
        {
            assert_eq!(names(typed).map(|names| names.join(" ")).as_deref(), Ok(chosen));
        }
        assert_eq!(names("d"), Err("'d' is not one of the letters a to c".to_owned()));
        assert_eq!(names(" "), Err("type one of the letters a to c".to_owned()));
        assert_eq!(one("ab", &options), Err(AnswerError::Several));
        assert_eq!(once(letters("bcbb", &options).unwrap()), ["green", "blue"]);
    }

    #[test]
    fn numbers_before_letters_give_their_order() {
        for (typed, letters) in
            [("1c 2b 3a", "cba"), ("2: b, 1: a", "ab"), ("c b a", "c b a"), ("1 2 3", "1 2 3")]
        {
            assert_eq!(numbered(typed), letters);
        }
    }
}
