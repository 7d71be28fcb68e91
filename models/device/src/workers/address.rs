//! Addresses of worker processes and the tokens that admit a run to them.
//!
//! Workers listen on the loopback interface only, because the protocol is not encrypted. Every account of that machine can
//! still reach the port, and so can a page in a browser there, so each worker prints a token when it starts and asks for it.
//! Tokens are kept here by socket and cut off the addresses, because addresses are recorded with the run and shown.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::sync::{Mutex, PoisonError};
use std::{fmt, io};

/// Why a text is no address of a worker, and what to write instead.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("there is no address; write ws://127.0.0.1:4100")]
    Empty,
    #[error("'{shown}' begins with {scheme}://; workers speak ws://")]
    Scheme { shown: String, scheme: String },
    #[error("'{shown}' has no port; write HOST:PORT, such as ws://127.0.0.1:4100")]
    NoPort { shown: String },
    #[error(
        "'{shown}' has port 0, where no process listens; write the port that `mlsys worker` has printed"
    )]
    PortZero { shown: String },
    #[error("'{shown}' has no address here: {error}")]
    Unknown { shown: String, error: io::Error },
    #[error("'{shown}' is on another machine; {}", tunnel(*port))]
    Elsewhere { shown: String, port: u16 },
    #[error("'{shown}' can be reached from other machines; {}", tunnel(*port))]
    Exposed { shown: String, port: u16 },
    #[error("'{shown}' is no address; write 127.0.0.1:4100, or 127.0.0.1:0 for any free port")]
    Listening { shown: String },
    #[error(
        "the token behind '#' does not read; write the address as `mlsys worker` has printed it, \
         ws://127.0.0.1:4100/#TOKEN"
    )]
    Token,
    #[error(
        "{address} is there twice{before}; name each worker process once, workers take them in turn"
    )]
    Twice { address: String, before: String },
}

/// Where a worker process listens, written `ws://127.0.0.1:4100`, and the token that it asks for, which is written behind
/// it only where it is to be passed on: `ws://127.0.0.1:4100/#TOKEN`.
#[derive(Clone, Debug)]
pub struct Address {
    host: String,
    port: u16,
    sockets: Vec<SocketAddr>,
    token: Option<Token>,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ws://{}:{}", self.host, self.port)
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        let host = match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        Self { host, port: address.port(), sockets: vec![address], token: None }
    }
}

impl Address {
    /// Reads an address of this machine, with or without `ws://` before it.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if text.is_empty() {
            return Err(AddressError::Empty);
        }
        let (place, token) = match text.split_once('#') {
            None => (text, None),
            Some((place, token)) => (place, Some(Token::parse(token)?)),
        };
        let shown = place.escape_debug().to_string();
        let rest = match place.split_once("://") {
            None => place,
            Some(("ws", rest)) => rest,
            Some((scheme, _)) => {
                let scheme = scheme.escape_debug().to_string();
                return Err(AddressError::Scheme { shown, scheme });
            }
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let parts = rest.rsplit_once(':');
        let Some((host, port)) = parts.and_then(|(host, port)| Some((host, port.parse().ok()?)))
        else {
            return Err(AddressError::NoPort { shown });
        };
        if !is_loopback(host) {
            return Err(AddressError::Elsewhere { shown, port });
        }
        if port == 0 {
            return Err(AddressError::PortZero { shown });
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let sockets = (bare, port).to_socket_addrs().map(Vec::from_iter);
        let unknown = |error| AddressError::Unknown { shown: shown.clone(), error };
        let sockets = sockets.map_err(unknown)?;
        // What a name means is up to the machine: `localhost`, too, may be somewhere else.
        if !sockets.iter().all(|socket| socket.ip().is_loopback()) {
            return Err(AddressError::Elsewhere { shown, port });
        }
        Ok(Self { host: host.to_owned(), port, sockets, token })
    }

    /// The sockets that it stands for, looked up once, when it was read.
    pub fn sockets(&self) -> &[SocketAddr] {
        &self.sockets
    }

    pub fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    pub fn with_token(self, token: Token) -> Self {
        Self { token: Some(token), ..self }
    }

    /// The address with its token, to be passed to the run that may use the worker.
    pub fn whole(&self) -> String {
        match &self.token {
            None => self.to_string(),
            Some(token) => format!("{self}/#{}", token.text()),
        }
    }
}

/// Whether a host as it is written means this machine and nothing else.
fn is_loopback(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(bare) => bare.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback()),
        None if host == "localhost" => true,
        None => host.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback()),
    }
}

fn tunnel(port: u16) -> String {
    let port = if port == 0 { 4100 } else { port };
    format!(
        "workers listen on their own machine only, because what they say is not encrypted. Join the machines by ssh: \
         there `mlsys worker --listen 127.0.0.1:{port}`, here `ssh -N -L {port}:127.0.0.1:{port} USER@HOST`, and then \
         ws://127.0.0.1:{port}"
    )
}

