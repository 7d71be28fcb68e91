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

pub use address::{Address, AddressError, Token, listening};
#[cfg(feature = "remote")]
pub use server::{Server, ServerEvent};

pub const PARAM: &str = "worker_urls";

pub const BUILD: &str =
    "build mlsys with worker processes: cargo build --release --features remote";

#[derive(Clone, Debug)]
pub struct WorkerDevice {
    pub device: Device,
    /// What it is called: `cpu`, or the address of a process.
    pub place: String,
}

/// The devices of `count` workers, by rank; none if `interrupted` says meanwhile that the run is to end. An error says what
/// to do: where an address does not read or is not of this machine, or no usable worker process answers there in time.
pub fn devices(
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
            let read = read.map_err(|error| LabError::contradiction([PARAM], error.to_string()))?;
            elsewhere(&read, count, interrupted)
        }
    }
}

/// A list of addresses as it is typed, without their tokens, which are kept for when the workers are reached: the list
/// is recorded with the run, and shown.
pub fn urls(list: &str) -> Result<String, AddressError> {
    let read = addresses(list)?;
    read.iter().for_each(address::keep_token);
    let places: Vec<String> = read.iter().map(ToString::to_string).collect();
    Ok(places.join(","))
}

fn addresses(list: &str) -> Result<Vec<Address>, AddressError> {
    let read = |text: &str| Address::parse(text.trim());
    let addresses: Vec<Address> = list.split(',').map(read).collect::<Result<_, _>>()?;
    for (place, address) in addresses.iter().enumerate() {
        let sockets = address.sockets();
        let is_same = |other: &&Address| other.sockets().iter().any(|own| sockets.contains(own));
        if let Some(other) = addresses.iter().take(place).find(is_same) {
            let (address, other) = (address.to_string(), other.to_string());
            let before =
                if address == other { String::new() } else { format!(", as {other} before") };
            return Err(AddressError::Twice { address, before });
        }
    }
    Ok(addresses)
}

#[cfg(feature = "remote")]
use client::connect as elsewhere;

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

/// Why a device elsewhere does not give its numbers, as the end of a sentence that begins with the worker: it may have
/// ended, or give back something else than was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error(
        "does not give back its numbers ({0}); the device is lost, or its process has ended and must be started again"
    )]
    Lost(String),
    #[error(
        "gave back a tensor of shape {shape:?} and type {dtype:?} where {wanted:?} and F32 belong; it is not a worker of \
         this version of mlsys: start it again from this one"
    )]
    Shape { shape: Vec<usize>, dtype: DType, wanted: Vec<usize> },
    #[error("gave back numbers that do not read: {0}")]
    Data(String),
    #[error(
        "gave back {found} numbers where {wanted} belong; start it again from this version of mlsys"
    )]
    Count { found: usize, wanted: usize },
}

/// The numbers of a tensor, which must be as many as its shape says here.
pub fn read<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, ReadError> {
    let expected = tensor.shape();
    let data = tensor.try_into_data().map_err(|error| ReadError::Lost(first_line(&error)))?;
    if data.shape() != &expected || data.dtype() != DType::F32 {
        let (shape, wanted) = (data.shape().to_vec(), expected.to_vec());
        return Err(ReadError::Shape { shape, dtype: data.dtype(), wanted });
    }
    let numbers =
        data.try_into_vec::<f32>().map_err(|error| ReadError::Data(format!("{error:?}")))?;
    let (found, wanted) = (numbers.len(), expected.num_elements());
    if found == wanted { Ok(numbers) } else { Err(ReadError::Count { found, wanted }) }
}

/// The reason of an error, without the trace that it carries.
fn first_line(error: &impl std::fmt::Display) -> String {
    let text = error.to_string();
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or("no reason given").to_owned()
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
    fn address_lists_are_checked() {
        let list = addresses("ws://127.0.0.1:4100, localhost:4101").unwrap();
        let places: Vec<String> = list.iter().map(ToString::to_string).collect();
        assert_eq!(places, ["ws://127.0.0.1:4100", "ws://localhost:4101"]);
        for (list, reason) in [
            ("", "no address"),
            ("ws://127.0.0.1:4100,", "no address"),
            ("ws://127.0.0.1:4100,127.0.0.1:4100", "there twice"),
            ("localhost:4100,127.0.0.1:4100", "as ws://localhost:4100 before"),
            ("ws://gpu.example:4100", "ssh -N -L"),
        ] {
            let error = addresses(list).unwrap_err().to_string();
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
    fn a_build_without_workers_explains_the_feature() {
        let addresses = addresses("ws://127.0.0.1:4100").unwrap();
        let error = elsewhere(&addresses, 2, &|| false).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("--features remote"), "{error}");
    }
}
