//! Finds texts by some of their letters in order, best first.
//!
//! Each word of the query must be found. Letters at the beginning of a word and letters that follow each other count
//! more, gaps cost. A word with a capital letter is matched as it is written, others in either case.
//!
//! It stays ours: nucleo-matcher scores on its own scale, and would be one more dependency for these few functions.

const LETTER: i32 = 16;
/// For a letter right after the one matched before.
const CONSECUTIVE: i32 = 12;
/// For the first letter of a word.
const WORD_START: i32 = 10;
/// For a capital after a small letter.
const CAPITAL: i32 = 7;
/// For the first letter of the text, on top of that of its word.
const TEXT_START: i32 = 4;
/// For the first letter passed over between two matched ones, and for each further one.
const GAP: (i32, i32) = (6, 1);
/// Letters before the first match that cost something.
const LATE: usize = 12;

const LONGEST: usize = 512;
/// Lists of places that letters share out among themselves.
const LISTS: usize = 64;

/// A text that can be searched again and again.
///
/// The places of each letter are chained, so that a search visits these alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Haystack {
    letters: Vec<char>,
    folded: Vec<char>,
    bonus: Vec<i32>,
    first: [Option<u16>; LISTS],
    next: Vec<Option<u16>>,
}

impl Haystack {
    pub fn new(text: &str) -> Self {
        let letters: Vec<char> = text.chars().take(LONGEST).collect();
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
        let folded: Vec<char> = letters.iter().copied().map(folded).collect();
        let mut first = [None; LISTS];
        let mut next = vec![None; folded.len()];
        for (place, &letter) in folded.iter().enumerate().rev() {
            next[place] = first[list_of(letter)].replace(place as u16);
        }
        Self { letters, folded, bonus, first, next }
    }

    /// Its letters, as the places that [`Query::places`] gives count them.
    pub fn letters(&self) -> &[char] {
        &self.letters
    }

    fn places(&self, letter: char, exact: bool) -> impl Iterator<Item = usize> {
        let wanted = folded(letter);
        let chain =
            std::iter::successors(self.first[list_of(wanted)], |&at| self.next[usize::from(at)]);
        chain
            .map(usize::from)
            .filter(move |&at| self.folded[at] == wanted && (!exact || self.letters[at] == letter))
    }
}

fn list_of(letter: char) -> usize {
    letter as usize % LISTS
}

