//! Serving this machine's device to runs elsewhere.

use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use burn::server::{
    AuthorizationRequest, Credential, PeerAuthorizer, RemoteServer, TokenAuthorizer,
    WebSocketTransport,
};
use burn_communication::guard;
use mlsys_lab::{DeviceId, LabError};
use tokio::runtime::Runtime;

use super::{Address, Token};

/// How long sessions have to end once the server does.
const GRACE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    Opened,
    Failed(String),
}

/// A device that is being served, until this is dropped.
pub struct Server {
    runtime: Option<Runtime>,
    news: Receiver<ServerEvent>,
    address: Address,
}

impl Server {
    pub fn start(id: DeviceId, at: SocketAddr) -> Result<Self, LabError> {
        let cannot = |reason: String| LabError::Worker(format!("cannot listen on {at}: {reason}"));
        let device = crate::open(id)?;
        let listener = TcpListener::bind(at).map_err(|error| {
            cannot(format!("{error}; take another port, or 0 for any that is free"))
        })?;
        let bound = listener.local_addr().map_err(|error| cannot(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("worker-server")
            .build()
            .map_err(|error| cannot(error.to_string()))?;
        let (tell, news) = mpsc::channel();
        let opened = tell.clone();
        // A port of this machine can be reached from every account, and from every page in a browser here.
        let token = Token::draw()
            .map_err(|error| cannot(format!("there is no token to guard it with: {error}")))?;
        guard::require(token.text());
        let authorizer =
            TokenAuthorizer::new(token.text()).map_err(|error| cannot(error.to_string()))?;
        let authorize = move |request: AuthorizationRequest<'_>| {
            // What follows the first dot tells the sessions of a run apart.
            let mut parts = request.credential.as_bytes().split(|byte| *byte == b'.');
            let credential = Credential::from(parts.next().unwrap_or(&[]));
            authorizer.authorize(AuthorizationRequest { credential: &credential, ..request })?;
            let _ = opened.send(ServerEvent::Opened);
            Ok(())
        };
        let serving = RemoteServer::new([device])
            .with_authorizer(authorize)
            .serve_async(WebSocketTransport::from_listener(listener));
        runtime.spawn(async move {
            let reason = match serving.await {
                Ok(()) => "it ended by itself".to_owned(),
                Err(error) => error.to_string(),
            };
            let _ = tell.send(ServerEvent::Failed(reason));
        });
        Ok(Self { runtime: Some(runtime), news, address: Address::from(bound).with_token(token) })
    }

    /// Where it listens, with the port that it has got and the token that it asks for.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Waits for something to tell; nothing comes within `limit` most of the time.
    pub fn next(&self, limit: Duration) -> Option<ServerEvent> {
        match self.news.recv_timeout(limit) {
            Ok(news) => Some(news),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                Some(ServerEvent::Failed("its threads have ended".to_owned()))
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(GRACE);
        }
    }
}