/// Where a worker is to listen: an address of this machine, or a port of it.
pub fn listening(text: &str) -> Result<SocketAddr, AddressError> {
    let text = text.trim();
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    if let Some(port) = text.strip_prefix("localhost:") {
        return listening(port);
    }
    let shown = text.escape_debug().to_string();
    match text.parse::<SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(address),
        Ok(address) => Err(AddressError::Exposed { shown, port: address.port() }),
        Err(_) => Err(AddressError::Listening { shown }),
    }
}

const LONGEST: usize = 128;

static GIVEN: Mutex<BTreeMap<SocketAddr, Token>> = Mutex::new(BTreeMap::new());

/// What a run has to present to a worker: letters and digits. Its `Debug` output does not show them.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// A token as it is typed: letters and digits, not too many.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        let reads = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if text.is_empty() || text.len() > LONGEST || !reads {
            return Err(AddressError::Token);
        }
        Ok(Self(text.to_owned()))
    }

    /// A new one: 128 bits from the operating system, in hexadecimal digits.
    #[cfg(feature = "remote")]
    pub(super) fn draw() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    pub fn text(&self) -> &str {
        &self.0
    }
}

pub(super) fn keep_token(address: &Address) {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(token) = address.token() {
        let sockets = address.sockets().iter();
        given.extend(sockets.map(|socket| (*socket, token.clone())));
    }
}

#[cfg(feature = "remote")]
pub(super) fn kept_token(socket: SocketAddr) -> Option<Token> {
    let given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.get(&socket).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_this_machine_read_in_every_spelling() {
        for (text, shown) in [
            ("ws://127.0.0.1:4100", "ws://127.0.0.1:4100"),
            ("127.0.0.1:4100", "ws://127.0.0.1:4100"),
            ("ws://localhost:1/", "ws://localhost:1"),
            ("ws://[::1]:4100", "ws://[::1]:4100"),
            ("127.8.8.8:80", "ws://127.8.8.8:80"),
        ] {
            assert_eq!(Address::parse(text).unwrap().to_string(), shown, "{text}");
        }
        assert!(!Address::parse("localhost:1").unwrap().sockets().is_empty());
        let socket: SocketAddr = "[::1]:7".parse().unwrap();
        assert_eq!(Address::from(socket).to_string(), "ws://[::1]:7");
    }

    #[test]
    fn a_token_is_written_behind_an_address_only_on_request() {
        let address = Address::parse("ws://127.0.0.1:4100/#cafe01").unwrap();
        assert_eq!(address.token().unwrap().text(), "cafe01");
        assert_eq!(address.to_string(), "ws://127.0.0.1:4100");
        assert!(!format!("{address:?}").contains("cafe01"));
        assert_eq!(address.whole(), "ws://127.0.0.1:4100/#cafe01");
        let error = Address::parse("ws://10.0.0.7:4100/#cafe01").unwrap_err().to_string();
        assert!(!error.contains("cafe01"), "{error}");
    }

    #[test]
    fn foreign_addresses_are_refused() {
        for (text, reason) in [
            ("", "no address"),
            ("ws://127.0.0.1", "no port"),
            ("ws://127.0.0.1:99999", "no port"),
            ("ws://127.0.0.1:0", "port 0"),
            ("ws://127.0.0.1:4100/#", "token"),
            ("ws://127.0.0.1:4100/#a b", "token"),
            ("http://127.0.0.1:4100", "ws://"),
            ("ws://192.168.0.7:4100", "ssh -N -L 4100:127.0.0.1:4100"),
            ("ws://localhost.example:4100", "ssh"),
            ("ws://127.0.0.1.example:4100", "ssh"),
            ("ws://\u{1b}[2J:4100", "\\u{1b}[2J"),
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text:?}: {error}");
            assert!(!error.contains('\u{1b}'), "{error:?}");
        }
    }

    #[test]
    fn a_worker_listens_on_this_machine_only() {
        for (text, shown) in [
            ("127.0.0.1:4100", "127.0.0.1:4100"),
            ("4100", "127.0.0.1:4100"),
            ("localhost:0", "127.0.0.1:0"),
            ("[::1]:4100", "[::1]:4100"),
        ] {
            assert_eq!(listening(text).unwrap().to_string(), shown, "{text}");
        }
        for (text, reason) in [
            ("0.0.0.0:4100", "ssh -N -L 4100:127.0.0.1:4100"),
            ("192.168.0.7:80", "ssh"),
            ("[::]:4100", "ssh"),
            ("everywhere", "127.0.0.1:4100"),
            ("127.0.0.1", "127.0.0.1:4100"),
        ] {
            let error = listening(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[cfg(feature = "remote")]
    #[test]
    fn tokens_are_drawn_anew_and_kept_by_socket() {
        let (one, other) = (Token::draw().unwrap(), Token::draw().unwrap());
        assert_ne!(one, other);
        assert_eq!(Token::parse(one.text()).unwrap(), one);
        let socket: SocketAddr = "127.9.9.9:9".parse().unwrap();
        assert_eq!(kept_token(socket), None);
        keep_token(&Address::from(socket).with_token(one.clone()));
        keep_token(&Address::from(socket));
        assert_eq!(kept_token(socket), Some(one));
    }
}
