//! Where the numbers of metrics and panels come from.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::label::Label;
use crate::schema::{Class, Metric, Panel, Schema, SchemaError};

/// Units in which only a clock, a meter or a model of a machine gives a number.
const TIMED: [&str; 8] = ["seconds", "hours", "joules", "J", "pJ", "tokens/s", "bytes/s", "flop/s"];

impl Schema {
    /// Where a metric's values come from: as its schema states, otherwise by its class. A run measures what it
    /// trains; a lab that answers at once computes.
    pub fn label(&self, metric: &Metric) -> Label {
        metric.label.unwrap_or(match metric.class {
            Class::Hardware | Class::Device => Label::Measured,
            Class::Seeded if self.is_live() => Label::Measured,
            Class::Seeded | Class::Exact => Label::Computed,
        })
    }

    /// Where the numbers of a panel come from: the words in its title. A panel of metrics has that of the first one,
    /// and tells it of each other that differs; a picture has those it states, or the one that the whole lab has.
    pub fn panel_labels(&self, panel: &Panel) -> Vec<Label> {
        if !panel.label.is_empty() {
            return panel.label.clone();
        }
        let label = match panel.metrics.iter().find_map(|name| self.metric(name)) {
            Some(first) => Some(self.label(first)),
            None => self.shared(self.metrics.iter()),
        };
        label.into_iter().collect()
    }

    /// The only word of a panel; none where a number has to say which of several it has.
    pub fn panel_label(&self, panel: &Panel) -> Option<Label> {
        match self.panel_labels(panel).as_slice() {
            [label] => Some(*label),
            [] | [_, ..] => None,
        }
    }

    fn shared<'a>(&self, mut metrics: impl Iterator<Item = &'a Metric>) -> Option<Label> {
        let first = self.label(metrics.next()?);
        metrics.all(|metric| self.label(metric) == first).then_some(first)
    }

    /// Checks that no metric is called measured that no clock, counter or run gives, and that times and rates of
    /// labs that answer at once say where they come from.
    pub(super) fn check_labels(&self) -> Result<(), SchemaError> {
        for metric in &self.metrics {
            let wrong =
                |message: &str| Err(self.error(format!("metric {}: {message}", metric.name)));
            let from_machine = matches!(metric.class, Class::Hardware | Class::Device);
            let label = self.label(metric);
            if label == Label::Measured && !self.is_live() && !from_machine {
                return wrong("a lab that answers at once measures only on a device");
            }
            if label == Label::Computed && from_machine {
                return wrong("what a device gives is measured, not computed");
            }
            let timed = metric.unit.as_deref().is_some_and(|unit| TIMED.contains(&unit));
            if timed && !from_machine && metric.label.is_none() {
                return wrong("a time, an energy or a rate of no device needs a label");
            }
        }
        Ok(())
    }
}

/// One word, or a list of several.
pub(super) fn one_or_several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Label>, D::Error> {
    struct Words;
    impl<'de> Visitor<'de> for Words {
        type Value = Vec<Label>;

        fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
            text.write_str("a label or a list of labels")
        }

        fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
            Ok(vec![Label::deserialize(word.into_deserializer())?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }
    from.deserialize_any(Words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(live: &str, metric: &str) -> Result<Schema, SchemaError> {
        Schema::parse(&format!(
            "kind='k'\ntitle=''\nmodule='gpu'\nabout=''\nsource=''\n{live}\n\
             [[panel]]\nname='p'\nshows=''\nmetrics=['m']\n\
             [[metric]]\nname='m'\ntype='float'\nabout=''\n{metric}\n"
        ))
    }

    #[test]
    fn labels_follow_class_and_schema() {
        for (live, metric, label) in [
            ("", "", Ok("computed")),
            ("", "label='modelled'\nunit='seconds'", Ok("modelled")),
            ("", "class='hardware'\nunit='seconds'", Ok("measured")),
            ("budget=1.0", "class='seeded'", Ok("measured")),
            ("budget=1.0", "label='measured'", Ok("measured")),
            ("budget=1.0", "class='seeded'\nlabel='baseline'", Ok("baseline")),
            ("", "class='seeded'", Ok("computed")),
            ("", "label='measured'", Err("only on a device")),
            ("", "class='seeded'\nlabel='measured'", Err("only on a device")),
            ("budget=1.0", "class='hardware'\nlabel='computed'", Err("not computed")),
            ("", "unit='seconds'", Err("needs a label")),
            ("", "label='guessed'", Err("guessed")),
        ] {
            match (schema(live, metric), label) {
                (Ok(schema), Ok(label)) => {
                    let found = schema.label(schema.metric("m").unwrap());
                    assert_eq!(found.to_string(), label, "{metric}");
                    assert_eq!(schema.panel_label(&schema.panels[0]), Some(found));
                }
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
                (found, _) => panic!("{metric}: {found:?}"),
            }
        }
    }
}
