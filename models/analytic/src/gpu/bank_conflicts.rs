//! Kind `bank-conflicts`: how many distinct words of one bank a warp asks for at once.

use std::collections::BTreeSet;

use mlsys_lab::frame::{Cells, Tone};
use mlsys_lab::{Frame, LabError, Run, Value};

use crate::closed_form::Values;
use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::pattern::{OF_A_WARP, Pattern};

/// Banks of shared memory; word w lies in bank w mod 32.
const BANKS: usize = 32;

pub(crate) fn run(run: &mut Run<'_>) -> Result<Values, LabError> {
    let mut values = Values::default();
    let source = run.params.text("word_index")?;
    let pattern = Pattern::read("word_index", source, &OF_A_WARP)?;
    let access = Access::of(pattern.lanes("the word")?);
    let words = access.words_per_bank();
    values.set("degree", access.degree());
    values.set("conflict_free", access.degree() == 1);
    let listed = words.iter().copied().map(Value::Int).collect();
    values.set("words_per_bank", Value::Array(listed));
    picture::offer(run, "banks", || access.banks());
    picture::offer(run, "passes", || access.passes());
    picture::offer(run, "strides", || access.strides());
    picture::offer(run, "steps", || access.steps());
    Ok(values)
}

/// A read of one warp: the word each lane asks for, and the distinct words by bank.
struct Access {
    words: Vec<i64>,
    banks: Vec<BTreeSet<i64>>,
}

impl Access {
    fn of(words: Vec<i64>) -> Self {
        let mut banks = vec![BTreeSet::new(); BANKS];
        for &word in &words {
            banks[word as usize % BANKS].insert(word);
        }
        Self { words, banks }
    }

    fn words_per_bank(&self) -> Vec<i64> {
        self.banks.iter().map(|bank| bank.len() as i64).collect()
    }

    /// One pass serves one word of each bank, to every lane that asks for it.
    fn degree(&self) -> i64 {
        self.words_per_bank().into_iter().max().unwrap_or(0)
    }

    /// Each bank's distinct words, one below the other: the longest queue is the degree.
    fn banks(&self) -> Frame {
        let degree = self.degree().max(1) as usize;
        let lanes = |word: &i64| self.words.iter().filter(|asked| *asked == word).count();
        let row = |pass: usize| {
            let cell = |words: &BTreeSet<i64>| {
                let lanes = lanes(words.iter().nth(pass)?);
                Some(usize::from(lanes > 1))
            };
            let cells: Vec<Option<usize>> = self.banks.iter().map(cell).collect();
            let served = cells.iter().flatten().count();
            let remark = match served {
                1 => "1 bank at work".to_owned(),
                served => format!("{served} banks at work"),
            };
            picture::row(format!("pass {}", pass + 1), cells, remark)
        };
        let asked: BTreeSet<&i64> = self.words.iter().collect();
        Frame::Cells(Cells {
            across: "bank".to_owned(),
            group: 8,
            first: 0,
            kinds: picture::kinds([
                ("one lane's word", Tone::First),
                ("one word for several lanes", Tone::Second),
            ]),
            rows: (0..degree).map(row).collect(),
            note: format!(
                "Word w lies in bank w mod 32, and a bank gives one word a pass. {} lanes ask for {} different words, at most {degree} of one bank: {}.",
                self.words.len(),
                asked.len(),
                match degree {
                    1 => "one pass serves all".to_owned(),
                    _ => format!("{degree} passes one after the other"),
                }
            ),
            ..Cells::default()
        })
    }

    /// The pass in which each lane is served.
    fn passes(&self) -> Frame {
        let degree = self.degree().max(1) as usize;
        let pass_of = |word: &i64| {
            let bank = &self.banks[*word as usize % BANKS];
            bank.iter().position(|other| other == word)
        };
        let passes: Vec<Option<usize>> = self.words.iter().map(pass_of).collect();
        let row = |pass: usize| {
            let cells = passes.iter().map(|of| match of {
                Some(of) if *of == pass => Some(0),
                Some(of) if *of < pass => Some(2),
                Some(_) | None => Some(1),
            });
            let served = passes.iter().filter(|of| **of == Some(pass)).count();
            picture::row(format!("pass {}", pass + 1), cells, format!("{served} served"))
        };
        Frame::Cells(Cells {
            across: "lane".to_owned(),
            group: 8,
            first: 0,
            kinds: picture::kinds([
                ("served in this pass", Tone::First),
                ("waits", Tone::Warn),
                ("served before", Tone::Faint),
            ]),
            rows: (0..degree).map(row).collect(),
            note: "The warp goes on when its last lane is served; lanes that ask for the same word are served together.".to_owned(), ..Cells::default() })
    }

    fn strides(&self) -> Frame {
        let bar = |stride: i64| {
            let other = Self::of((0..self.words.len() as i64).map(|lane| stride * lane).collect());
            let remark = if other.words == self.words { "this one" } else { "" };
            picture::bar(format!("stride {stride}"), other.degree() as f64, remark)
        };
        let strides = [1, 2, 3, 4, 7, 8, 16, 31, 32, 33];
        picture::bars("passes", strides.into_iter().map(bar).collect())
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let distinct: BTreeSet<&i64> = self.words.iter().collect();
        let distinct = distinct.len() as i64;
        steps.add("words", "distinct word_index over lanes 0..31", "", distinct);
        let busy = self.banks.iter().filter(|bank| !bank.is_empty()).count();
        steps.add("banks", "distinct word mod 32", "", busy as i64);
        let longest = self.words_per_bank();
        let bank = longest.iter().position(|&words| words == self.degree());
        let numbers = format!("bank {} holds the most", bank.unwrap_or_default());
        let formula = "most distinct words of one bank";
        steps.add("degree", formula, numbers, self.degree());
        let extra = self.degree() - 1;
        let numbers = format!("{} - 1", self.degree());
        steps.add("extra passes", "degree - 1", numbers, extra);
        steps.table()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_degree_of_a_stride_is_its_common_divisor_with_the_banks() {
        let divisor = |mut a: i64, mut b: i64| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        for stride in 1..200 {
            let access = Access::of((0..32).map(|lane| stride * lane).collect());
            assert_eq!(access.degree(), divisor(stride, 32), "{stride}");
        }
    }
}
