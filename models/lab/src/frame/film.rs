//! Pictures one after the other: an algorithm's state after each step, or the same things before and after.

use serde::{Deserialize, Serialize};

use super::Pane;

/// Pictures one after the other, one of which is seen at a time; stepping through them runs nothing.
///
/// Each picture stands for itself and has no steps of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Film {
    /// The pictures in order, each with what it shows in a few words.
    pub stills: Vec<Pane>,
    /// The picture that stands for all of them where nothing can be stepped through, as a place in `stills`.
    #[serde(default)]
    pub cover: usize,
}

impl Film {
    /// The picture at a place, the last one beyond the end; none if there are none.
    pub fn at(&self, place: usize) -> Option<&Pane> {
        self.stills.get(place.min(self.last()))
    }

    /// The place of the last picture.
    pub fn last(&self) -> usize {
        self.stills.len().saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    #[test]
    fn beyond_the_end_stands_the_last_picture() {
        let still =
            |title: &str| Pane { title: title.to_owned(), frame: Frame::Text(String::new()) };
        let film = Film { stills: vec![still("a"), still("b")], cover: 0 };
        let title = |place| film.at(place).map(|still| still.title.as_str());
        assert_eq!([title(0), title(1), title(9)], [Some("a"), Some("b"), Some("b")]);
        assert_eq!(Film::default().at(0), None);
    }
}
