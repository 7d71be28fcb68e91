//! The devices of a run that splits its work: handles of this machine's device, or of worker processes elsewhere.
//!
//! Without addresses every worker gets a handle of the run's own device. With addresses (`--workers`), the workers take
//! the devices of those processes in turn. Reaching one has a time limit of its own, and what is reached must answer a
//! small sum rightly before it is given any work. A failure later, in the middle of a run, is found by the thread that
//! waits for the worker, and by [`read`].

mod address;
#[cfg(feature = "remote")]
mod client;
#[cfg(feature = "remote")]
mod server;

use burn::tensor::{DType, Device, Tensor};
use mlsys_lab::{DeviceId, LabError, Params, Value};

pub use address::{Address, Token, listening};
#[cfg(feature = "remote")]
pub use server::{Server, ServerEvent};

/// The parameter that holds the addresses, separated by commas.
pub const PARAM: &str = "worker_urls";

/// How to have what this build may lack.
pub const BUILD: &str =
    "build mlsys with worker processes: cargo build --release --features remote";

/// One worker's device.
#[derive(Clone, Debug)]
pub struct WorkerDevice {
    /// The handle, without autodiff.
    pub device: Device,
    /// What it is called: `cpu`, or the address of a process.
    pub place: String,
}

/// The devices of `count` workers, by rank; none if `interrupted` says meanwhile that the run is to end.
///
/// # Errors
/// The run's device cannot be opened, an address does not read or is not of this machine, or no worker process that
/// can be used answers there in time; the sentence says which and what to do.
pub fn of(
    id: DeviceId,
    params: &Params,
    count: usize,
    interrupted: &dyn Fn() -> bool,
) -> Result<Option<Vec<WorkerDevice>>, LabError> {
    match params.get(PARAM).and_then(Value::as_str) {
        None => {
            let device = super::open(id)?;
            let one = WorkerDevice { device, place: id.to_string() };
            Ok(Some(vec![one; count]))
        }
        Some(list) => {
            let read = addresses(list);
            let read = read.map_err(|reason| LabError::contradiction([PARAM], reason))?;
            elsewhere(&read, count, interrupted)
        }
    }
}

/// A list of addresses as it is typed, without their tokens, which are kept for when the workers are reached: the list
/// is recorded with the run, and shown.
///
/// # Errors
/// What is wrong with it.
pub fn urls(list: &str) -> Result<String, String> {
    let read = addresses(list)?;
    read.iter().for_each(address::keep_token);
    let describe_places: Vec<String> = read.iter().map(ToString::to_string).collect();
    Ok(describe_places.join(","))
}

/// The addresses of a list.
fn addresses(list: &str) -> Result<Vec<Address>, String> {
    let read = |text: &str| Address::parse(text.trim());
    let addresses: Vec<Address> = list.split(',').map(read).collect::<Result<_, _>>()?;
    for (place, address) in addresses.iter().enumerate() {
        let sockets = address.sockets();
        let is_same = |other: &&Address| other.sockets().iter().any(|own| sockets.contains(own));
        if let Some(other) = addresses.iter().take(place).find(is_same) {
            let too = if other.to_string() == address.to_string() {
                String::new()
            } else {
                format!(", as {other} before")
            };
            return Err(format!(
                "{address} is there twice{too}; name each worker process once, workers take them in turn"
            ));
        }
    }
    Ok(addresses)
}

#[cfg(feature = "remote")]
fn elsewhere(
    addresses: &[Address],
    count: usize,
    interrupted: &dyn Fn() -> bool,
) -> Result<Option<Vec<WorkerDevice>>, LabError> {
    client::connect(addresses, count, interrupted)
}

#[cfg(not(feature = "remote"))]
fn elsewhere(
    _addresses: &[Address],
    _count: usize,
    _interrupted: &dyn Fn() -> bool,
) -> Result<Option<Vec<WorkerDevice>>, LabError> {
    Err(LabError::Worker(format!("this mlsys cannot use devices of other processes; {BUILD}")))
}

