//! Scalar computation graphs: built from a program, differentiated in reverse mode and by central differences.

pub mod differentiate;
pub mod nodes;
pub mod operation;

use mlsys_lab::Value;
use mlsys_lab::value::number;

/// Four decimals below ten and six digits above, without the zeros that say nothing: 0.0238, 3.7377, 42.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if (1e-3..10.0).contains(&size) {
        let text = format!("{x:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else if size > 0.0 && size < 1e-3 {
        let text = format!("{x:.3e}");
        match text.split_once('e') {
            Some((mantissa, exponent)) => {
                let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
                format!("{mantissa}e{exponent}")
            }
            None => text,
        }
    } else {
        number(x)
    }
}

/// The same as a factor or a summand: a negative one in parentheses.
pub fn operand(x: f64) -> String {
    let text = short(x);
    if text.starts_with('-') { format!("({text})") } else { text }
}

/// A number, or the word for what is none: no picture holds a NaN.
pub fn marked(x: f64) -> Value {
    if x.is_finite() { Value::Float(x) } else { Value::Text(number(x)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn working_is_short() {
        for (x, text) in [
            (1.0 / 42.0, "0.0238"),
            (42_f64.ln(), "3.7377"),
            (42.0, "42"),
            (0.5, "0.5"),
            (0.0, "0"),
            (0.001, "0.001"),
            (1.0 / 8192.0, "1.221e-4"),
            (-3.0, "-3"),
            (1e-9, "1e-9"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(short(x), text);
        }
        assert_eq!(operand(-3.0), "(-3)");
        assert_eq!(marked(f64::NAN), Value::Text("NaN".to_owned()));
    }
}
