use crossterm::event::{MouseButton, MouseEventKind};

use super::*;
use crate::key::Key;

/// The keys of a stream as the app knows them, other things by their names.
fn read(pieces: &[&[u8]]) -> Vec<String> {
    let mut decoder = Decoder::default();
    let mut said: Vec<Said> = pieces.iter().flat_map(|piece| decoder.feed(piece)).collect();
    said.extend(decoder.give_up());
    said.into_iter().filter_map(name).collect()
}

fn name(said: Said) -> Option<String> {
    match said {
        Said::Event(Event::Key(event)) => Key::from_event(event).map(|key| key.to_string()),
        Said::Event(Event::Paste(text)) => Some(format!("paste {text:?}")),
        Said::Event(Event::Mouse(mouse)) => {
            Some(format!("{:?} {} {}", mouse.kind, mouse.column, mouse.row))
        }
        Said::Event(other) => Some(format!("{other:?}")),
        Said::Background(Rgb(r, g, b)) => Some(format!("background {r} {g} {b}")),
        Said::Fence => Some("fence".to_owned()),
    }
}

#[test]
fn keys_are_what_terminals_send_for_them() {
    for (bytes, keys) in [
        (&b"aG?"[..], &["a", "G", "?"][..]),
        ("ü→".as_bytes(), &["ü", "→"]),
        (b"\r\t\x7f\x08", &["enter", "tab", "backspace", "backspace"]),
        (b"\x03\x1a\x15", &["ctrl-c", "ctrl-z", "ctrl-u"]),
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", &["up", "down", "right", "left"]),
        (b"\x1bOA\x1bOD\x1bOH\x1bOF", &["up", "left", "home", "end"]),
        (b"\x1b[1~\x1b[4~\x1b[7~\x1b[8~", &["home", "end", "home", "end"]),
        (b"\x1b[5~\x1b[6~\x1b[3~", &["pgup", "pgdn", "delete"]),
        (b"\x1b[H\x1b[F\x1b[Z", &["home", "end", "shift-tab"]),
        (b"\x1b[1;2A\x1b[1;5C", &["shift-up", "right"]),
        (b"\x1b", &["esc"]),
        (b"\x1b\x1b", &["esc", "esc"]),
        (b"\x1b[27u\x1b[13;1u\x1b[99;5u", &["esc", "enter", "ctrl-c"]),
        // With Alt, of the function keys, of the old mouse, and half of something: nothing.
        (b"\x1bq\x1b\xc3\xbc\x1bOP\x1b[15~\x1b[[Ax", &["x"]),
        (b"\x1b[M !!y\x1b[1;3A", &["y"]),
        (b"z\x1b[", &["z"]),
        (b"\x1b[?1;2", &[]),
        (b"\xff\xfez\xc3", &["z"]),
    ] {
        assert_eq!(read(&[bytes]), keys, "{}", bytes.escape_ascii());
    }
}

#[test]
fn split_answers_are_not_keys() {
    let stream = b"a\x1b]11;rgb:ffff/8000/0000\x1b\\\x1b[?62;22cb\x1b]11;#102030\x07\x1b[Ac";
    let expected = ["a", "background 255 127 0", "fence", "b", "background 16 32 48", "up", "c"];
    assert_eq!(read(&[stream]), expected);
    for cut in 0..=stream.len() {
        let (head, tail) = stream.split_at(cut);
        assert_eq!(read(&[head, tail]), expected, "cut at {cut}");
    }
    let single: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(read(&single), expected);
}

#[test]
fn unknown_sequences_type_nothing() {
    for bytes in [
        &b"\x1b]10;rgb:00/00/00\x07"[..],
        b"\x1bP1+r544e=\x1b\\",
        b"\x1b]11;red\x07",
        b"\x1b]11;rgb:0/0\x07",
        b"\x1b]11;rgb:fffff/0/0\x07",
        b"\x1b]11;rgb:ffff/ff\x18",
        b"\x1b]11;rgb:12/34/56",
        b"\x1b[?2026;2$y",
        b"\x1b[12;40R",
    ] {
        assert!(read(&[bytes]).is_empty(), "{}", bytes.escape_ascii());
    }
    let cut_off = b"\x1b]11;rgb:ff\x1b[Ax";
    assert_eq!(read(&[cut_off]), ["up", "x"]);
    // A text that never ends holds the keyboard for a while only.
    let mut decoder = Decoder::default();
    assert!(decoder.feed(b"\x1b]52;c;").is_empty());
    assert!(decoder.feed(&[b'A'; 400]).is_empty());
    assert_eq!(decoder.feed(b"q").into_iter().filter_map(name).next(), Some("q".to_owned()));
}

#[test]
fn pasted_text_is_text_whatever_it_holds() {
    assert_eq!(
        read(&[b"\x1b[200~q\r\x1b[A", b"\x03z\x1b[20", b"1~w"]),
        ["paste \"q\\r\\u{1b}[A\\u{3}z\"", "w"]
    );
    let mut decoder = Decoder::default();
    decoder.feed(b"\x1b[200~");
    assert!(!decoder.is_waiting());
    let endless = decoder.feed(&vec![b'x'; PASTE_PIECE + 1]);
    assert_eq!(endless.len(), 1);
    assert_eq!(read(&[b"k"]), ["k"]);
}

#[test]
fn the_mouse_is_told_by_cell() {
    let down = format!("{:?} 4 2", MouseEventKind::Down(MouseButton::Left));
    let up = format!("{:?} 4 2", MouseEventKind::Up(MouseButton::Left));
    let wheel = format!("{:?} 0 0", MouseEventKind::ScrollDown);
    assert_eq!(
        read(&[b"\x1b[<0;5;3M\x1b[<0;5;3m\x1b[<65;1;1M\x1b[<9;1M\x1b[<;1;1M"]),
        [down, up, wheel]
    );
}

#[test]
fn random_bytes_decode_the_same_in_pieces() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let alphabet = b"\x1b\x1b\x1b[]OP;?<~Mmc1209\\\x07\x18aZ\x00\x7f\xc3\xbc\xff\xe2\x86 :/#rgb";
    for _ in 0..4000 {
        let mut bytes = Vec::new();
        for _ in 0..24 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            bytes.push(alphabet[(seed % alphabet.len() as u64) as usize]);
        }
        let whole = read(&[&bytes]);
        let cut = (seed >> 32) as usize % bytes.len();
        let (head, tail) = bytes.split_at(cut);
        assert_eq!(read(&[head, tail]), whole, "{}", bytes.escape_ascii());
    }
}
