//! The panels of the lab: the source, two forms side by side, words, bridges.

use mlsys_lab::value::significant;
use mlsys_lab::{DeviceId, Frame, Value, picture};

use super::Ran;
use mlsys_sim::lowering::forms::{Form, Line};
use mlsys_sim::lowering::{Target, ToolchainError, Work, difference};

/// Rows of a drawing before the rest is told by number.
const DRAWN: i64 = 12;

/// The kernel as it is written, its lines numbered.
pub(super) fn source(text: &str, remark: Option<&str>) -> Frame {
    let lines = text.lines().zip(1..);
    let mut page: Vec<String> =
        lines.map(|(line, number)| format!("{number:>2}  {line}")).collect();
    if let Some(remark) = remark {
        page.extend([String::new(), remark.to_owned()]);
    }
    Frame::Text(page.join("\n"))
}

/// A target and its form, if there is one.
type Side = (Target, Option<Form>);

/// Two forms side by side, what comes from the same line of the source in the same rows.
pub(super) fn lowered([left, right]: &[Side; 2]) -> Frame {
    let lines = |side: &'_ Side| side.1.as_ref().map_or_else(Vec::new, |form| form.lines.clone());
    let cell = |line: Option<Line>| Value::from(line.map_or("", |line| line.text));
    let row = |(left, right): (Option<Line>, Option<Line>)| {
        let origin = left.or(right).and_then(|line| line.origin);
        let number = origin.map_or_else(|| Value::from(""), |line| Value::Int(line as i64));
        [number, cell(left), cell(right)]
    };
    let rows = aligned(&lines(left), &lines(right));
    let mut rows: Vec<[Value; 3]> = rows.into_iter().map(row).collect();
    // A reason stands alone in its column.
    for (at, (target, form)) in [(1, left), (2, right)] {
        if form.is_none() {
            if rows.is_empty() {
                rows.push(["", "", ""].map(Value::from));
            }
            rows[0][at] = if *target == Target::Ptx {
                "ptx: none here, NVRTC makes it where CUDA is".into()
            } else {
                format!("{}: no such form", target.name()).into()
            };
        }
    }
    picture::table(["line", left.0.name(), right.0.name()], rows)
}

/// Every line of the source, and below it what it becomes in two forms.
pub(super) fn lines_of_source(text: &str, forms: &[Side]) -> Frame {
    let mut page = Vec::new();
    for (written, number) in text.lines().zip(1..) {
        page.push(format!("{number:>2}  {written}"));
        for (target, form) in forms {
            let of = form.iter().flat_map(|form| &form.lines);
            let of = of.filter(|line| line.origin == Some(number));
            for (nth, line) in of.enumerate() {
                let name = if nth == 0 { target.name() } else { "" };
                page.push(format!("      {name:<9} {}", line.text.trim_start()));
            }
        }
    }
    Frame::Text(page.join("\n"))
}

/// Lines that follow each other and come from the same line of the source.
fn runs(lines: &[Line]) -> Vec<&[Line]> {
    lines.chunk_by(|a, b| a.origin == b.origin).collect()
}

/// Two forms line by line, so that runs of common origin begin in the same row: of all sequences of runs that both have
/// in the same order, the one with most of a known origin is matched, and the rest stands alone.
fn aligned(left: &[Line], right: &[Line]) -> Vec<(Option<Line>, Option<Line>)> {
    let (left, right) = (runs(left), runs(right));
    let origin = |run: &[Line]| run.first().and_then(|line| line.origin);
    let same = |a: &[Line], b: &[Line]| origin(a) == origin(b);
    // What each target needs of itself may share rows, too, but never in place of what has an origin.
    let worth = |run: &[Line]| if origin(run).is_some() { 1000 } else { 1 };
    let mut common = vec![vec![0_usize; right.len() + 1]; left.len() + 1];
    for a in (0..left.len()).rev() {
        for b in (0..right.len()).rev() {
            let apart = common[a + 1][b].max(common[a][b + 1]);
            common[a][b] = if same(left[a], right[b]) {
                apart.max(common[a + 1][b + 1] + worth(left[a]))
            } else {
                apart
            };
        }
    }
    let mut rows = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a < left.len() || b < right.len() {
        let both = a < left.len() && b < right.len();
        let together = both && same(left[a], right[b]);
        if together && common[a][b] == common[a + 1][b + 1] + worth(left[a]) {
            for nth in 0..left[a].len().max(right[b].len()) {
                rows.push((left[a].get(nth).copied(), right[b].get(nth).copied()));
            }
            (a, b) = (a + 1, b + 1);
        } else if b == right.len() || a < left.len() && common[a + 1][b] >= common[a][b + 1] {
            rows.extend(left[a].iter().map(|line| (Some(*line), None)));
            a += 1;
        } else {
            rows.extend(right[b].iter().map(|line| (None, Some(*line))));
            b += 1;
        }
    }
    rows
}

