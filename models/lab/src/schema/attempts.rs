//! A picture over several runs, as the schema of a lab declares it.

use serde::{Deserialize, Deserializer, de};

use super::{Draw, Schema};
use crate::frame::Dimension;
use mlsys_expr::{Dialect, Expr, parse};

/// Which runs a panel shows beside the one on the screen, and what of them.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempts {
    /// The kinds of labs whose runs take part, each as its own panel of this name declares; empty for this kind alone.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// A parameter in which runs must agree to be compared, such as the data that their networks learned; a run of a kind
    /// without it is compared with all.
    pub same: Option<String>,
    /// How they are drawn.
    #[serde(default)]
    pub form: Form,
    /// What is told of each run: two axes of a scatter, or the columns of a table.
    #[serde(default)]
    pub axes: Vec<Dimension>,
    /// What a run contributes: usually one point, else points with names.
    #[serde(default)]
    pub points: Vec<Told>,
    /// What all runs are compared with, such as the network before it was made smaller: one point for all of them.
    pub reference: Option<Told>,
}

/// How several runs are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Points between two axes; those that no other beats are joined, or those of one name where neither way is better.
    #[default]
    Scatter,
    /// A row a run.
    Table,
}

/// What is told of a run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Told {
    /// What it is called; empty where a run has but one point.
    #[serde(default)]
    pub name: String,
    /// A number an axis, as expressions over the run's metrics and parameters.
    pub values: Vec<Term>,
}

/// An expression over a run's metrics and parameters, in the language of lessons.
#[derive(Clone, Debug, PartialEq)]
pub struct Term(pub Expr);

impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let source = String::deserialize(deserializer)?;
        parse(&source, Dialect::Lesson)
            .map(Self)
            .map_err(|error| de::Error::custom(format!("'{source}': {error}")))
    }
}

impl Attempts {
    /// Whether runs of a lab take part, where the panel is one of `kind`'s.
    pub fn takes(&self, kind: &str, other: &str) -> bool {
        kind == other || self.kinds.iter().any(|one| one == other)
    }
}

impl Schema {
    /// What a panel of this name says of runs of this lab.
    pub fn attempts(&self, panel: &str) -> Option<&Attempts> {
        self.panel(panel)?.attempts.as_ref()
    }

    /// Whether any panel shows several runs.
    pub fn compares_runs(&self) -> bool {
        self.panels.iter().any(|panel| panel.attempts.is_some())
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

#[cfg(test)]
mod tests {
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
