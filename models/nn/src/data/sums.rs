//! Sums of two numbers below a hundred, a line each: 17+25=42.

use std::ops::Range;

use super::language::{Row, Vocabulary};
use super::{Data, DataConfig, Dataset, Examples, Sequence};
use crate::random::Stream;

/// Numbers are 0 to this less one.
const BOUND: usize = 100;
/// Of all pairs of numbers, those that are held out: a tenth.
const HELD_OUT: usize = BOUND * BOUND / 10;

const CHARACTERS: &str = "\n+=0123456789";

pub(super) fn vocabulary() -> Vocabulary {
    Vocabulary::of(CHARACTERS)
}

/// Lines of pairs that come again and again, but a pair is either trained on or held out: who gets those right that are
/// held out has learned to add.
pub(super) fn generate(config: &DataConfig) -> Row {
    let vocabulary = vocabulary();
    let mut pairs: Vec<usize> = (0..BOUND * BOUND).collect();
    Stream::new(config.seed, "data/sums").shuffle(&mut pairs);
    let (held_out, train) = pairs.split_at(HELD_OUT);
    let lines = |pairs: &[usize], characters: usize, name: &str| {
        let mut stream = Stream::new(config.seed, &format!("data/{name}/shape"));
        let mut text = String::with_capacity(characters + 16);
        while text.len() < characters {
            let pair = stream.choice(pairs).copied().unwrap_or_default();
            let (a, b) = (pair / BOUND, pair % BOUND);
            text.push_str(&format!("{a}+{b}={}\n", a + b));
        }
        text.truncate(characters);
        vocabulary.tokens(&text)
    };
    Row {
        train: lines(train, config.samples, "train"),
        held_out: lines(held_out, config.dataset.held_out_samples(), "held-out"),
        vocabulary,
        floor: None,
    }
}

/// Which labels of the half held out are the answers of sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers(Vec<Range<usize>>);

impl Answers {
    /// The answers in the windows of `data`; none unless they are sums.
    pub fn of(dataset: Dataset, data: &Data) -> Self {
        match (&data.held_out, &vocabulary().tokens("\n=")[..]) {
            (Examples::Sequence(held_out), &[line_end, equals]) if dataset == Dataset::Sums => {
                Self(answers(held_out, line_end, equals))
            }
            (Examples::Sequence(_) | Examples::Labelled(_), _) => Self(Vec::new()),
        }
    }

    /// The share of answers whose every digit was thought likeliest, and the line's end after them: what would be written
    /// right if the likeliest were written each time. `hits` says of each label whether it was.
    pub fn right(&self, hits: &[bool]) -> Option<f64> {
        let all = |answer: &&Range<usize>| {
            let hits = hits.get(answer.start..answer.end);
            hits.is_some_and(|hits| hits.iter().all(|&hit| hit))
        };
        let right = self.0.iter().filter(all).count();
        (!self.0.is_empty()).then(|| right as f64 / self.0.len() as f64)
    }
}

/// Of each line that lies whole in a window: where the labels from behind its equals sign to its end are among those of
/// all windows. Who has not seen the beginning of a sum cannot add it.
fn answers(held_out: &Sequence, line_end: i32, equals: i32) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for window in 0..held_out.len() {
        let first = window * held_out.stride;
        let (input, labels) = (held_out.input(window), held_out.labels(window));
        let mut begun = first == 0 || held_out.tokens[first - 1] == line_end;
        let mut answer = None;
        for (place, (&token, &label)) in input.iter().zip(labels).enumerate() {
            if token == equals && begun {
                answer = Some(place);
            }
            if label == line_end {
                let label_of = |place: usize| window * held_out.context + place;
                if let Some(start) = answer.take() {
                    found.push(label_of(start)..label_of(place + 1));
                }
                begun = true;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_whole_lines_are_found() {
        let tokens = vocabulary().tokens("1+2=3\n40+5=45\n6+7=13\n");
        let windows = |context: usize| {
            let held_out = Sequence { tokens: tokens.clone(), context, stride: context };
            answers(&held_out, 0, 2)
        };
        // Labels are one place before their tokens.
        assert_eq!(windows(20), [3..5, 10..13, 17..20]);
        // The second window begins with "+5=45": where that sum begins is not seen in it.
        assert_eq!(windows(8).as_slice(), std::slice::from_ref(&(3..5)));
        assert!(windows(4).is_empty());
    }

    #[test]
    fn an_answer_is_right_if_all_of_it_is() {
        let answers = Answers(vec![1..3, 4..6]);
        let hits = [false, true, true, false, true, false];
        assert_eq!(answers.right(&hits), Some(0.5));
        assert_eq!(Answers(Vec::new()).right(&hits), None);
    }
}
