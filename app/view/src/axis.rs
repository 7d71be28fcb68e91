//! Axes: a range, where a value lies on it, and ticks at round numbers.

mod labels;

use mlsys_lab::frame::Dimension;
use mlsys_lab::schema::Scale;
use mlsys_lab::value::{number, unit_symbol};

use crate::glyphs::Glyphs;
use crate::quantity::Prefix;

#[derive(Clone, Debug)]
pub struct Axis {
    /// The value at share 0.
    pub low: f64,
    /// The value at share 1.
    pub high: f64,
    scale: Scale,
    /// What stands at 0, 1, 2, ... in place of numbers.
    names: Vec<String>,
    /// The smallest step between two ticks.
    finest: f64,
}

/// Below this many decades a logarithmic axis has evenly spaced ticks.
const SHORT: f64 = 0.6;

/// Beyond this, differences of two values would overflow.
const HUGE: f64 = 1e300;
/// Below this, a logarithmic axis ends.
const TINY: f64 = 1e-300;

impl Axis {
    pub fn of_names(names: &[String]) -> Self {
        let last = names.len().saturating_sub(1) as f64;
        Self { names: names.to_vec(), ..Self::over(-0.5, last + 0.5, Scale::Linear) }
    }

    fn over(low: f64, high: f64, scale: Scale) -> Self {
        Self { low, high, scale, names: Vec::new(), finest: 0.0 }
    }

    /// The axis of a dimension with all these values, ticks at whole numbers if all are; absent if none has a place.
    pub fn from_dimension(
        dimension: &Dimension,
        values: impl Iterator<Item = f64>,
    ) -> Option<Self> {
        let holds = dimension.holds.into_iter().flat_map(|(low, high)| [low, high]);
        let values = values.chain(holds).filter(|x| match dimension.scale {
            Scale::Linear => true,
            Scale::Log => *x > 0.0,
        });
        let (mut low, mut high, mut finest) = (f64::INFINITY, f64::NEG_INFINITY, 1.0);
        for value in values {
            (low, high) = (low.min(value), high.max(value));
            if value.fract() != 0.0 {
                finest = 0.0;
            }
        }
        let axis = match dimension.categories.as_slice() {
            [] => Self::around(low, high, dimension.scale),
            names => Self::of_names(names),
        };
        (low <= high).then_some(Self { finest, ..axis })
    }

    /// An axis that holds all values from `low` to `high`, neither turned round nor without extent.
    ///
    /// A logarithmic axis shows positive values only; bounds that are not positive are moved there.
    pub fn around(low: f64, high: f64, scale: Scale) -> Self {
        let clamp = |x: f64| {
            if x.is_finite() { x.clamp(-HUGE, HUGE) } else { 0.0 }
        };
        let (low, high) = (clamp(low), clamp(high));
        let (low, high) = (low.min(high), low.max(high));
        match scale {
            Scale::Linear => {
                // A curve near zero is best judged against zero.
                let low = if low > 0.0 && low < 0.4 * high { 0.0 } else { low };
                let size = low.abs().max(high.abs());
                if high - low > size * 1e-9 && high - low > TINY {
                    Self::over(low, high, scale)
                } else {
                    let pad = if size > TINY { size * 0.1 } else { 1.0 };
                    Self::over(low - pad, high + pad, scale)
                }
            }
            Scale::Log => {
                let high = high.max(TINY);
                let low = if low > 0.0 { low.max(TINY) } else { high / 1e3 };
                let decades = (high / low).log10();
                // Round outwards to whole decades if there are several, else to 1, 2 or 5; a short range to its own ticks.
                let steps: &[f64] = if decades > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let is_short = decades < SHORT && high - low > 1e-9 * high;
                let (below, above, least) = if is_short {
                    let step = round_up((high - low) / 8.0, &[1.0, 2.0, 5.0]);
                    ((low / step).floor() * step, (high / step).ceil() * step, 1.0)
                } else {
                    (round_down(low, steps), round_up(high, steps), 1.5)
                };
                if below > 0.0 && above > below * least {
                    Self::over(below, above, scale)
                } else {
                    Self::over(low / 2.0, high * 2.0, scale)
                }
            }
        }
    }

