//! Finds texts by some of their letters in order, best first.
//!
//! Each word of the query must be found. Letters at the beginning of a word and letters that follow each other count
//! more, gaps cost. A word with a capital letter is matched as it is written, others in either case.

/// For every letter.
const LETTER: i32 = 16;
/// For a letter right after the one matched before.
const CONSECUTIVE: i32 = 12;
/// For the first letter of a word.
const WORD_START: i32 = 10;
/// For a capital after a small letter.
const CAPITAL: i32 = 7;
/// For the first letter of the text, beside that of its word.
const TEXT_START: i32 = 4;
/// For the first letter passed over between two matched ones, and for each further one.
const GAP: (i32, i32) = (6, 1);
/// Letters before the first match that cost something.
const LATE: usize = 12;

/// A text that can be searched again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Haystack {
    letters: Vec<char>,
    folded: Vec<char>,
    bonus: Vec<i32>,
}

impl Haystack {
    /// Prepares a text.
    pub fn new(text: &str) -> Self {
        let letters: Vec<char> = text.chars().collect();
        let mut before = None;
        let bonus = letters
            .iter()
            .map(|&letter| {
                let bonus = match before {
                    None => WORD_START + TEXT_START,
                    Some(b) if !char::is_alphanumeric(b) && letter.is_alphanumeric() => WORD_START,
                    Some(b) if b.is_lowercase() && letter.is_uppercase() => CAPITAL,
                    Some(_) => 0,
                };
                before = Some(letter);
                bonus
            })
            .collect();
        Self {
            folded: letters.iter().copied().map(folded).collect(),
            letters,
            bonus,
        }
    }

    /// Its letters, as the places that [`Query::places`] gives count them.
    pub fn letters(&self) -> &[char] {
        &self.letters
    }
}

/// One letter for one letter, so that places stay places.
fn folded(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    letters: Vec<char>,
    exact: bool,
}

impl Word {
    fn text<'a>(&self, haystack: &'a Haystack) -> &'a [char] {
        if self.exact {
            &haystack.letters
        } else {
            &haystack.folded
        }
    }
}

/// Rows of scores, kept from text to text so that nothing is allocated for each.
#[derive(Debug, Default)]
pub struct Scratch {
    row: Vec<i32>,
    next: Vec<i32>,
}

/// No match ends here; far from overflow when costs are taken off.
const NONE: i32 = i32::MIN / 2;

impl Query {
    /// Reads what was typed.
    pub fn new(typed: &str) -> Self {
        let words = typed.split_whitespace().map(|word| {
            let exact = word.chars().any(char::is_uppercase);
            let letters = word.chars();
            Word {
                letters: if exact {
                    letters.collect()
                } else {
                    letters.map(folded).collect()
                },
                exact,
            }
        });
        Self {
            words: words.collect(),
        }
    }

    /// Whether nothing is looked for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How well a text matches; absent if it does not.
    pub fn score(&self, haystack: &Haystack, scratch: &mut Scratch) -> Option<i32> {
        let mut sum = 0;
        for word in &self.words {
            if !contains_in_order(word.text(haystack), &word.letters) {
                return None;
            }
            let Scratch { row, next } = scratch;
            for (index, &letter) in word.letters.iter().enumerate() {
                score_letter(
                    index,
                    letter,
                    word.text(haystack),
                    &haystack.bonus,
                    row,
                    next,
                );
                std::mem::swap(row, next);
            }
            sum += row.iter().copied().max().filter(|&best| best > NONE / 2)?;
        }
        Some(sum)
    }

