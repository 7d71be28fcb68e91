//! The panels: numbers around a weight, sizes of gradients, and weights.

use mlsys_lab::Frame;
use mlsys_lab::frame::{Distribution, Histogram, Level};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::{number, significant};
use mlsys_sim::formats::Format;

use super::learner::Learner;
use super::{Knobs, Numbers};

pub(super) struct PanelData<'a> {
    pub(super) learner: &'a Learner,
    pub(super) reference: &'a Learner,
    pub(super) knobs: &'a Knobs,
}

type Draw = fn(&PanelData<'_>) -> Frame;

pub(super) const ALL: [(&str, Draw); 3] = [
    ("number-line", number_line),
    ("gradient-exponents", gradient_exponents),
    ("weights", weights),
];

const WIDE: usize = 61;

/// Numbers of the format on each side of the one in the middle.
const AROUND: usize = 2;

/// Columns of the histogram of weights: enough to leave gaps between the numbers of a short format.
const BINS: usize = 160;

fn number_line(of: &PanelData<'_>) -> Frame {
    let last = &of.learner.last;
    let format = of.knobs.numbers.weights;
    let chosen = of.knobs.watch.filter(|at| *at < last.before.len());
    let Some(at) = chosen.or_else(|| typical(&last.before, &last.wanted, format)) else {
        return Frame::Text(
            "No weight was to change in this step: every update is zero.".to_owned(),
        );
    };
    let after = of.learner.weights.get(at).copied().unwrap_or(f32::NAN);
    let layer = of.learner.layer_of(at);
    let update = (last.before[at], last.wanted[at]);
    Frame::Text(line(&format!("Weight {at}, of layer {layer}"), update, after, &of.knobs.numbers))
}

/// The weight with the median nonzero update, measured in spacings of the format.
fn typical(before: &[f32], wanted: &[f32], format: Format) -> Option<usize> {
    let moved = before.iter().zip(wanted).enumerate();
    let mut moved: Vec<(f64, usize)> = moved
        .filter(|(_, (before, wanted))| before != wanted)
        .map(|(at, (before, wanted))| {
            let by = f64::from(*wanted) - f64::from(*before);
            (by.abs() / format.spacing(before.abs()), at)
        })
        .collect();
    let middle = moved.len() / 2;
    if moved.is_empty() {
        return None;
    }
    let (_, found, _) = moved.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0));
    Some(found.1)
}

/// The numbers of the format around a weight, with the update as an arrow from it, and what became of it.
fn line(title: &str, (from, to): (f32, f32), after: f32, numbers: &Numbers) -> String {
    let format = numbers.weights;
    let here = format.round(from);
    let mut ticks = vec![here];
    for _ in 0..AROUND {
        if let (Some(first), Some(end)) = (ticks.first().copied(), ticks.last().copied()) {
            ticks.insert(0, format.neighbours(first)[0]);
            ticks.push(format.neighbours(end)[1]);
        }
    }
    ticks.retain(|tick| tick.is_finite());
    let by = f64::from(to) - f64::from(from);
    let mut page =
        vec![format!("{title}, and the numbers of {} around it", format.name()), String::new()];
    if let (Some(low), Some(high)) = (ticks.first().copied(), ticks.last().copied())
        && high > low
        && from.is_finite()
        && to.is_finite()
    {
        let share = |x: f32| (f64::from(x) - f64::from(low)) / (f64::from(high) - f64::from(low));
        let column = |x: f32| (share(x).clamp(0.0, 1.0) * (WIDE - 1) as f64).round() as usize;
        page.push(arrow_row(column(from), column(to), by));
        let mut ruler = vec!['-'; WIDE];
        ticks.iter().for_each(|tick| ruler[column(*tick)] = '|');
        page.push(ruler.into_iter().collect());
        page.push(labels(&ticks, column));
    }
    let gap = format.spacing(here.abs());
    page.extend([
        String::new(),
        format!("weight   {}", number(f64::from(from))),
        format!("update   {}", number(by)),
        format!(
            "spacing  {}: the update is {} of it",
            number(gap),
            number(significant((by / gap).abs(), 3))
        ),
        String::new(),
    ]);
    let moved = after != from;
    page.push(if numbers.has_copy() {
        let copy = format.round(after);
        let copied = if copy == here { "stays" } else { "becomes" };
        format!(
            "The copy in fp32 {}. What forward and backward use {copied} {}.",
            if moved { "takes the update" } else { "is too coarse for it as well" },
            number(f64::from(copy))
        )
    } else if by == 0.0 {
        "The update is zero.".to_owned()
    } else if moved {
        format!("The sum is rounded to {}.", number(f64::from(after)))
    } else {
        "The sum is rounded back to where it was: the update is lost.".to_owned()
    });
    page.join("\n")
}

