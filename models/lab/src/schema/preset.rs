//! Named settings of a lab that are worth looking at.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::Schema;
use crate::params::{Given, ParamError, Params, Settings};
use crate::tables::Tables;
use crate::value::Value;

/// A named starting point: what it sets, and what there is to see.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Its name, such as `sgd-too-slow`.
    pub name: String,
    /// What it shows, in one sentence.
    pub about: String,
    /// The parameters it sets; all others keep their defaults.
    pub set: BTreeMap<String, Value>,
}

/// A preset that a lab does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("lab {kind} has no preset '{name}'; {}", known_text(.known))]
pub struct UnknownPreset {
    /// The lab.
    pub kind: String,
    /// The name given.
    pub name: String,
    /// The names there are.
    pub known: Vec<String>,
}

fn known_text(known: &[String]) -> String {
    if known.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has: {}", known.join(", "))
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

impl Schema {
    /// The preset of a name.
    pub fn preset(&self, name: &str) -> Result<&Preset, UnknownPreset> {
        let found = self.presets.iter().find(|preset| preset.name == name);
        found.ok_or_else(|| UnknownPreset {
            kind: self.kind.clone(),
            name: name.escape_debug().to_string(),
            known: self.presets.iter().map(|p| p.name.clone()).collect(),
        })
    }

    /// What is wrong with the presets, if anything: their names, their parameters or their values.
    pub(super) fn check_presets(&self) -> Result<(), String> {
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
