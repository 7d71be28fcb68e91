//! Client and server on the loopback, and what a stranger gets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use tokio::runtime::Runtime;

use super::*;
use crate::guard::{self, NOT_ADMITTED};
use crate::{Address, CommunicationChannel, ProtocolClient, ProtocolServer};

/// A server that sends each message back, on a runtime that ends with the test.
fn serve() -> (Runtime, SocketAddr) {
    guard::require("cafe01");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let server = WsServer::new(0).route("/session", async |mut channel: WsServerChannel| {
        while let Ok(Some(message)) = channel.recv().await {
            channel.send(message).await.unwrap();
        }
    });
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        server.serve_on(listener, std::future::pending()).await
    });
    (runtime, address)
}

/// The first line of the answer to a request for an upgrade, and the connection.
fn knock(address: SocketAddr, path: &str, headers: &str) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        answer.extend(byte);
    }
    let answer = String::from_utf8(answer).unwrap();
    (answer.split(' ').nth(1).unwrap_or_default().to_owned(), stream)
}

#[test]
fn messages_go_there_and_back_with_the_token_alone() {
    let (runtime, address) = serve();
    let url = format!("ws://{address}");
    let place = || Address::from(url.as_str());
    let refused = runtime.block_on(WsClient::connect(place(), "session")).err().unwrap();
    assert_eq!(refused.to_string(), NOT_ADMITTED);
    guard::present(&url, "cafe01");
    runtime.block_on(async {
        let mut channel = WsClient::connect(place(), "session").await.unwrap();
        // The first message is short; those after it may be longer than its limit.
        for length in [4, guard::MAX_FIRST_MESSAGE + 1, 3 << 20] {
            let data = bytes::Bytes::from(vec![7; length]);
            channel.send(Message::new(data.clone())).await.unwrap();
            assert_eq!(channel.recv().await.unwrap().unwrap().data, data);
        }
        channel.close().await.unwrap();
    });
}

#[test]
fn strangers_are_refused_before_anything_is_upgraded() {
    let (_runtime, address) = serve();
    let right = "Authorization: Bearer cafe01\r\n";
    let page = format!("Origin: http://{address}\r\n{right}");
    for (path, last) in [("/session", "101"), ("/data", "404"), ("/", "404")] {
        assert_eq!(knock(address, path, "").0, "401", "{path}");
        assert_eq!(knock(address, path, "Authorization: Bearer cafe02\r\n").0, "401", "{path}");
        assert_eq!(knock(address, path, &page).0, "403", "{path}");
        assert_eq!(knock(address, path, right).0, last, "{path}");
    }
}

#[test]
fn a_long_first_message_and_silence_close_the_connection() {
    let (_runtime, address) = serve();
    let mut silent = TcpStream::connect(address).unwrap();
    silent.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let (status, mut stream) = knock(address, "/session", "Authorization: Bearer cafe01\r\n");
    assert_eq!(status, "101");
    // The head of a masked frame of 65,537 bytes, which are never sent.
    stream.write_all(&[0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 1, 1, 2, 3, 4]).unwrap();
    let mut rest = Vec::new();
    assert!(stream.read_to_end(&mut rest).is_ok());
    assert!(silent.read_to_end(&mut rest).is_ok());
}
