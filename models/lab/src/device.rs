//! Names of devices and the rules for choosing one; probing and opening them is the networks' business.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::named_enum;
use crate::nearest::nearest;

/// What a user asks for with `--device` or `MLSYS_DEVICE`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best there is: CUDA, else a hardware GPU through wgpu, else the CPU.
    #[default]
    Auto,
    /// This back end's first usable device.
    First(Backend),
    /// Exactly this device.
    Exactly(DeviceId),
}

named_enum! {
    /// The ways to compute, in the order of preference.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Backend {
        /// NVIDIA's CUDA.
        Cuda = "cuda",
        /// Vulkan, Metal or Direct3D through wgpu.
        Wgpu = "wgpu",
        /// The processor, through burn's flex back end.
        Cpu = "cpu",
    }
}

/// One device of one back end, written `cpu`, `wgpu:0` or `cuda:1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct DeviceId {
    /// The back end.
    pub backend: Backend,
    /// Which of its devices, from 0.
    pub index: usize,
}

/// A device as probing found it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Its name on the command line.
    pub id: DeviceId,
    /// The name its maker gave it.
    pub name: String,
    /// Memory in bytes, where the driver reports it.
    pub memory_bytes: Option<u64>,
    /// Number formats it computes with, such as `f32`.
    pub precisions: Vec<String>,
    /// Driver or back end version, where it is known.
    pub driver: Option<String>,
    /// Whether labs can run on it.
    pub state: DeviceState,
}

/// Whether labs can run on a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceState {
    /// Ready.
    Usable,
    /// It works but is the processor in disguise: only used when asked for by name.
    Software,
    /// Not usable, and why.
    Unusable(String),
}

impl DeviceId {
    /// The processor.
    pub const CPU: Self = Self { backend: Backend::Cpu, index: 0 };
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.backend {
            Backend::Cpu => f.write_str("cpu"),
            Backend::Cuda | Backend::Wgpu => write!(f, "{}:{}", self.backend, self.index),
        }
    }
}

impl From<DeviceId> for String {
    fn from(id: DeviceId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for DeviceId {
    type Error = ParseDeviceError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.parse()? {
            DeviceChoice::Exactly(id) => Ok(id),
            DeviceChoice::Auto | DeviceChoice::First(_) => {
                Err(ParseDeviceError { text, nearest: None })
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::First(backend) => write!(f, "{backend}"),
            Self::Exactly(id) => write!(f, "{id}"),
        }
    }
}

/// A text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a device{}; write auto, cpu, wgpu, wgpu:N, cuda or cuda:N", hint(.nearest))]
pub struct ParseDeviceError {
    text: String,
    nearest: Option<&'static str>,
}

fn hint(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean '{name}'?"))
}

impl FromStr for DeviceChoice {
    type Err = ParseDeviceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, index) = match text.split_once(':') {
            Some((name, index)) => (name, Some(index.parse::<usize>())),
            None => (text, None),
        };
        let backend = name.parse().ok();
        match (name, backend, index) {
            ("auto", _, None) => Ok(Self::Auto),
            (_, Some(Backend::Cpu), None) => Ok(Self::Exactly(DeviceId::CPU)),
            (_, Some(backend), None) => Ok(Self::First(backend)),
            (_, Some(backend @ (Backend::Cuda | Backend::Wgpu)), Some(Ok(index))) => {
                Ok(Self::Exactly(DeviceId { backend, index }))
            }
            _ => Err(ParseDeviceError {
                text: text.escape_debug().to_string(),
                nearest: nearest(name, ["auto", "cpu", "wgpu", "cuda"]),
            }),
        }
    }
}

/// A device that cannot be had, with what is there instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no usable device '{wanted}': {reason}; usable here: {usable}")]
pub struct NoDevice {
    /// What was asked for.
    pub wanted: String,
    /// Why it cannot be had.
    pub reason: String,
    /// The usable devices by name.
    pub usable: String,
}

