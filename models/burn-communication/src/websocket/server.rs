//! The server: origin, token and path are checked before a connection is upgraded, and its first message is short.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{SplitSink, SplitStream};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async_with_config};

use super::{MAX_MESSAGE, close, config, keep_alive, receive, send};
use crate::guard::{HANDSHAKE_LIMIT, MAX_FIRST_MESSAGE, refusal, required};
use crate::{CommunicationChannel, CommunicationError, Message, ProtocolServer};

/// How long the server waits when it cannot accept, mostly because too many files are open.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

type Socket = WebSocketStream<TcpStream>;
type Handler =
    Arc<dyn Fn(WsServerChannel) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;
type Routes = BTreeMap<String, Handler>;

#[derive(Clone)]
pub struct WsServer {
    routes: Routes,
}

impl WsServer {
    pub fn new(_port: u16) -> Self {
        Self { routes: Routes::new() }
    }

    /// Serves until `shutdown`; sessions that are open end by themselves.
    pub async fn serve_on<F>(self, listener: TcpListener, shutdown: F) -> Result<(), WsServerError>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let routes = Arc::new(self.routes);
        let mut shutdown = pin!(shutdown);
        loop {
            let accepted = tokio::select! {
                () = &mut shutdown => return Ok(()),
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    tokio::spawn(serve(stream, peer, routes.clone()));
                }
                Err(error) => {
                    log::warn!("cannot accept a connection: {error}");
                    sleep(RETRY_INTERVAL).await;
                }
            }
        }
    }
}

async fn serve(stream: TcpStream, peer: SocketAddr, routes: Arc<Routes>) {
    keep_alive(&stream);
    match timeout(HANDSHAKE_LIMIT, open(stream, peer, &routes)).await {
        Ok(Ok((channel, handler))) => handler(channel).await,
        Ok(Err(error)) => log::warn!("{peer} is not let in: {error}"),
        Err(_) => log::warn!("{peer} sends no first message"),
    }
}

/// Accepts a connection after its request and first message have passed the checks.
async fn open(
    stream: TcpStream,
    peer: SocketAddr,
    routes: &Routes,
) -> Result<(WsServerChannel, Handler), WsServerError> {
    let mut handler = None;
    #[expect(clippy::result_large_err, reason = "tungstenite's callback has this type")]
    let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        let route = routes.get(request.uri().path());
        match refusal(request, required().as_deref(), route.is_some()) {
            None => {
                handler = route.cloned();
                Ok(response)
            }
            Some(status) => {
                let mut refused = ErrorResponse::new(None);
                *refused.status_mut() = status;
                Err(refused)
            }
        }
    };
    let short = Some(config(MAX_FIRST_MESSAGE));
    let mut socket = accept_hdr_async_with_config(stream, check, short).await?;
    // The client waits for the answer to its first message: nothing is behind it yet that the change of limits would lose.
    let first = receive(&mut socket).await?.ok_or(tungstenite::Error::ConnectionClosed)?;
    let stream = socket.into_inner();
    let socket = Socket::from_raw_socket(stream, Role::Server, Some(config(MAX_MESSAGE))).await;
    let handler = handler.ok_or(tungstenite::Error::ConnectionClosed)?;
    Ok((WsServerChannel { socket, first: Some(first), peer }, handler))
}

impl ProtocolServer for WsServer {
    type Channel = WsServerChannel;
    type Error = WsServerError;

    fn route<C, Fut>(mut self, path: &str, callback: C) -> Self
    where
        C: FnOnce(WsServerChannel) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |channel| Box::pin(callback.clone()(channel)));
        self.routes.insert(path.to_owned(), handler);
        self
    }
}

pub struct WsServerChannel {
    socket: Socket,
    first: Option<Message>,
    peer: SocketAddr,
}

pub struct WsServerSink(SplitSink<Socket, Frame>);

pub struct WsServerStream {
    stream: SplitStream<Socket>,
    first: Option<Message>,
}

impl WsServerChannel {
    pub fn peer_addr(&self) -> SocketAddr {
        self.peer
    }

    pub fn split(self) -> (WsServerSink, WsServerStream) {
        let (sink, stream) = self.socket.split();
        (WsServerSink(sink), WsServerStream { stream, first: self.first })
    }
}

impl CommunicationChannel for WsServerChannel {
    type Error = WsServerError;

    async fn send(&mut self, message: Message) -> Result<(), WsServerError> {
        Ok(send(&mut self.socket, message).await?)
    }

    async fn recv(&mut self) -> Result<Option<Message>, WsServerError> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => Ok(receive(&mut self.socket).await?),
        }
    }

    async fn close(&mut self) -> Result<(), WsServerError> {
        Ok(close(&mut self.socket).await?)
    }
}

impl WsServerSink {
    pub async fn send(&mut self, message: Message) -> Result<(), WsServerError> {
        Ok(send(&mut self.0, message).await?)
    }

    pub async fn close(&mut self) -> Result<(), WsServerError> {
        Ok(close(&mut self.0).await?)
    }
}

impl WsServerStream {
    pub async fn recv(&mut self) -> Result<Option<Message>, WsServerError> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => Ok(receive(&mut self.stream).await?),
        }
    }
}

#[derive(Debug)]
pub struct WsServerError(tungstenite::Error);

impl CommunicationError for WsServerError {}

impl From<tungstenite::Error> for WsServerError {
    fn from(error: tungstenite::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for WsServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "websocket error: {}", self.0)
    }
}

impl std::error::Error for WsServerError {}
