//! Which token the server of this process asks for, which tokens its clients present, and who is let in.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio_tungstenite::tungstenite::handshake::server::Request;
use tokio_tungstenite::tungstenite::http::{HeaderMap, StatusCode, header};

/// How long a request and the first message behind it may take.
pub const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);

/// Bytes of the first message, which names session, device and credential.
pub const MAX_FIRST_MESSAGE: usize = 64 << 10;

/// The reason that a client is given when its token is not the server's.
pub const NOT_ADMITTED: &str = "the worker asks for another token";

static REQUIRED: Mutex<Option<String>> = Mutex::new(None);

static PRESENTED: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Sets the token that the server of this process asks for. Before, it lets in no client.
pub fn require(token: &str) {
    *REQUIRED.lock().unwrap_or_else(PoisonError::into_inner) = Some(token.to_owned());
}

pub(crate) fn required() -> Option<String> {
    REQUIRED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Sets the token that is presented at an address, `ws://127.0.0.1:4100`.
pub fn present(address: &str, token: &str) {
    let mut presented = PRESENTED.lock().unwrap_or_else(PoisonError::into_inner);
    presented.insert(address.to_owned(), token.to_owned());
}

pub(crate) fn presented(address: &str) -> Option<String> {
    PRESENTED.lock().unwrap_or_else(PoisonError::into_inner).get(address).cloned()
}

/// Why a request to a server with a token is not upgraded. The path is looked at last: without the token it tells nothing.
pub(crate) fn refusal(
    request: &Request,
    required: Option<&str>,
    is_served: bool,
) -> Option<StatusCode> {
    if request.headers().contains_key(header::ORIGIN) {
        Some(StatusCode::FORBIDDEN)
    } else if !required.is_some_and(|token| has_token(request.headers(), token)) {
        Some(StatusCode::UNAUTHORIZED)
    } else if !is_served {
        Some(StatusCode::NOT_FOUND)
    } else {
        None
    }
}

fn has_token(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes());
    let given = given.and_then(|value| value.strip_prefix(b"Bearer ")).unwrap_or(&[]);
    // In the same time wherever the first difference is.
    let different = given.iter().zip(token.as_bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == token.len() && different == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    }

    #[test]
    fn origin_then_token_then_path_are_looked_at() {
        let refusal = |token, path, headers: &[(&str, &str)]| {
            refusal(&request(path, headers), token, path == "/session")
        };
        let right = ("Authorization", "Bearer cafe01");
        assert_eq!(refusal(None, "/session", &[right]), Some(StatusCode::UNAUTHORIZED));
        let refusal = |path, headers: &[(&str, &str)]| refusal(Some("cafe01"), path, headers);
        assert_eq!(refusal("/session", &[right]), None);
        assert_eq!(refusal("/data", &[right]), Some(StatusCode::NOT_FOUND));
        let page = ("Origin", "http://127.0.0.1:4100");
        assert_eq!(refusal("/session", &[right, page]), Some(StatusCode::FORBIDDEN));
        for wrong in ["Bearer cafe02", "Bearer cafe0", "Bearer cafe011", "Bearer ", "cafe01", ""] {
            let refused = refusal("/data", &[("Authorization", wrong)]);
            assert_eq!(refused, Some(StatusCode::UNAUTHORIZED), "{wrong}");
        }
        assert_eq!(refusal("/session", &[]), Some(StatusCode::UNAUTHORIZED));
    }
}
