//! The one interface of everything that can be run.

use mlsys_expr::ExprError;

use crate::control::Control;
use crate::device::DeviceId;
use crate::params::{ParamError, Params};
use crate::report::{Report, Sink};
use crate::schema::Schema;
use crate::value::Value;

/// Most errors of one expression that are shown: more have one cause.
pub const MOST_EXPRESSION_ERRORS: usize = 12;

/// A named experiment with typed parameters that emits metrics and frames.
pub trait Lab: Send + Sync {
    /// Its parameters, metrics, panels and texts.
    fn schema(&self) -> &Schema;

    /// Runs it to its end, to a stop, or to an error; everything it finds goes into `run.sink`.
    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError>;
}

impl<L: Lab + ?Sized> Lab for &L {
    fn schema(&self) -> &Schema {
        (**self).schema()
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        (**self).run(run)
    }
}

/// What a lab is given for one run.
pub struct Run<'a> {
    /// Resolved parameters; a live one may change between two steps.
    pub params: Params,
    /// The device to run on; analytic labs do not look at it.
    pub device: DeviceId,
    /// Takes the reports.
    pub sink: &'a mut dyn Sink,
    /// Brings pause, step, knobs and stop.
    pub control: Control,
}

impl Run<'_> {
    /// Reports a metric that is known once.
    pub fn scalar(&mut self, name: &str, value: impl Into<Value>) {
        self.sink.report(Report::Scalar { name: name.into(), value: value.into() });
    }
}

/// Why a run did not reach its end. A run that diverges is no error: that is a result.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A parameter cannot be used.
    #[error("{0}")]
    Param(ParamError),
    /// Parameters that are fine one by one do not fit together.
    #[error("{}: {message}", .params.join(", "))]
    Contradiction {
        /// The parameters.
        params: Vec<String>,
        /// What does not fit and what would.
        message: String,
    },
    /// A text parameter holds an expression that does not read; the message shows where.
    #[error("parameter '{param}': {message}")]
    Expression {
        /// The parameter.
        param: String,
        /// The error with the expression and a mark under the place.
        message: String,
    },
    /// An analytic result is NaN or infinite.
    #[error("{metric} is not finite: {reason}")]
    NotFinite {
        /// The metric.
        metric: String,
        /// Where it comes from.
        reason: String,
    },
    /// A file the run needs cannot be used.
    #[error("{0}")]
    Data(String),
    /// The device cannot be opened.
    #[error("device {device} cannot be used: {reason}")]
    Device {
        /// The device.
        device: DeviceId,
        /// What it said.
        reason: String,
    },
    /// A worker process elsewhere cannot be used: which, what happened, and what to do.
    #[error("{0}")]
    Worker(String),
    /// The run failed on the device: out of memory, lost, or a panic in its thread.
    #[error("the run failed on {device}: {reason}")]
    Failed {
        /// The device.
        device: DeviceId,
        /// What it said.
        reason: String,
    },
}

impl LabError {
    /// Parameters that do not fit together.
    pub fn contradiction<'a>(
        params: impl IntoIterator<Item = &'a str>,
        message: impl Into<String>,
    ) -> Self {
        Self::Contradiction {
            params: params.into_iter().map(str::to_owned).collect(),
            message: message.into(),
        }
    }

    /// A parameter's expression with an error.
    pub fn expression(param: &str, source: &str, error: &ExprError) -> Self {
        Self::expressions(param, source, std::slice::from_ref(error))
    }

    /// A parameter's expression with several errors, of which the first [`MOST_EXPRESSION_ERRORS`] are shown.
    pub fn expressions(param: &str, source: &str, errors: &[ExprError]) -> Self {
        let shown = errors.iter().take(MOST_EXPRESSION_ERRORS).map(|error| error.shown(source));
        let more = errors.len().saturating_sub(MOST_EXPRESSION_ERRORS);
        let more = (more > 0).then(|| format!("and {more} more like these"));
        let message = shown.chain(more).collect::<Vec<_>>().join("\n");
        Self::Expression { param: param.to_owned(), message }
    }

    /// Whether the input is wrong, rather than the run having failed.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Param(_) | Self::Contradiction { .. } | Self::Expression { .. } => true,
            Self::NotFinite { .. }
            | Self::Data(_)
            | Self::Device { .. }
            | Self::Worker(_)
            | Self::Failed { .. } => false,
        }
    }
}