    /// A linear axis from one value to another, not rounded.
    pub fn exactly(low: f64, high: f64) -> Self {
        let (low, high) = (low.clamp(-HUGE, HUGE), high.clamp(-HUGE, HUGE));
        if low < high {
            Self::over(low, high, Scale::Linear)
        } else {
            Self::around(low, high, Scale::Linear)
        }
    }

    /// An axis of steps, from 0 if the first lies near it.
    pub fn steps(first: u64, last: u64) -> Self {
        let (first, last) = (first as f64, last as f64);
        let low = if first <= 0.1 * last { 0.0 } else { first };
        Self::over(low, if last > low { last } else { low + 1.0 }, Scale::Linear).whole()
    }

    /// With ticks at whole numbers only.
    pub(crate) fn whole(self) -> Self {
        Self { finest: 1.0, ..self }
    }

    pub fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Where a value lies, 0 at the low end and 1 at the high end; absent off a logarithmic axis.
    pub fn share(&self, value: f64) -> Option<f64> {
        self.measure().share(value)
    }

    pub fn measure(&self) -> Measure {
        let (low, high) = match self.scale {
            Scale::Linear => (self.low, self.high),
            Scale::Log => (self.low.log10(), self.high.log10()),
        };
        Measure { low, size: high - low, scale: self.scale }
    }

    /// Whether the labels of ticks say the unit, so that the name of the axis need not.
    pub(crate) fn carries(&self, unit: Option<&str>) -> bool {
        self.names.is_empty() && is_short(unit)
    }

    /// The name of the axis with its unit, where ticks do not say it.
    pub(crate) fn title(&self, name: &str, unit: Option<&str>) -> String {
        match unit.filter(|_| !self.carries(unit)) {
            Some(unit) if !name.is_empty() => format!("{name} ({unit})"),
            Some(unit) => unit.to_owned(),
            None => name.to_owned(),
        }
    }

    /// About `wanted` round values with their labels, in ascending order.
    pub fn ticks(&self, wanted: u16, unit: Option<&str>, glyphs: &Glyphs) -> Vec<(f64, String)> {
        if !self.names.is_empty() {
            return labels::names(&self.names, glyphs);
        }
        let wanted = f64::from(wanted.max(1));
        match self.scale {
            Scale::Linear => self.linear_ticks(wanted, unit, glyphs),
            Scale::Log if (self.high / self.low).log10() < SHORT => {
                self.linear_ticks(wanted, unit, glyphs)
            }
            Scale::Log => self.log_ticks(wanted, unit, glyphs),
        }
    }

    fn linear_ticks(&self, wanted: f64, unit: Option<&str>, glyphs: &Glyphs) -> Vec<(f64, String)> {
        let step_of = |wanted: f64| {
            let step = ((self.high - self.low) / wanted).max(TINY);
            round_up(step, &[1.0, 2.0, 5.0]).max(self.finest)
        };
        // From one tick no other value can be read.
        let count = |step: f64| (self.high / step).floor() - (self.low / step).ceil() + 1.0;
        let steps = [1.0, 2.0, 4.0].map(|finer| step_of(wanted * finer));
        let step = steps.into_iter().find(|step| count(*step) >= 2.0).unwrap_or(steps[0]);
        let prefix = Prefix::for_size(self.low.abs().max(self.high.abs()), unit);
        let slack = step * 1e-6;
        let first = ((self.low - slack) / step).ceil();
        let ticks = (0..32).map(|i| (first + f64::from(i)) * step);
        let ticks = ticks.take_while(|tick| *tick <= self.high + slack);
        let size = self.low.abs().max(self.high.abs()) / prefix.factor;
        let decimals = (-(step / prefix.factor).log10().floor()).clamp(0.0, 9.0) as usize;
        let label = |tick: f64| {
            let tick = if tick.abs() < slack { 0.0 } else { tick / prefix.factor };
            let digits = if size >= 1e5 || decimals > 5 {
                number(tick)
            } else {
                format!("{tick:.decimals$}")
            };
            with_suffix(digits, prefix, unit, glyphs)
        };
        let mut labels: Vec<(f64, String)> = ticks.map(|tick| (tick, label(tick))).collect();
        // In a range that is too small for the digits several would read the same.
        labels.dedup_by(|one, other| one.1 == other.1);
        labels
    }

