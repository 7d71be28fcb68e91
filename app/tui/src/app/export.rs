//! The chosen picture as files.

use mlsys_lab::params::{Given, Params, Settings};
use mlsys_lab::tables::Tables;

use super::App;
use crate::message::Effect;
use crate::page::Page;
use crate::slot::Slot;
use mlsys_run::exports::Export;
use mlsys_view::figure::{Figure, Nothing, Options, Source, changed, csv, svg};
use mlsys_view::panel::{Scene, Window, extent};

impl App {
    /// Draws the chosen picture as it is looked at, for files.
    pub(super) fn export(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_ref() else {
            return Vec::new();
        };
        let scene = page.slot().and_then(|slot| Some((slot, slot.scene(slot.chosen()?)?)));
        let Some((slot, scene)) = scene else {
            return Vec::new();
        };
        match drawn(&scene, self.source(page, slot)) {
            Ok((svg, csv)) => {
                let name = format!("{}-{}", page.lesson.front.id, scene.panel.name);
                vec![Effect::Export(Box::new(Export { name, svg, csv }))]
            }
            Err(nothing) => {
                self.notice = Some(nothing.to_string());
                Vec::new()
            }
        }
    }

    /// Where the run on the screen comes from.
    fn source(&self, page: &Page, slot: &Slot) -> Source {
        let devices = self.devices.iter().flatten();
        let device = devices.into_iter().find(|info| Some(info.id) == slot.device);
        let params = began_with(slot);
        let params = params.iter().flat_map(Params::iter);
        let live = slot.schema.is_live();
        Source {
            lesson: Some(page.lesson.front.id.to_string()),
            changed: changed(slot.schema, params),
            seed: live.then(|| slot.seed.to_string()),
            device: device.filter(|_| live).map(|info| format!("{} ({})", info.name, info.id)),
            remark: None,
        }
    }
}

fn drawn(scene: &Scene<'_>, source: Source) -> Result<(String, String), Nothing> {
    let chart = &scene.view.chart;
    let steps = match chart.window {
        Window::All => None,
        window @ (Window::Newest(_) | Window::Between(..)) => {
            extent(scene).map(|there| window.steps(there))
        }
    };
    let earlier = scene.earlier.iter();
    let figure = Figure {
        earlier: earlier.map(|run| (run.label.as_str(), &run.data)).collect(),
        options: Options { scale: Some(chart.scale), steps, smoothing: chart.smoothing },
        walk: scene.walk,
        company: scene.company,
        ..Figure::of(scene.schema, scene.panel, scene.data, source)
    };
    Ok((svg(&figure)?, csv(&figure)?))
}

/// The parameters of the run on the screen: knobs may have been turned since.
fn began_with(slot: &Slot) -> Option<Params> {
    let mut knobs = Settings::new();
    for (name, value) in &slot.begun_with {
        knobs.push(name, Given::Value(value.clone()));
    }
    let settings = slot.settings.clone().overlaid(&knobs);
    Params::resolve(slot.schema, &settings, Tables::builtin(), Some(slot.seed)).ok()
}
