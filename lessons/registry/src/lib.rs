//! The labs that ship with mlsys: what lessons are validated against, what the command line lists, what the screen runs.
//!
//! The program hands the registry on as a value: it alone depends on this crate. A course may bring labs of its own,
//! which [`Registry::with`] puts after the built-in ones.

use std::sync::LazyLock;

use mlsys_kernel::Extensions;
use mlsys_lab::{Recipe, Registry};

static BUILT_IN: LazyLock<Registry> = LazyLock::new(|| Registry::on_demand(recipes()));

/// The labs that ship with mlsys.
pub fn built_in() -> &'static Registry {
    &BUILT_IN
}

fn recipes() -> Vec<Recipe> {
    let mut labs = mlsys_live::labs();
    labs.extend(mlsys_analytic::labs_with(
        || Box::new(mlsys_nn::expression::Autodiff),
        || Extensions {
            classifier: Some(Box::new(mlsys_nn::digit_classifier::DigitClassifier)),
            launcher: Some(Box::new(mlsys_device::kernel::Devices)),
        },
        || Box::new(mlsys_device::lowering::Compilers),
    ));
    labs
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlsys_lab::Params;
    use mlsys_lab::params::Given;
    use mlsys_lab::schema::SchemaError;
    use std::collections::BTreeSet;

    #[test]
    fn every_schema_reads_and_every_kind_is_found_once() -> Result<(), SchemaError> {
        let registry = built_in();
        let mut kinds = Vec::new();
        for Recipe { kind, build } in recipes() {
            assert_eq!(build()?.schema().kind, kind);
            kinds.push(kind);
        }
        for kind in [
            "train",
            "capture",
            "device-peak",
            "matmul-bench",
            "graph",
            "thread-index",
            "launch-geometry",
            "occupancy",
        ] {
            assert!(kinds.contains(&kind), "{kind} is missing");
        }
        let distinct: BTreeSet<&str> = kinds.iter().copied().collect();
        assert_eq!(distinct.len(), kinds.len(), "{kinds:?}");
        for kind in kinds {
            assert!(registry.find(kind).is_ok_and(|lab| lab.schema().kind == kind));
        }
        Ok(())
    }

    #[test]
    fn a_misspelt_kind_suggests_the_nearest() {
        let error = built_in().find("ocupancy").err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("there is no lab 'ocupancy'; did you mean 'occupancy'?"));
    }

    #[test]
    fn labs_compared_with_each_other_have_the_same_axes() {
        for lab in built_in().iter() {
            let schema = lab.schema();
            for panel in &schema.panels {
                let Some(attempts) = &panel.attempts else { continue };
                for kind in &attempts.kinds {
                    let other = built_in().find(kind).map(|lab| lab.schema());
                    let other = other.unwrap_or_else(|error| panic!("{}: {error}", schema.kind));
                    let theirs = other.attempts(&panel.name);
                    let theirs = theirs.unwrap_or_else(|| panic!("{kind} has no {}", panel.name));
                    assert_eq!(theirs.axes, attempts.axes, "{} and {kind}", schema.kind);
                    assert_eq!(theirs.kinds, attempts.kinds, "{} and {kind}", schema.kind);
                }
            }
        }
    }

    /// Pictures of texts, without a number that comes from anywhere.
    const WITHOUT_NUMBERS: [[&str; 2]; 1] = [["kernel", "translation"]];

    #[test]
    fn every_picture_says_where_its_numbers_come_from() {
        let mut wrong = Vec::new();
        for schema in built_in().iter().map(|lab| lab.schema()) {
            let named = schema.panels.iter().map(|panel| (panel.name.as_str(), panel));
            let is_text = |name: &str| WITHOUT_NUMBERS.contains(&[schema.kind.as_str(), name]);
            let found = named
                .filter(|(name, panel)| schema.panel_labels(panel).is_empty() != is_text(name));
            wrong.extend(found.map(|(name, _)| format!("{} {name}", schema.kind)));
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn each_row_of_several_origins_names_its_own() {
        for schema in built_in().iter().map(|lab| lab.schema()) {
            for panel in &schema.panels {
                let labels = schema.panel_labels(panel);
                let Some(attempts) = panel.attempts.as_ref().filter(|_| labels.len() > 1) else {
                    continue;
                };
                for axis in &attempts.axes {
                    let first = axis.name.split(' ').next().unwrap_or_default();
                    let is_label = labels.iter().any(|label| label.to_string() == first);
                    assert!(is_label, "{} {}: {}", schema.kind, panel.name, axis.name);
                }
            }
        }
    }

    #[test]
    fn names_are_distinct_and_defaults_lie_in_their_ranges() {
        for lab in built_in().iter() {
            let schema = lab.schema();
            let kind = &schema.kind;
            let params: BTreeSet<&str> = schema.params.iter().map(|p| p.name.as_str()).collect();
            assert_eq!(params.len(), schema.params.len(), "parameters of {kind}");
            let metrics: BTreeSet<&str> = schema.metrics.iter().map(|m| m.name.as_str()).collect();
            assert_eq!(metrics.len(), schema.metrics.len(), "metrics of {kind}");
            if let Some(headline) = &schema.headline {
                assert!(metrics.contains(headline.metric.as_str()), "{kind}");
            }
            for param in &schema.params {
                if let Some(default) = &param.default {
                    let given = Given::Value(default.clone());
                    let checked = Params::check(schema, &param.name, given);
                    assert!(checked.is_ok(), "{kind}: {checked:?}");
                }
            }
        }
    }
}
