//! How lines and points are told apart: by colours and strokes, by names next to them, by letters, or in the legend alone.

use mlsys_lab::frame::{LineRole, Scatter, ScatterLine};
use ratatui::style::Style;

use super::words::meaning;
use crate::canvas::{self as pen, Stroke};
use crate::panel::legend::Item;
use crate::panel::line::letter;
use crate::theme::Look;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Naming {
    /// Its name is next to it, or the legend has it with its group.
    Told,
    /// A letter is on it or next to it, which the legend explains.
    Letter,
    /// There was room for neither; of a line the legend has the colour and the stroke.
    Missing,
}

/// How each line and each point is told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) lines: Vec<Naming>,
    pub(super) points: Vec<Naming>,
    /// What the letters of points stand for, and what the legend adds to the group of one point without a name.
    pub(super) texts: Vec<String>,
}

impl Key {
    pub(super) fn new(scatter: &Scatter) -> Self {
        Self {
            lines: vec![Naming::Told; scatter.lines.len()],
            points: vec![Naming::Told; scatter.points.len()],
            texts: vec![String::new(); scatter.points.len()],
        }
    }

    /// Of two keys what is told less well in each, so that making legends comes to an end.
    pub(super) fn worse(self, other: Self) -> Self {
        let worse = |one: Vec<Naming>, other: Vec<Naming>| {
            one.into_iter().zip(other).map(|(one, other)| one.max(other)).collect()
        };
        // Marks that shared a cell in one layout, and their names a text, may be apart in the next.
        let shorter = |one: String, other: String| {
            let is_first = other.is_empty() || (1..=other.len()).contains(&one.len());
            if is_first { one } else { other }
        };
        let texts = self.texts.into_iter().zip(other.texts);
        Self {
            lines: worse(self.lines, other.lines),
            points: worse(self.points, other.points),
            texts: texts.map(|(one, other)| shorter(one, other)).collect(),
        }
    }

    /// The points that have letters, with them; the letters follow those of the lines.
    pub(super) fn lettered(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let points = self.points.iter().enumerate();
        let lettered = points.filter(|(_, naming)| **naming == Naming::Letter);
        lettered.zip(self.lines.len()..).map(|((point, _), place)| (point, letter(place)))
    }

    /// What has letters that `shown` entries of a legend do not explain goes without.
    pub(super) fn explained(mut self, entries: &[Entry], shown: usize) -> Self {
        for entry in entries.iter().skip(shown) {
            match entry.of {
                Of::Line(line) => self.lines[line] = Naming::Missing,
                Of::Point(point) => self.points[point] = Naming::Missing,
                Of::Else => {}
            }
        }
        self
    }
}

/// What a legend has an entry for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// A line without a name in the field.
    Line(usize),
    /// A point with a letter.
    Point(usize),
    Else,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) item: Item,
    pub(super) of: Of,
}

