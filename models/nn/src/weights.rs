//! Trained weights as files: burn's own format to go on with here, and safetensors for other programs.

pub mod burn_format;
pub mod hugging_face;
pub mod llama;
pub mod safetensors;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use mlsys_lab::{Artifact, DeviceId};

use crate::baseline::trained::Trained;
use crate::flat_params;
use crate::networks::{Architecture, Initialization, Network};
use mlsys_device as device;

pub const BURNS: &str = "bpk";

const SAFETENSORS: &str = "safetensors";

/// The format of a file of weights; its name's ending says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Burn,
    Safetensors,
    /// A folder with a transformer's weights, configuration and tokenizer.
    Folder,
}

#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    #[error("{}: the name must end in .{BURNS} (to go on with here), .{SAFETENSORS} (for other programs) or / (a folder for transformers)", .0.display())]
    Ending(PathBuf),
    #[error("{}: only a transformer has such a folder; name a file that ends in .{SAFETENSORS}", .0.display())]
    NoFolder(PathBuf),
    #[error("{}: {error}", .path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("{}: there is such a file already; give another name", .0.display())]
    Exists(PathBuf),
    #[error("{}: the weights cannot be written: {reason}", .path.display())]
    Unwritable { path: PathBuf, reason: String },
    /// The file is torn, or something else.
    #[error("{} is no whole file of weights: {reason}", .path.display())]
    Foreign { path: PathBuf, reason: String },
    #[error("{} holds the weights of another network than this {network}:\n  {}", .path.display(), .differences.join("\n  "))]
    Misfit { path: PathBuf, network: String, differences: Vec<String> },
}

/// Why bytes do not become a network or its weights.
#[derive(Debug)]
pub enum DecodeError {
    /// They are torn, contradict themselves, or are something else.
    Foreign(String),
    /// They are another network's; all differences, a line each.
    Misfit(Vec<String>),
    /// They are a model that does not run here; all reasons, a line each.
    Unfit(Vec<String>),
}

impl DecodeError {
    pub(crate) fn in_words(&self) -> String {
        match self {
            Self::Foreign(reason) => reason.clone(),
            Self::Misfit(lines) | Self::Unfit(lines) => lines.join("; "),
        }
    }
}

