//! Numbers in words: shares and lengths of time.

use crate::value::{number, significant};

/// A share as a person says it, such as `70.2%`, or `0.003%` where that would round to nothing.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent == 0.0 || !percent.is_finite() || percent.abs() >= 0.05 {
        return format!("{percent:.1}%");
    }
    format!("{}%", number(significant(percent, 1)))
}

/// A length of time as a person says it, with three digits.
pub fn duration(seconds: f64) -> String {
    let (unit, length) = match seconds {
        s if s < 120.0 => ("s", 1.0),
        s if s < 7200.0 => ("min", 60.0),
        s if s < 172_800.0 => ("h", 3600.0),
        s if s < 63_115_200.0 => ("days", 86_400.0),
        _ => ("years", 31_557_600.0),
    };
    format!("{} {unit}", number(significant(seconds / length, 3)))
}

#[cfg(test)]
mod tests {
    use super::{duration, percent};

    #[test]
    fn durations_have_the_unit_that_fits() {
        for (seconds, told) in [
            (0.5, "0.5 s"),
            (119.0, "119 s"),
            (817.377, "13.6 min"),
            (11135.0, "3.09 h"),
            (22_805_000.0, "264 days"),
            (1.8e8, "5.7 years"),
        ] {
            assert_eq!(duration(seconds), told, "{seconds}");
        }
    }

    #[test]
    fn a_small_share_keeps_a_digit() {
        for (share, text) in [
            (0.701988, "70.2%"),
            (0.0, "0.0%"),
            (1.0, "100.0%"),
            (0.000032644, "0.003%"),
            (5.1e-7, "5e-5%"),
            (0.00096, "0.1%"),
            (-0.25, "-25.0%"),
        ] {
            assert_eq!(percent(share), text, "{share}");
        }
    }
}
