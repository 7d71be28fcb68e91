//! Lines of a source that are longer than the room for them, cut into rows.

use std::ops::Range;

use crate::canvas::width;

/// What one row shows of a line.
pub(super) struct Piece {
    /// The line's place among the lines.
    pub(super) line: usize,
    /// Which bytes of it.
    pub(super) text: Range<usize>,
    pub(super) indent: u16,
}

/// Cuts a line into rows, after a space, a comma or an opening bracket where there is one in the second half of the room.
pub(super) fn cut(line: usize, text: &str, room: u16) -> Vec<Piece> {
    let own = width(text) - width(text.trim_start());
    let mut pieces = vec![Piece { line, text: 0..text.len(), indent: 0 }];
    loop {
        let last = pieces.len() - 1;
        let Piece { text: Range { start, .. }, indent, .. } = pieces[last];
        let room = room.saturating_sub(indent).max(1);
        let (mut used, mut end, mut good) = (0, start, None);
        for c in text[start..].chars() {
            used += width(c.encode_utf8(&mut [0; 4]));
            if used > room && end > start {
                break;
            }
            end += c.len_utf8();
            if matches!(c, ' ' | ',' | '(') && used > room / 2 {
                good = Some(end);
            }
        }
        let end = if end == text.len() { end } else { good.unwrap_or(end) };
        // A space at the cut stays at the end of the row, where it may lie outside of the room.
        let end = text.len() - text[end..].trim_start_matches(' ').len();
        if end == text.len() {
            return pieces;
        }
        pieces[last].text.end = end;
        let indent = (own + 4).min(room / 2);
        pieces.push(Piece { line, text: end..text.len(), indent });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_goes_on_in_the_next_row_and_loses_nothing() {
        let text = "    int i = blockDim.x * blockIdx.x + threadIdx.x; // 日本語";
        let shown = |room: u16| -> Vec<String> {
            let pieces = cut(0, text, room);
            let row = |piece: &Piece| {
                let row =
                    format!("{}{}", " ".repeat(piece.indent.into()), &text[piece.text.clone()]);
                assert!(width(row.trim_end()) <= room, "{row}");
                row
            };
            let whole: String = pieces.iter().map(|piece| &text[piece.text.clone()]).collect();
            assert_eq!(whole, text);
            pieces.iter().map(row).collect()
        };
        assert_eq!(shown(80), [text]);
        assert_eq!(
            shown(40),
            ["    int i = blockDim.x * blockIdx.x + ", "        threadIdx.x; // 日本語"]
        );
        for room in 4..60 {
            shown(room);
        }
    }
}
