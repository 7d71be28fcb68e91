//! Named points between two axes, and which of them no other beats.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// How an axis divides its range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Equal steps add.
    #[default]
    Linear,
    /// Equal steps multiply.
    Log,
}

/// Points between two axes: any two columns of a table against each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scatter {
    pub x: Dimension,
    pub y: Dimension,
    /// Names of the groups that points belong to; empty if there is only one.
    pub series: Vec<String>,
    pub points: Vec<ScatterPoint>,
    /// Lines between the points, such as a roof that none can pass.
    pub lines: Vec<ScatterLine>,
}

/// A line through places in order, straight in between on the axes as they divide.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScatterLine {
    /// What it is; a line that is called like a group joins the group's points, and has its colour.
    pub name: String,
    /// The places it goes through.
    pub points: Vec<(f64, f64)>,
    #[serde(default, skip_serializing_if = "LineRole::is_own")]
    pub role: LineRole,
}

/// What a line stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineRole {
    /// What the picture is about.
    #[default]
    Own,
    /// A slope or a formula to compare it with, drawn grey and dashed.
    Reference,
}

impl LineRole {
    fn is_own(&self) -> bool {
        *self == Self::Own
    }
}

/// What an axis measures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dimension {
    /// What it measures, such as "size".
    pub name: String,
    /// The unit; empty if there is none.
    pub unit: String,
    /// How it divides.
    pub scale: Scale,
    /// Which way is better.
    pub better: Better,
    /// What stands at 0, 1, 2, ..., where these are names and no numbers; empty for numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// The worst value with a place of its own, if there is one; worse ones are drawn at the edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<f64>,
    /// Two values that the axis has in any case, so that it stands still while what is drawn moves between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<(f64, f64)>,
}

impl Dimension {
    /// Where a value is drawn.
    pub fn shown(&self, value: f64) -> f64 {
        match (self.worst, self.better) {
            (Some(worst), Better::More) => value.max(worst),
            (Some(worst), Better::Less) => value.min(worst),
            (Some(_), Better::Neither) | (None, _) => value,
        }
    }
}

/// Which way along an axis is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Neither: the axis only describes.
    #[default]
    Neither,
    /// Less is better, as for size or time.
    Less,
    /// More is better, as for accuracy.
    More,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ScatterPoint {
    /// Where it lies across; absent if it is not finite or not known.
    pub x: Option<f64>,
    /// Where it lies upwards; absent if it is not finite or not known.
    pub y: Option<f64>,
    pub label: String,
    /// The group it belongs to, as a place in [`Scatter::series`].
    pub series: usize,
}

impl ScatterPoint {
    /// Both coordinates, if the point has them and they are finite.
    pub fn place(&self) -> Option<(f64, f64)> {
        let x = self.x.filter(|x| x.is_finite())?;
        Some((x, self.y.filter(|y| y.is_finite())?))
    }
}

impl Dimension {
    /// What stands at a value, where the axis has names.
    pub fn category(&self, value: f64) -> Option<&str> {
        let place = (value >= 0.0 && value.fract() == 0.0).then_some(value as usize)?;
        self.categories.get(place).map(String::as_str)
    }

    /// The better of two values, or equal where neither way is better.
    fn gain(&self, a: f64, b: f64) -> Ordering {
        let order = a.partial_cmp(&b).unwrap_or(Ordering::Equal);
        match self.better {
            Better::Neither => Ordering::Equal,
            Better::Less => order.reverse(),
            Better::More => order,
        }
    }
}

impl Scatter {
    /// Every place that is drawn: of the points that have one, and of the lines.
    pub fn places(&self) -> impl Iterator<Item = (f64, f64)> {
        let points = self.points.iter().filter_map(ScatterPoint::place);
        let lines = self.lines.iter().flat_map(|line| line.points.iter().copied());
        points.chain(lines.filter(|(x, y)| x.is_finite() && y.is_finite()))
    }