/// What the workers ran on, as the record and the screen tell it: `cpu`, or the places by rank.
pub fn describe_places<'a>(places: impl IntoIterator<Item = &'a str>) -> String {
    let places: Vec<&str> = places.into_iter().collect();
    match places.as_slice() {
        [first, rest @ ..] if rest.iter().all(|place| place == first) => (*first).to_owned(),
        all => all.join(", "),
    }
}

/// The numbers of a tensor, which must be as many as its shape says here: a device elsewhere may have ended, or give
/// back something else than was asked.
///
/// # Errors
/// What happened, as the end of a sentence that begins with the worker.
pub fn read<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, String> {
    let expected = tensor.shape();
    let data = tensor
        .try_into_data()
        .map_err(|error| format!("does not give back its numbers ({}); {ENDED}", cause(&error)))?;
    if data.shape() != &expected || data.dtype() != DType::F32 {
        return Err(format!(
            "gave back a tensor of shape {:?} and type {:?} where {:?} and {:?} belong; it is not a worker of this \
             version of mlsys: start it again from this one",
            data.shape().to_vec(),
            data.dtype(),
            expected.to_vec(),
            DType::F32,
        ));
    }
    let count = expected.num_elements();
    let numbers = data
        .try_into_vec::<f32>()
        .map_err(|error| format!("gave back numbers that do not read: {error:?}"))?;
    if numbers.len() == count {
        Ok(numbers)
    } else {
        Err(format!(
            "gave back {} numbers where {count} belong; start it again from this version of mlsys",
            numbers.len()
        ))
    }
}

/// What it means that a device does not answer any more.
const ENDED: &str = "the device is lost, or its process has ended and must be started again";

/// The reason of an error, without the trace that it carries.
fn cause(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("no reason given")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_once_where_all_are_the_same() {
        assert_eq!(describe_places(["cpu", "cpu", "cpu"]), "cpu");
        assert_eq!(describe_places(["ws://a:1", "ws://a:2"]), "ws://a:1, ws://a:2");
        assert_eq!(describe_places([]), "");
    }

    #[test]
    fn numbers_come_back_as_they_went() {
        let tensor = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0]], &Device::flex());
        assert_eq!(read(tensor), Ok(vec![1.0, 2.0, 3.0, 4.0]));
    }

    #[test]
    fn a_list_of_addresses_reads_or_says_what_is_wrong_with_it() {
        let list = addresses("ws://127.0.0.1:4100, localhost:4101").unwrap();
        let describe_places: Vec<String> = list.iter().map(ToString::to_string).collect();
        assert_eq!(describe_places, ["ws://127.0.0.1:4100", "ws://localhost:4101"]);
        for (list, reason) in [
            ("", "no address"),
            ("ws://127.0.0.1:4100,", "no address"),
            ("ws://127.0.0.1:4100,127.0.0.1:4100", "there twice"),
            ("localhost:4100,127.0.0.1:4100", "as ws://localhost:4100 before"),
            ("ws://gpu.example:4100", "ssh -N -L"),
        ] {
            let error = addresses(list).unwrap_err();
            assert!(error.contains(reason), "{list}: {error}");
        }
    }

    #[test]
    fn tokens_stay_out_of_the_list_that_is_recorded() {
        let list = urls("ws://127.0.0.1:4100/#cafe01, 127.0.0.1:4101/").unwrap();
        assert_eq!(list, "ws://127.0.0.1:4100,ws://127.0.0.1:4101");
    }

    #[cfg(not(feature = "remote"))]
    #[test]
    fn a_build_without_worker_processes_says_how_to_have_them() {
        let addresses = addresses("ws://127.0.0.1:4100").unwrap();
        let error = elsewhere(&addresses, 2, &|| false).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("--features remote"), "{error}");
    }
}
