//! Kind `speculative-decoding`: tokens per verification, speedup and extra operations of a draft model.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite, percent};
use mlsys_sim::inference::expected_tokens;

/// Tokens drawn one by one; those beyond share a bar.
const DRAWN: i64 = 16;

/// The lab `speculative-decoding`.
pub struct SpeculativeDecoding {
    schema: Schema,
}

impl SpeculativeDecoding {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/speculative-decoding.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for SpeculativeDecoding {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let draft = Draft::read(&run.params)?;
        let sizes = || format!("a draft of {} tokens", draft.tokens);
        finite(run, "expected_tokens", draft.expected(draft.tokens), sizes)?;
        finite(run, "speedup", draft.speedup(draft.tokens), sizes)?;
        finite(run, "operations_factor", draft.operations(), sizes)?;
        picture::offer(run, "round", || draft.round());
        picture::offer(run, "lengths", || draft.lengths());
        picture::offer(run, "steps", || draft.steps());
        Ok(())
    }
}

/// A draft model beside its target.
struct Draft {
    /// How likely a drafted token is accepted, alpha.
    acceptance: f64,
    /// Tokens drafted a round, gamma.
    tokens: i64,
    /// Time of one draft step over one target step, c.
    time: f64,
    /// Operations per token over the target's, c_hat.
    flops: f64,
}

impl Draft {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            acceptance: params.float("acceptance_rate")?,
            tokens: params.int("draft_tokens")?,
            time: params.float("draft_time_ratio")?,
            flops: params.float("draft_flops_ratio")?,
        })
    }

    fn expected(&self, tokens: i64) -> f64 {
        expected_tokens(self.acceptance, tokens)
    }

    /// A round takes gamma draft steps and one of the target: expected/(gamma*c + 1).
    fn speedup(&self, tokens: i64) -> f64 {
        self.expected(tokens) / (tokens as f64 * self.time + 1.0)
    }

    /// (gamma*c_hat + gamma + 1)/expected.
    fn operations(&self) -> f64 {
        let gamma = self.tokens as f64;
        (gamma * self.flops + gamma + 1.0) / self.expected(self.tokens)
    }

    fn round(&self) -> Frame {
        let mut bars = Vec::new();
        let last = self.tokens.min(DRAWN);
        for accepted in 0..=last {
            // i tokens are accepted and the next is not; all of them, and nothing can be refused any more.
            let reach = self.acceptance.powf(accepted as f64);
            let share = if accepted == self.tokens || accepted == DRAWN {
                reach
            } else {
                reach * (1.0 - self.acceptance)
            };
            let more = if accepted == DRAWN && self.tokens > DRAWN { " or more" } else { "" };
            let tokens = accepted + 1;
            let noun = if tokens == 1 { "token" } else { "tokens" };
            let label = format!("{accepted}{more} accepted");
            bars.push(picture::bar(
                label,
                share,
                format!("{}, {tokens}{more} {noun}", percent(share)),
            ));
        }
        picture::bars("probability", bars)
    }

    fn lengths(&self) -> Frame {
        let mut lengths = vec![1, 2, 3, 4, 5, 7, 10, 15, 20];
        if !lengths.contains(&self.tokens) {
            lengths.push(self.tokens);
            lengths.sort_unstable();
        }
        let best =
            lengths.iter().copied().max_by(|a, b| self.speedup(*a).total_cmp(&self.speedup(*b)));
        let bar = |tokens: i64| {
            let own = if tokens == self.tokens { "this one" } else { "" };
            let most = if best == Some(tokens) { "most of these" } else { "" };
            let both = if own.is_empty() || most.is_empty() { "" } else { ", " };
            picture::bar(
                format!("{tokens} drafted"),
                self.speedup(tokens),
                format!("{own}{both}{most}"),
            )
        };
        picture::bars("times as fast", lengths.into_iter().map(bar).collect())
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let (alpha, gamma) = (number(self.acceptance), self.tokens);
        let expected = self.expected(gamma);
        let (formula, numbers) = if self.acceptance == 1.0 {
            ("gamma + 1", format!("{gamma} + 1"))
        } else {
            let numbers = format!("(1 - {alpha}^{})/(1 - {alpha})", gamma.saturating_add(1));
            ("(1 - alpha^(gamma+1))/(1 - alpha)", numbers)
        };
        steps.add("expected_tokens", formula, numbers, expected);
        let numbers = format!("{}/({gamma}*{} + 1)", number(expected), number(self.time));
        steps.add("speedup", "expected/(gamma*c + 1)", numbers, self.speedup(gamma));
        let numbers =
            format!("({gamma}*{} + {gamma} + 1)/{}", number(self.flops), number(expected));
        steps.add(
            "operations_factor",
            "(gamma*c_hat + gamma + 1)/expected",
            numbers,
            self.operations(),
        );
        steps.table()
    }
}
