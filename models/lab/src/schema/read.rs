//! Reading a schema: its TOML text, the metrics that all live labs share, and the checks of presets and of panels over
//! several runs.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::params::{Given, ParamError, Params, Settings};
use crate::schema::{Attempts, DeviceNeed, Draw, Form, Metric, Preset, Schema, SchemaError};
use crate::tables::Tables;

/// Metrics that every live lab emits besides its own.
const COMMON: &str = include_str!("common-metrics.toml");

impl Schema {
    /// Reads a schema from its TOML text and adds the common metrics if the lab is live.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        #[derive(Deserialize)]
        struct Common {
            metric: Vec<Metric>,
        }
        let error = |kind: &str, message: String| SchemaError { kind: kind.to_owned(), message };
        let mut schema: Self = toml::from_str(text).map_err(|e| error("unknown", e.to_string()))?;
        if schema.is_live() {
            let common: Common =
                toml::from_str(COMMON).map_err(|e| error("common", e.to_string()))?;
            schema.metrics.extend(common.metric);
        }
        schema.checked()
    }

    /// The schema, if its presets and its pictures over several runs are as they must be.
    ///
    /// # Errors
    /// The first of them that is not.
    pub fn checked(self) -> Result<Self, SchemaError> {
        match self.check_presets().and_then(|()| self.check_attempts()) {
            Ok(()) => Ok(self),
            Err(message) => Err(SchemaError { kind: self.kind, message }),
        }
    }

    /// Whether a run with these parameters needs a device to be chosen; every live lab does.
    pub fn uses_device(&self, params: &Params) -> bool {
        let needs = |need: &DeviceNeed| {
            let value = params.get(&need.param);
            value.is_some_and(|value| *value != need.unless)
        };
        self.is_live() || self.device.as_ref().is_some_and(needs)
    }

    /// What is wrong with the presets, if anything: their names, their parameters or their values.
    fn check_presets(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        for preset in &self.presets {
            let wrong = |message: String| Err(format!("preset '{}': {message}", preset.name));
            if !names.insert(&preset.name) {
                return wrong("another has the same name".to_owned());
            }
            let local = |name: &&String| self.param(name).is_some_and(|p| p.command_line_only);
            if let Some(name) = preset.set.keys().find(local) {
                return wrong(format!("{name} names something on a user's machine"));
            }
            if let Err(errors) = Params::resolve(self, &preset.settings(), Tables::builtin(), None)
            {
                let errors: Vec<_> = errors.iter().map(ParamError::to_string).collect();
                return wrong(errors.join("; "));
            }
        }
        Ok(())
    }

    /// Whether panels over several runs say what they need; the sentence names the first that does not.
    pub(super) fn check_attempts(&self) -> Result<(), String> {
        for panel in &self.panels {
            let wrong = match (panel.draw, &panel.attempts) {
                (Draw::Attempts, None) => Some("it has no [panel.attempts]".to_owned()),
                (Draw::Attempts, Some(attempts)) => self.trouble(attempts),
                (Draw::Line, Some(attempts)) => {
                    let bare = attempts.axes.is_empty() && attempts.points.is_empty();
                    (!bare).then(|| "a line panel has its curves as axes".to_owned())
                }
                (Draw::Frame | Draw::Bars | Draw::Table, Some(_)) => {
                    Some("attempts need draw = \"attempts\" or \"line\"".to_owned())
                }
                (Draw::Line | Draw::Frame | Draw::Bars | Draw::Table, None) => None,
            };
            if let Some(wrong) = wrong {
                return Err(format!("panel {}: {wrong}", panel.name));
            }
        }
        Ok(())
    }

    fn trouble(&self, attempts: &Attempts) -> Option<String> {
        if attempts.form == Form::Scatter && attempts.axes.len() != 2 {
            return Some("a scatter has two axes".to_owned());
        }
        if attempts.points.is_empty() {
            return Some("a run gives no point".to_owned());
        }
        let told = attempts.points.iter().chain(&attempts.reference);
        for told in told {
            if told.values.len() != attempts.axes.len() {
                return Some("a point has one value for each axis".to_owned());
            }
            let names = told.values.iter().flat_map(|term| term.0.names());
            for (name, _) in names {
                let name = name.as_str();
                if self.metric(name).is_none() && self.param(name).is_none() {
                    return Some(format!("{name} is neither a metric nor a parameter"));
                }
            }
        }
        None
    }
}

