//! What happens to the app and what it wants done: the only ways in and out of [`super::app::App`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mlsys_lab::Artifact;
use mlsys_lab::control::{Command, Limits};
use mlsys_lab::device::{DeviceId, DeviceInfo};
use mlsys_lab::params::Params;
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::Schema;
use mlsys_lesson::Event;

use super::command;
use super::editor::{DraftOrigin, TestsJob, TestsReport};
use super::key::Key;
use super::records::{LoadedRecord, RecordEntry};
use crate::recall::Wanted;
use crate::state::Mouse;
use crate::state::preview::PreviewState;
use mlsys_run::devices::Peaks;
use mlsys_run::outcome::Outcome;
use mlsys_run::session::Panels;
use mlsys_run::storage::Draft;
use mlsys_run::storage::Export;
use mlsys_view::attempts::FinishedRun;
use mlsys_view::theme::Background;

/// Something that happened.
#[derive(Debug)]
pub enum Message {
    /// A key was pressed.
    Key(Key),
    /// A command was given by its name.
    Do(command::Command),
    /// Something was done with the mouse.
    Mouse {
        /// What.
        gesture: Gesture,
        /// The column, from the left.
        column: u16,
        /// The row, from the top.
        row: u16,
    },
    /// Text was pasted.
    Paste(String),
    /// The terminal has a new size.
    Resize {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// The terminal has told what colour is behind its text.
    Background(Background),
    /// The devices are known.
    Probed(Vec<DeviceInfo>),
    /// What was measured of the devices before.
    Measured(Peaks),
    /// The run has something to say; `since` is how long it has run.
    Reports {
        /// Which run, so that late news of an ended one is not mixed in.
        run: u64,
        /// What it says.
        reports: Vec<Report>,
        /// Time since it started.
        since: Duration,
    },
    /// The run has done what it was told to and waits for an order.
    Settled {
        /// Which run.
        run: u64,
    },
    /// The clock of what goes on by itself, for as long as [`super::app::App::animation`] says that something does.
    Beat,
    /// What is waited for takes so long already.
    Waited {
        /// Whole seconds.
        seconds: u64,
    },
    /// The run has ended.
    Ended {
        /// Which run.
        run: u64,
        /// How.
        outcome: Outcome,
        /// How long it took.
        after: Duration,
    },
    /// The run's record or the learner's progress could not be written.
    NotSaved(String),
    /// A picture was written; the sentence says where.
    Exported(String),
    /// Weights were saved, and where, or could not be, and why.
    WeightsSaved(Result<String, String>),
    /// The recorded runs are known, the newest first.
    Records(Vec<RecordEntry>),
    /// A recorded run has been read, or why it could not be.
    LoadedRecord(Result<Box<LoadedRecord>, String>),
    /// What earlier sessions recorded of a lesson, the oldest first.
    Recalled(Vec<FinishedRun>),
    /// The lesson file that is followed has changed.
    Previewed(PreviewState),
    /// What is kept of a text that is being written, or what another program has saved of it.
    Draft {
        /// Which text.
        draft: Draft,
        /// What it is; nothing if it was never kept.
        text: Option<String>,
        /// Where it comes from.
        whence: DraftOrigin,
    },
    /// The tests of a kernel are over.
    TestsReport(Box<TestsReport>),
    /// The system asks the program to end.
    Terminate,
}

/// What is done with a mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    /// The left button was pressed.
    Press,
    /// The mouse was moved with the left button held.
    Drag,
    /// The wheel was turned away from the hand.
    WheelUp,
    /// The wheel was turned towards the hand.
    WheelDown,
}

/// Something to be done outside.
#[derive(Debug)]
pub enum Effect {
    /// Start a run.
    Start(Box<Start>),
    /// Replay a recorded run as if it ran.
    Replay(Box<ReplayStart>),
    /// Find out what has been recorded.
    ListRecords,
    /// Read a recorded run.
    ReadRecord(Box<super::records::Wanted>),
    /// Read what earlier sessions recorded, for pictures of several runs.
    Recall(Wanted),
    /// Give the run an order.
    Order(Command),
    /// Ask the run for fresh pictures.
    WantPictures(Panels),
    /// End the run and forget it; what comes of it later is dropped.
    Abandon,
    /// Take the mouse, or give it back to the terminal.
    Mouse(Mouse),
    /// Put a text into the clipboard.
    Copy(String),
    /// Append to the learner's progress.
    Save(Event),
    /// Tell what is kept of a text, and whatever another program saves of it until the next one is opened.
    OpenDraft(Draft),
    /// Follow no text any more.
    CloseDraft,
    /// Keep a text as it is typed.
    KeepDraft(Draft, String),
    /// Open a text in the learner's own editor.
    EditOutside(Draft, String),
    /// Run the tests of a kernel.
    TestsJob(Box<TestsJob>),
    /// Write a picture into files of its own.
    Export(Box<Export>),
    /// Save what a run has learned.
    SaveWeights(SaveWeights),
    /// Stop as a job of the shell.
    Suspend,
    /// Leave.
    Quit,
}

/// What a run has learned, and where it is wanted.
#[derive(Clone, Debug)]
pub struct SaveWeights {
    /// What it has left.
    pub left: Arc<Artifact>,
    /// The file; its ending says the format.
    pub path: PathBuf,
}

/// A run to be started.
#[derive(Debug)]
pub struct Start {
    /// Its number.
    pub run: u64,
    /// The kind of lab.
    pub kind: &'static str,
    /// Its parameters.
    pub params: Params,
    /// Its device.
    pub device: DeviceId,
    /// How far it may go.
    pub limits: Limits,
    /// The lesson, for the record.
    pub lesson: String,
    /// The lab's id in the lesson, for the record.
    pub lab: String,
}

/// A recorded run to be replayed.
#[derive(Debug)]
pub struct ReplayStart {
    /// Its number among the runs of this session.
    pub run: u64,
    /// Its lab.
    pub schema: &'static Schema,
    /// The lab's parameters here.
    pub params: Params,
    /// What it reported.
    pub data: Arc<RunData>,
}
