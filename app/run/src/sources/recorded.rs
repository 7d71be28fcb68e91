//! What recorded runs have left, and files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use mlsys_lab::Artifact;
use mlsys_lab::nearest::nearest;

use crate::record::{self, RunStatus};

/// The ending of files that hold what recorded runs leave.
const ENDING: &str = "safetensors";

/// The endings of files that can be named: what other programs leave too, and weights in burn's own format.
const ENDINGS: [&str; 2] = [ENDING, "bpk"];

/// Files larger than this are no network of a lab here, in bytes.
const LARGEST: u64 = 64 << 20;

/// What a recorded run, or a file, holds.
pub(super) fn artifact(
    name: &str,
    kind: &str,
    runs: Option<&Path>,
    ids: &[&str],
) -> Result<Arc<Artifact>, String> {
    let path = Path::new(name);
    let ending = path.extension().and_then(|ending| ending.to_str());
    if let Some(ending) = ending.filter(|ending| ENDINGS.contains(ending)) {
        return read((path, ending), kind, name.to_owned());
    }
    let runs = runs.ok_or_else(|| unknown(name, ids, "and runs are not recorded here"))?;
    // The run that asks is recorded too, and is the newest of all.
    let leaves_it = |folder: &Path| {
        record::summary(folder).is_ok_and(|run| {
            run.status != RunStatus::GoingOn
                && leaves(run.lab()).is_ok_and(|left| left == Some(kind))
        })
    };
    let of = format!(" of a lab that leaves a {kind}");
    let folder = record::find_counting(runs, name, &of, leaves_it)
        .map_err(|reason| unknown(name, ids, &format!("and among recorded runs: {reason}")))?;
    let summary = record::summary(&folder).map_err(|error| error.to_string())?;
    let run = format!("the recorded run {}", summary.name);
    if leaves(summary.lab())? != Some(kind) {
        return Err(format!("{run} is one of lab {}, which leaves no {kind}", summary.lab()));
    }
    let file = folder.join(format!("{kind}.{ENDING}"));
    match &summary.status {
        RunStatus::GoingOn => return Err(format!("{run} is still going on")),
        RunStatus::CutOff => return Err(format!("{run} was cut off before its end")),
        RunStatus::Ended(_) => {}
    }
    if !file.is_file() {
        let past = record::open(&folder).map_err(|error| error.to_string())?;
        return Err(match past.data.diverged {
            Some((step, _)) => format!("{run} diverged at step {step}, and left no {kind}"),
            None => format!(
                "{run} has left no {kind}: it was recorded by an earlier version, failed, or made one larger than is kept"
            ),
        });
    }
    if summary.status.word() != "finished" {
        return Err(format!(
            "{run} did not come to its end ({}); to use what it left all the same, name its file: {}",
            summary.status.word(),
            file.display()
        ));
    }
    read((&file, ENDING), kind, run)
}

/// What runs of a lab leave for others.
fn leaves(lab: &str) -> Result<Option<&'static str>, String> {
    let lab = mlsys_registry::registry().find(lab);
    let lab = lab.map_err(|error| error.to_string())?;
    Ok(lab.schema().yields.as_deref())
}

fn read((path, ending): (&Path, &str), kind: &str, about: String) -> Result<Arc<Artifact>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let size = fs::metadata(path).map_err(failed)?.len();
    if size > LARGEST {
        return Err(format!(
            "{}: {size} bytes are more than any {kind} of a lab here has",
            path.display()
        ));
    }
    Ok(Arc::new(Artifact {
        kind: kind.to_owned(),
        ending: ending.to_owned(),
        about,
        unfinished: None,
        bytes: fs::read(path).map_err(failed)?,
    }))
}

fn unknown(name: &str, ids: &[&str], more: &str) -> String {
    let hint = match nearest(name, ids.iter().copied()) {
        Some(near) => format!("did you mean '{near}'? "),
        None => String::new(),
    };
    let name = name.escape_debug();
    format!("no earlier lab here is called '{name}', {hint}{more}")
}
