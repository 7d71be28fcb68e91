//! What burn-remote calls: the address of a server, messages, and the traits of client and server.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use burn_std::future::DynFut;
use serde::{Deserialize, Serialize};

/// A server's address: scheme, host and port. What stands behind them is dropped.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize, Debug)]
pub struct Address {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Address {
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

impl From<&str> for Address {
    fn from(text: &str) -> Self {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("ws", text));
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        // From the right, because the host may be an IPv6 address in brackets.
        let split =
            authority.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let (host, port) = split.map_or((authority, None), |(host, port)| (host, Some(port)));
        Self { scheme: scheme.to_ascii_lowercase(), host: host.to_owned(), port }
    }
}

impl FromStr for Address {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::from(text))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

pub trait Protocol: Clone + Send + Sync + 'static {
    type Client: ProtocolClient;
    type Server: ProtocolServer;
}

pub trait CommunicationError: fmt::Debug + Send + 'static {}

pub trait ProtocolClient: Send + Sync + 'static {
    type Channel: CommunicationChannel<Error = Self::Error>;
    type Error: CommunicationError;

    fn connect(address: Address, route: &str) -> DynFut<Result<Self::Channel, Self::Error>>;
}

/// Bytes that go between client and server.
pub struct Message {
    pub data: bytes::Bytes,
}

impl Message {
    pub fn new(data: bytes::Bytes) -> Self {
        Self { data }
    }
}

pub trait ProtocolServer: Sized + Send + Sync + 'static {
    type Channel: CommunicationChannel<Error = Self::Error>;
    type Error: CommunicationError;

    #[must_use]
    fn route<C, Fut>(self, path: &str, callback: C) -> Self
    where
        C: FnOnce(Self::Channel) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static;
}

pub trait CommunicationChannel: Send + 'static {
    type Error: CommunicationError;

    fn send(&mut self, message: Message) -> impl Future<Output = Result<(), Self::Error>> + Send;

    fn recv(&mut self) -> impl Future<Output = Result<Option<Message>, Self::Error>> + Send;

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send;
}