    /// The group of points that a line joins; none for an independent line.
    pub fn joined(&self, line: &ScatterLine) -> Option<usize> {
        self.series.iter().position(|name| *name == line.name)
    }

    /// Whether it makes sense to speak of points that no other beats.
    pub fn has_front(&self) -> bool {
        self.x.better != Better::Neither && self.y.better != Better::Neither
    }

    /// The Pareto front from left to right; empty unless both axes have a better direction.
    pub fn front(&self) -> Vec<usize> {
        if !self.has_front() {
            return Vec::new();
        }
        let placed = self.points.iter().enumerate();
        let mut placed: Vec<(usize, (f64, f64))> =
            placed.filter_map(|(index, point)| Some((index, point.place()?))).collect();
        // The best across comes first, of equals the best upwards: then only what has come can beat what follows.
        placed.sort_by(|(_, a), (_, b)| {
            let across = self.x.gain(b.0, a.0);
            across.then_with(|| self.y.gain(b.1, a.1))
        });
        let mut front: Vec<(usize, (f64, f64))> = Vec::new();
        for (index, place) in placed {
            let stands = front.last().is_none_or(|(_, best)| {
                *best == place || self.y.gain(place.1, best.1) == Ordering::Greater
            });
            if stands {
                front.push((index, place));
            }
        }
        front.sort_by(|(i, a), (j, b)| a.0.total_cmp(&b.0).then_with(|| i.cmp(j)));
        front.into_iter().map(|(index, _)| index).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter(better: (Better, Better), points: &[(f64, f64)]) -> Scatter {
        let dimension = |better| Dimension { better, ..Dimension::default() };
        let point = |&(x, y): &(f64, f64)| ScatterPoint {
            x: Some(x),
            y: Some(y),
            ..ScatterPoint::default()
        };
        Scatter {
            x: dimension(better.0),
            y: dimension(better.1),
            series: Vec::new(),
            points: points.iter().map(point).collect(),
            lines: Vec::new(),
        }
    }

    /// The front by its definition: nothing else is at least as good in both ways and better in one.
    fn by_definition(scatter: &Scatter) -> Vec<usize> {
        let beats = |a: (f64, f64), b: (f64, f64)| {
            let (x, y) = (scatter.x.gain(a.0, b.0), scatter.y.gain(a.1, b.1));
            x.is_ge() && y.is_ge() && (x.is_gt() || y.is_gt())
        };
        let places: Vec<Option<(f64, f64)>> = scatter.points.iter().map(|p| p.place()).collect();
        let stands = |i: &usize| {
            places[*i].is_some_and(|place| !places.iter().flatten().any(|o| beats(*o, place)))
        };
        (0..places.len()).filter(stands).collect()
    }

    #[test]
    fn the_pareto_front_matches_its_definition() {
        use Better::{Less, More};
        let mut seed = 1_u64;
        for count in 0..40 {
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                // Few values, so that ties occur.
                match (seed >> 33) % 9 {
                    8 => f64::NAN,
                    n => n as f64 - 3.0,
                }
            };
            let points: Vec<(f64, f64)> = (0..count).map(|_| (next(), next())).collect();
            for better in [(Less, More), (Less, Less), (More, More), (More, Less)] {
                let scatter = scatter(better, &points);
                let mut front = scatter.front();
                let xs: Vec<f64> = front.iter().map(|&i| points[i].0).collect();
                assert!(xs.is_sorted(), "{xs:?}");
                front.sort_unstable();
                assert_eq!(front, by_definition(&scatter), "{points:?}");
            }
        }
    }

    #[test]
    fn without_a_better_way_there_is_no_front() {
        let points = [(1.0, 1.0), (2.0, 2.0)];
        assert!(scatter((Better::Neither, Better::More), &points).front().is_empty());
        assert_eq!(scatter((Better::Less, Better::More), &points).front(), [0, 1]);
    }
}