impl Preset {
    /// What it sets, as a layer of settings.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::new();
        for (name, value) in &self.set {
            settings.push(name, Given::Value(value.clone()));
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn schema(preset: &str) -> Result<Schema, String> {
        let text = format!(
            "kind = \"k\"\ntitle = \"\"\nmodule = \"gpu\"\nabout = \"\"\nsource = \"\"\n\
             [[param]]\nname = \"n\"\ntype = \"int\"\ndefault = 1\nmin = 0\nmax = 9\nabout = \"\"\n\
             [[param]]\nname = \"folder\"\ntype = \"string\"\noptional = true\n\
             command_line_only = true\nabout = \"\"\n{preset}"
        );
        Schema::parse(&text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_preset_sets_is_checked_when_the_schema_is_read() {
        let preset = |set: &str| format!("[[preset]]\nname = \"p\"\nabout = \"\"\nset = {set}\n");
        assert!(schema(&preset("{ n = 3 }")).is_ok());
        for (set, complaint) in [
            ("{ n = 10 }", "preset 'p': "),
            ("{ n = \"a\" }", "preset 'p': "),
            ("{ m = 3 }", "m"),
            ("{ folder = \"/data\" }", "user's machine"),
        ] {
            let error = schema(&preset(set)).unwrap_err();
            assert!(error.contains(complaint), "{set}: {error}");
        }
        let twice = preset("{ n = 3 }").repeat(2);
        assert!(schema(&twice).unwrap_err().contains("same name"));
    }

    #[test]
    fn a_preset_that_is_not_there_is_told_from_those_that_are() {
        let schema =
            schema("[[preset]]\nname = \"three\"\nabout = \"\"\nset = { n = 3 }\n").unwrap();
        assert_eq!(schema.preset("three").unwrap().set["n"], Value::Int(3));
        let error = schema.preset("four").unwrap_err().to_string();
        assert_eq!(error, "lab k has no preset 'four'; it has: three");
    }
}

#[cfg(test)]
mod run_comparison_tests {
    use super::*;

    fn schema(panel: &str) -> Result<Schema, String> {
        let text = format!(
            "kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\n\
             [[param]]\nname='width'\ntype='int'\nabout=''\n\
             [[metric]]\nname='bytes'\ntype='int'\nabout=''\n\
             [[panel]]\nname='ledger'\nshows='runs'\n{panel}"
        );
        Schema::parse(&text).map_err(|error| error.message)
    }

    const AXES: &str = "axes=[{name='a',scale='log',better='less'},{name='b',better='more'}]";

    #[test]
    fn a_panel_over_runs_names_metrics_and_parameters_of_its_lab() {
        let text = format!(
            "draw='attempts'\n[panel.attempts]\nkinds=['t','u']\n{AXES}\npoints=[{{values=['bytes','2*width']}}]"
        );
        let schema = schema(&text).unwrap();
        let attempts = schema.attempts("ledger").unwrap();
        assert!(attempts.takes("t", "t") && attempts.takes("t", "u"));
        assert!(!attempts.takes("t", "v"));
        assert!(schema.compares_runs());
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let of = |rest: &str| schema(&format!("draw='attempts'\n[panel.attempts]\n{rest}"));
        let told = |rest: &str, part: &str| {
            let message = of(rest).unwrap_err();
            assert!(message.contains(part), "{message}");
        };
        told("axes=[]\npoints=[{values=[]}]", "two axes");
        told(AXES, "no point");
        told(&format!("{AXES}\npoints=[{{values=['bytes']}}]"), "one value for each axis");
        told(&format!("{AXES}\npoints=[{{values=['bytes','speed']}}]"), "speed is neither");
        told(&format!("{AXES}\npoints=[{{values=['bytes','2 *']}}]"), "2 *");
        assert!(schema("draw='attempts'").unwrap_err().contains("attempts"));
        assert!(schema("[panel.attempts]").is_err());
    }
}