/// The weight as `o` and the update as an arrow; one too short for an arrow as a sign next to it.
fn arrow_row(from: usize, to: usize, by: f64) -> String {
    let mut row = vec![' '; WIDE + 1];
    for column in row.iter_mut().take(from.max(to)).skip(from.min(to)) {
        *column = '-';
    }
    row[from] = 'o';
    let head = if by > 0.0 { '>' } else { '<' };
    let end = match (to == from, by > 0.0) {
        (true, true) => from + 1,
        (true, false) => from.saturating_sub(1),
        (false, _) => to,
    };
    if by != 0.0 && end != from {
        row[end] = head;
    }
    row.into_iter().collect::<String>().trim_end().to_owned()
}

/// The numbers under their ticks, as many as there is room for, in the fewest digits that tell them apart.
pub(super) fn labels(ticks: &[f32], column: impl Fn(f32) -> usize) -> String {
    // Zero has no sign here.
    let text = |tick: &f32, digits| number(significant(f64::from(*tick), digits) + 0.0);
    let texts = |digits| ticks.iter().map(|tick| text(tick, digits)).collect::<Vec<_>>();
    let differ = |texts: &Vec<String>| texts.windows(2).all(|pair| pair[0] != pair[1]);
    let texts = (4..6).map(texts).find(differ).unwrap_or_else(|| texts(6));
    let mut row = String::new();
    for (tick, text) in ticks.iter().zip(texts) {
        let begin = column(*tick).saturating_sub(text.len() / 2);
        let begin = begin.min(WIDE.saturating_sub(text.len()));
        if row.is_empty() || begin > row.len() {
            row.push_str(&" ".repeat(begin - row.len()));
            row.push_str(&text);
        }
    }
    row
}

fn gradient_exponents(of: &PanelData<'_>) -> Frame {
    let (last, format) = (&of.learner.last, of.knobs.numbers.gradients);
    let exponent = |x: &f32| (*x != 0.0 && x.is_finite()).then(|| f64::from(x.abs()).log2());
    let all: Vec<f64> = last.gradients.iter().filter_map(exponent).collect();
    let left: Vec<f64> = last.rounded.iter().filter_map(exponent).collect();
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !(low.is_finite() && high.is_finite()) {
        return Frame::Text("All gradients are zero or no numbers.".to_owned());
    }
    // A few powers on each side, so that a limit nearby is seen.
    let (first, end) = (low.floor() as i64 - 3, high.ceil() as i64 + 3);
    let edges: Vec<f64> = (first..=end).map(|edge| edge as f64).collect();
    let limits = [
        (format.smallest(), "smallest"),
        (format.smallest_normal(), "normal"),
        (f64::from(format.largest()), "largest"),
    ];
    let levels =
        limits.into_iter().map(|(at, label)| Level { at: at.log2(), label: label.to_owned() });
    Frame::Histogram(Histogram {
        quantity: format!(
            "log2 |gradient|, scale {}",
            number(f64::from(of.knobs.numbers.loss_scale))
        ),
        unit: String::new(),
        scale: Scale::Linear,
        first: counted("as computed", &all, &edges),
        second: Some(counted(&format!("in {}", format.name()), &left, &edges)),
        levels: levels.filter(|level| (first as f64..=end as f64).contains(&level.at)).collect(),
        marked: format!("limits of {}", format.name()),
        edges,
    })
}

