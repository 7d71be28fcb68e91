//! The labs of a lesson as they stand beside its text.

use mlsys_lab::params::{Params, allowed};
use mlsys_lab::registry::Registry;
use mlsys_lab::schema::{Draw, Type};
use mlsys_lab::tables::Tables;
use mlsys_lab::value::Value;
use mlsys_lesson::LabDirective;

use crate::slot::{Knob, Slot, State};
use mlsys_view::panel::View;

/// The lab of a directive.
pub(super) fn slot(
    directive: &LabDirective,
    seed: u64,
    registry: &'static Registry,
) -> Option<Slot> {
    let schema = registry.find(&directive.kind.value).ok()?.schema();
    let settings = directive.settings();
    let params = Params::resolve(schema, &settings, Tables::builtin(), Some(seed)).ok()?;
    let knobs = directive.knobs.iter().filter_map(|knob| {
        let param = schema.param(&knob.param)?;
        let value = match (params.get(&param.name), knob.param.split_once('.')) {
            (Some(Value::Table(entries)), Some((_, entry))) => entries.get(entry).cloned(),
            (value, _) => value.cloned(),
        };
        let values = match (&knob.values, param.ty) {
            (Some(values), _) => values.clone(),
            (None, Type::Enum) => {
                allowed(param, Tables::builtin()).into_iter().map(Value::Text).collect()
            }
            (None, Type::Bool) => vec![Value::Bool(false), Value::Bool(true)],
            (None, Type::Int | Type::Float | Type::String | Type::Array | Type::Table) => {
                Vec::new()
            }
        };
        Some(Knob {
            name: knob.param.clone(),
            param,
            initial: value.clone(),
            value,
            values,
            range: (knob.min.or(param.min), knob.max.or(param.max)),
        })
    });
    let named: Vec<usize> = directive
        .panels
        .iter()
        .filter_map(|panel| schema.panels.iter().position(|p| p.name == panel.name))
        .collect();
    let panels = if named.is_empty() { (0..schema.panels.len()).collect() } else { named };
    Some(Slot {
        id: directive.id.clone(),
        title: directive.title.clone().unwrap_or_else(|| schema.title.clone()),
        schema,
        settings,
        panels,
        panel: 0,
        knobs: knobs.collect(),
        knob: 0,
        state: State::Ready,
        data: Default::default(),
        frozen: None,
        history: Default::default(),
        earlier: Vec::new(),
        attempts: Default::default(),
        overlay: Default::default(),
        views: schema.panels.iter().map(View::of).collect(),
        cursor: None,
        walk: None,
        retired: 0,
        begun_with: Vec::new(),
        begun_params: None,
        turned_at_start: Vec::new(),
        reference: None,
        edited: None,
        device: None,
        replay: None,
        explored: false,
        superseded: false,
        seed,
        elapsed: Default::default(),
        pictured: Default::default(),
        rate: Default::default(),
    })
}

impl Slot {
    /// The names of those of the panels given whose pictures the lab sends when asked; others draw its metrics.
    pub fn pictures_of_the_lab(&self, panels: &[usize]) -> impl Iterator<Item = &'static str> {
        let schema = self.schema;
        let panels = panels.iter().filter_map(|&index| schema.panels.get(index));
        panels.filter(|panel| panel.draw == Draw::Frame).map(|panel| panel.name.as_str())
    }
}
