//! Artifacts of recorded runs, and files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use mlsys_lab::nearest::nearest;
use mlsys_lab::{Artifact, UnknownKind};
use mlsys_nn::weights::{self, llama};

use super::Sources;
use crate::record::{self, RecordError, RunStatus};

/// The kind of artifact that a folder can hold.
const NETWORK: &str = "network";

const ENDING: &str = "safetensors";

/// The endings of files that can be named: weights in the format of other programs, and in burn's own.
const ENDINGS: [&str; 2] = [ENDING, "bpk"];

/// More bytes than any network of a lab here has.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub(super) enum RecordedError {
    #[error("no earlier lab here is called '{}', {}{reason}", .name.escape_debug(), match near {
        Some(near) => format!("did you mean '{near}'? "),
        None => String::new(),
    })]
    Unknown { name: String, near: Option<String>, reason: String },
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Lab(#[from] UnknownKind),
    #[error("the recorded run {run} is one of lab {lab}, which leaves no {kind}")]
    OtherLab { run: String, lab: String, kind: String },
    #[error("the recorded run {0} is still going on")]
    GoingOn(String),
    #[error("the recorded run {0} was cut off before its end")]
    CutOff(String),
    #[error("the recorded run {run} diverged at step {step}, and left no {kind}")]
    Diverged { run: String, step: u64, kind: String },
    #[error(
        "the recorded run {run} has left no {kind}: it was recorded by an earlier version, failed, or made one larger than is kept"
    )]
    NoArtifact { run: String, kind: String },
    #[error(
        "the recorded run {run} did not come to its end ({outcome}); to use what it left all the same, name its file: {}",
        file.display()
    )]
    Unfinished { run: String, outcome: String, file: PathBuf },
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("no model can be read from the folder {}:\n  {problems}", path.display())]
    Folder { path: PathBuf, problems: String },
    #[error("{}: {bytes} bytes are more than any {kind} of a lab here has", path.display())]
    TooLarge { path: PathBuf, bytes: u64, kind: String },
}

/// The artifact of a recorded run, or in a file; `ids` are the earlier labs of the lesson.
pub(super) fn artifact(
    name: &str,
    kind: &str,
    sources: &Sources,
    ids: &[&str],
) -> Result<Arc<Artifact>, RecordedError> {
    let path = Path::new(name);
    // A network is also a folder with a model, as the Hugging Face hub has it; a folder that only has the name of a run is
    // none.
    let is_named = name.contains(std::path::is_separator) || path.join("config.json").exists();
    if kind == NETWORK && is_named && weights::is_folder(path) {
        let packed = llama::pack(path).map_err(|problems| RecordedError::Folder {
            path: path.to_owned(),
            problems: problems.join("\n  "),
        })?;
        return Ok(Arc::new(Artifact {
            kind: kind.to_owned(),
            ending: llama::ENDING.to_owned(),
            about: name.to_owned(),
            unfinished: None,
            bytes: packed,
        }));
    }
    let ending = path.extension().and_then(|ending| ending.to_str());
    if let Some(ending) = ending.filter(|ending| ENDINGS.contains(ending)) {
        return read(path, ending, kind, name.to_owned());
    }
    // The kind of artifact that runs of a lab leave.
    let yields = |lab: &str| -> Result<Option<&str>, UnknownKind> {
        Ok(sources.registry.find(lab)?.schema().yields.as_deref())
    };
    let unknown = |reason: String| RecordedError::Unknown {
        name: name.to_owned(),
        near: nearest(name, ids.iter().copied()).map(str::to_owned),
        reason,
    };
    let runs = sources.runs.as_deref();
    let runs = runs.ok_or_else(|| unknown("and runs are not recorded here".to_owned()))?;
    // The run that asks is recorded too, and is the newest of all.
    let leaves_it = |folder: &Path| {
        record::summary(folder).is_ok_and(|run| {
            run.status != RunStatus::GoingOn
                && yields(run.lab()).is_ok_and(|left| left == Some(kind))
        })
    };
    let of = format!(" of a lab that leaves a {kind}");
    let folder = record::find_counting(runs, name, &of, leaves_it)
        .map_err(|error| unknown(format!("and among recorded runs: {error}")))?;
    let summary = record::summary(&folder)?;
    let (run, kind_name) = (summary.name.clone(), kind.to_owned());
    if yields(summary.lab())? != Some(kind) {
        let lab = summary.lab().to_owned();
        return Err(RecordedError::OtherLab { run, lab, kind: kind_name });
    }
    match &summary.status {
        RunStatus::GoingOn => return Err(RecordedError::GoingOn(run)),
        RunStatus::CutOff => return Err(RecordedError::CutOff(run)),
        RunStatus::Ended(_) => {}
    }
    let file = folder.join(format!("{kind}.{ENDING}"));
    if !file.is_file() {
        return Err(match record::open(&folder)?.data.diverged {
            Some((step, _)) => RecordedError::Diverged { run, step, kind: kind_name },
            None => RecordedError::NoArtifact { run, kind: kind_name },
        });
    }
    if summary.status.word() != "finished" {
        let outcome = summary.status.word().to_owned();
        return Err(RecordedError::Unfinished { run, outcome, file });
    }
    read(&file, ENDING, kind, format!("the recorded run {run}"))
}

fn read(
    path: &Path,
    ending: &str,
    kind: &str,
    about: String,
) -> Result<Arc<Artifact>, RecordedError> {
    let failed = |error| RecordedError::Io { path: path.to_owned(), error };
    let bytes = fs::metadata(path).map_err(failed)?.len();
    if bytes > MAX_BYTES {
        return Err(RecordedError::TooLarge {
            path: path.to_owned(),
            bytes,
            kind: kind.to_owned(),
        });
    }
    Ok(Arc::new(Artifact {
        kind: kind.to_owned(),
        ending: ending.to_owned(),
        about,
        unfinished: None,
        bytes: fs::read(path).map_err(failed)?,
    }))
}