fn weights(of: &PanelData<'_>) -> Frame {
    let wide = |weights: &[f32]| -> Vec<f64> { weights.iter().map(|x| f64::from(*x)).collect() };
    let own = wide(&of.learner.used(&of.knobs.numbers));
    let reference = wide(&of.reference.weights);
    let sizes = own.iter().chain(&reference).map(|x| x.abs());
    let largest = sizes.filter(|x| x.is_finite()).fold(0.0, f64::max);
    if largest == 0.0 {
        return Frame::Text("All weights are zero or no numbers.".to_owned());
    }
    let edge = |at: usize| largest * (2.0 * at as f64 / BINS as f64 - 1.0);
    let edges: Vec<f64> = (0..=BINS).map(edge).collect();
    Frame::Histogram(Histogram {
        quantity: "weight".to_owned(),
        unit: String::new(),
        scale: Scale::Log,
        first: counted(of.knobs.numbers.weights.name(), &own, &edges),
        second: Some(counted("the run in fp32", &reference, &edges)),
        levels: Vec::new(),
        marked: String::new(),
        edges,
    })
}

/// How many values lie between an edge and the next; edges are evenly spaced.
fn counted(name: &str, values: &[f64], edges: &[f64]) -> Distribution {
    let bins = edges.len().saturating_sub(1);
    let mut counts = vec![0; bins];
    if let (Some(first), Some(last)) = (edges.first(), edges.last()) {
        for value in values.iter().filter(|value| (*first..=*last).contains(value)) {
            let place = (value - first) / (last - first) * bins as f64;
            counts[(place as usize).min(bins - 1)] += 1;
        }
    }
    Distribution { name: name.to_owned(), counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BF16: Numbers = Numbers { weights: Format::Bf16, ..Numbers::WIDE };
    const NO_COPY: Numbers = Numbers { master_weights: false, ..BF16 };

    #[test]
    fn an_update_is_an_arrow_that_reaches_the_next_number_or_not() {
        let page = line("Weight 7, of layer 1", (1.0, 1.001), 1.0, &NO_COPY);
        let rows: Vec<&str> = page.lines().collect();
        // Below 1 the numbers lie half as far apart.
        assert_eq!(rows[2].find("o-->"), Some(20), "{page}");
        assert_eq!(rows[3].matches('|').count(), 5);
        assert_eq!(&rows[3][20..21], "|");
        assert!(page.contains("0.0078125: the update is 0.128"), "{page}");
        assert!(page.ends_with("the update is lost."), "{page}");
        let page = line("w", (1.0, 0.985), 0.984_375, &NO_COPY);
        assert!(page.contains("<--"), "{page}");
        assert!(page.ends_with("The sum is rounded to 0.984375."), "{page}");
        let page = line("w", (1.0, 1.001), 1.001, &BF16);
        assert!(page.contains("takes the update") && page.contains("use stays 1"), "{page}");
        for from in [f32::NAN, f32::INFINITY, f32::MAX] {
            let page = line("w", (from, 0.0), 0.0, &NO_COPY);
            assert!(page.lines().count() > 5, "{page}");
        }
    }

    #[test]
    fn the_typical_update_is_the_nonzero_median() {
        let before = [1.0, 1.0, 1.0, 1.0];
        let wanted = [1.0, 1.5, 1.1, 1.01];
        assert_eq!(typical(&before, &wanted, Format::Bf16), Some(2));
        assert_eq!(typical(&before, &before, Format::Bf16), None);
    }
}