/// One letter for one letter, so that places stay places.
fn folded(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    words: Vec<Word>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Word {
    letters: Vec<char>,
    exact: bool,
}

/// Where a letter may stand, and the score of the best match up to it.
type Row = Vec<(usize, i32)>;

/// Rows kept from text to text, so that nothing is allocated for each.
#[derive(Debug, Default)]
pub struct Scratch {
    row: Row,
    next: Row,
}

impl Query {
    pub fn new(typed: &str) -> Self {
        // Ids have underscores where the names of labs have hyphens.
        let words = typed.split(|c: char| c.is_whitespace() || c == '_');
        let words = words.filter(|word| !word.is_empty()).map(|word| Word {
            letters: word.chars().collect(),
            exact: word.chars().any(char::is_uppercase),
        });
        Self { words: words.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn score(&self, haystack: &Haystack, scratch: &mut Scratch) -> Option<i32> {
        let Scratch { row, next } = scratch;
        let mut sum = 0;
        for word in &self.words {
            for (index, &letter) in word.letters.iter().enumerate() {
                let before = (index > 0).then_some(row.as_slice());
                score_letter(haystack, letter, word.exact, before, next);
                std::mem::swap(row, next);
            }
            sum += row.iter().map(|&(_, score)| score).max()?;
        }
        Some(sum)
    }

    pub fn places(&self, haystack: &Haystack) -> Vec<usize> {
        let mut places = Vec::new();
        for word in &self.words {
            let mut rows: Vec<Row> = Vec::new();
            for &letter in &word.letters {
                let mut next = Row::new();
                let before = rows.last().map(Vec::as_slice);
                score_letter(haystack, letter, word.exact, before, &mut next);
                rows.push(next);
            }
            places.extend(trace(&rows));
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// What the letters between two matched ones cost, by the distance of these.
fn gap(distance: usize) -> i32 {
    GAP.0 + GAP.1 * (distance as i32 - 2)
}

/// The best score of a match up to a letter at each of its places, from those of the letter before.
fn score_letter(
    haystack: &Haystack,
    letter: char,
    exact: bool,
    before: Option<&[(usize, i32)]>,
    next: &mut Row,
) {
    next.clear();
    let Some(before) = before else {
        let places = haystack.places(letter, exact);
        next.extend(places.map(|at| (at, LETTER + haystack.bonus[at] - at.min(LATE) as i32)));
        return;
    };
    let mut before = before.iter().copied().peekable();
    // The best end two places back or further: which one it is does not change as gaps grow alike.
    let mut far: Option<(usize, i32)> = None;
    let mut near: Option<(usize, i32)> = None;
    for at in haystack.places(letter, exact) {
        while let Some(end) = before.next_if(|&(place, _)| place < at) {
            if let Some(passed) = near.replace(end) {
                far = better(far, passed);
            }
        }
        if let Some(passed) = near.take_if(|(place, _)| *place + 1 < at) {
            far = better(far, passed);
        }
        let from_near = near.map(|(_, score)| score + CONSECUTIVE);
        let from_far = far.map(|(place, score)| score - gap(at - place));
        if let Some(best) = from_near.max(from_far) {
            next.push((at, best + LETTER + haystack.bonus[at]));
        }
    }
}

/// Of two ends of matches, the one that later letters do better to go on from; the second is the later one.
fn better(a: Option<(usize, i32)>, b: (usize, i32)) -> Option<(usize, i32)> {
    match a {
        Some(a) if a.1 - GAP.1 * (b.0 - a.0) as i32 > b.1 => Some(a),
        Some(_) | None => Some(b),
    }
}

/// Goes back from the best end.
fn trace(rows: &[Row]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut end: Option<usize> = None;
    for row in rows.iter().rev() {
        let worth = |&(place, score): &(usize, i32)| match end.map(|end| end - place) {
            None => score,
            Some(1) => score + CONSECUTIVE,
            Some(distance) => score - gap(distance),
        };
        let reachable = row.iter().filter(|(place, _)| end.is_none_or(|end| *place < end));
        let best = reachable.max_by_key(|end| (worth(end), std::cmp::Reverse(end.0)));
        let Some(&(place, _)) = best else { return Vec::new() };
        places.push(place);
        end = Some(place);
    }
    places
}

/// The places of the texts that match, best first; equals stay in their order, the shorter before the longer.
///
/// Each text comes with what is taken off its score. One that matches much worse than the best is not meant.
pub fn rank<'a>(query: &Query, texts: impl Iterator<Item = (&'a Haystack, i32)>) -> Vec<usize> {
    let mut scratch = Scratch::default();
    let mut found: Vec<(i32, usize, usize)> = texts
        .enumerate()
        .filter_map(|(index, (text, handicap))| {
            let score = query.score(text, &mut scratch)? - handicap;
            Some((-score, text.letters.len(), index))
        })
        .collect();
    let best = found.iter().map(|(score, _, _)| -score).max();
    found.retain(|(score, _, _)| best.is_some_and(|best| -score * 5 > best * 3));
    found.sort_unstable();
    found.into_iter().map(|(_, _, index)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(query: &str, texts: &[&'static str]) -> Vec<&'static str> {
        let haystacks: Vec<_> = texts.iter().map(|text| Haystack::new(text)).collect();
        let found = rank(&Query::new(query), haystacks.iter().map(|text| (text, 0)));
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
            ("run", &["return", "turn up now", "run the lab"], "run the lab"),
            ("tl", &["battle", "a turtle", "training loop"], "training loop"),
            ("occ", &["device: no choice", "Occupancy"], "Occupancy"),
            ("lab train", &["train the lab", "label", "training-lab"], "training-lab"),
            ("kv_ca", &["kv", "kv-cache inference"], "kv-cache inference"),
            ("SGD", &["sgd", "SGD", "Some Good Data"], "SGD"),
            ("sgd", &["some good data x", "SGD"], "SGD"),
            ("über", &["uber", "Überblick", "drüber"], "Überblick"),
        ];
        for (query, texts, first) in cases {
            assert_eq!(ranked(query, texts).first(), Some(first), "{query}");
        }
    }

    #[test]
    fn letters_match_in_order_with_smart_case() {
        assert_eq!(ranked("ba", &["ab", "bca"]), ["bca"]);
        assert_eq!(ranked("Run", &["run", "Run"]), ["Run"]);
        assert!(ranked("x", &[""]).is_empty());
    }

    #[test]
    fn equals_keep_their_order() {
        assert_eq!(ranked("a", &["a one", "a two", "a six"]), ["a one", "a two", "a six"]);
    }

    #[test]
    fn the_letters_marked_are_those_of_the_best_match() {
        assert_eq!(underlined("lab", "l a label lab"), "lab");
        let haystack = Haystack::new("a bal label");
        assert_eq!(Query::new("label").places(&haystack), [6, 7, 8, 9, 10]);
        let haystack = Haystack::new("größe 数値 x");
        assert_eq!(Query::new("ß数").places(&haystack), [3, 6]);
    }

    #[test]
    fn scattered_letters_rank_low() {
        let strewn = "text of a remark that is known";
        assert_eq!(ranked("train", &[strewn, "Train a network"]), ["Train a network"]);
        assert_eq!(ranked("trk", &[strewn]), [strewn]);
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
                let expected = query.words.iter().all(|word| {
                    let text =
                        if word.exact { haystack.letters.clone() } else { haystack.folded.clone() };
                    let mut text = text.into_iter();
                    let mut letters = word.letters.iter();
                    letters.all(|letter| text.any(|c| c == *letter))
                });
                assert_eq!(found, expected, "{typed} in {text}");
                if found && query.words.len() == 1 {
                    let places = query.places(&haystack);
                    assert_eq!(places.len(), query.words[0].letters.len(), "{typed} in {text}");
                }
            }
        }
    }
}
