//! Reaching worker processes: within a time limit, and not believed until they have done a sum.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use burn::remote::{ConnectError, RemoteHost};
use burn::tensor::{Device, Tensor};
use mlsys_lab::LabError;

use super::{Address, WorkerDevice, read};

/// How long opening a connection to a port of this machine may take.
const KNOCK: Duration = Duration::from_secs(3);

/// How long a worker process may take until it has answered its first sum; it may be behind a slow line.
const ANSWER: Duration = Duration::from_secs(15);

/// How often each address has been given up: burn keeps a session for the life of the program, a dead one too, and
/// tells sessions apart by what they present.
static GIVEN_UP: Mutex<BTreeMap<Address, u32>> = Mutex::new(BTreeMap::new());

/// A device for each of `count` workers, which take the processes in turn; each has a session of its own.
pub(super) fn connect(addresses: &[Address], count: usize) -> Result<Vec<WorkerDevice>, LabError> {
    let one = |rank: usize| {
        let address = &addresses[rank % addresses.len()];
        let device = reach(address, rank / addresses.len())
            .map_err(|reason| LabError::Worker(format!("worker {rank} ({address}) {reason}")))?;
        Ok(WorkerDevice {
            device,
            place: address.to_string(),
        })
    };
    (0..count).map(one).collect()
}

/// A session with the process at an address, the `slot`th of this program.
fn reach(address: &Address, slot: usize) -> Result<Device, String> {
    knock(address)?;
    let mut given_up = GIVEN_UP.lock().unwrap_or_else(PoisonError::into_inner);
    let before = given_up.entry(address.clone()).or_default();
    let mut tried = session(address, *before, slot);
    let may_be_old = tried.is_err() && *before > 0;
    if may_be_old || matches!(tried, Err(Trouble::Stale(_))) {
        // The session may be an old one, of a process that has ended and was started again since.
        *before += 1;
        tried = session(address, *before, slot);
    }
    tried.map_err(|trouble| {
        *before += 1;
        trouble.told()
    })
}

/// Whether anybody listens: the quick answer to the most frequent mistake.
fn knock(address: &Address) -> Result<(), String> {
    let sockets = address
        .sockets()
        .map_err(|error| format!("has no address: {error}"))?;
    let mut last = None;
    for socket in sockets {
        match TcpStream::connect_timeout(&socket, KNOCK) {
            Ok(_) => return Ok(()),
            Err(error) => last = Some(error),
        }
    }
    Err(match last {
        Some(error) if error.kind() == ErrorKind::ConnectionRefused => format!(
            "cannot be reached: nobody listens there; start it (mlsys worker --listen {}), or the ssh tunnel to it",
            address.to_string().trim_start_matches("ws://")
        ),
        Some(error) => format!("cannot be reached: {error}"),
        None => "cannot be reached: its name has no address".to_owned(),
    })
}

/// Why there is no session.
enum Trouble {
    /// A session that was open does not answer any more.
    Stale(String),
    /// Anything else.
    Other(String),
}

impl Trouble {
    fn told(self) -> String {
        match self {
            Self::Stale(reason) | Self::Other(reason) => reason,
        }
    }
}

/// Opens the session or takes the one that is open, and has it do a sum.
fn session(address: &Address, generation: u32, slot: usize) -> Result<Device, Trouble> {
    let host =
        RemoteHost::websocket(&address.to_string()).with_credential(format!("{generation}.{slot}"));
    let opening = move || -> Result<_, ConnectError> {
        let device = Device::remote_options(&host).init()?;
        let sum = Tensor::<2>::from_floats([[1.5, 2.5, 40.0], [0.0, -1.0, 8.0]], &device)
            + Tensor::<2>::from_floats([[0.25, 0.5, 2.0], [0.0, 1.0, 0.5]], &device);
        Ok((device, read(sum)))
    };
    match within(ANSWER, opening) {
        None => Err(Trouble::Other(format!(
            "did not answer within {} s: it hangs, is stopped, or is no worker of mlsys; look at it, end it, start it again",
            ANSWER.as_secs()
        ))),
        Some(Err(panic)) => Err(Trouble::Other(format!("cannot be used: {panic}"))),
        Some(Ok(Err(error))) => Err(Trouble::Other(refused(&error))),
        Some(Ok(Ok((_, Err(reason))))) => Err(Trouble::Stale(reason)),
        Some(Ok(Ok((device, Ok(sum))))) if sum == [1.75, 3.0, 42.0, 0.0, 0.0, 8.5] => Ok(device),
        Some(Ok(Ok((_, Ok(sum))))) => Err(Trouble::Other(format!(
            "does not compute: 1.75, 3, 42, 0, 0 and 8.5 are {sum:?} there; do not use it"
        ))),
    }
}

/// Why a connection is no session.
fn refused(error: &ConnectError) -> String {
    if let ConnectError::IncompatibleProtocol {
        client_version,
        server_version,
    } = error
    {
        return format!(
            "is of another version: it speaks version {server_version} of burn's protocol, and this mlsys {client_version}; \
             start it from the same version of mlsys as this one"
        );
    }
    format!("is not a worker that can be used: {error}; is it a `mlsys worker` of this version?")
}

/// What a call gives within a time limit; a panic is a sentence. A call that hangs keeps its thread: there is no way to
/// end one from outside.
fn within<T: Send + 'static>(
    limit: Duration,
    call: impl FnOnce() -> T + Send + 'static,
) -> Option<Result<T, String>> {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::Builder::new()
        .name("run-worker-connect".to_owned())
        .spawn(move || {
            // Whoever waited may have given up; then nobody wants the answer.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(call)));
        });
    if let Err(error) = thread {
        return Some(Err(format!("no thread could be started for it: {error}")));
    }
    match receiver.recv_timeout(limit) {
        Ok(Ok(value)) => Some(Ok(value)),
        Ok(Err(payload)) => {
            let text = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied());
            let line = text.and_then(|text| text.lines().next());
            Some(Err(line.unwrap_or("it broke off").to_owned()))
        }
        Err(RecvTimeoutError::Disconnected) => Some(Err("it ended without an answer".to_owned())),
        Err(RecvTimeoutError::Timeout) => None,
    }
}
