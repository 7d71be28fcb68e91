//! Where a figure comes from, as its last line says it.

use mlsys_lab::schema::Schema;
use mlsys_lab::value::Value;

/// Where a figure comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// The lesson that asked for the run, if one did.
    pub lesson: Option<String>,
    /// The parameters that differ from the lab's own values, as [`changed`] finds them.
    pub changed: Vec<(String, String)>,
    /// The seed.
    pub seed: Option<String>,
    /// The device by its name, if the lab needs one.
    pub device: Option<String>,
    /// What sets the run apart from one that has just ended, such as "recorded on ...".
    pub remark: Option<String>,
}

/// The parameters with other values than the schema's defaults, except the seed.
pub fn changed<'a>(
    schema: &Schema,
    params: impl IntoIterator<Item = (&'a str, &'a Value)>,
) -> Vec<(String, String)> {
    let differs = |name: &str, value: &Value| {
        let param = schema.params.iter().find(|param| param.name == name);
        // What a table supplies follows from the parameter that names its entry.
        param.is_none_or(|param| {
            let same = param.default.as_ref().is_some_and(|default| {
                default == value || default.as_f64().is_some_and(|x| value.as_f64() == Some(x))
            });
            !same && param.from.is_none()
        })
    };
    let params = params.into_iter().filter(|(name, _)| *name != "seed");
    params
        .filter(|(name, value)| differs(name, value))
        .map(|(name, value)| (name.to_owned(), value.to_string()))
        .collect()
}

impl Source {
    /// The line: lab, lesson, changed parameters, seed, device, version.
    pub(crate) fn line(&self, schema: &Schema) -> String {
        let mut parts = vec![format!("mlsys {} lab {}", env!("CARGO_PKG_VERSION"), schema.kind)];
        parts.extend(self.lesson.iter().map(|lesson| format!("lesson {lesson}")));
        if self.changed.is_empty() {
            parts.push("all parameters at their defaults".to_owned());
        }
        let changed = self.changed.iter();
        parts.extend(changed.map(|(name, value)| format!("{name} = {value}")));
        parts.extend(self.seed.iter().map(|seed| format!("seed {seed}")));
        parts.extend(self.device.iter().map(|device| format!("on {device}")));
        parts.extend(self.remark.clone());
        parts.join(" · ")
    }
}
