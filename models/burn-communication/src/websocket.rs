//! The protocol over WebSockets.

mod client;
mod server;
#[cfg(test)]
mod tests;

use std::time::Duration;

use futures_util::{Sink, SinkExt, Stream, StreamExt};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::{
    self, Message as Frame,
    protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode},
};

use crate::{Message, Protocol};

pub use client::{WsClient, WsClientChannel, WsClientError, WsClientSink, WsClientStream};
pub use server::{WsServer, WsServerChannel, WsServerError, WsServerSink, WsServerStream};

#[derive(Clone)]
pub struct WebSocket;

impl Protocol for WebSocket {
    type Client = WsClient;
    type Server = WsServer;
}

/// Bytes of a message of a session; a message goes out as one frame.
const MAX_MESSAGE: usize = 1 << 30;

fn config(most: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .write_buffer_size(0)
        .read_buffer_size(64 << 10)
        .max_message_size(Some(most))
        .max_frame_size(Some(most))
}

/// A peer that vanished is noticed within half a minute, where the system lets one say so.
fn keep_alive(stream: &TcpStream) {
    let first = TcpKeepalive::new().with_time(Duration::from_secs(10));
    #[cfg(any(target_os = "linux", target_os = "macos", target_os = "windows"))]
    let first = first.with_interval(Duration::from_secs(5)).with_retries(4);
    if let Err(error) = SockRef::from(stream).set_tcp_keepalive(&first) {
        log::warn!("a peer that vanishes will not be noticed: {error}");
    }
}

async fn send<S>(sink: &mut S, message: Message) -> Result<(), tungstenite::Error>
where
    S: Sink<Frame, Error = tungstenite::Error> + Unpin,
{
    sink.send(Frame::Binary(message.data)).await
}

async fn close<S>(sink: &mut S) -> Result<(), tungstenite::Error>
where
    S: Sink<Frame, Error = tungstenite::Error> + Unpin,
{
    let frame = CloseFrame { code: CloseCode::Normal, reason: "Peer is closing".into() };
    sink.send(Frame::Close(Some(frame))).await
}

/// The next message with data; none at the end of the stream. Pings are answered below and passed over here.
async fn receive<S>(stream: &mut S) -> Result<Option<Message>, tungstenite::Error>
where
    S: Stream<Item = Result<Frame, tungstenite::Error>> + Unpin,
{
    loop {
        match stream.next().await.transpose()? {
            Some(Frame::Binary(data)) => return Ok(Some(Message::new(data))),
            Some(Frame::Close(_)) | None => return Ok(None),
            Some(Frame::Text(_) | Frame::Ping(_) | Frame::Pong(_) | Frame::Frame(_)) => {}
        }
    }
}
