//! The chosen picture, and the weights of a run, as files.

use std::path::PathBuf;
use std::sync::Arc;

use mlsys_lab::Artifact;
use mlsys_lab::params::Params;
use mlsys_run::record;
use mlsys_run::storage::Export;
use mlsys_view::export::{Source, changed, csv::csv, svg};

use crate::list::TextField;
use crate::message::{Effect, SaveWeights};
use crate::state::{App, FieldOf, LabState, Overlay, Page, RunStatus};

/// Why the run on the screen has no weights to save.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoWeights {
    #[error("lab {0} leaves no trained network; train does")]
    Untrained(&'static str),
    #[error("a recorded run has its network in its folder: `mlsys runs show` names it")]
    Recorded,
    #[error("no run has left weights yet: space trains")]
    NotRun,
    #[error("the weights can be saved when the run has ended: E goes to its end, x ends it now")]
    Running,
    #[error("the run diverged: its weights are of no use")]
    Diverged,
    #[error("the run failed, and left no weights")]
    Failed,
    #[error(
        "no weights are kept of a run without steps or of over 4 million: see mlsys lab --save-weights"
    )]
    NotKept,
}

pub(super) fn weights(lab: &LabState) -> Result<&Arc<Artifact>, NoWeights> {
    if lab.schema.yields.is_none() {
        return Err(NoWeights::Untrained(&lab.schema.kind));
    }
    if lab.run.replay.is_some() {
        return Err(NoWeights::Recorded);
    }
    match lab.run.state {
        RunStatus::Ready => Err(NoWeights::NotRun),
        RunStatus::Running | RunStatus::Paused => Err(NoWeights::Running),
        RunStatus::Diverged(_) => Err(NoWeights::Diverged),
        RunStatus::Failed(_) => Err(NoWeights::Failed),
        RunStatus::Finished | RunStatus::Stopped => {
            lab.run.data.artifact.as_ref().ok_or(NoWeights::NotKept)
        }
    }
}

impl App {
    pub(super) fn export(&mut self) {
        let Some(page) = self.page.as_ref() else { return };
        let scene = page.lab().and_then(|lab| Some((lab, lab.scene(lab.chosen()?)?)));
        let Some((lab, scene)) = scene else { return };
        let source = self.source(page, lab);
        match svg(&scene, &source).and_then(|svg| Ok((svg, csv(&scene)?))) {
            Ok((svg, csv)) => {
                let name = format!("{}-{}", page.lesson.front.id, scene.panel.name);
                self.effects.push(Effect::Export(Box::new(Export { name, svg, csv })));
            }
            Err(nothing) => self.screen.notice = Some(nothing.to_string()),
        }
    }

    fn source(&self, page: &Page, lab: &LabState) -> Source {
        let mut devices = self.hardware.devices.iter().flatten();
        let device = devices.find(|info| Some(info.id) == lab.run.device);
        let live = lab.schema.is_live();
        let source = Source {
            lesson: Some(page.lesson.front.id.to_string()),
            changed: changed(lab.schema, lab.run.begun_params.iter().flat_map(Params::iter)),
            seed: live.then(|| lab.seed.to_string()),
            device: device.filter(|_| live).map(|info| format!("{} ({})", info.name, info.id)),
            remark: None,
        };
        let Some(replay) = &lab.run.replay else { return source };
        let params = record::values(&replay.params);
        Source {
            changed: changed(lab.schema, params.iter().map(|(name, value)| (*name, value))),
            seed: replay.params["seed"].as_u64().map(|seed| seed.to_string()),
            remark: Some(replay.origin.clone()),
            ..source
        }
    }

    /// Opens the field for the file; it holds the last one.
    pub(super) fn ask_for_file(&mut self) {
        let Some(lab) = self.lab() else { return };
        let file = self.recall.weights_file.clone();
        let file = file.unwrap_or_else(|| format!("{}.safetensors", lab.schema.kind));
        self.overlay = Some(Overlay::Field(FieldOf::Weights, TextField::over_the_page(file)));
    }

    pub(super) fn save_weights(&mut self) {
        let Some(Overlay::Field(FieldOf::Weights, entry)) = &mut self.overlay else { return };
        let file = entry.text().trim().to_owned();
        if file.is_empty() {
            entry.complaint = Some("the name of a file".to_owned());
            return;
        }
        self.overlay = None;
        // The run may have been replaced while the name was typed.
        let Some(left) = self.lab().map(|lab| weights(lab).cloned()) else { return };
        match left {
            Ok(left) => {
                self.session.is_saving = true;
                self.notify(format!("saving {file}"));
                let save = SaveWeights { left, path: PathBuf::from(&file) };
                self.recall.weights_file = Some(file);
                self.effects.push(Effect::SaveWeights(save));
            }
            Err(why) => self.screen.notice = Some(why.to_string()),
        }
    }
}
