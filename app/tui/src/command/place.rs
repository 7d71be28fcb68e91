//! Places of the screen that keys go to.

/// Where the keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The list of lessons.
    Course,
    /// The text of a lesson.
    Text,
    /// The knobs of a lesson's lab.
    Lab,
    /// The chosen picture of a lesson's lab.
    Picture,
    /// A kernel being written.
    Kernel,
    /// The help page.
    Help,
    /// The presets of a lab.
    Presets,
    /// The line that opens what is on the screen.
    Line,
    /// The palette.
    Palette,
    /// A question that y answers.
    Confirm,
    /// The field for a number of steps.
    Steps,
    /// The search in a lesson.
    Search,
    /// The filter of the lessons.
    Filter,
    /// The filter of a table's rows.
    Rows,
    /// The field for the file of weights.
    Weights,
    /// The glossary.
    Glossary,
    /// The list of recorded runs.
    Records,
}

impl Place {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Course,
        Self::Text,
        Self::Lab,
        Self::Picture,
        Self::Kernel,
        Self::Help,
        Self::Presets,
        Self::Line,
        Self::Palette,
        Self::Confirm,
        Self::Steps,
        Self::Search,
        Self::Filter,
        Self::Rows,
        Self::Weights,
        Self::Glossary,
        Self::Records,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Course => "course",
            Self::Text => "text",
            Self::Lab => "lab",
            Self::Picture => "picture",
            Self::Kernel => "kernel",
            Self::Help => "help",
            Self::Presets => "presets",
            Self::Line => "line",
            Self::Palette => "palette",
            Self::Confirm => "question",
            Self::Steps => "steps",
            Self::Search => "search",
            Self::Filter => "filter",
            Self::Rows => "rows",
            Self::Weights => "file of weights",
            Self::Glossary => "glossary",
            Self::Records => "recorded runs",
        }
    }
}
