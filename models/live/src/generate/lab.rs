//! Generates text token by token as a server of language models does: with a key/value cache or without, one prompt or
//! several, alone or with a smaller model that drafts (speculative decoding).
//!
//! [`decoder`] is a model that reads tokens incrementally and can take the last ones back; without a cache it runs the same
//! code over the whole text again. [`generator`] decides the next pass (prefill, decode, draft, judge) and samples. [`costs`]
//! adds up costs and, on request, does the same the other way and compares scores. Of a run with requests ([`serving`]) the
//! [`schedule`] is made without a model, and [`server`] carries it out with keys and values in pages.

mod costs;
mod decoder;
mod generator;
mod panels;
mod params;
mod schedule;
mod server;
mod serving;
#[cfg(test)]
mod tests;

use std::time::Instant;

use burn::tensor::Device;
use mlsys_device as device;
use mlsys_device::meter::{Meter, Precision};
use mlsys_distributed::transport::CommError;
use mlsys_lab::report::FrameTrigger;
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{LabError, Params, Run, Schema};
use mlsys_nn::baseline::{self, NetworkSource, Trained};
use mlsys_nn::data::Vocabulary;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::{Architecture, Network, Transformer, TransformerConfig};

use self::costs::{Comparator, CostLog, TokenCost};
use self::decoder::{Bits, Decoder, bytes_of_token};
use self::generator::{Generator, Knobs, Phase, StepResult};
use self::params::{FixedParams, Prompts, Setup, drafting, transformer};
use crate::sampling::nats;
use crate::stepped::{self, LiveLab, StepError, SteppedLab, Steps, known, point};

pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::new(include_str!("lab.toml"), run)?.reading::<FixedParams>()?.reading::<Knobs>()
}

fn run(schema: &Schema, run: &mut Run<'_>) -> Result<(), LabError> {
    let setup = Setup::read(&run.params)?;
    match setup.fixed.requests {
        Some(count) => stepped::run(schema, run, |run| serving::open(run, &setup, count)),
        None => stepped::run(schema, run, |run| Session::open(run, setup)),
    }
}

struct Session {
    setup: Setup,
    budget: MemoryBudget,
    knobs: Knobs,
    config: TransformerConfig,
    vocabulary: Vocabulary,
    generator: Generator,
    comparator: Option<Comparator>,
    costs: CostLog,
    /// The cost of drafts that are not judged yet.
    pending: TokenCost,
    /// Sum of -ln p over the generated tokens.
    nats: f64,
    /// Bytes a second that the device's memory moves, where it was measured.
    bandwidth: Option<f64>,
    /// A step is a token.
    steps: Steps,
}

fn network(
    trained: &Trained,
    device: &Device,
) -> Result<(Transformer, TransformerConfig), LabError> {
    let config = transformer(&trained.architecture)?.clone();
    match trained.network(device) {
        Network::Transformer(network) => Ok((network, config)),
        Network::Mlp(_) | Network::Cnn(_) | Network::Filters(_) => {
            Err(LabError::Data("the network is no transformer".to_owned()))
        }
    }
}

impl Session {
    fn open(run: &mut Run<'_>, setup: Setup) -> Result<Self, StepError> {
        let (knobs, fixed) = (run.params.read::<Knobs>()?, &setup.fixed);
        let source = NetworkSource::from_params(&run.params, &setup.recipe)?;
        let asked = Prompts::load(&source, &setup, fixed.batch)?;
        let config = asked.config.clone();
        let budget = MemoryBudget::for_device(run.device);
        must_fit(budget, &setup, &config, [asked.prompt(), knobs.generated])?;
        let learned = (source.data(), setup.recipe.steps, fixed.seed);
        let drafting = fixed.draft_width.map(|width| drafting(&config, width, learned));
        let drafting = drafting.transpose()?;
        if asked.prompt() + knobs.generated > config.context {
            run.notice(format!(
                "the model was trained on sequences of {} tokens: what it makes of positions beyond them it never learned",
                config.context
            ));
        }
        let trained = source.network(run)?.ok_or(StepError::Stopped)?;
        let device = device::open(run.device)?;
        let decoder = |trained: &Trained, cached: Option<Bits>| -> Result<Decoder, LabError> {
            let (network, config) = network(trained, &device)?;
            Ok(Decoder::new(network, config, &device, cached, fixed.window))
        };
        // The smaller model and the comparison round nothing.
        let full = |is_cached: bool| is_cached.then_some(Bits::Full);
        let mut generator =
            Generator::new(decoder(&trained, setup.cached)?, asked.prompts, fixed.seed);
        if let Some(recipe) = drafting {
            let small = baseline::learn(run, &recipe, "draft_width")?.ok_or(StepError::Stopped)?;
            let drafter = decoder(&small, full(setup.cached.is_some()))?;
            generator = generator.with_drafter(drafter, fixed.seed);
        }
        let mut bandwidth = None;
        if fixed.measure_bandwidth {
            run.status("measuring the memory");
            let meter = Meter::open(run.device, Precision::Fp32)?;
            bandwidth = Some(meter.bandwidth(&|| run.control.interrupted())?);
            run.status("");
        }
        let mut comparator = None;
        if fixed.compare {
            let decoder = decoder(&trained, full(setup.cached.is_none()))?;
            comparator = Some(Comparator::new(decoder, costs::PLENTY));
        }
        Ok(Self {
            setup,
            budget,
            knobs,
            config,
            vocabulary: asked.vocabulary,
            generator,
            comparator,
            costs: CostLog::default(),
            pending: TokenCost::default(),
            nats: 0.0,
            bandwidth,
            steps: Steps::default(),
        })
    }

