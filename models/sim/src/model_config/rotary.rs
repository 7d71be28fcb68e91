//! Rotary positions scaled for contexts longer than those of pretraining: `rope_scaling`, or `rope_parameters` in newer
//! files. The definitions are those of transformers (`modeling_rope_utils.py`).

use std::f64::consts::TAU;

use serde_json::{Map, Value as Json, json};

/// How the angles of rotary positions are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RotaryScaling {
    #[default]
    Unscaled,
    /// All angles are divided (Chen et al. 2023, arXiv:2306.15595).
    Linear { factor: f64 },
    /// Slow pairs are divided, fast ones are not, those between are mixed (Llama 3.1, Grattafiori et al. 2024). `low` and
    /// `high` are turns within the original context.
    Llama3 { factor: f64, low: f64, high: f64, original: f64 },
    /// The same with a ramp over pairs, and sharper scores (Peng et al. 2023, arXiv:2309.00071).
    Yarn { factor: f64, attention: f64, fast: f64, slow: f64, original: f64, ramp: RampEnds },
}

/// Where a ramp over pairs begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RampEnds {
    WholePairs,
    Exact,
}

/// Why a scaling cannot be run; the model can still be counted, because rotary positions have no weights.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScalingError {
    #[error(
        "rotary positions are scaled ({0}), which is not supported; default, linear, llama3 and yarn are"
    )]
    Kind(String),
    #[error("{kind} scaling of rotary positions needs {name}, a number above 0")]
    Number { kind: &'static str, name: &'static str },
    #[error("llama3 scaling needs a high_freq_factor above the low_freq_factor")]
    Order,
}

impl RotaryScaling {
    /// The scaling that an object of the file describes; `context` stands for an original context that it does not name.
    pub fn parse(object: &Map<String, Json>, context: Option<u64>) -> Result<Self, ScalingError> {
        let text = |name| object.get(name).and_then(Json::as_str);
        let kind = text("rope_type").or_else(|| text("type")).unwrap_or("default");
        let optional = |name| {
            object.get(name).and_then(Json::as_f64).filter(|x: &f64| *x > 0.0 && x.is_finite())
        };
        let number = |kind, name| optional(name).ok_or(ScalingError::Number { kind, name });
        let original = |kind| {
            let name = "original_max_position_embeddings";
            optional(name)
                .or(context.map(|context| context as f64))
                .ok_or(ScalingError::Number { kind, name })
        };
        match kind {
            "default" => Ok(Self::Unscaled),
            "linear" => Ok(Self::Linear { factor: number("linear", "factor")? }),
            "llama3" => {
                let (low, high) =
                    (number("llama3", "low_freq_factor")?, number("llama3", "high_freq_factor")?);
                if high <= low {
                    return Err(ScalingError::Order);
                }
                let factor = number("llama3", "factor")?;
                Ok(Self::Llama3 { factor, low, high, original: original("llama3")? })
            }
            "yarn" => {
                let original = original("yarn")?;
                let ratio = context.map(|context| context as f64 / original);
                let factor = optional("factor").or(ratio);
                let factor = factor.ok_or(ScalingError::Number { kind: "yarn", name: "factor" })?;
                let sharper =
                    |by: f64| if factor <= 1.0 { 1.0 } else { 0.1 * by * factor.ln() + 1.0 };
                let attention = match (optional("mscale"), optional("mscale_all_dim")) {
                    (Some(one), Some(all)) => sharper(one) / sharper(all),
                    (_, _) => sharper(1.0),
                };
                let is_exact = object.get("truncate") == Some(&Json::Bool(false));
                Ok(Self::Yarn {
                    factor,
                    attention: optional("attention_factor").unwrap_or(attention),
                    fast: optional("beta_fast").unwrap_or(32.0),
                    slow: optional("beta_slow").unwrap_or(1.0),
                    original,
                    ramp: if is_exact { RampEnds::Exact } else { RampEnds::WholePairs },
                })
            }
            other => Err(ScalingError::Kind(other.escape_debug().to_string())),
        }
    }

    /// The object that [`parse`](Self::parse) reads; none if nothing is scaled.
    pub fn json(&self) -> Option<Json> {
        match *self {
            Self::Unscaled => None,
            Self::Linear { factor } => Some(json!({ "rope_type": "linear", "factor": factor })),
            Self::Llama3 { factor, low, high, original } => Some(json!({
                "rope_type": "llama3",
                "factor": factor,
                "low_freq_factor": low,
                "high_freq_factor": high,
                "original_max_position_embeddings": whole(original),
            })),
            Self::Yarn { factor, attention, fast, slow, original, ramp } => Some(json!({
                "rope_type": "yarn",
                "factor": factor,
                "attention_factor": attention,
                "beta_fast": fast,
                "beta_slow": slow,
                "original_max_position_embeddings": whole(original),
                "truncate": ramp == RampEnds::WholePairs,
            })),
        }
    }