/// Picks the device for a choice out of what probing found; `acceptable` is a lesson's list, in its order of preference.
pub fn choose(
    choice: DeviceChoice,
    found: &[DeviceInfo],
    acceptable: &[Backend],
) -> Result<DeviceId, NoDevice> {
    // A software adapter is chosen only where the back end was asked for by name.
    let first = |backend: Backend, state: DeviceState| {
        let mut found = found.iter();
        found.find(|info| info.id.backend == backend && info.state == state).map(|info| info.id)
    };
    match choice {
        DeviceChoice::Auto => {
            let mut usable = acceptable.iter().map(|&backend| first(backend, DeviceState::Usable));
            usable.find_map(|id| id).ok_or_else(|| {
                let names: Vec<_> = acceptable.iter().map(|backend| backend.name()).collect();
                no_device(&names.join(" or "), "none was found", found)
            })
        }
        DeviceChoice::First(backend) => {
            let software = || first(backend, DeviceState::Software);
            first(backend, DeviceState::Usable).or_else(software).ok_or_else(|| {
                let mut own = found.iter().filter(|info| info.id.backend == backend);
                let reason = own
                    .find_map(reason_of)
                    .unwrap_or_else(|| format!("no {backend} device was found"));
                no_device(backend.name(), &reason, found)
            })
        }
        DeviceChoice::Exactly(id) => match found.iter().find(|info| info.id == id) {
            None => Err(no_device(&id.to_string(), "no such device was found", found)),
            Some(info) => match reason_of(info) {
                Some(reason) => Err(no_device(&id.to_string(), &reason, found)),
                None => Ok(id),
            },
        },
    }
}

/// Why a device cannot be used, where it cannot.
fn reason_of(info: &DeviceInfo) -> Option<String> {
    if let DeviceState::Unusable(reason) = &info.state { Some(reason.clone()) } else { None }
}

fn no_device(wanted: &str, reason: &str, found: &[DeviceInfo]) -> NoDevice {
    let usable: Vec<_> = found
        .iter()
        .filter(|info| reason_of(info).is_none())
        .map(|info| format!("{} ({})", info.id, info.name))
        .collect();
    NoDevice { wanted: wanted.to_owned(), reason: reason.to_owned(), usable: usable.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(backend: Backend, index: usize, state: DeviceState) -> DeviceInfo {
        DeviceInfo {
            id: DeviceId { backend, index },
            name: format!("{backend} device"),
            memory_bytes: None,
            precisions: vec!["f32".into()],
            driver: None,
            state,
        }
    }

    #[test]
    fn device_names_read_and_print() {
        for name in ["auto", "cpu", "wgpu", "wgpu:0", "cuda", "cuda:3"] {
            assert_eq!(name.parse::<DeviceChoice>().unwrap().to_string(), name);
        }
        for name in ["", "gpu", "cpu:1", "cuda:", "cuda:-1", "wgpu:x", "auto:0", "cuda:0:0"] {
            assert!(name.parse::<DeviceChoice>().is_err(), "{name}");
        }
        let message = "wpgu".parse::<DeviceChoice>().unwrap_err().to_string();
        assert!(message.contains("did you mean 'wgpu'?"), "{message}");
    }

    #[test]
    fn auto_picks_the_best_hardware_device() {
        let cpu = info(Backend::Cpu, 0, DeviceState::Usable);
        let software = info(Backend::Wgpu, 0, DeviceState::Software);
        let gpu = info(Backend::Wgpu, 1, DeviceState::Usable);
        let broken = info(Backend::Cuda, 0, DeviceState::Unusable("no NVRTC".into()));
        let pick = |found: &[DeviceInfo], choice: &str| {
            choose(choice.parse().unwrap(), found, &Backend::ALL).map(|id| id.to_string())
        };
        let all = [cpu.clone(), software.clone(), gpu, broken];
        assert_eq!(pick(&all, "auto"), Ok("wgpu:1".into()));
        assert_eq!(pick(&all, "wgpu"), Ok("wgpu:1".into()));
        assert_eq!(pick(&[cpu.clone(), software.clone()], "auto"), Ok("cpu".into()));
        assert_eq!(pick(&[cpu, software], "wgpu"), Ok("wgpu:0".into()));
        let error = pick(&all, "cuda").unwrap_err().to_string();
        assert!(error.contains("no NVRTC") && error.contains("cpu (cpu device)"), "{error}");
    }

    #[test]
    fn a_missing_device_lists_the_usable_ones() {
        let cpu = info(Backend::Cpu, 0, DeviceState::Usable);
        let error = choose(DeviceChoice::Auto, &[cpu], &[Backend::Cuda]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no usable device 'cuda': none was found; usable here: cpu (cpu device)"
        );
    }
}