    fn names(&self) -> [&'static str; 2] {
        let [own, other] = match self.setup.cached {
            Some(_) => ["with cache", "without cache"],
            None => ["without cache", "with cache"],
        };
        if self.setup.fixed.draft_width.is_some() { ["with drafts", other] } else { [own, other] }
    }
}

impl SteppedLab for Session {
    type Knobs = Knobs;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.generator.written() < self.knobs.generated
    }

    fn read(&self, params: &Params) -> Result<Knobs, LabError> {
        let knobs = params.read::<Knobs>()?;
        let tokens = [self.generator.prompt, knobs.generated];
        must_fit(self.budget, &self.setup, &self.config, tokens)?;
        Ok(knobs)
    }

    fn turn(&mut self, _: &mut Run<'_>, knobs: Knobs) -> Result<(), StepError> {
        self.knobs = knobs;
        Ok(())
    }

    /// One turn: a token of each sequence, some, or a draft of one.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let started = Instant::now();
        let result = self.generator.step(self.knobs)?;
        let seconds = started.elapsed().as_secs_f64();
        self.costs.pass(result.phase, seconds, &result.pass);
        match result.phase {
            Phase::Prefill => run.scalar("prefill_seconds", seconds),
            Phase::Draft => {
                self.pending.seconds += seconds;
                self.pending.flops += result.pass.flops;
            }
            Phase::Decode | Phase::Judge => {
                let speculation = self.costs.speculation(self.knobs);
                speculation.runs += 1;
                speculation.accepted += result.accepted as u64;
                speculation.judged += result.judged as u64;
                self.costs.gained += result.tokens as u64;
            }
        }
        if result.tokens > 0 {
            self.gained(run, &result, seconds)?;
        }
        self.steps.done = self.generator.written() as u64;
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        if self.costs.spans.is_empty() {
            return Ok(());
        }
        let at = (self.generator.written() as u64, moment);
        let mut failed = None;
        stepped::draw(run, at, &panels::ALL, |_, make| {
            make(self).map_err(|error| failed = Some(error)).ok()
        });
        failed.map_or(Ok(()), |error| Err(error.into()))
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let rows = &self.generator.rows;
        run.scalar("text", self.vocabulary.text(&rows[0][self.generator.prompt..]));
        known(run, "prefill_intensity", self.costs.intensity(Phase::Prefill));
        // Behind the last draft there can be a single token to decode, which says nothing about the run.
        let decodes = self.setup.fixed.draft_width.is_none();
        let decode = self.costs.intensity(Phase::Decode).filter(|_| decodes);
        known(run, "decode_intensity", decode);
        known(run, "judge_intensity", self.costs.intensity(Phase::Judge));
        known(run, "bandwidth_bytes_per_second", self.bandwidth);
        let tokens = rows.len() * self.generator.written();
        known(run, "token_nats", (tokens > 0).then(|| self.nats / tokens as f64));
        let comparator = self.comparator.as_ref();
        if let Some(comparator) = comparator.filter(|_| self.generator.written() > 0) {
            run.scalar("max_logit_difference", f64::from(comparator.worst));
            if let Some(same) = comparator.same {
                run.scalar("tokens_identical", same);
            }
        }
        Ok(())
    }
}

