//! Cutting a buffer into pieces.

use std::ops::Range;

/// A buffer cut into pieces of as even a length as can be: where they do not divide it, the first ones are one element
/// longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Split {
    elements: usize,
    pieces: usize,
}

impl Split {
    /// So many elements in so many pieces; no pieces count as one.
    pub fn new(elements: usize, pieces: usize) -> Self {
        Self { elements, pieces: pieces.max(1) }
    }

    /// Elements altogether.
    pub fn elements(self) -> usize {
        self.elements
    }

    /// Pieces.
    pub fn pieces(self) -> usize {
        self.pieces
    }

    /// The elements of a piece.
    pub fn piece(self, piece: usize) -> Range<usize> {
        self.start(piece)..self.start(piece + 1)
    }

    /// The elements of neighbouring pieces.
    pub fn span(self, pieces: &Range<usize>) -> Range<usize> {
        self.start(pieces.start)..self.start(pieces.end)
    }

    /// The length of the longest piece.
    pub fn longest(self) -> usize {
        self.elements.div_ceil(self.pieces)
    }

    /// The length of the shortest piece.
    pub fn shortest(self) -> usize {
        self.elements / self.pieces
    }

    /// How many pieces, the first ones, are an element longer than the shortest.
    pub fn longer(self) -> usize {
        self.elements % self.pieces
    }

    /// Where a piece begins; beyond the last, the end.
    fn start(self, piece: usize) -> usize {
        let piece = piece.min(self.pieces);
        piece * self.shortest() + piece.min(self.longer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_one_another_and_differ_by_at_most_one() {
        for elements in 0..70 {
            for pieces in 1..35 {
                let split = Split::new(elements, pieces);
                let mut end = 0;
                let mut lengths = Vec::new();
                for piece in 0..pieces {
                    let range = split.piece(piece);
                    assert_eq!(range.start, end);
                    end = range.end;
                    lengths.push(range.len());
                }
                assert_eq!(end, elements);
                assert_eq!(split.span(&(0..pieces)), 0..elements);
                assert_eq!(lengths.first(), Some(&split.longest()));
                let longer = lengths.iter().filter(|l| **l > split.shortest()).count();
                assert_eq!(longer, split.longer());
                assert!(lengths.iter().all(|l| *l >= split.shortest()));
            }
        }
    }
}
