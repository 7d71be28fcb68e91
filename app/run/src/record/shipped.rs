//! Recordings that ship with the program: folders of `assets/recordings`, each as a run has left it.

use std::path::PathBuf;

use super::load::{Limits, load};
use super::read::{Past, Standing, Summary, checked};
use super::{REPORTS, line};

/// A recording in the program.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    name: &'static str,
    about: &'static [u8],
    reports: &'static [u8],
    outcome: &'static [u8],
}

/// All of them, in the order of their names.
const ALL: &[Shipped] = include!(concat!(env!("OUT_DIR"), "/recordings.rs"));

/// All recordings.
pub fn shipped() -> impl Iterator<Item = Shipped> {
    ALL.iter().copied()
}

impl Shipped {
    /// What is known of it without its reports.
    pub fn summary(&self) -> Result<Summary, String> {
        let failed = |reason: String| format!("recording {}: {reason}", self.name);
        let about = line::object(self.about).map_err(failed)?;
        checked(&about).map_err(failed)?;
        Ok(Summary {
            name: self.name.to_owned(),
            folder: PathBuf::from(self.name),
            about,
            standing: Standing::Ended(line::object(self.outcome).map_err(failed)?),
        })
    }

    /// All of it.
    pub fn open(&self) -> Result<Past, String> {
        let loaded = load(self.reports, REPORTS, Limits::default())
            .map_err(|error| format!("recording {}: {error}", self.name))?;
        Ok(Past { summary: self.summary()?, data: loaded.data, warnings: loaded.warnings })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recording_reads_and_says_where_it_was_made() {
        for recording in shipped() {
            let past = recording.open().unwrap();
            let name = recording.name;
            assert_eq!(past.warnings, [""; 0], "{name}");
            assert_eq!(past.summary.standing.word(), "finished", "{name}");
            assert!(past.summary.device().is_some(), "{name} names no device");
            let lab = mlsys_registry::registry().find(past.summary.lab());
            let schema = lab.unwrap().schema();
            assert!(!past.data.series.is_empty(), "{name}");
            for metric in past.data.metrics().keys() {
                assert!(schema.metric(metric).is_some(), "{name}: {metric}");
            }
        }
    }
}
