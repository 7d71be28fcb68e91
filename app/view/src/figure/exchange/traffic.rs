//! What has been sent over each link.

use mlsys_lab::frame::TraceState;
use mlsys_lab::frame::message_trace::MessageTrace;

use super::letter;
use crate::figure::quantity;
use crate::glyphs::Glyphs;

/// Links that are told one by one.
const MOST: usize = 8;

/// Bytes so far: one number where all links carry the same, else the fullest links, else nothing if nothing was sent.
pub fn links(exchange: &MessageTrace, after: &TraceState, glyphs: &Glyphs) -> Option<String> {
    let bytes = |bytes: u64| quantity(bytes as f64, Some("bytes"), glyphs);
    let mut links: Vec<((usize, usize), u64)> = after.sent.iter().map(|(k, v)| (*k, *v)).collect();
    let (_, first) = *links.first()?;
    let count = links.len();
    let all = bytes(after.bytes());
    if links.iter().all(|(_, sent)| *sent == first) {
        let links = match count {
            1 => "one link".to_owned(),
            _ => format!("each of {count} links"),
        };
        return Some(format!("Sent so far: {} over {links}, {all} in all.", bytes(first)));
    }
    links.sort_by_key(|((from, to), sent)| (std::cmp::Reverse(*sent), *from, *to));
    let told = links.iter().take(MOST).map(|((from, to), sent)| {
        let (from, to) = (letter(exchange, *from), letter(exchange, *to));
        format!("{from} to {to} {}", bytes(*sent))
    });
    let told = told.collect::<Vec<_>>().join(", ");
    Some(match count.saturating_sub(MOST) {
        0 => format!("Sent so far: {told}; {all} in all."),
        more => format!("Sent so far: {told} and {more} links more; {all} in all."),
    })
}
