//! A text whose parts stand differently: given, written, drafted, struck out.

use serde::{Deserialize, Serialize};

use super::Tone;

/// A text whose parts stand differently.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// How a part can stand, for the legend.
    pub standings: Vec<Standing>,
    /// Texts one below the other, such as one a sequence.
    pub paragraphs: Vec<Paragraph>,
    /// A sentence on what is seen; may be empty.
    #[serde(default)]
    pub note: String,
}

/// How a part of a text can stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Its name, such as "drafted".
    pub name: String,
    /// How it stands out.
    pub tone: Tone,
    /// What stands before and behind such a part, so that it is known without colour; may be empty.
    pub marks: [String; 2],
}

/// One text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paragraph {
    /// What stands before it, such as a number; may be empty.
    #[serde(default)]
    pub label: String,
    /// Its parts in order.
    pub stretches: Vec<Stretch>,
}

/// A part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// How it stands, as a place in [`Passage::standings`].
    pub standing: usize,
    /// The text; line ends are kept.
    pub text: String,
}

impl Passage {
    /// How a part stands, if that is one of those listed.
    pub fn standing(&self, stretch: &Stretch) -> Option<&Standing> {
        self.standings.get(stretch.standing)
    }

    /// A part with its marks.
    pub fn marked(&self, stretch: &Stretch) -> String {
        match self.standing(stretch) {
            Some(Standing { marks: [before, behind], .. }) if !stretch.text.is_empty() => {
                format!("{before}{}{behind}", stretch.text)
            }
            Some(_) | None => stretch.text.clone(),
        }
    }

    /// A text with its marks and its label.
    pub fn plain(&self, paragraph: &Paragraph) -> String {
        let parts = paragraph.stretches.iter().map(|part| self.marked(part));
        let text: String = parts.collect();
        match paragraph.label.as_str() {
            "" => text,
            label => format!("{label}: {text}"),
        }
    }
}