/// Whether weights can be written to `path`: for a run to know before it starts. The name must end in a known format, and
/// its folder must be there and be writable.
pub fn can_save(path: &Path) -> Result<(), WeightsError> {
    if format(path)? == Format::Folder {
        return fs::create_dir_all(path).map_err(|error| file_error(path, error));
    }
    if path.is_dir() {
        return Err(file_error(path, io::ErrorKind::IsADirectory.into()));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let found = fs::metadata(folder).map_err(|error| file_error(folder, error))?;
    if !found.is_dir() {
        return Err(file_error(folder, io::ErrorKind::NotADirectory.into()));
    }
    let partial = partial(path);
    match fs::File::create_new(&partial) {
        Ok(_) => {
            // An empty file that stays is overwritten at the end of the run.
            let _ = fs::remove_file(&partial);
            Ok(())
        }
        // Another process is writing there now, or was killed while writing.
        Err(_) if partial.is_file() => Ok(()),
        Err(error) => Err(file_error(path, error)),
    }
}

/// The temporary file, in the same folder as `path`, that is written first.
fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// Writes a network in the format that the name's ending says, whole or not at all. The file for other programs says what
/// the network learned, so that labs here can start from it.
pub fn save(trained: &Trained, path: &Path) -> Result<(), WeightsError> {
    let unwritable = |reason: String| WeightsError::Unwritable { path: path.to_owned(), reason };
    match format(path)? {
        Format::Burn => {
            let host = device::open(DeviceId::CPU);
            let host = host.map_err(|error| unwritable(error.to_string()))?;
            let network = trained.network(&host);
            let bytes = burn_format::encode(&network, &trained.architecture);
            write(path, &bytes.map_err(|error| unwritable(error.to_string()))?)
        }
        Format::Safetensors => {
            write(path, &trained.encode().map_err(|error| unwritable(error.to_string()))?)
        }
        Format::Folder => {
            let Architecture::Transformer(config) = &trained.architecture else {
                return Err(WeightsError::NoFolder(path.to_owned()));
            };
            let data = trained.data().map_err(|error| unwritable(error.to_string()))?;
            let language = data.language.ok_or_else(|| WeightsError::NoFolder(path.to_owned()))?;
            fs::create_dir_all(path).map_err(|error| file_error(path, error))?;
            let weights = trained.encode().map_err(|error| unwritable(error.to_string()))?;
            write(&path.join(hugging_face::WEIGHTS), &weights)?;
            for (name, json) in hugging_face::files(config, &language.vocabulary) {
                write(&path.join(name), format!("{json:#}\n").as_bytes())?;
            }
            Ok(())
        }
    }
}

/// Writes the network that a run has left, as [`save`] does, but never over a file that is there.
pub fn save_artifact(left: &Artifact, path: &Path) -> Result<(), WeightsError> {
    let format = format(path)?;
    let taken = match format {
        Format::Folder => path.join(hugging_face::WEIGHTS).exists(),
        Format::Burn | Format::Safetensors => path.symlink_metadata().is_ok(),
    };
    can_save(path)?;
    if taken {
        return Err(WeightsError::Exists(path.to_owned()));
    }
    let trained = Trained::parse(&left.bytes).map_err(|unusable| WeightsError::Unwritable {
        path: path.to_owned(),
        reason: unusable.in_words(),
    })?;
    match format {
        Format::Burn | Format::Folder => save(&trained, path),
        // It is such a file already.
        Format::Safetensors => write(path, &left.bytes),
    }
}

pub fn load(
    network: Network,
    architecture: &Architecture,
    path: &Path,
) -> Result<Network, WeightsError> {
    let format = format(path)?;
    let inside = path.join(hugging_face::WEIGHTS);
    let path = if format == Format::Folder { &inside } else { path };
    let bytes = fs::read(path).map_err(|error| file_error(path, error))?;
    let loaded = match format {
        Format::Burn => burn_format::decode(bytes, network, architecture),
        Format::Safetensors | Format::Folder => safetensors::open(&bytes)
            .and_then(|file| file.row(architecture))
            .map(|row| flat_params::with_weights(network, &row)),
    };
    loaded.map_err(|refusal| match refusal {
        DecodeError::Foreign(reason) => WeightsError::Foreign { path: path.to_owned(), reason },
        DecodeError::Misfit(differences) | DecodeError::Unfit(differences) => {
            WeightsError::Misfit {
                path: path.to_owned(),
                network: architecture.in_words(),
                differences,
            }
        }
    })
}

/// The weights of a network as a row in the module's order, of a file in burn's format.
pub fn row(bytes: &[u8], architecture: &Architecture) -> Result<Vec<f32>, DecodeError> {
    let network = architecture.init(Initialization::Zeros, 0, &Device::flex());
    let network = burn_format::decode(bytes.to_vec(), network, architecture)?;
    let row = flat_params::weights(&network);
    row.map_err(|_| DecodeError::Foreign("it holds a number that is not finite".to_owned()))
}

/// Whether a path names a folder: by the slash at its end, or one that is there and has no ending of a file of weights.
pub fn is_folder(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let is_file = path.extension().is_some_and(|ending| ending == BURNS || ending == SAFETENSORS);
    (path.is_dir() && !is_file)
        || text.last().is_some_and(|&last| std::path::is_separator(last.into()))
}

fn format(path: &Path) -> Result<Format, WeightsError> {
    if is_folder(path) {
        return Ok(Format::Folder);
    }
    match path.extension().and_then(|ending| ending.to_str()) {
        Some(BURNS) => Ok(Format::Burn),
        Some(SAFETENSORS) => Ok(Format::Safetensors),
        Some(_) | None => Err(WeightsError::Ending(path.to_owned())),
    }
}

/// Writes a temporary file and renames it, so that a partial file is never visible.
fn write(path: &Path, bytes: &[u8]) -> Result<(), WeightsError> {
    let partial = partial(path);
    let written = fs::File::create(&partial)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        // The half file is of no use; if it cannot be removed either, the first error is the one to tell.
        let _ = fs::remove_file(&partial);
        file_error(path, error)
    })
}

fn file_error(path: &Path, error: io::Error) -> WeightsError {
    WeightsError::File { path: path.to_owned(), error }
}