    fn log_ticks(&self, wanted: f64, unit: Option<&str>, glyphs: &Glyphs) -> Vec<(f64, String)> {
        let (first, last) = (self.low.log10().floor() as i32, self.high.log10().ceil() as i32);
        let decades = (self.high / self.low).log10();
        // A power of ten takes few columns.
        let stride = (decades / (1.5 * wanted)).ceil().max(1.0) as usize;
        let rounded = |stride: usize, inside: &[f64]| -> Vec<f64> {
            let decades = (first..=last).step_by(stride);
            let values = decades
                .flat_map(|decade| inside.iter().map(move |m| m * 10f64.powi(decade)))
                .filter(|x| (self.low * 0.999..=self.high * 1.001).contains(x));
            values.collect()
        };
        if let Some(ticks) = labels::ticks((self.low, self.high), wanted, unit) {
            return ticks;
        }
        let mut values = match wanted / decades.max(0.1) {
            // Room for three ticks a decade.
            room if room >= 1.5 => rounded(stride, &[1.0, 2.0, 5.0]),
            _ => rounded(stride, &[1.0]),
        };
        // From one tick no other value can be read.
        for inside in [&[1.0, 2.0, 5.0][..], &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]] {
            if values.len() < 2 && decades < 3.0 {
                values = rounded(1, inside);
            }
        }
        values
            .into_iter()
            .map(|x| {
                let prefix = Prefix::for_size(x * 1.000_001, unit);
                let digits = number(x / prefix.factor);
                (x, with_suffix(digits, prefix, unit, glyphs))
            })
            .collect()
    }
}

/// Places values on an axis without working out its ends each time.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    low: f64,
    size: f64,
    scale: Scale,
}

impl Measure {
    /// Where a value lies, 0 at the low end and 1 at the high end; absent off a logarithmic axis.
    pub fn share(self, value: f64) -> Option<f64> {
        let value = match self.scale {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.log10(),
            Scale::Log => return None,
        };
        let share = (value - self.low) / self.size;
        share.is_finite().then(|| share.clamp(0.0, 1.0))
    }
}

/// The cell at a share of a number of them.
pub fn cell_at(share: f64, cells: u16) -> u16 {
    ((share * f64::from(cells)) as u16).min(cells.saturating_sub(1))
}

/// The dot at a share of a number of them, always one of the cell that [`cell_at`] gives for the same share.
pub fn dot_at(share: f64, dots: usize) -> usize {
    ((share * dots as f64) as usize).min(dots.saturating_sub(1))
}

/// The smallest and the largest of these values; turned round if there is none.
pub fn bounds(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)))
}

/// Whether a unit has room on ticks, with every prefix that it takes.
fn is_short(unit: Option<&str>) -> bool {
    unit.is_some_and(|unit| {
        let prefix = usize::from(Prefix::for_size(f64::MAX, Some(unit)).letter().is_some());
        prefix + unit_symbol(unit).chars().count() <= 3
    })
}

/// Puts short units on ticks; of long ones, which stand in the title, the prefix alone.
fn with_suffix(digits: String, prefix: Prefix, unit: Option<&str>, glyphs: &Glyphs) -> String {
    match prefix.letter() {
        _ if is_short(unit) => format!("{digits} {}", prefix.suffix(unit, glyphs)),
        Some(letter) => format!("{digits} {letter}"),
        None => digits,
    }
}

/// The smallest of some steps times a power of ten that is at least a value.
fn round_up(x: f64, steps: &[f64]) -> f64 {
    let decade = 10f64.powf(x.log10().floor());
    let fits = |m: &&f64| **m * decade >= x * (1.0 - 1e-9);
    steps.iter().find(fits).map_or(10.0 * decade, |m| m * decade)
}

fn round_down(x: f64, steps: &[f64]) -> f64 {
    let decade = 10f64.powf(x.log10().floor());
    let fits = |m: &&f64| **m * decade <= x * (1.0 + 1e-9);
    steps.iter().rev().find(fits).map_or(decade, |m| m * decade)
}

#[cfg(test)]
mod tests;