/// Refuses sequences that the device's memory cannot hold, before anything is taken.
fn must_fit(
    budget: MemoryBudget,
    setup: &Setup,
    config: &TransformerConfig,
    [prompt, generated]: [usize; 2],
) -> Result<(), LabError> {
    let batch = setup.fixed.batch as u64;
    let tokens = (prompt + generated) as u64;
    // With a cache the longest pass is the prompt's; without one, in the run or its comparison, everything so far goes through.
    let again = setup.cached.is_none() || setup.fixed.compare;
    let longest = if again && setup.fixed.requests.is_none() { tokens } else { prompt as u64 };
    // Attention is kept of every block for its picture, a block at work has its own scores, and the gated layer rows.
    let scores = (config.depth as u64 + 3) * config.heads as u64 * longest * tokens;
    let rows = longest * (4 * config.ffn + 8 * config.width + config.vocab) as u64;
    let weights = 2 * Architecture::Transformer(config.clone()).parameters();
    let kept = 3 * tokens * bytes_of_token(config, Bits::Full);
    let needed = 4 * (weights + batch * (scores + rows)) + batch * kept;
    let who = format!("{batch} sequences of {tokens} tokens");
    let smaller = match setup.fixed.prompt {
        Some(_) => "batch_size, the prompt or generated_tokens",
        None => "batch_size, prompt_tokens or generated_tokens",
    };
    budget.require(needed, &who, smaller)
}

impl Session {
    fn gained(
        &mut self,
        run: &mut Run<'_>,
        new: &StepResult,
        seconds: f64,
    ) -> Result<(), CommError> {
        let mut scores = new.pass.scores.iter().flatten().flatten();
        if scores.any(|score| !score.is_finite()) {
            let what = "a score is not a number any more: the model's weights are not";
            let step = self.generator.written() as u64;
            self.steps.diverge(run, step, what, what.to_owned());
        }
        let (each, written) = (new.tokens, self.generator.written());
        for (row, places) in self.generator.rows.iter().zip(&new.pass.scores) {
            let tokens = row[row.len() - each..].iter().zip(places);
            self.nats += tokens.map(|(token, scores)| nats(scores, *token as usize)).sum::<f64>();
        }
        let spent = std::mem::take(&mut self.pending);
        let seconds = (seconds + spent.seconds) / each as f64;
        let flops = (new.pass.flops + spent.flops) / each as u64;
        let step = written as u64;
        let tokens = written + 1 - each..=written;
        self.costs.own.extend(tokens.map(|token| TokenCost { token, seconds, flops }));
        if written > 1 {
            point(run, "decode_seconds", step, seconds);
        }
        point(run, "forward_flops", step, flops as f64);
        let [numbers, scales] = self.generator.decoder.cache_bytes();
        point(run, "cache_bytes", step, numbers as f64);
        run.scalar("cache_scale_bytes", scales as i64);
        run.scalar("token_forwards", self.costs.positions as i64);
        self.rates(run);
        if let Some(comparator) = &mut self.comparator {
            let was_sparse = comparator.is_sparse;
            let compared = comparator.follow(&self.generator.rows, new, self.knobs.temperature)?;
            let placed = compared.into_iter();
            let first = written + 1 - each;
            self.costs
                .other
                .extend(placed.map(|cost| TokenCost { token: first + cost.token, ..cost }));
            if was_sparse != comparator.is_sparse {
                run.notice(format!(
                    "without a cache each token takes all before it through the model again: from token {written} on the \
                     comparison does so for a few tokens only, further and further apart"
                ));
            }
        }
        Ok(())
    }

    fn rates(&self, run: &mut Run<'_>) {
        let costs = &self.costs;
        let seconds = costs.decode_seconds();
        if costs.gained > 0 && seconds > 0.0 {
            let tokens = costs.gained as f64;
            run.scalar("tokens_per_second", tokens * self.setup.fixed.batch as f64 / seconds);
            run.scalar("seconds_per_token", seconds / tokens);
        }
        let moved = costs.bytes_per_second();
        known(run, "bytes_per_second", moved);
        let both = moved.zip(self.bandwidth);
        known(run, "bandwidth_share", both.map(|(moved, bandwidth)| moved / bandwidth));
        let speculation = costs.all_speculation();
        known(run, "acceptance_rate", speculation.acceptance());
        known(run, "expected_tokens", costs.expected_tokens());
        if self.setup.fixed.draft_width.is_some() && speculation.runs > 0 {
            let gained = costs.gained as f64 / speculation.runs as f64;
            run.scalar("tokens_per_target_run", gained);
            run.scalar("draft_forwards", costs.draft_positions as i64);
        }
    }
}