/// The same ideas by their names.
pub(super) const NAMES: [[&str; 6]; 8] = [
    ["cubecl", "UNIT_POS_X", "CUBE_POS_X", "CUBE_DIM_X", "sync_cube()", "Shared"],
    ["cubecl-ir", "UnitPosX", "CubePosX", "CubeDimX", "sync.sync", "Shared"],
    ["cuda", "threadIdx.x", "blockIdx.x", "blockDim.x", "__syncthreads()", "__shared__"],
    ["hip", "threadIdx.x", "blockIdx.x", "blockDim.x", "__syncthreads()", "__shared__"],
    [
        "wgsl",
        "local_invocation_id.x",
        "workgroup_id.x",
        "@workgroup_size",
        "workgroupBarrier()",
        "var<workgroup>",
    ],
    [
        "metal",
        "thread_position_in_threadgroup",
        "threadgroup_position_in_grid",
        "threads_per_threadgroup",
        "threadgroup_barrier()",
        "threadgroup",
    ],
    ["spirv", "LocalInvocationId", "WorkgroupId", "LocalSize", "OpControlBarrier", "Workgroup"],
    ["ptx", "%tid.x", "%ctaid.x", "%ntid.x", "bar.sync", ".shared"],
];

pub(super) fn names() -> Frame {
    picture::table(
        ["form", "thread in block", "block in grid", "block size", "barrier", "shared memory"],
        NAMES.map(|row| row.map(Value::from)).to_vec(),
    )
}

/// Each form with what it took to make it here.
pub(super) fn compilers(
    made: &[(Target, Form)],
    compiled: &[(Target, Result<f64, ToolchainError>)],
) -> Frame {
    let rows = compiled.iter().map(|(target, seconds)| {
        let form = made.iter().find(|(other, _)| other == target);
        let lines = form.map_or_else(|| Value::from("none"), |(_, form)| Value::Int(form.printed));
        let checked = form.map_or("", |(_, form)| if form.bounds_checked { "yes" } else { "no" });
        let (took, how) = match seconds {
            Ok(seconds) => {
                (Value::from(significant(1e3 * seconds, 3)), "made here, now".to_owned())
            }
            Err(reason) => (Value::from(""), reason.to_string()),
        };
        [Value::from(target.name()), lines, Value::from(checked), took, Value::from(how)]
    });
    let titles = ["form", "lines", "index checked", "compiled in, ms", "where"];
    picture::table(titles, rows.collect())
}

/// Elements that the panel `run` lists.
const LISTED: usize = 12;

/// What the device and the processor computed, the worst element first.
pub(super) fn ran(work: &Work, ran: &Ran, device: DeviceId) -> Frame {
    let all = work.elements;
    let Ok(found) = &ran.found else {
        let reason = ran.found.as_ref().err().map_or_else(String::new, ToString::to_string);
        let rows = ran.wanted.iter().take(LISTED).enumerate();
        let mut page = vec![
            format!("{device} did not run it: {reason}."),
            String::new(),
            format!("The processor's own result, in Rust, of {all} elements:"),
        ];
        page.extend(rows.map(|(at, value)| format!("  {at:>4}  {value:>14.8}")));
        return Frame::Text(page.join("\n"));
    };
    let apart = |at: usize| (f64::from(found[at]) - f64::from(ran.wanted[at])).abs();
    let shared = found.len().min(ran.wanted.len());
    let worst = (0..shared).max_by(|a, b| apart(*a).total_cmp(&apart(*b)));
    let rows = worst.into_iter().chain(0..shared.min(LISTED));
    let line = |at: usize| {
        let (device, host) = (found[at], ran.wanted[at]);
        format!("{at:>9}  {device:>14.8}  {host:>14.8}  {:>9.1e}", apart(at))
    };
    let mut page = vec![
        format!(
            "{all} elements, {} x {} blocks of {} threads on {device}: {:.1e} apart at most, relative to the largest.",
            work.blocks[0],
            work.blocks[1],
            work.build.block,
            difference(found, &ran.wanted),
        ),
        String::new(),
        format!(
            "{:>9}  {:>14}  {:>14}  {:>9}",
            "element",
            device.to_string(),
            "processor",
            "apart"
        ),
    ];
    for (nth, at) in rows.enumerate() {
        let mark = if nth == 0 { "  farthest" } else { "" };
        page.push(line(at) + mark);
    }
    Frame::Text(page.join("\n"))
}

