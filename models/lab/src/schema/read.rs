//! Reading a schema: its TOML, the metrics of all live labs, and the checks of presets and of panels over runs.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::params::{Given, ParamError, Params, Settings};
use crate::schema::{DeviceNeed, Draw, Form, Metric, Preset, Schema, SchemaError};
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
        schema.check_presets()?;
        schema.check_attempts()?;
        schema.check_labels()?;
        schema.check_ranges()?;
        schema.check_decisions()?;
        Ok(schema)
    }

    pub(crate) fn error(&self, message: String) -> SchemaError {
        SchemaError { kind: self.kind.clone(), message }
    }

    /// Whether a run with these parameters needs a device to be chosen; every live lab does.
    pub fn uses_device(&self, params: &Params) -> bool {
        let needs = |need: &DeviceNeed| {
            let value = params.get(&need.param);
            value.is_some_and(|value| *value != need.unless)
        };
        self.is_live() || self.device.as_ref().is_some_and(needs)
    }

    /// Checks that parameters decide on others that there are.
    fn check_decisions(&self) -> Result<(), SchemaError> {
        for param in &self.params {
            if let Some(other) = param.decides.iter().find(|other| self.param(other).is_none()) {
                return Err(
                    self.error(format!("{} decides {other}, which is no parameter", param.name))
                );
            }
        }
        Ok(())
    }

    /// Checks the presets: their names, their parameters and their values.
    fn check_presets(&self) -> Result<(), SchemaError> {
        let mut names = BTreeSet::new();
        for preset in &self.presets {
            let wrong =
                |message: &str| Err(self.error(format!("preset '{}': {message}", preset.name)));
            if !names.insert(&preset.name) {
                return wrong("another has the same name");
            }
            let local = |name: &&String| self.param(name).is_some_and(|p| p.command_line_only);
            if let Some(name) = preset.set.keys().find(local) {
                return wrong(&format!("{name} names something on a user's machine"));
            }
            if let Err(errors) = Params::resolve(self, &preset.settings(), Tables::builtin(), None)
            {
                let errors: Vec<_> = errors.iter().map(ParamError::to_string).collect();
                return wrong(&errors.join("; "));
            }
        }
        Ok(())
    }

    /// Checks that panels over several runs declare what they need.
    fn check_attempts(&self) -> Result<(), SchemaError> {
        for panel in &self.panels {
            let wrong = |message: &str| Err(self.error(format!("panel {}: {message}", panel.name)));
            match (panel.draw, &panel.attempts) {
                (Draw::Attempts, None) => return wrong("it has no [panel.attempts]"),
                (Draw::Attempts, Some(attempts)) => {
                    if attempts.form == Form::Scatter && attempts.axes.len() != 2 {
                        return wrong("a scatter has two axes");
                    }
                    if attempts.points.is_empty() {
                        return wrong("a run gives no point");
                    }
                    for told in attempts.points.iter().chain(&attempts.reference) {
                        if told.values.len() != attempts.axes.len() {
                            return wrong("a point has one value for each axis");
                        }
                        for (name, _) in told.values.iter().flat_map(|term| term.0.names()) {
                            let name = name.as_str();
                            if self.metric(name).is_none() && self.param(name).is_none() {
                                return wrong(&format!(
                                    "{name} is neither a metric nor a parameter"
                                ));
                            }
                        }
                    }
                }
                (Draw::Line, Some(attempts)) => {
                    if !attempts.axes.is_empty() || !attempts.points.is_empty() {
                        return wrong("a line panel has its curves as axes");
                    }
                }
                (Draw::Frame | Draw::Bars | Draw::Table, Some(_)) => {
                    return wrong("attempts need draw = \"attempts\" or \"line\"");
                }
                (Draw::Line | Draw::Frame | Draw::Bars | Draw::Table, None) => {}
            }
        }
        Ok(())
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

    fn schema(rest: &str) -> Result<Schema, SchemaError> {
        Schema::parse(&format!(
            "kind='k'\ntitle=''\nmodule='gpu'\nabout=''\nsource=''\n\
             [[param]]\nname='n'\ntype='int'\ndefault=1\nmin=0\nmax=9\nabout=''\n\
             [[param]]\nname='folder'\ntype='string'\noptional=true\ncommand_line_only=true\nabout=''\n\
             [[metric]]\nname='bytes'\ntype='int'\nabout=''\n{rest}"
        ))
    }

    #[test]
    fn what_another_parameter_decides_has_no_effect_unless_it_is_set() {
        let from = "[[param]]\nname='from'\ntype='string'\noptional=true\nabout=''\ndecides=";
        let schema = schema(&format!("{from}['n']\n")).unwrap();
        for (set, expected) in
            [(&[][..], &["n"][..]), (&["from=a"], &["from"]), (&["from=a", "n=1"], &["from", "n"])]
        {
            let settings = Settings::from_pairs(set.iter().copied()).unwrap();
            let params = Params::resolve(&schema, &settings, Tables::builtin(), None).unwrap();
            let names: Vec<&str> = params.in_effect(&schema).map(|(name, _)| name).collect();
            assert_eq!(names, expected, "{set:?}");
        }
        let error = self::schema(&format!("{from}['m']\n")).unwrap_err().to_string();
        assert!(error.contains("from decides m, which is no parameter"), "{error}");
    }

    fn preset(set: &str) -> String {
        format!("[[preset]]\nname='p'\nabout=''\nset={set}\n")
    }

    fn panel(rest: &str) -> String {
        format!("[[panel]]\nname='ledger'\nshows='runs'\n{rest}")
    }

    fn attempts(rest: &str) -> String {
        panel(&format!("draw='attempts'\n[panel.attempts]\n{rest}"))
    }

    const AXES: &str = "axes=[{name='a',scale='log',better='less'},{name='b',better='more'}]";

    #[test]
    fn presets_and_panels_over_runs_are_checked() {
        assert!(schema(&preset("{ n = 3 }")).is_ok());
        for (rest, complaint) in [
            (preset("{ n = 10 }"), "preset 'p': "),
            (preset("{ n = 'a' }"), "preset 'p': "),
            (preset("{ m = 3 }"), "m"),
            (preset("{ folder = '/data' }"), "user's machine"),
            (preset("{ n = 3 }").repeat(2), "same name"),
            (attempts("axes=[]\npoints=[{values=[]}]"), "two axes"),
            (attempts(AXES), "no point"),
            (
                attempts(&format!("{AXES}\npoints=[{{values=['bytes']}}]")),
                "one value for each axis",
            ),
            (
                attempts(&format!("{AXES}\npoints=[{{values=['bytes','speed']}}]")),
                "speed is neither",
            ),
            (attempts(&format!("{AXES}\npoints=[{{values=['bytes','2 *']}}]")), "2 *"),
            (panel("draw='attempts'"), "attempts"),
            (panel("[panel.attempts]"), "attempts"),
        ] {
            let error = schema(&rest).unwrap_err().to_string();
            assert!(error.contains(complaint), "{rest}: {error}");
        }
    }

    #[test]
    fn run_panels_name_declared_metrics() {
        let rest = format!("kinds=['k','u']\n{AXES}\npoints=[{{values=['bytes','2*n']}}]");
        let schema = schema(&attempts(&rest)).unwrap();
        let attempts = schema.attempts("ledger").unwrap();
        assert!(attempts.takes("k", "k") && attempts.takes("k", "u"));
        assert!(!attempts.takes("k", "v"));
        assert!(schema.compares_runs());
    }

    #[test]
    fn an_unknown_preset_lists_the_known_ones() {
        let schema = schema(&preset("{ n = 3 }")).unwrap();
        assert_eq!(schema.preset("p").unwrap().set["n"], Value::Int(3));
        let error = schema.preset("four").unwrap_err().to_string();
        assert_eq!(error, "lab k has no preset 'four'; it has: p");
    }
}