/// What the legend explains: what is left out, groups, lines, the front, and letters of points.
pub(super) fn entries(
    scatter: &Scatter,
    left_out: Option<&str>,
    key: &Key,
    room: u16,
    look: &Look,
) -> Vec<Entry> {
    let theme = &look.theme;
    let other = |item: Item| Entry { item, of: Of::Else };
    let mut entries: Vec<Entry> =
        left_out.map(|text| other(Item::new("", theme.dim, text, theme.dim))).into_iter().collect();
    // A mark that no point has explains nothing.
    let has_points = |place: usize| {
        scatter.points.iter().any(|point| point.series == place && point.place().is_some())
    };
    let group = |(place, name): (usize, &String)| {
        let glyph = look.glyphs.class(place.min(255) as u8);
        // The one point of a group whose name has no place in the field.
        let mut points = scatter.points.iter().zip(key.points.iter().zip(&key.texts));
        let nameless = points.find(|(point, (naming, text))| {
            point.series == place && **naming == Naming::Missing && !text.is_empty()
        });
        let alone = scatter.points.iter().filter(|point| point.series == place).count() == 1;
        let name = match nameless.filter(|_| alone) {
            // The text of its cell is that of other points, too, unless one has a letter of its own.
            Some((point, (_, text))) => {
                let mut lettered = key.lettered();
                let is_told =
                    lettered.any(|(other, _)| text.contains(&scatter.points[other].label));
                match if is_told { &point.label } else { text } {
                    own if own.is_empty() => name.clone(),
                    own => format!("{name}: {own}"),
                }
            }
            None => name.clone(),
        };
        other(Item::new(glyph, theme.curve(place), name, theme.text))
    };
    let groups = scatter.series.iter().enumerate().filter(|(place, _)| has_points(*place));
    entries.extend(groups.map(group));
    let line = |place: usize, mark: &str, of: Of| {
        let name = &scatter.lines[place].name;
        Entry { item: Item::new(mark, style_of(scatter, place, look), name, theme.text), of }
    };
    let of_naming = |wanted: Naming| {
        let lines = key.lines.iter().enumerate();
        lines.filter(move |(_, naming)| **naming == wanted).map(|(place, _)| place)
    };
    entries
        .extend(of_naming(Naming::Letter).map(|place| line(place, letter(place), Of::Line(place))));
    entries.extend(of_naming(Naming::Missing).map(|place| {
        let mark = stroke_of(scatter, key, place, look).sample(&look.glyphs);
        line(place, &mark, Of::Line(place))
    }));
    if let Some(meaning) = meaning(scatter) {
        let long = pen::width(&meaning).saturating_add(pen::width(look.glyphs.front) + 1) > room;
        let meaning = match long {
            true => "Pareto front: none is as good in both".to_owned(),
            false => meaning,
        };
        entries.push(other(Item::new(look.glyphs.front, theme.title, meaning, theme.dim)));
    }
    // A name of a point is not worth a mark that nothing explains.
    entries.extend(key.lettered().map(|(point, letter)| {
        let style = theme.curve(scatter.points[point].series);
        Entry {
            item: Item::new(letter, style, &key.texts[point], theme.text),
            of: Of::Point(point),
        }
    }));
    entries
}

/// Whether a line has the same height everywhere.
pub(super) fn is_level(line: &ScatterLine) -> bool {
    line.points.windows(2).all(|pair| pair[0].1 == pair[1].1)
}

/// Lines have the colours that follow those of the groups, but one that joins a group has the group's, and one to compare with
/// has none.
pub(super) fn style_of(scatter: &Scatter, line: usize, look: &Look) -> Style {
    if is_reference(scatter, line) {
        return look.theme.dim;
    }
    look.theme.curve(place_of(scatter, line))
}

fn is_reference(scatter: &Scatter, line: usize) -> bool {
    scatter.lines.get(line).is_some_and(|line| line.role == LineRole::Reference)
}

/// Lines of one colour, in their order.
const STROKES: [Stroke; 4] =
    [Stroke::Solid, Stroke::Dashed(4, 2), Stroke::Dashed(1, 1), Stroke::Dashed(6, 1)];
/// Lines to compare with, in their order.
const REFERENCES: [Stroke; 4] =
    [Stroke::Dashed(2, 3), Stroke::Dashed(1, 4), Stroke::Dashed(5, 3), Stroke::Dashed(1, 2)];

/// Lines of one colour have different strokes, and so have those that only the legend tells: colour is not all that does.
pub(super) fn stroke_of(scatter: &Scatter, key: &Key, line: usize, look: &Look) -> Stroke {
    if is_reference(scatter, line) {
        let before = (0..line).filter(|other| is_reference(scatter, *other)).count();
        return REFERENCES[before % REFERENCES.len()];
    }
    let in_legend = |line: &usize| {
        key.lines.get(*line) == Some(&Naming::Missing) && !is_reference(scatter, *line)
    };
    let place = match in_legend(&line) {
        true => 1 + (0..line).filter(in_legend).count(),
        false => place_of(scatter, line) / look.theme.curves.len(),
    };
    STROKES[place % STROKES.len()]
}

fn place_of(scatter: &Scatter, line: usize) -> usize {
    let joined = scatter.lines.get(line).and_then(|line| scatter.joined(line));
    joined.unwrap_or(scatter.series.len().max(1) + line)
}