    /// The places of the letters that were matched, in order.
    pub fn places(&self, haystack: &Haystack) -> Vec<usize> {
        let mut places = Vec::new();
        for word in &self.words {
            let mut rows: Vec<Vec<i32>> = Vec::new();
            for (index, &letter) in word.letters.iter().enumerate() {
                let mut next = Vec::new();
                let row = rows.last().map_or(&[][..], Vec::as_slice);
                score_letter(
                    index,
                    letter,
                    word.text(haystack),
                    &haystack.bonus,
                    row,
                    &mut next,
                );
                rows.push(next);
            }
            places.extend(trace(&rows));
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

fn contains_in_order(text: &[char], letters: &[char]) -> bool {
    let mut text = text.iter();
    letters.iter().all(|letter| text.any(|c| c == letter))
}

/// The best score of a match whose letter so far stands at each place of the text, from those of the letter before.
fn score_letter(
    index: usize,
    letter: char,
    text: &[char],
    bonus: &[i32],
    before: &[i32],
    next: &mut Vec<i32>,
) {
    next.clear();
    let mut far = NONE;
    for (place, (&c, &bonus)) in text.iter().zip(bonus).enumerate() {
        // Two places back and further: a gap lies between.
        if place >= 2 {
            far = (far - GAP.1).max(before.get(place - 2).map_or(NONE, |&b| b - GAP.0));
        }
        next.push(if c != letter {
            NONE
        } else if index == 0 {
            LETTER + bonus - place.min(LATE) as i32
        } else {
            let near = place.checked_sub(1).and_then(|at| before.get(at));
            let near = near.map_or(NONE, |&b| b + CONSECUTIVE);
            near.max(far).max(NONE) + LETTER + bonus
        });
    }
}

/// Goes back from the best end.
fn trace(rows: &[Vec<i32>]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut end = usize::MAX;
    for row in rows.iter().rev() {
        let cost = |place: usize| match end.saturating_sub(place) {
            _ if end == usize::MAX => 0,
            1 => CONSECUTIVE,
            gap => -GAP.0 - GAP.1 * (gap as i32 - 2),
        };
        let best = row
            .iter()
            .enumerate()
            .take(end)
            .max_by_key(|&(place, &score)| (score + cost(place), std::cmp::Reverse(place)));
        let Some((place, _)) = best else {
            return Vec::new();
        };
        places.push(place);
        end = place;
    }
    places
}

/// The places of the texts that match, best first; equals stay in their order, the shorter before the longer.
pub fn rank<'a>(query: &Query, texts: impl Iterator<Item = &'a Haystack>) -> Vec<usize> {
    let mut scratch = Scratch::default();
    let mut found: Vec<(i32, usize, usize)> = texts
        .enumerate()
        .filter_map(|(index, text)| {
            let score = query.score(text, &mut scratch)?;
            Some((-score, text.letters.len(), index))
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, _, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(query: &str, texts: &[&'static str]) -> Vec<&'static str> {
        let haystacks: Vec<_> = texts.iter().map(|text| Haystack::new(text)).collect();
        let found = rank(&Query::new(query), haystacks.iter());
        found.into_iter().map(|index| texts[index]).collect()
    }

    fn underlined(query: &str, text: &str) -> String {
        let haystack = Haystack::new(text);
        let places = Query::new(query).places(&haystack);
        places.iter().map(|&at| haystack.letters()[at]).collect()
    }

    #[test]
    fn words_and_runs_of_letters_come_first() {
        let cases: &[(&str, &[&'static str], &str)] = &[
            (
                "run",
                &["return", "turn up now", "run the lab"],
                "run the lab",
            ),
            (
                "tl",
                &["battle", "a turtle", "training loop"],
                "training loop",
            ),
            ("occ", &["device: no choice", "Occupancy"], "Occupancy"),
            (
                "lab train",
                &["train the lab", "label", "training-lab"],
                "training-lab",
            ),
            ("SGD", &["sgd", "SGD", "Some Good Data"], "SGD"),
            ("sgd", &["some good data x", "SGD"], "SGD"),
            ("über", &["uber", "Überblick", "drüber"], "Überblick"),
        ];
        for (query, texts, first) in cases {
            assert_eq!(ranked(query, texts).first(), Some(first), "{query}");
        }
    }

    #[test]
    fn every_letter_must_be_there_in_order_and_capitals_count_when_typed() {
        assert_eq!(ranked("ba", &["ab", "bca"]), ["bca"]);
        assert_eq!(ranked("Run", &["run", "Run"]), ["Run"]);
        assert_eq!(ranked("", &["b", "a", "ccc"]).len(), 3);
        assert!(ranked("x", &[""]).is_empty());
    }

    #[test]
    fn equals_keep_their_order() {
        assert_eq!(
            ranked("a", &["a one", "a two", "a six"]),
            ["a one", "a two", "a six"]
        );
    }

    #[test]
    fn the_letters_marked_are_those_of_the_best_match() {
        assert_eq!(underlined("lab", "l a label lab"), "lab");
        let haystack = Haystack::new("a bal label");
        assert_eq!(Query::new("label").places(&haystack), [6, 7, 8, 9, 10]);
        let haystack = Haystack::new("größe 数値 x");
        assert_eq!(Query::new("ß数").places(&haystack), [3, 6]);
    }

    /// Whatever is typed: a text is found exactly if it has the letters in order, and as many are marked.
    #[test]
    fn matches_are_subsequences() {
        let texts = ["", "a", "aab ba", "Abc-abC", "ÄäÖ ß", "x".repeat(70).leak()];
        let queries = ["a", "ab", "ba", "bb", "c", "ä", "Ä", "xx", "ab c"];
        for text in texts {
            let haystack = Haystack::new(text);
            for typed in queries {
                let query = Query::new(typed);
                let found = query.score(&haystack, &mut Scratch::default()).is_some();
                let expected = query
                    .words
                    .iter()
                    .all(|word| contains_in_order(word.text(&haystack), &word.letters));
                assert_eq!(found, expected, "{typed} in {text}");
                if found && query.words.len() == 1 {
                    let places = query.places(&haystack);
                    assert_eq!(
                        places.len(),
                        query.words[0].letters.len(),
                        "{typed} in {text}"
                    );
                }
            }
        }
    }
}
