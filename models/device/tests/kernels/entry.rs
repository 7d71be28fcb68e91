//! What stands above a kernel of the corpus: lines that begin with `//:` and hold statements apart by `;`.
//!
//! `grid x y z block x y z shared bytes`, each extent from the second on may be left out; `NAME = FILL COUNT` for a
//! buffer; `NAME = NUMBER`; and what sets it apart: `near` (functions that devices compute differently, within the
//! tolerance), `warp` (needs groups of 32 threads), `cuda` (has no translation into WGSL).

use std::collections::BTreeMap;

use mlsys_kernel::types::{Scalar, Type};
use mlsys_kernel::{Argument, Kernel, Launch, Values};

use crate::Case;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closeness {
    Exact,
    Near,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    GroupsOf32,
    Cuda,
}

pub(crate) struct Entry {
    pub(crate) case: Case,
    pub(crate) closeness: Closeness,
    pub(crate) needs: Needs,
}

impl Entry {
    pub(crate) fn read(file: &str, source: &str) -> Self {
        let kernel = Kernel::parse(file, source).unwrap_or_else(|refused| panic!("{refused}"));
        let mut launch = Launch::line(1, 1);
        let (mut closeness, mut needs) = (Closeness::Exact, Needs::Nothing);
        let mut given = BTreeMap::new();
        let lines = source.lines().filter_map(|line| line.strip_prefix("//:"));
        for statement in lines.flat_map(|line| line.split(';')).map(str::trim) {
            match statement.split_once('=') {
                Some((name, value)) => {
                    given.insert(name.trim().to_owned(), value.trim().to_owned());
                }
                None => match statement {
                    "near" => closeness = Closeness::Near,
                    "warp" => needs = Needs::GroupsOf32,
                    "cuda" => needs = Needs::Cuda,
                    size => sized(&mut launch, size),
                },
            }
        }
        let arguments = kernel.params().enumerate().map(|(index, (name, ty))| {
            let value = given.remove(name);
            let value = value.unwrap_or_else(|| panic!("{file}: '{name}' has no value"));
            argument(ty, &value, index as u64)
        });
        let arguments = arguments.collect();
        assert!(given.is_empty(), "{file} takes no {given:?}");
        let (file, source) = (file.to_owned(), source.to_owned());
        Self { closeness, needs, case: Case { file, source, kernel, launch, arguments } }
    }
}

fn sized(launch: &mut Launch, text: &str) {
    let (mut what, mut at) = ("", 0);
    for word in text.split_whitespace() {
        let Ok(number) = word.parse::<u32>() else {
            (what, at) = (word, 0);
            continue;
        };
        match what {
            "grid" => launch.grid_dim[at] = number,
            "block" => launch.block_dim[at] = number,
            "shared" => launch.dynamic_shared = number,
            other => panic!("'{other}' in '{text}'"),
        }
        at += 1;
    }
}

fn argument(ty: Type, value: &str, seed: u64) -> Argument {
    let words: Vec<&str> = value.split_whitespace().collect();
    match (ty, words.as_slice()) {
        (Type::Pointer { to, .. }, [fill, count]) => {
            let count = count.parse().unwrap_or_else(|_| panic!("'{value}'"));
            Argument::Buffer(filled(fill, to, count, seed))
        }
        (_, [number]) => match number.parse() {
            Ok(whole) => Argument::Whole(whole),
            Err(_) => Argument::Real(number.parse().unwrap_or_else(|_| panic!("'{value}'"))),
        },
        (_, _) => panic!("'{value}'"),
    }
}

/// Splitmix64.
pub(crate) fn noise(z: u64) -> u64 {
    let mut z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

fn filled(fill: &str, of: Scalar, count: usize, seed: u64) -> Values {
    let (endless, most) = (f32::INFINITY, f32::MAX);
    let special =
        [f32::NAN, endless, -endless, 0.0, -0.0, 1.0, -1.5, most, -most, 1e-20, -3e30, 65504.0];
    let random = |i: usize| noise(1 + i as u64 + (seed << 32));
    let fraction = |i: usize| (random(i) >> 40) as f64 / f64::from(1 << 24);
    let number: Box<dyn Fn(usize) -> f64> = match (fill, of.is_real()) {
        ("poison", _) => return Values::Poison(count),
        ("index", _) => Box::new(|i| i as f64),
        ("zeros", _) => Box::new(|_| 0.0),
        ("random", true) => Box::new(fraction),
        ("random", false) => Box::new(move |i| (random(i) % 100) as f64),
        ("signed", _) => Box::new(move |i| 2.0 * fraction(i) - 1.0),
        ("bits", _) => Box::new(move |i| f64::from((random(i) >> 32) as u32 as i32)),
        ("special", _) => Box::new(move |i| f64::from(special[i * 5 % 12])),
        (other, _) => panic!("no fill '{other}'"),
    };
    let all = (0..count).map(number);
    match of {
        Scalar::Float => Values::Float(all.map(|x| x as f32).collect()),
        Scalar::Double => Values::Double(all.collect()),
        Scalar::Int => Values::Int(all.map(|x| x as i32).collect()),
        Scalar::Unsigned => Values::Unsigned(all.map(|x| x as i64 as u32).collect()),
        Scalar::Long => Values::Long(all.map(|x| x as i64).collect()),
        Scalar::UnsignedLong => Values::UnsignedLong(all.map(|x| x as i64 as u64).collect()),
        Scalar::Char
        | Scalar::UnsignedChar
        | Scalar::Short
        | Scalar::UnsignedShort
        | Scalar::Half
        | Scalar::Bfloat16 => Values::Small(of, all.collect()),
        Scalar::Bool => Values::Bool(all.map(|x| x as i64 % 2 != 0).collect()),
    }
}
