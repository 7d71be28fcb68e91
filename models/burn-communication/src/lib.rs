//! Client and server of burn's remote back end, with origin and token checked before a WebSocket is opened; see the README.
#![cfg(feature = "websocket")]

mod base;
#[cfg(feature = "data-service")]
pub mod external_comm;
pub mod guard;
pub mod websocket;

pub use base::{
    Address, CommunicationChannel, CommunicationError, Message, Protocol, ProtocolClient,
    ProtocolServer,
};