/// A compiler for every pair, and translators into and out of one common form.
pub(super) fn bridge(languages: i64, architectures: i64) -> Frame {
    let (shown, across) = (languages.min(DRAWN), architectures.min(DRAWN));
    let mut page = vec!["A compiler for every pair:".to_owned(), String::new()];
    let heads: String = (1..=across).map(|n| format!("{:>4}", format!("H{n}"))).collect();
    page.push(format!("      {heads}"));
    for language in 1..=shown {
        let row: String = (1..=across).map(|_| "   #").collect();
        page.push(format!("{:>6}{row}", format!("L{language}")));
    }
    if shown < languages || across < architectures {
        page.push(format!("  and so on, to L{languages} and H{architectures}"));
    }
    page.push(String::new());
    let pairs = languages.saturating_mul(architectures);
    page.push(format!(
        "{languages} languages x {architectures} kinds of hardware = {pairs} compilers"
    ));
    page.extend([String::new(), "Through one form in the middle:".to_owned(), String::new()]);
    let rows = shown.max(across);
    for row in 1..=rows {
        let middle = if row == (rows + 1) / 2 { "[ IR ]" } else { "  ||  " };
        let end = |drawn: bool, name: String| if drawn { name } else { String::new() };
        let (left, right) = (row <= shown, row <= across);
        let into = if left { "----" } else { "" };
        let out = if right { "----" } else { "" };
        page.push(
            format!(
                "{:>6} {into:<4} {middle} {out:<4} {}",
                end(left, format!("L{row}")),
                end(right, format!("H{row}")),
            )
            .trim_end()
            .to_owned(),
        );
    }
    page.push(String::new());
    let sum = languages.saturating_add(architectures);
    page.push(format!("{languages} into it + {architectures} out of it = {sum} translators"));
    Frame::Text(page.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::super::forms::form;
    use super::*;

    #[test]
    fn the_names_stand_in_the_forms() {
        for row in NAMES {
            let Some(target) = row[0].parse().ok().filter(|target| *target != Target::Ptx) else {
                continue;
            };
            let form = form("window-sum", 1, target, 64).unwrap();
            let text: String = form.lines.iter().map(|line| line.text).collect();
            // The block size is known to the compiler, so that its name may be gone; WGSL asks for x by its number.
            for name in [row[1], row[2], row[4], row[5]] {
                let stem = name.trim_end_matches("()");
                let stem = if target == Target::Wgsl { stem.trim_end_matches(".x") } else { stem };
                assert!(text.contains(stem), "{target:?} has no {name}");
            }
        }
    }

    #[test]
    fn aligning_loses_no_line_and_keeps_both_orders() {
        for kernel in ["vector-add", "window-sum", "softmax-row"] {
            let of = |target| form(kernel, 1, target, 64).unwrap().lines;
            for (a, b) in [(Target::Cuda, Target::Wgsl), (Target::Ir, Target::Spirv)] {
                let rows = aligned(&of(a), &of(b));
                let left: Vec<Line> = rows.iter().filter_map(|row| row.0).collect();
                let right: Vec<Line> = rows.iter().filter_map(|row| row.1).collect();
                assert_eq!((left, right), (of(a), of(b)));
                for (a, b) in rows.into_iter().filter_map(|(a, b)| Some((a?, b?))) {
                    assert_eq!(a.origin, b.origin);
                }
            }
        }
    }
}
