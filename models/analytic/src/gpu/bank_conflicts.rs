//! Kind `bank-conflicts`: how many distinct words of one bank a warp asks for at once.

use std::collections::BTreeSet;

use mlsys_lab::{LabError, Run, Value};
use mlsys_sim::pattern::{OF_A_WARP, Pattern};

use crate::closed_form::Simulated;

/// Banks of shared memory; word w lies in bank w mod 32.
const BANKS: usize = 32;

/// Distances between neighbouring lanes that are compared.
const STRIDES: [i64; 10] = [1, 2, 3, 4, 7, 8, 16, 31, 32, 33];

pub(crate) fn run(run: &mut Run<'_>) -> Result<Simulated, LabError> {
    let source = run.params.text("word_index")?;
    let words = Pattern::read("word_index", source, &OF_A_WARP)?.lanes("the word")?;
    let banks = banks(&words);
    let pass = |word: &i64| banks[*word as usize % BANKS].iter().position(|other| other == word);
    let passes: Vec<usize> = words.iter().filter_map(pass).collect();
    let lanes = |word: &i64| words.iter().filter(|asked| *asked == word).count() as i64;
    let queue =
        |bank: &BTreeSet<i64>| Value::Array(bank.iter().map(|w| Value::Int(lanes(w))).collect());
    let rounds = (0..degree(&banks) as usize).map(|round| {
        let busy = banks.iter().filter(|bank| bank.len() > round).count();
        let served = passes.iter().filter(|pass| **pass == round).count();
        [Value::Int(busy as i64), Value::Int(served as i64)]
    });
    let strides = STRIDES.map(|stride| {
        let other: Vec<i64> = (0..words.len() as i64).map(|lane| stride * lane).collect();
        [stride.into(), degree(&self::banks(&other)).into(), (other == words).into()]
    });
    let mut values = Simulated::default();
    values.set("degree", degree(&banks));
    values.list("words_per_bank", banks.iter().map(|bank| bank.len() as i64));
    values.set("distinct", words.iter().collect::<BTreeSet<_>>().len() as i64);
    values.list("queues", banks.iter().map(queue));
    values.records("rounds", ["busy", "served"], rounds);
    values.list("passes", passes.iter().map(|pass| *pass as i64));
    values.records("strides", ["stride", "degree", "own"], strides);
    Ok(values)
}

fn banks(words: &[i64]) -> Vec<BTreeSet<i64>> {
    let mut banks = vec![BTreeSet::new(); BANKS];
    for &word in words {
        banks[word as usize % BANKS].insert(word);
    }
    banks
}

/// One pass serves one word of each bank, to every lane that asks for it.
fn degree(banks: &[BTreeSet<i64>]) -> i64 {
    banks.iter().map(BTreeSet::len).max().map_or(0, |most| most as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflict_degree_is_gcd_of_stride_and_banks() {
        for stride in 1..200_i64 {
            let words: Vec<i64> = (0..32).map(|lane| stride * lane).collect();
            assert_eq!(degree(&banks(&words)), 1 << stride.trailing_zeros().min(5), "{stride}");
        }
    }
}
