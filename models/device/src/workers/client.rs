//! Reaching worker processes: within a time limit, and not believed until they have done a sum.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use burn::remote::{ConnectError, RemoteHost};
use burn::tensor::{Device, Tensor};
use burn_communication::guard;
use mlsys_lab::LabError;

use super::address::kept_token;
use super::{Address, ReadError, Token, WorkerDevice, read};

/// How long opening a connection to a port of this machine may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a worker process may take until it has answered its first sum; it may be behind a slow line.
const SESSION_TIMEOUT: Duration = Duration::from_secs(15);

/// How long waiting goes on until it is asked whether the run is to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How often each process has been given up: burn keeps a session for the life of the program, a dead one too, and
/// tells sessions apart by what they present.
static ABANDONED: Mutex<BTreeMap<SocketAddr, u32>> = Mutex::new(BTreeMap::new());

/// A device for each of `count` workers, each in a session of its own, over the processes in turn. None on a stop.
pub(super) fn connect(
    addresses: &[Address],
    count: usize,
    interrupted: &dyn Fn() -> bool,
) -> Result<Option<Vec<WorkerDevice>>, LabError> {
    let mut devices = Vec::with_capacity(count);
    for rank in 0..count {
        let address = &addresses[rank % addresses.len()];
        let deadline = Deadline { limit: SESSION_TIMEOUT, interrupted };
        match reach(address, rank / addresses.len(), deadline) {
            Ok(device) => devices.push(WorkerDevice { device, place: address.to_string() }),
            Err(SessionError::Ended) => return Ok(None),
            Err(error) => {
                return Err(LabError::Worker(format!("worker {rank} ({address}) {error}")));
            }
        }
    }
    Ok(Some(devices))
}

#[derive(Clone, Copy)]
struct Deadline<'a> {
    limit: Duration,
    interrupted: &'a dyn Fn() -> bool,
}

/// A session with the process at an address, the `slot`th of this program.
fn reach(address: &Address, slot: usize, deadline: Deadline<'_>) -> Result<Device, SessionError> {
    let sockets = address.sockets().to_vec();
    let most = CONNECT_TIMEOUT * u32::try_from(sockets.len() + 1).unwrap_or(u32::MAX);
    let knocking = Deadline { limit: most, ..deadline };
    let socket = within(knocking, move || connect_first(&sockets))??;
    let mut before = abandoned(socket, 0);
    let mut tried = session(socket, before, slot, deadline);
    let again = match &tried {
        Err(SessionError::Stale(_)) => true,
        // A worker that let one time limit pass would let a second pass as well.
        Err(SessionError::Silent(_) | SessionError::Ended) | Ok(_) => false,
        // The session may be an old one, of a process that has ended and was started again since.
        Err(_) => before > 0,
    };
    if again {
        before = abandoned(socket, 1);
        tried = session(socket, before, slot, deadline);
    }
    if tried.is_err() {
        abandoned(socket, 1);
    }
    tried
}

/// The number of sessions given up at a socket, after adding `more`.
fn abandoned(socket: SocketAddr, more: u32) -> u32 {
    let mut all = ABANDONED.lock().unwrap_or_else(PoisonError::into_inner);
    let count = all.entry(socket).or_default();
    *count += more;
    *count
}

/// The first socket that accepts a connection: fails fast where no worker listens.
fn connect_first(sockets: &[SocketAddr]) -> Result<SocketAddr, SessionError> {
    let mut last = None;
    for socket in sockets {
        match TcpStream::connect_timeout(socket, CONNECT_TIMEOUT) {
            Ok(_) => return Ok(*socket),
            Err(error) => last = Some((socket, error)),
        }
    }
    Err(match last {
        Some((socket, error)) if error.kind() == ErrorKind::ConnectionRefused => {
            SessionError::NoListener(*socket)
        }
        Some((_, error)) => SessionError::Unreachable(error.to_string()),
        None => SessionError::Unreachable("its name has no address".to_owned()),
    })
}

/// Why there is no session, as the end of a sentence that begins with the worker.
#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error("is not waited for: the run is to end")]
    Ended,
    /// No answer within the time limit.
    #[error(
        "did not answer within {} s: it hangs, is stopped, or is no worker of mlsys; look at it, end it, start it again",
        .0.as_secs()
    )]
    Silent(Duration),
    /// A session that was open does not answer any more.
    #[error(transparent)]
    Stale(#[from] ReadError),
    #[error(
        "cannot be reached: no process listens there; start it (mlsys worker --listen {0}), or the ssh tunnel to it"
    )]
    NoListener(SocketAddr),
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    #[error("does not compute: 1.75, 3, 42, 0, 0 and 8.5 are {0:?} there; do not use it")]
    WrongSum(Vec<f32>),
    #[error(
        "does not let this run in: {0}. Write its address as `mlsys worker` has printed it, ws://127.0.0.1:4100/#TOKEN"
    )]
    Unauthorized(&'static str),
    #[error(
        "is of another version: it speaks version {server} of burn's protocol, and this mlsys {client}; start it from the \
         same version of mlsys as this one"
    )]
    Version { client: String, server: String },
    #[error("is not a worker that can be used: {0}; is it a `mlsys worker` of this version?")]
    Refused(String),
    #[error("has no thread here to be reached from: {0}")]
    NoThread(io::Error),
    #[error("cannot be used: {0}")]
    Panicked(String),
    #[error("ended without an answer")]
    NoAnswer,
}

