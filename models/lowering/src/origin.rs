//! Which line of a kernel's source each line of a form comes from.

use std::collections::BTreeMap;

/// First value of cubecl's form that each line of the source makes, in the order of the lines that make any; 0 for none.
fn first_values(kernel: &str) -> &'static [usize] {
    match kernel {
        "vector-add" => &[13, 19, 21],
        "relu" => &[9, 15, 17],
        "saxpy" => &[10, 16, 18],
        "window-sum" => &[9, 13, 15, 21, 23, 32, 41, 54, 56, 59, 64, 72],
        "matmul-tile" => &[14, 18, 22, 24, 26, 31, 36, 39, 45, 62, 79, 84, 103],
        _ => &[
            10, 14, 16, 19, 25, 26, 29, 38, 41, 46, 49, 53, 55, 72, 75, 81, 0, 84, 87, 99, 102,
            107, 108, 112, 114, 121, 127, 0, 130, 133, 156,
        ],
    }
}

/// Numbers of the source's lines: those that make values, and those with a barrier.
pub struct Source {
    values: Vec<(usize, usize)>,
    barriers: Vec<usize>,
}

impl Source {
    pub fn read(kernel: &str, text: &str) -> Self {
        let mut makers = Vec::new();
        let mut barriers = Vec::new();
        let body = text.lines().position(|line| line.ends_with('{')).unwrap();
        for (number, line) in text.lines().enumerate().skip(body + 1) {
            let line = line.trim();
            if line == "sync_cube();" {
                barriers.push(number + 1);
            } else if line != "}" {
                makers.push(number + 1);
            }
        }
        let first = first_values(kernel);
        assert_eq!(first.len(), makers.len(), "{kernel}: {makers:?}");
        let values = first.iter().copied().zip(makers).filter(|(first, _)| *first > 0).collect();
        Self { values, barriers }
    }

    fn line(&self, value: usize) -> Option<usize> {
        self.values.iter().rev().find(|(first, _)| *first <= value).map(|(_, line)| *line)
    }
}

/// Things that every form does in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Compare,
    Add,
    Multiply,
    Subtract,
    Divide,
    Store,
    Barrier,
}

fn event(line: &str) -> Option<Event> {
    let any = |words: &[&str]| words.iter().any(|word| line.contains(word));
    if any(&["cmp.u_", "branch.range_loop", "OpULessThan", "OpUGreaterThan"]) {
        Some(Event::Compare)
    } else if any(&["math.f_add", "OpFAdd"]) {
        Some(Event::Add)
    } else if any(&["math.f_mul", "OpFMul"]) {
        Some(Event::Multiply)
    } else if any(&["math.f_sub", "OpFSub"]) {
        Some(Event::Subtract)
    } else if any(&["math.f_div", "OpFDiv"]) {
        Some(Event::Divide)
    } else if line.contains("OpStore")
        || line.contains("memory.store") && !line.contains(", Local>")
    {
        Some(Event::Store)
    } else if any(&[
        "sync.sync",
        "OpControlBarrier",
        "__syncthreads",
        "threadgroup_barrier",
        "workgroupBarrier",
    ]) {
        Some(Event::Barrier)
    } else {
        None
    }
}

/// The values named in a line: numbers of `v12`, `shared_v12` or `%12`.
fn named(line: &str) -> Vec<usize> {
    line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '%'))
        .filter_map(|word| {
            let digits = match word.strip_prefix('%') {
                Some(digits) => digits,
                None => {
                    let word = word.strip_suffix("_store").unwrap_or(word);
                    let at = word.rfind('v')?;
                    let before = &word[..at];
                    (before.is_empty() || before.ends_with('_')).then(|| &word[at + 1..])?
                }
            };
            digits.parse().ok()
        })
        .collect()
}

/// The value that a line makes, if it makes one.
fn made(line: &str) -> Option<usize> {
    let (left, _) = line.split_once(" = ")?;
    if left.trim_start().starts_with('*') {
        return None;
    }
    named(left).last().copied()
}

/// The line of the source for each line of a form; `ir` are the lines of cubecl's own form with all its types.
pub fn origins(
    source: &Source,
    ir: &[String],
    lines: &[String],
    target: &str,
) -> Vec<Option<usize>> {
    let known = source.values.first().map_or(0, |(first, _)| *first)
        ..=ir.iter().flat_map(|line| named(line)).max().unwrap_or(0);
    let mut found: Vec<Option<usize>> = vec![None; lines.len()];
    if target == "spirv" {
        let theirs = events(ir);
        let count = |kind| theirs.iter().filter(|(other, _)| *other == kind).count();
        let ours: Vec<(usize, Event)> =
            lines.iter().enumerate().filter_map(|(at, line)| Some((at, event(line)?))).collect();
        let mut seen: BTreeMap<Event, usize> = BTreeMap::new();
        for (at, kind) in &ours {
            let nth = seen.entry(*kind).or_default();
            let all = ours.iter().filter(|(_, other)| other == kind).count();
            if all == count(*kind) {
                let line = theirs.iter().filter(|(other, _)| other == kind).nth(*nth);
                found[*at] = line.and_then(|(_, line)| {
                    named(line)
                        .into_iter()
                        .filter(|v| known.contains(v))
                        .max()
                        .and_then(|v| source.line(v))
                });
            }
            *nth += 1;
        }
    } else {
        for (at, line) in lines.iter().enumerate() {
            let values = named(line).into_iter().filter(|value| known.contains(value));
            found[at] = made(line)
                .filter(|value| known.contains(value))
                .or_else(|| values.max())
                .and_then(|value| source.line(value));
        }
    }
    let barriers = lines.iter().enumerate().filter(|(_, line)| event(line) == Some(Event::Barrier));
    for ((at, _), line) in barriers.zip(&source.barriers) {
        found[at] = Some(*line);
    }
    // What a line makes for the first line that uses it belongs to that one, from the end to the beginning.
    for at in (0..lines.len()).rev() {
        let own = made(&lines[at]).filter(|value| target == "spirv" || !known.contains(value));
        if let (None, Some(value)) = (found[at], own) {
            found[at] = (at + 1..lines.len())
                .find(|later| named(&lines[*later]).contains(&value))
                .and_then(|later| found[later]);
        }
        if target == "spirv" && (lines[at].contains("OpDecorate") || lines[at].contains("OpType")) {
            found[at] = None;
        }
    }
    if target == "spirv" {
        for at in 1..lines.len() {
            if lines[at].contains("OpBranchConditional") {
                let decided = named(&lines[at]).first().copied();
                found[at] =
                    (0..at).rev().find(|b| made(&lines[*b]) == decided).and_then(|b| found[b]);
            }
        }
    }
    found
}

/// The largest number of a value in cubecl's own form.
pub fn most(ir: &str) -> usize {
    named(ir).into_iter().max().unwrap_or(0)
}

/// What a form does, in order, with the line that does it.
fn events(lines: &[String]) -> Vec<(Event, &str)> {
    lines.iter().filter_map(|line| Some((event(line)?, line.as_str()))).collect()
}

/// Whether a form compares an index with a length, given where its lines come from.
pub fn compares_length(text: &str, lines: &[String], origins: &[Option<usize>]) -> bool {
    let compares =
        |line: &str| [" < ", "u_less_than", "OpULessThan"].iter().any(|word| line.contains(word));
    let length =
        |number: usize| text.lines().nth(number - 1).is_some_and(|line| line.contains(".len()"));
    lines.iter().zip(origins).any(|(line, origin)| compares(line) && origin.is_some_and(length))
}
