//! Text to the clipboard of the machine the learner sits at, through the terminal (OSC 52): over ssh too.

pub fn osc52(text: &str, in_tmux: bool) -> String {
    let plain = format!("\x1b]52;c;{}\x07", base64(text.as_bytes()));
    if in_tmux {
        // tmux takes the first where `set-clipboard` is on, and hands the second on where `allow-passthrough` is.
        let passed = plain.replace('\x1b', "\x1b\x1b");
        format!("{plain}\x1bPtmux;{passed}\x1b\\")
    } else {
        plain
    }
}

/// Base64 as in RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            let padding = place > chunk.len();
            text.push(if padding { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        for (text, code) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
            ("µ→ß", "wrXihpLDnw=="),
        ] {
            assert_eq!(base64(text.as_bytes()), code, "{text}");
        }
    }

    #[test]
    fn inside_tmux_the_terminal_around_it_is_told_too() {
        assert_eq!(osc52("foo", false), "\x1b]52;c;Zm9v\x07");
        let inside = osc52("foo", true);
        assert!(inside.ends_with("\x1bPtmux;\x1b\x1b]52;c;Zm9v\x07\x1b\\"), "{inside:?}");
    }
}