/// Opens the session or takes the one that is open, and has it do a sum.
fn session(
    socket: SocketAddr,
    generation: u32,
    slot: usize,
    deadline: Deadline<'_>,
) -> Result<Device, SessionError> {
    let token = kept_token(socket);
    let presented = token.as_ref().map_or("", Token::text);
    let address = Address::from(socket).to_string();
    if let Some(token) = &token {
        guard::present(&address, token.text());
    }
    // The server looks at what stands before the first dot; the rest tells the sessions apart.
    let host =
        RemoteHost::websocket(&address).with_credential(format!("{presented}.{generation}.{slot}"));
    let opening = move || -> Result<_, ConnectError> {
        let device = Device::remote_options(&host).init()?;
        let sum = Tensor::<2>::from_floats([[1.5, 2.5, 40.0], [0.0, -1.0, 8.0]], &device)
            + Tensor::<2>::from_floats([[0.25, 0.5, 2.0], [0.0, 1.0, 0.5]], &device);
        Ok((device, read(sum)))
    };
    match within(deadline, opening)? {
        Err(error) => Err(refused(&error, token.as_ref())),
        Ok((_, Err(error))) => Err(SessionError::Stale(error)),
        Ok((device, Ok(sum))) if sum == [1.75, 3.0, 42.0, 0.0, 0.0, 8.5] => Ok(device),
        Ok((_, Ok(sum))) => Err(SessionError::WrongSum(sum)),
    }
}

fn refused(error: &ConnectError, token: Option<&Token>) -> SessionError {
    let is_closed = |reason: &str| reason == guard::NOT_ADMITTED;
    if matches!(error, ConnectError::Unauthorized)
        || matches!(error, ConnectError::Unreachable { reason } if is_closed(reason))
    {
        return SessionError::Unauthorized(if token.is_some() {
            "the token behind '#' is not the one that it asks for; each start has a new one"
        } else {
            "it asks for a token"
        });
    }
    if let ConnectError::IncompatibleProtocol { client_version, server_version } = error {
        return SessionError::Version {
            client: client_version.to_string(),
            server: server_version.to_string(),
        };
    }
    SessionError::Refused(error.to_string())
}

/// What a call gives within a time limit and while the run goes on; a panic is a sentence. A call that hangs keeps its
/// thread: there is no way to end one from outside.
fn within<T: Send + 'static>(
    deadline: Deadline<'_>,
    call: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SessionError> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new()
        .name("run-worker-connect".to_owned())
        .spawn(move || {
            // The receiver may have timed out; then the answer is dropped.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(call)));
        })
        .map_err(SessionError::NoThread)?;
    let begun = Instant::now();
    loop {
        if (deadline.interrupted)() {
            return Err(SessionError::Ended);
        }
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(payload)) => {
                let text = payload
                    .downcast_ref::<String>()
                    .map(String::as_str)
                    .or_else(|| payload.downcast_ref::<&str>().copied());
                let line = text.and_then(|text| text.lines().next());
                let line = line.unwrap_or("it broke off");
                return Err(SessionError::Panicked(line.to_owned()));
            }
            Err(RecvTimeoutError::Disconnected) => return Err(SessionError::NoAnswer),
            Err(RecvTimeoutError::Timeout) if begun.elapsed() < deadline.limit => {}
            Err(RecvTimeoutError::Timeout) => return Err(SessionError::Silent(deadline.limit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_process_that_let_the_limit_pass_is_not_tried_twice() {
        let mute = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::from(mute.local_addr().unwrap());
        let deadline = Deadline { limit: Duration::from_secs(1), interrupted: &|| false };
        for _ in 0..2 {
            let tried = reach(&address, 0, deadline).map(|_| ());
            assert!(matches!(tried, Err(SessionError::Silent(_))), "{tried:?}");
        }
        // Each knocks once and asks for one session.
        mute.set_nonblocking(true).unwrap();
        let calls = mute.incoming().map_while(Result::ok).count();
        assert!(calls <= 4, "{calls} connections");
    }

    #[test]
    fn a_run_that_is_to_end_does_not_wait() {
        let (_sender, never) = mpsc::channel::<()>();
        let deadline = Deadline { limit: Duration::MAX, interrupted: &|| true };
        let waited = within(deadline, move || never.recv().is_ok());
        assert!(matches!(waited, Err(SessionError::Ended)), "{waited:?}");
    }
}
