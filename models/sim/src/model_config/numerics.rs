//! What a Llama computes with next to its dimensions; defaults are those of transformers' class.

use serde_json::Value as Json;

use super::fields::Fields;
use super::{RotaryScaling, ScalingError};

/// The activation, the epsilon of the norms, and the rotary positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Numerics {
    /// Of the gate in the MLP, as the file names it.
    pub activation: String,
    /// Added to the mean square in RMSNorm.
    pub epsilon: f64,
    /// Base of the angles of rotary positions.
    pub rotary_base: f64,
    /// How the angles are scaled for contexts longer than those of pretraining.
    pub rotary_scaling: Result<RotaryScaling, ScalingError>,
}

pub(super) fn numerics(fields: &mut Fields<'_>, context: Option<u64>) -> Numerics {
    let mut rotary_base = fields.positive("rope_theta", 10_000.0);
    let mut rotary_scaling = Ok(RotaryScaling::Unscaled);
    // The names of newer and of older files.
    for key in ["rope_parameters", "rope_scaling"] {
        let object = match fields.get(key) {
            None => continue,
            Some(Json::Object(object)) => object.clone(),
            Some(_) => {
                let help = "it names the rope_type and its numbers, or is null";
                fields.problem(key, format!("{key} is not an object"), help);
                continue;
            }
        };
        let scaling = RotaryScaling::parse(&object, context);
        if scaling != Ok(RotaryScaling::Unscaled) {
            rotary_scaling = scaling;
        }
        if let Some(theta) = object.get("rope_theta") {
            rotary_base = fields.positive_of(key, "rope_theta", theta);
        }
    }
    Numerics {
        activation: fields.text("hidden_act", "silu"),
        epsilon: fields.positive("rms_norm_eps", 1e-6),
        rotary_base,
        rotary_scaling,
    }
}
