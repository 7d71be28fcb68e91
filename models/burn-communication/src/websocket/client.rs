//! The client: a connection that presents the token of the address.

use std::fmt;
use std::io::ErrorKind;

use burn_std::future::DynFut;
use futures_util::StreamExt;
use futures_util::stream::{SplitSink, SplitStream};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode, header};
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use super::{MAX_MESSAGE, close, config, keep_alive, receive, send};
use crate::guard::{NOT_ADMITTED, presented};
use crate::{Address, CommunicationChannel, CommunicationError, Message, ProtocolClient};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

#[derive(Clone)]
pub struct WsClient;

impl ProtocolClient for WsClient {
    type Channel = WsClientChannel;
    type Error = WsClientError;

    fn connect(address: Address, route: &str) -> DynFut<Result<WsClientChannel, WsClientError>> {
        let place = address.to_string();
        let url = format!("{place}/{route}");
        Box::pin(async move {
            let mut request = url.into_client_request()?;
            if let Some(token) = presented(&place) {
                let value = HeaderValue::try_from(format!("Bearer {token}"));
                let value = value.map_err(tungstenite::http::Error::from);
                let value = value.map_err(tungstenite::Error::from)?;
                request.headers_mut().insert(header::AUTHORIZATION, value);
            }
            let config = config(MAX_MESSAGE).accept_unmasked_frames(true);
            let (socket, _) = connect_async_with_config(request, Some(config), true).await?;
            if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
                keep_alive(stream);
            }
            Ok(WsClientChannel(socket))
        })
    }
}

pub struct WsClientChannel(Socket);

pub struct WsClientSink(SplitSink<Socket, Frame>);

pub struct WsClientStream(SplitStream<Socket>);

impl WsClientChannel {
    pub fn split(self) -> (WsClientSink, WsClientStream) {
        let (sink, stream) = self.0.split();
        (WsClientSink(sink), WsClientStream(stream))
    }
}

impl CommunicationChannel for WsClientChannel {
    type Error = WsClientError;

    async fn send(&mut self, message: Message) -> Result<(), WsClientError> {
        Ok(send(&mut self.0, message).await?)
    }

    async fn recv(&mut self) -> Result<Option<Message>, WsClientError> {
        Ok(receive(&mut self.0).await?)
    }

    async fn close(&mut self) -> Result<(), WsClientError> {
        Ok(close(&mut self.0).await?)
    }
}

impl WsClientSink {
    pub async fn send(&mut self, message: Message) -> Result<(), WsClientError> {
        Ok(send(&mut self.0, message).await?)
    }

    pub async fn close(&mut self) -> Result<(), WsClientError> {
        Ok(close(&mut self.0).await?)
    }
}

impl WsClientStream {
    pub async fn recv(&mut self) -> Result<Option<Message>, WsClientError> {
        Ok(receive(&mut self.0).await?)
    }
}

#[derive(Debug)]
pub struct WsClientError(tungstenite::Error);

impl CommunicationError for WsClientError {}

impl From<tungstenite::Error> for WsClientError {
    fn from(error: tungstenite::Error) -> Self {
        Self(error)
    }
}

impl WsClientError {
    /// Whether nothing listens at the address, as before a server has started.
    pub fn is_connection_refused(&self) -> bool {
        matches!(&self.0, tungstenite::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused)
    }
}

impl fmt::Display for WsClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let tungstenite::Error::Http(response) = &self.0
            && response.status() == StatusCode::UNAUTHORIZED
        {
            return f.write_str(NOT_ADMITTED);
        }
        write!(f, "websocket error: {}", self.0)
    }
}
