use crate::pruning::storage::*;
use mlsys_lab::random;

const NONE: bool = false;
const KEPT: bool = true;

#[test]
fn encoding_round_trips() {
    for seed in 0..300 {
        let draw = |at| random::bits(seed, at);
        let len = (draw(1) % 400) as usize;
        let widths = Widths { value: 1 + (draw(2) % 32) as u32, offset: 1 + (draw(3) % 9) as u32 };
        // From nothing kept to everything kept.
        let share = (draw(4) % 11) as f64 / 10.0;
        let kept: Vec<bool> =
            (0..len).map(|at| random::unit(seed ^ 77, at as u64) < share * share).collect();
        let codes: Vec<u32> = (0..len)
            .map(|at| low(random::bits(seed ^ 5, at as u64) as u32, widths.value))
            .collect();
        let left: Vec<u32> =
            codes.iter().zip(&kept).map(|(code, kept)| if *kept { *code } else { 0 }).collect();
        for format in Format::ALL {
            let stored = Stored::encode(format, &codes, &kept, widths);
            let said = format!("{format:?} {widths:?}, {len} weights, seed {seed}");
            assert_eq!(stored.decode(), Some(left.clone()), "{said}");
            assert_eq!(stored.bits(), format.bits(&kept, widths), "{said}");
            assert_eq!(stored.bits.bytes.len() as u64, stored.bits().div_ceil(8));
        }
    }
}

#[test]
fn every_2_to_the_offset_bits_zeros_cost_an_entry_more() {
    let one_after = |zeros: usize| {
        let mut kept = vec![NONE; zeros];
        kept.push(KEPT);
        kept
    };
    for (zeros, wanted) in [(0, 1), (3, 1), (4, 2), (7, 2), (8, 3), (11, 3), (12, 4)] {
        assert_eq!(entries(&one_after(zeros), 2), wanted, "{zeros} zeros");
    }
    assert_eq!(entries(&[vec![KEPT], vec![NONE; 100]].concat(), 2), 1);
    assert_eq!(entries(&one_after(100), 16), 1);
}

#[test]
fn sizes_are_those_of_the_formulas() {
    // 784-128-10 with 90% gone, 4 bits: 50,816, 12,704 + 5,081.5 and as many entries as there are kept weights or more.
    let mut kept = vec![NONE; 101_632];
    kept.iter_mut().step_by(10).take(10_163).for_each(|kept| *kept = KEPT);
    let widths = Widths { value: 4, offset: 5 };
    let bytes = |format: Format| format.bits(&kept, widths) as f64 / 8.0;
    assert_eq!(bytes(Format::Dense), 50_816.0);
    assert_eq!(bytes(Format::Bitmap), 12_704.0 + 5_081.5);
    assert_eq!(bytes(Format::Offsets), 10_163.0 * 9.0 / 8.0);
}

#[test]
fn what_breaks_off_is_no_layer() {
    let widths = Widths { value: 7, offset: 3 };
    for format in Format::ALL {
        let mut stored = Stored::encode(format, &[3, 0, 9], &[KEPT, NONE, KEPT], widths);
        stored.bits.truncate(stored.bits() - 1);
        assert_eq!(stored.decode(), None, "{format:?}");
    }
    let mut stored = Stored::encode(Format::Offsets, &[3, 0, 9], &[KEPT, NONE, KEPT], widths);
    stored.weights = 2;
    assert_eq!(stored.decode(), None);
}
