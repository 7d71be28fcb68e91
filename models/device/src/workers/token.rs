//! Who may use a worker: whoever knows the token that it printed when it began.
//!
//! A worker listens on its own machine only, but every account of that machine can reach its port, and so can a page in
//! a browser there. Tokens are kept here, by the sockets that they belong to, and are cut off the addresses, because
//! those are recorded with the run and shown on the screen.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use super::Address;

/// The longest token that is read.
const LONGEST: usize = 128;

/// The tokens that were given on the command line.
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
    /// A token as it is typed.
    ///
    /// # Errors
    /// It is empty, too long, or has something in it besides letters and digits.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let reads = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if text.is_empty() || text.len() > LONGEST || !reads {
            return Err(
                "the token behind '#' does not read; write the address as `mlsys worker` has printed it, \
                 ws://127.0.0.1:4100/#TOKEN"
                    .to_owned(),
            );
        }
        Ok(Self(text.to_owned()))
    }

    /// A new one: 128 bits from the operating system, in hexadecimal digits.
    ///
    /// # Errors
    /// The operating system gives none.
    #[cfg(feature = "remote")]
    pub(super) fn draw() -> Result<Self, String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The letters and digits.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// Keeps the token of an address, if it has one.
pub(super) fn keep(address: &Address) {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(token) = address.token() {
        let sockets = address.sockets().iter();
        given.extend(sockets.map(|socket| (*socket, token.clone())));
    }
}

/// The token that was given for a socket.
#[cfg(feature = "remote")]
pub(super) fn kept(socket: SocketAddr) -> Option<Token> {
    let given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.get(&socket).cloned()
}

#[cfg(all(test, feature = "remote"))]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_drawn_anew_and_kept_by_socket() {
        let (one, other) = (Token::draw().unwrap(), Token::draw().unwrap());
        assert_ne!(one, other);
        assert_eq!(Token::parse(one.text()), Ok(one.clone()));
        let socket: SocketAddr = "127.9.9.9:9".parse().unwrap();
        assert_eq!(kept(socket), None);
        keep(&Address::from(socket).with_token(one.clone()));
        keep(&Address::from(socket));
        assert_eq!(kept(socket), Some(one));
    }
}
