//! The chosen picture as files.

use std::path::PathBuf;
use std::sync::Arc;

use mlsys_lab::params::{Given, Params, Settings};
use mlsys_lab::tables::Tables;
use mlsys_run::storage::Export;
use mlsys_view::export::svg;
use mlsys_view::export::{Source, changed, csv::csv};

use crate::message::{Effect, SaveWeights};
use crate::state::App;
use crate::state::lab::{LabState, State};
use crate::state::overlay::Overlay;
use crate::state::page::Page;
use crate::text_field::{FieldPurpose, TextField};

impl App {
    pub(super) fn export(&mut self) -> Vec<Effect> {
        let Some(page) = self.page.as_ref() else { return Vec::new() };
        let scene = page.lab().and_then(|lab| Some((lab, lab.scene(lab.chosen()?)?)));
        let Some((lab, scene)) = scene else { return Vec::new() };
        let source = self.source(page, lab);
        match svg(&scene, &source).and_then(|svg| Ok((svg, csv(&scene)?))) {
            Ok((svg, csv)) => {
                let name = format!("{}-{}", page.lesson.front.id, scene.panel.name);
                vec![Effect::Export(Box::new(Export { name, svg, csv }))]
            }
            Err(nothing) => {
                self.screen.notice = Some(nothing.to_string());
                Vec::new()
            }
        }
    }

    fn source(&self, page: &Page, lab: &LabState) -> Source {
        let devices = self.hardware.devices.iter().flatten();
        let device = devices.into_iter().find(|info| Some(info.id) == lab.run.device);
        let params = began_with(lab);
        let params = params.iter().flat_map(Params::iter);
        let live = lab.schema.is_live();
        Source {
            lesson: Some(page.lesson.front.id.to_string()),
            changed: changed(lab.schema, params),
            seed: live.then(|| lab.seed.to_string()),
            device: device.filter(|_| live).map(|info| format!("{} ({})", info.name, info.id)),
            remark: None,
        }
    }
}

fn began_with(lab: &LabState) -> Option<Params> {
    let mut knobs = Settings::new();
    for (name, value) in &lab.run.begun_with {
        knobs.push(name, Given::Value(value.clone()));
    }
    let settings = lab.settings.clone().overlaid(&knobs);
    Params::resolve(lab.schema, &settings, Tables::builtin(), Some(lab.seed)).ok()
}

impl App {
    /// Opens the field for the file; it holds the last one.
    pub(super) fn ask_for_file(&mut self) {
        let Some(lab) = self.page.as_ref().and_then(Page::lab) else { return };
        let file = self.recall.weights_file.clone();
        let file = file.unwrap_or_else(|| format!("{}.safetensors", lab.schema.kind));
        self.overlay = Some(Overlay::Weights(TextField::new(FieldPurpose::File, file)));
    }

    /// Saves what the run on the screen has left in the file that the field names.
    pub(super) fn save_weights(&mut self) -> Vec<Effect> {
        let Some(Overlay::Weights(entry)) = &mut self.overlay else { return Vec::new() };
        let file = entry.text().trim().to_owned();
        if file.is_empty() {
            entry.complaint = Some("the name of a file".to_owned());
            return Vec::new();
        }
        self.overlay = None;
        // The run may have been replaced while the name was typed.
        let lab = self.page.as_ref().and_then(Page::lab);
        let left = may_save(lab).map(|()| lab.and_then(|lab| lab.run.data.artifact.as_ref()));
        match left {
            Ok(Some(left)) => {
                self.session.is_saving = true;
                self.screen.notice = Some(format!("saving {file}"));
                let save = SaveWeights { left: Arc::clone(left), path: PathBuf::from(&file) };
                self.recall.weights_file = Some(file);
                vec![Effect::SaveWeights(save)]
            }
            Ok(None) => Vec::new(),
            Err(why) => {
                self.screen.notice = Some(why);
                Vec::new()
            }
        }
    }
}

/// Whether the run on the screen has left weights; else what it takes to have some.
pub(super) fn may_save(lab: Option<&LabState>) -> Result<(), String> {
    let Some(lab) = lab else { return Err("this lesson has no lab".to_owned()) };
    let why = match (&lab.run.state, &lab.run.data.artifact) {
        _ if lab.schema.yields.is_none() => {
            return Err(format!("lab {} leaves no trained network; train does", lab.schema.kind));
        }
        _ if lab.run.replay.is_some() => {
            "a recorded run has its network in its folder: `mlsys runs show` names it"
        }
        (State::Ready, _) => "no run has left weights yet: space trains",
        (State::Running | State::Paused, _) => {
            "the weights can be saved when the run has ended: E goes to its end, x ends it now"
        }
        (State::Diverged(_), _) => "the run diverged: its weights are of no use",
        (State::Failed(_), _) => "the run failed, and left no weights",
        (State::Finished | State::Stopped, Some(_)) => return Ok(()),
        (State::Finished | State::Stopped, None) => {
            "no weights are kept of a run without steps or of over 4 million: see mlsys lab --save-weights"
        }
    };
    Err(why.to_owned())
}
