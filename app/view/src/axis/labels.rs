//! Ticks at other places than round decimal numbers: names, time in minutes and hours, and storage in powers of two.

use crate::glyphs::Glyphs;

/// All names; the drawing leaves out labels that would touch.
pub(super) fn names(names: &[String], glyphs: &Glyphs) -> Vec<(f64, String)> {
    const LONGEST: usize = 26;
    let cut = |name: &String| match name.chars().count() > LONGEST {
        true => {
            let short: String = name.chars().take(LONGEST - 1).collect();
            format!("{}{}", short.trim_end(), glyphs.ellipsis)
        }
        false => name.clone(),
    };
    names.iter().enumerate().map(|(place, name)| (place as f64, cut(name))).collect()
}

/// Seconds, and how they are said.
const TIMES: [(f64, &str); 12] = [
    (1.0, "1 s"),
    (10.0, "10 s"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3600.0, "1 h"),
    (6.0 * 3600.0, "6 h"),
    (DAY, "1 day"),
    (10.0 * DAY, "10 days"),
    (100.0 * DAY, "100 days"),
    (1000.0 * DAY, "1 k days"),
    (1e4 * DAY, "10 k days"),
    (1e5 * DAY, "100 k days"),
];
const DAY: f64 = 86_400.0;

/// About as many ticks as are wanted on a logarithmic axis of such a unit; nothing for any other unit or a short range.
pub(super) fn ticks(
    (low, high): (f64, f64),
    wanted: f64,
    unit: Option<&str>,
) -> Option<Vec<(f64, String)>> {
    let is_inside = |x: &f64| (low * 0.999..=high * 1.001).contains(x);
    let ticks: Vec<(f64, String)> = match unit? {
        "s" => {
            let times = TIMES.iter().filter(|(seconds, _)| is_inside(seconds));
            times.map(|(seconds, text)| (*seconds, (*text).to_owned())).collect()
        }
        "KiB" => {
            let doublings = (high / low).log2();
            let stride = (doublings / (1.5 * wanted)).ceil().max(1.0);
            let first = (low.log2() / stride).floor() as i32;
            let all = (first..first + 64).map(|place| (f64::from(place) * stride).exp2());
            all.filter(is_inside).map(|size| (size, binary(size))).collect()
        }
        _ => return None,
    };
    (ticks.len() >= 2).then_some(ticks)
}

/// A power of two of KiB.
fn binary(size: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1_048_576.0, "GiB"), (1024.0, "MiB"), (1.0, "KiB")];
    let unit = UNITS.into_iter().find(|(unit, _)| size >= *unit);
    match unit {
        Some((unit, name)) => format!("{} {name}", size / unit),
        None => format!("{} B", size * 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(range: (f64, f64), wanted: f64, unit: &str) -> Vec<String> {
        let ticks = ticks(range, wanted, Some(unit)).unwrap_or_default();
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn time_is_told_in_minutes_and_hours_and_storage_in_powers_of_two() {
        assert_eq!(labels((20.0, 90_000.0), 5.0, "s"), ["1 min", "10 min", "1 h", "6 h", "1 day"]);
        let sizes = ["16 KiB", "64 KiB", "256 KiB", "1 MiB", "4 MiB", "16 MiB", "64 MiB"];
        assert_eq!(labels((10.0, 100_000.0), 6.0, "KiB"), sizes);
        assert!(labels((3.0, 8.0), 6.0, "s").is_empty());
        assert!(labels((1.0, 1e6), 6.0, "bytes").is_empty());
    }
}
