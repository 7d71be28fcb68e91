//! What the panels of a lab show before a question.

use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Headline, Label, Panel, Schema};
use mlsys_lab::value::Value;

use crate::diagnostic::Place;
use crate::grade::quantity::{self, Written};
use crate::lint::numbers::{Reading, numbers};
use crate::model::LabDirective;

/// What a panel writes.
#[derive(Clone, Debug, Default)]
pub struct PanelTexts {
    /// Each text that it writes.
    pub texts: Vec<String>,
    /// The texts that stand in one row or in one column, in order.
    pub rows: Vec<String>,
}

/// What a panel writes when it draws a run, as the workbench draws it.
pub type DrawnTexts<'a> = dyn Fn(&Schema, &Panel, &RunData) -> PanelTexts + 'a;

/// A lab that has run, with the texts of the panels that the lesson shows.
pub(super) struct LabShown<'l> {
    schema: &'l Schema,
    data: &'l RunData,
    panels: Vec<Shown<'l>>,
}

struct Shown<'l> {
    name: &'l str,
    place: Place,
    until: Option<&'l str>,
    texts: PanelTexts,
}

/// A panel's numbers, in no order but that of rows.
pub(super) struct PanelReadings<'s> {
    pub(super) name: &'s str,
    pub(super) place: Place,
    /// The task that it waits for.
    pub(super) until: Option<&'s str>,
    /// As they read where a unit is asked for.
    pub(super) asked: Vec<Reading>,
    /// As they are without a unit: as written, and in the unit behind it without its prefix.
    pub(super) plain: Vec<Written>,
    pub(super) rows: Vec<Vec<Reading>>,
}

impl<'l> LabShown<'l> {
    pub(super) fn new(
        lab: &'l LabDirective,
        schema: &'l Schema,
        data: &'l RunData,
        drawn: &DrawnTexts<'_>,
    ) -> Self {
        let all = schema.panels.iter().map(|panel| (panel, lab.place, None));
        let named = lab.panels.iter().filter_map(|named| {
            let until = named.until.as_ref().map(|until| until.value.as_str());
            Some((schema.panel(&named.name)?, named.place, until))
        });
        let panels: Vec<_> = if lab.panels.is_empty() { all.collect() } else { named.collect() };
        // What a clock gives is another number in the next run, and no answer.
        let is_measured = |panel: &Panel| {
            schema.panel_label(panel) == Some(Label::Measured)
                || panel.metrics.iter().any(|name| is_measured(schema, name))
        };
        let known = panels.into_iter().filter(|(panel, ..)| !is_measured(panel));
        let shown = |(panel, place, until): (&'l Panel, _, _)| {
            let texts = drawn(schema, panel, data);
            Shown { name: &panel.name, place, until, texts }
        };
        Self { schema, data, panels: known.map(shown).collect() }
    }

    pub(super) fn readings(&self, unit: Option<&str>) -> Vec<PanelReadings<'_>> {
        let read = |texts: &[String], unit| {
            let tokens = texts.iter().flat_map(|text| numbers(text));
            tokens.map(|token| Reading::new(&token, unit)).collect::<Vec<_>>()
        };
        let readings = |panel: &'_ Shown<'l>| PanelReadings {
            name: panel.name,
            place: panel.place,
            until: panel.until,
            asked: read(&panel.texts.texts, unit),
            plain: panel.texts.texts.iter().flat_map(|text| plain(text)).collect(),
            rows: panel
                .texts
                .rows
                .iter()
                .map(|row| read(std::slice::from_ref(row), None))
                .collect(),
        };
        self.panels.iter().map(readings).collect()
    }

    /// A metric's value, unless a clock gives it.
    pub(super) fn metric(&self, name: &str) -> Option<Value> {
        let is_known = self.schema.metric(name).is_some() && !is_measured(self.schema, name);
        if is_known { self.data.metric(name) } else { None }
    }

    pub(super) fn headline(&self) -> Option<&Headline> {
        self.schema.headline.as_ref()
    }
}

fn plain(text: &str) -> impl Iterator<Item = Written> {
    numbers(text).flat_map(|token| {
        let Reading { plain, with_unit, .. } = Reading::new(&token, None);
        let scaled = token.behind.and_then(|unit| Some(plain?.times(quantity::scale(unit))));
        [plain, with_unit, scaled].into_iter().flatten()
    })
}

fn is_measured(schema: &Schema, metric: &str) -> bool {
    schema.metric(metric).is_some_and(|metric| schema.label(metric) == Label::Measured)
}
