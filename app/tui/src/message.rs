//! What happens to the app and what it wants done: the only ways in and out of [`crate::state::App`].

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mlsys_lab::Artifact;
use mlsys_lab::control::{Command, Limits};
use mlsys_lab::device::{DeviceId, DeviceInfo};
use mlsys_lab::params::Params;
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::Schema;
use mlsys_lesson::{Event, Parsed, Timestamp};
use mlsys_nn::weights::WeightsError;
use mlsys_run::devices::Peaks;
use mlsys_run::outcome::Outcome;
use mlsys_run::process::Loss;
use mlsys_run::session::Panels;
use mlsys_run::storage::{Draft, Export};
use mlsys_view::attempts::FinishedRun;
use mlsys_view::theme::Background;

use crate::command;
use crate::editor::{DraftOrigin, KernelRead, KernelText, TestsJob, TestsReport};
use crate::key::Key;
use crate::records::{LoadError, LoadedRecord, RecallRequest, RecordEntry};

#[derive(Debug)]
pub enum Message {
    Key(Key),
    Do(command::Command),
    /// Marks this block of the lesson, whatever is on the screen.
    GoTo(usize),
    Mouse {
        gesture: Gesture,
        column: u16,
        row: u16,
    },
    Paste(String),
    Resize {
        width: u16,
        height: u16,
    },
    Background(Background),
    Probed(Vec<DeviceInfo>),
    Measured(Peaks),
    /// The reports of a run since the last ones, and how long it has run; those of a run that is no longer active are dropped.
    Reports {
        run: u64,
        reports: Vec<Report>,
        since: Duration,
    },
    Settled {
        run: u64,
    },
    /// The clock of what goes on by itself, for as long as [`crate::state::App::animation`] says that something does.
    Beat,
    /// The time, where something is due.
    Clock(Timestamp),
    Waited {
        seconds: u64,
    },
    Ended {
        run: u64,
        outcome: Outcome,
        after: Duration,
    },
    NotSaved(String),
    /// What is kept without being asked for, such as a run's record, is not.
    Lost(Loss),
    Exported(String),
    WeightsSaved(Result<String, SaveError>),
    /// The recorded runs, the newest first.
    Records(Vec<RecordEntry>),
    LoadedRecord(Result<Box<LoadedRecord>, LoadError>),
    /// What earlier sessions recorded of a lesson, the oldest first.
    Recalled(Vec<FinishedRun>),
    Previewed(PreviewState),
    /// The text of a draft; none if it was never kept.
    Draft {
        draft: Draft,
        text: Option<String>,
        whence: DraftOrigin,
    },
    TestsReport(Box<TestsReport>),
    KernelRead(Box<KernelRead>),
    Terminate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    Press,
    Drag,
    WheelUp,
    WheelDown,
}

#[derive(Debug)]
pub enum PreviewState {
    Read(Box<Parsed>),
    Unreadable(String),
}

/// Whether the mouse is ours, or the terminal's, where it selects text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mouse {
    Off,
    On,
}

#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    #[error("not saved: {0}")]
    Weights(#[from] WeightsError),
    #[error("not saved: no thread could be started: {0}")]
    Thread(#[from] io::Error),
}

#[derive(Debug)]
pub enum Effect {
    Start(Box<Start>),
    Replay(Box<ReplayStart>),
    ListRecords,
    ReadRecord(Box<crate::records::LoadRequest>),
    /// Read what earlier sessions recorded, for pictures of several runs.
    Recall(RecallRequest),
    Order(Command),
    WantPictures(Panels),
    /// End the run and forget it; what comes of it later is dropped.
    Abandon,
    /// Keep the run as it is while another one has its turn: what it says is not heard until it is taken up.
    SetAside,
    /// Go on with the run that was set aside.
    TakeUp,
    Mouse(Mouse),
    Copy(String),
    Save(Event),
    /// Tell what is kept of a text, and whatever another program saves of it until the next one is opened.
    OpenDraft(Draft),
    CloseDraft,
    KeepDraft(Draft, String),
    EditOutside(Draft, String),
    ReadKernel(KernelText),
    TestsJob(Box<TestsJob>),
    Export(Box<Export>),
    SaveWeights(SaveWeights),
    Suspend,
    Quit,
}

#[derive(Clone, Debug)]
pub struct SaveWeights {
    pub left: Arc<Artifact>,
    pub path: PathBuf,
}

#[derive(Debug)]
pub struct Start {
    pub run: u64,
    pub kind: &'static str,
    pub params: Params,
    pub device: DeviceId,
    pub limits: Limits,
    pub lesson: String,
    pub lab: String,
}

#[derive(Debug)]
pub struct ReplayStart {
    pub run: u64,
    pub schema: &'static Schema,
    pub params: Params,
    pub data: Arc<RunData>,
}
