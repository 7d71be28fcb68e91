//! The directive `{lab}`.

use super::directive::one_of;
use super::fields::Fields;
use crate::diagnostic::Code;
use crate::model::{DeviceName, Goal, Knob, LabDirective, PanelRef, Setting};
use crate::source::Place;

pub(super) fn read(id: String, place: Place, fields: &mut Fields<'_, '_>) -> Option<LabDirective> {
    fields.require(&[("kind", "kind = \"train\"")]);
    let kind = fields.line("kind");
    let title = fields.line("title");
    let devices = devices(fields);
    let set = settings(fields);
    let knobs = fields.named("knob", |name, fields| {
        let range = (fields.number("min"), fields.number("max"));
        if let (Some(min), Some(max)) = &range
            && min.value > max.value
        {
            let message = format!("`min` is {}, which is above `max`", min.value);
            fields.error(Code::Contradiction, min.place, message, "swap the two");
        }
        if let (Some(place), true) = (fields.place_of("values"), range != (None, None)) {
            let message = "`values` and a range exclude each other";
            fields.error(Code::Contradiction, place, message, "keep one of them");
        }
        Some(Knob {
            param: name.value.clone(),
            values: fields.values("values"),
            min: range.0.map(|min| min.value),
            max: range.1.map(|max| max.value),
            default: fields.value("default").map(|default| default.value),
            place: name.place,
        })
    });
    let panels = fields.tables("panel", |fields| {
        fields.require(&[("name", "name = \"loss-curve\"")]);
        let name = fields.line("name");
        let title = fields.line("title");
        let goals = fields.tables("goal", goal);
        let name = name?;
        Some(PanelRef {
            name: name.value,
            title: title.map(|title| title.value),
            goals,
            place: name.place,
        })
    });
    Some(LabDirective {
        id,
        kind: kind?,
        title: title.map(|title| title.value),
        devices,
        set,
        knobs,
        panels,
        place,
    })
}

/// What is to be reached in a panel.
fn goal(fields: &mut Fields<'_, '_>) -> Option<Goal> {
    fields.require(&[
        ("name", "name = \"silver\""),
        ("ratio", "ratio = 25"),
        ("loss", "loss = 0.01"),
    ]);
    let name = fields.line("name");
    let (ratio, loss) = (fields.number("ratio"), fields.number("loss"));
    if let Some(ratio) = ratio.as_ref().filter(|ratio| ratio.value <= 0.0) {
        let help = "25 is twenty-five times better along the first axis";
        fields.error(Code::BadValue, ratio.place, "`ratio` is not above 0", help);
    }
    if let Some(loss) = loss.as_ref().filter(|loss| loss.value < 0.0) {
        let help = "0.01 is at most 0.01 worse along the second axis";
        fields.error(Code::BadValue, loss.place, "`loss` is below 0", help);
    }
    let name = name?;
    Some(Goal { name: name.value, ratio: ratio?.value, loss: loss?.value, place: name.place })
}

/// The table `set`.
pub(super) fn settings(fields: &mut Fields<'_, '_>) -> Vec<Setting> {
    let map = fields.map("set").into_iter();
    map.map(|(name, value)| Setting {
        name: name.value,
        place: name.place,
        value: value.value,
        value_place: value.place,
    })
    .collect()
}

fn devices(fields: &mut Fields<'_, '_>) -> Vec<DeviceName> {
    let Some(place) = fields.place_of("devices") else {
        fields.texts("devices");
        return DeviceName::ALL.to_vec();
    };
    let Some(names) = fields.texts("devices") else {
        return Vec::new();
    };
    if names.is_empty() {
        let help = "name at least one of cuda, wgpu, cpu, replay, or leave the key out for all";
        fields.error(Code::BadValue, place, "`devices` is empty", help);
    }
    let mut devices = Vec::new();
    for name in &names {
        let Some(device) = one_of(name, DeviceName::ALL, |d| d.name().to_owned(), fields) else {
            continue;
        };
        if devices.contains(&device) {
            let message = format!("`{}` is named twice", device.name());
            fields.error(Code::BadValue, name.place, message, "name it once");
        } else {
            devices.push(device);
        }
    }
    devices
}
