//! What a run leaves for other runs: bytes, and what they are.

/// Something that a run made, such as a trained network, which other runs can start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What it is, as schemas name it: `network`.
    pub kind: String,
    /// The ending of a file that holds nothing but the bytes, without the dot.
    pub ending: String,
    /// What it is in a few words with its sizes.
    pub about: String,
    /// Why it is not what its run was to make, where it is not: the run was stopped early, for one.
    pub unfinished: Option<String>,
    /// What it is made of.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// The name of a file that holds it.
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.kind, self.ending)
    }
}