    /// By how many radians a token each pair of a head of `head` numbers is turned.
    pub fn speeds(&self, head: usize, base: f64) -> Vec<f64> {
        let speed = |pair: usize| base.powf(-2.0 * pair as f64 / head as f64);
        let scaled = |pair: usize| {
            let plain = speed(pair);
            match *self {
                Self::Unscaled => plain,
                Self::Linear { factor } => plain / factor,
                Self::Llama3 { factor, low, high, original } => {
                    let turns = original * plain / TAU;
                    let share = ((turns - low) / (high - low)).clamp(0.0, 1.0);
                    plain * share + plain / factor * (1.0 - share)
                }
                Self::Yarn { factor, fast, slow, original, ramp, .. } => {
                    // The pair that makes this number of turns within the original context.
                    let pair_of = |turns: f64| {
                        head as f64 * (original / (turns * TAU)).ln() / (2.0 * base.ln())
                    };
                    let (start, end) = match ramp {
                        RampEnds::WholePairs => (pair_of(fast).floor(), pair_of(slow).ceil()),
                        RampEnds::Exact => (pair_of(fast), pair_of(slow)),
                    };
                    let (start, end) = (start.max(0.0), end.min(head as f64 - 1.0));
                    let width = if start == end { 0.001 } else { end - start };
                    let share = 1.0 - ((pair as f64 - start) / width).clamp(0.0, 1.0);
                    plain * share + plain / factor * (1.0 - share)
                }
            }
        };
        (0..head / 2).map(scaled).collect()
    }

    /// What cosines and sines are multiplied by.
    pub fn amplitude(&self) -> f64 {
        match self {
            Self::Yarn { attention, .. } => *attention,
            Self::Unscaled | Self::Linear { .. } | Self::Llama3 { .. } => 1.0,
        }
    }
}

/// A whole number as transformers writes it, without a fraction.
fn whole(number: f64) -> Json {
    if number.fract() == 0.0 && number < 1e15 { json!(number as u64) } else { json!(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: Json) -> Result<RotaryScaling, ScalingError> {
        let Json::Object(object) = json else { panic!("an object") };
        RotaryScaling::parse(&object, Some(4096))
    }

    #[test]
    fn speeds_are_those_of_transformers() {
        let llama3 = json!({ "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 1024 });
        let yarn =
            json!({ "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024 });
        let exact = json!({ "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024,
            "truncate": false, "beta_fast": 16.0, "mscale": 0.7, "mscale_all_dim": 1.0 });
        let linear = json!({ "type": "linear", "factor": 2.5 });
        // Printed by ROPE_INIT_FUNCTIONS of transformers 5.24.
        let cases: [(Json, usize, f64, &[f64], f64); 4] = [
            (linear, 8, 1e4, &[0.4, 0.04, 0.004, 0.0004], 1.0),
            (
                llama3,
                16,
                5e5,
                &[
                    1.0,
                    0.1939228,
                    0.03760603,
                    0.001312569,
                    0.0001767767,
                    3.428102e-05,
                    6.64787e-06,
                    1.289173e-06,
                ],
                1.0,
            ),
            (
                yarn,
                16,
                1e4,
                &[
                    1.0,
                    0.3162278,
                    0.08125,
                    0.01976424,
                    0.004375,
                    0.0007905695,
                    0.00025,
                    7.905695e-05,
                ],
                1.138629436111989,
            ),
            (
                exact,
                16,
                1e4,
                &[
                    1.0,
                    0.3162278,
                    0.1,
                    0.02193205,
                    0.003821215,
                    0.0007905695,
                    0.00025,
                    7.905695e-05,
                ],
                0.9634746568860826,
            ),
        ];
        for (object, head, base, expected, amplitude) in cases {
            let scaling = parse(object.clone()).unwrap();
            let speeds = scaling.speeds(head, base);
            let off = speeds.iter().zip(expected).map(|(a, b)| (a / b - 1.0).abs());
            assert!(speeds.len() == expected.len() && off.fold(0.0, f64::max) < 1e-5, "{speeds:?}");
            assert!((scaling.amplitude() - amplitude).abs() < 1e-12, "{object}");
        }
    }

    #[test]
    fn an_object_reads_back_what_it_says() {
        for object in [
            json!({ "type": "linear", "factor": 2.5 }),
            json!({ "rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
                "original_max_position_embeddings": 8192 }),
            json!({ "rope_type": "yarn", "factor": 4, "mscale": 0.7, "mscale_all_dim": 1.0 }),
            json!({ "rope_type": "yarn", "original_max_position_embeddings": 1024, "truncate": false }),
        ] {
            let read = parse(object).unwrap();
            assert_eq!(parse(read.json().unwrap()), Ok(read));
        }
        assert_eq!(parse(json!({ "rope_theta": 5e5 })), Ok(RotaryScaling::Unscaled));
        assert_eq!(RotaryScaling::Unscaled.json(), None);
    }

    #[test]
    fn what_does_not_run_says_why() {
        for (object, said) in [
            (json!({ "rope_type": "longrope" }), "longrope"),
            (
                json!({ "rope_type": "linear", "factor": 0 }),
                "linear scaling of rotary positions needs factor",
            ),
            (json!({ "rope_type": "llama3", "factor": 8 }), "needs low_freq_factor"),
            (
                json!({ "rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1 }),
                "above the low_freq_factor",
            ),
        ] {
            let error = parse(object).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
