//! Places of the screen that keys go to.

/// Where the keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Course,
    Text,
    Lab,
    Picture,
    Kernel,
    Help,
    Presets,
    Line,
    Palette,
    Confirm,
    Steps,
    Search,
    Filter,
    Rows,
    Weights,
    Glossary,
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
