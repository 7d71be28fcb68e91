//! Generates text token by token as a server of language models does: with a key/value cache or without, one prompt or
//! several, alone or with a smaller model that drafts (speculative decoding).
//!
//! [`decoder`] is a model that reads tokens incrementally and can take the last ones back; without a cache it runs the same
//! code over the whole text again. [`writer`] decides the next pass (prefill, decode, draft, judge) and samples. [`tracks`]
//! adds up costs and, on request, does the same the other way and compares scores. [`serve`] is continuous batching: [`plan`]
//! schedules requests without a model, and the plan is carried out with keys and values in pages.

mod decoder;
mod panels;
mod params;
mod plan;
mod serve;
mod serve_panels;
#[cfg(test)]
mod tests;
mod tracks;
mod writer;

use std::time::Instant;

use burn::tensor::Device;
use mlsys_device as device;
use mlsys_device::meter::{Meter, Precision};
use mlsys_distributed::transport::CommError;
use mlsys_lab::report::{FrameTrigger, Report};
use mlsys_lab::schema::SchemaError;
use mlsys_lab::{Frame, LabError, Params, Run, Schema};
use mlsys_nn::baseline;
use mlsys_nn::baseline::{NetworkSource, Trained};
use mlsys_nn::data::Vocabulary;
use mlsys_nn::memory_budget::MemoryBudget;
use mlsys_nn::networks::{Architecture, Network, Transformer, TransformerConfig};

use self::decoder::{Bits, Caching, Decoder, bytes_of_token};
use self::panels::PanelData;
use self::params::{Bandwidth, Comparison, Prompt, Prompts, Setup, Traffic, drafting, transformer};
use self::plan::{Server, requests};
use self::serve::{Service, Serving};
use self::tracks::{Comparator, Pending, Phase, Same, Spent, Tracks};
use self::writer::{Gain, Turn, Wish, Writer};
use crate::stepped;
use crate::stepped::{LiveLab, StepError, SteppedLab, Steps, point};

/// Lab `generate`.
///
/// # Errors
/// If the schema does not read, which is a mistake in this crate.
pub fn lab() -> Result<LiveLab, SchemaError> {
    LiveLab::new(include_str!("lab.toml"), run)
}

// The run.

/// Runs the lab.
fn run(schema: &Schema, run: &mut Run<'_>) -> Result<(), LabError> {
    let setup = Setup::read(&run.params)?;
    match setup.traffic {
        Some(traffic) => stepped::run(schema, run, |run| {
            let serving = Serving::new(service(run, &setup, traffic)?);
            serving.report_plan(run);
            Ok(serving)
        }),
        None => stepped::run(schema, run, |run| Session::open(run, setup)),
    }
}

struct Session {
    setup: Setup,
    budget: MemoryBudget,
    wish: Wish,
    config: TransformerConfig,
    vocabulary: Vocabulary,
    writer: Writer,
    beside: Option<Comparator>,
    tracks: Tracks,
    /// What was spent on drafts that are not judged yet.
    pending: Pending,
    /// Bytes a second that the device's memory moves, where it was measured.
    bandwidth: Option<f64>,
    /// A step is a token.
    steps: Steps,
}

/// A transformer with its sizes, on a device.
struct Model {
    network: Transformer,
    config: TransformerConfig,
}

impl Model {
    fn of(trained: &Trained, device: &Device) -> Result<Self, LabError> {
        let config = transformer(&trained.architecture)?.clone();
        match trained.network(device) {
            Network::Transformer(network) => Ok(Self { network, config }),
            Network::Mlp(_) | Network::Cnn(_) | Network::Filters(_) => {
                Err(LabError::Data("the network is no transformer".to_owned()))
            }
        }
    }

    fn decoder(self, device: &Device, caching: Caching, window: Option<usize>) -> Decoder {
        Decoder::new(self.network, self.config, device, caching, window)
    }
}

impl Session {
    /// Everything up to the first token.
    fn open(run: &mut Run<'_>, setup: Setup) -> Result<Self, StepError> {
        let wish = Wish::of(&run.params)?;
        let source = NetworkSource::of(&run.params, &setup.recipe)?;
        let asked = Prompts::of(&source, &setup, setup.batch)?;
        let config = asked.config.clone();
        let budget = MemoryBudget::of(run.device);
        must_fit(budget, &setup, &config, [asked.prompt(), wish.generated])?;
        let drafting = match setup.draft {
            None => None,
            Some(width) => {
                let learned = (source.data(), setup.recipe.steps, setup.seed);
                Some(drafting(&config, width, learned)?)
            }
        };
        if asked.prompt() + wish.generated > config.context {
            let said = format!(
                "the model was trained on sequences of {} tokens: what it makes of positions beyond them it never learned",
                config.context
            );
            run.sink.report(Report::Notice(said));
        }
        let trained = source.network(run)?.ok_or(StepError::Stopped)?;
        let device = device::open(run.device)?;
        let model = Model::of(&trained, &device)?;
        let drafter = match drafting {
            None => None,
            Some(recipe) => {
                let small = baseline::learn(run, &recipe, "draft_width")?;
                let model = Model::of(small.ok_or(StepError::Stopped)?.as_ref(), &device)?;
                let caching = match setup.caching {
                    Caching::Kept(_) => Caching::Kept(Bits::Full),
                    Caching::Nothing => Caching::Nothing,
                };
                Some(model.decoder(&device, caching, setup.window))
            }
        };
        let bandwidth = match setup.bandwidth {
            Bandwidth::Unknown => None,
            Bandwidth::Measured => {
                run.sink.report(Report::Status("measuring the memory".to_owned()));
                let meter = Meter::open(run.device, Precision::Fp32)?;
                let measured = meter.bandwidth(&|| run.control.interrupted())?;
                run.sink.report(Report::Status(String::new()));
                Some(measured)
            }
        };
        let beside = match setup.comparison {
            Comparison::None => None,
            Comparison::Compared => {
                let caching = match setup.caching {
                    Caching::Kept(_) => Caching::Nothing,
                    Caching::Nothing => Caching::Kept(Bits::Full),
                };
                let model = Model::of(&trained, &device)?;
                let decoder = model.decoder(&device, caching, setup.window);
                Some(Comparator::new(decoder, tracks::PLENTY))
            }
        };
        let decoder = model.decoder(&device, setup.caching, setup.window);
        let mut writer = Writer::new(decoder, asked.prompts, setup.seed);
        if let Some(drafter) = drafter {
            writer = writer.with_drafter(drafter, setup.seed);
        }
        Ok(Self {
            setup,
            budget,
            wish,
            config,
            vocabulary: asked.vocabulary,
            writer,
            beside,
            tracks: Tracks::default(),
            pending: Pending::default(),
            bandwidth,
            steps: Steps::default(),
        })
    }

    /// A pass of the model after the prompt.
    fn count(&mut self, tokens: usize) {
        self.tracks.rounds(self.wish).runs += 1;
        self.tracks.gained += tokens as u64;
    }

    /// What the run and the other way are called.
    fn names(&self) -> [&'static str; 2] {
        let [own, other] = match self.setup.caching {
            Caching::Kept(_) => ["with cache", "without cache"],
            Caching::Nothing => ["without cache", "with cache"],
        };
        match self.setup.draft {
            Some(_) => ["with drafts", other],
            None => [own, other],
        }
    }
}

impl SteppedLab for Session {
    type Knobs = Wish;

    fn steps(&mut self) -> &mut Steps {
        &mut self.steps
    }

    fn has_next(&self) -> bool {
        self.writer.written() < self.wish.generated
    }

    fn read(&self, params: &Params) -> Result<Wish, LabError> {
        let wish = Wish::of(params)?;
        let tokens = [self.writer.prompt(), wish.generated];
        must_fit(self.budget, &self.setup, &self.config, tokens)?;
        Ok(wish)
    }

    fn turn(&mut self, _: &mut Run<'_>, wish: Wish) -> Result<(), StepError> {
        self.wish = wish;
        Ok(())
    }

    /// One turn: a token of each sequence, some, or a draft of one.
    fn advance(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        let started = Instant::now();
        let turn = self.writer.turn(self.wish)?;
        let seconds = started.elapsed().as_secs_f64();
        match &turn {
            Turn::Prefill(gain) => {
                self.tracks.pass(Phase::Prefill, seconds, &gain.pass);
                run.scalar("prefill_seconds", seconds);
                self.gained(run, gain, seconds)?;
            }
            Turn::Decode(gain) => {
                self.tracks.pass(Phase::Decode, seconds, &gain.pass);
                self.count(gain.tokens);
                self.gained(run, gain, seconds)?;
            }
            Turn::Draft(pass) => {
                self.tracks.pass(Phase::Draft, seconds, pass);
                self.pending.seconds += seconds;
                self.pending.flops += pass.flops;
            }
            Turn::Judge { gain, accepted, judged } => {
                self.tracks.pass(Phase::Judge, seconds, &gain.pass);
                let of = self.tracks.rounds(self.wish);
                of.accepted += *accepted as u64;
                of.judged += *judged as u64;
                self.count(gain.tokens);
                self.gained(run, gain, seconds)?;
            }
        }
        self.steps.done = self.writer.written() as u64;
        Ok(())
    }

    fn draw(&mut self, run: &mut Run<'_>, moment: FrameTrigger) -> Result<(), StepError> {
        if self.tracks.stretches.is_empty() {
            return Ok(());
        }
        let of = PanelData {
            writer: &self.writer,
            tracks: &self.tracks,
            config: &self.config,
            vocabulary: &self.vocabulary,
            wanted: self.wish.generated,
            drafted: self.wish.drafted,
            names: self.names(),
            beside: match &self.beside {
                Some(beside) => beside.told(self.names()[1]),
                None => String::new(),
            },
        };
        let step = self.writer.written() as u64;
        let mut send = |panel: &str, make: &dyn Fn() -> Result<Frame, CommError>| {
            if run.sink.wants_frame(panel, moment) {
                let frame = make()?;
                let panel = panel.into();
                run.sink.report(Report::Frame { panel, step, frame: Box::new(frame) });
            }
            Ok::<_, CommError>(())
        };
        send("text", &|| Ok(panels::text(&of)))?;
        send("cache", &|| Ok(panels::cache(&of)))?;
        send("latency", &|| Ok(panels::latency(&of)))?;
        send("phases", &|| Ok(panels::phases(&of)))?;
        for panel in serve::PANELS {
            let said = "Everybody here begins and ends together: set requests, and some come while others are served.";
            send(panel, &|| Ok(Frame::Text(said.to_owned())))?;
        }
        send("attention", &|| Ok(panels::attention(&of, &of.writer.looks()?)))?;
        run.sink.frames_done();
        Ok(())
    }

    fn finish(&mut self, run: &mut Run<'_>) -> Result<(), StepError> {
        self.report_all(run);
        Ok(())
    }
}

/// The model, and who asks it what.
fn service(run: &mut Run<'_>, setup: &Setup, traffic: Traffic) -> Result<Service, StepError> {
    let wish = Wish::of(&run.params)?;
    let source = NetworkSource::of(&run.params, &setup.recipe)?;
    let count = traffic.requests;
    let asked = Prompts::of(&source, setup, count)?;
    let longest = [asked.prompt(), wish.generated];
    must_fit(MemoryBudget::of(run.device), setup, &asked.config, longest)?;
    let trained = source.network(run)?.ok_or(StepError::Stopped)?;
    let device = device::open(run.device)?;
    let Model { network, config } = Model::of(&trained, &device)?;
    Ok(Service {
        network,
        config,
        vocabulary: asked.vocabulary,
        device,
        window: setup.window,
        server: Server {
            batching: traffic.batching,
            slots: setup.batch,
            page: traffic.page,
            longest,
        },
        requests: requests(count, longest, traffic.apart, setup.seed),
        prompts: asked.prompts,
        temperature: wish.temperature,
        seed: setup.seed,
    })
}

/// Refuses sequences that the device's memory cannot hold, before anything is taken.
fn must_fit(
    budget: MemoryBudget,
    setup: &Setup,
    config: &TransformerConfig,
    [prompt, generated]: [usize; 2],
) -> Result<(), LabError> {
    let batch = setup.batch as u64;
    let tokens = (prompt + generated) as u64;
    // With a cache the longest pass is the prompt's; without one, in the run or its comparison, everything so far goes through.
    let again = setup.caching == Caching::Nothing || setup.comparison == Comparison::Compared;
    let longest = if again && setup.traffic.is_none() { tokens } else { prompt as u64 };
    // What tokens look at is kept of every block for its picture, and a block that is at work has scores of its own; then
    // there are the gated layer's rows.
    let scores = (config.depth as u64 + 3) * config.heads as u64 * longest * tokens;
    let rows = longest * (4 * config.ffn + 8 * config.width + config.vocab) as u64;
    let weights = 2 * Architecture::Transformer(config.clone()).parameters();
    let kept = 3 * tokens * bytes_of_token(config, Bits::Full);
    let needed = 4 * (weights + batch * (scores + rows)) + batch * kept;
    let who = format!("{batch} sequences of {tokens} tokens");
    let smaller = match setup.prompt {
        Prompt::Given(_) => "batch_size, the prompt or generated_tokens",
        Prompt::Held(_) => "batch_size, prompt_tokens or generated_tokens",
    };
    budget.require(needed, &who, smaller)
}

// Metrics of a run.

impl Session {
    /// Tokens were gained in these seconds, without those of their drafts.
    fn gained(&mut self, run: &mut Run<'_>, gain: &Gain, seconds: f64) -> Result<(), CommError> {
        let scores = gain.pass.scores.iter().flatten().flatten();
        if scores.into_iter().any(|score| !score.is_finite()) {
            let said = "a score is not a number any more: the model's weights are not";
            let step = self.writer.written() as u64;
            self.steps.diverge(run, step, said, said.to_owned());
        }
        let each = gain.tokens.max(1);
        let spent = std::mem::take(&mut self.pending);
        let seconds = (seconds + spent.seconds) / each as f64;
        let flops = (gain.pass.flops + spent.flops) / each as u64;
        let written = self.writer.written();
        let step = written as u64;
        for token in written + 1 - each..=written {
            self.tracks.own.push(Spent { token, seconds, flops });
        }
        if written > 1 {
            point(run, "decode_seconds", step, seconds);
        }
        point(run, "forward_flops", step, flops as f64);
        let [numbers, scales] = self.writer.decoder().cache_bytes();
        point(run, "cache_bytes", step, numbers as f64);
        run.scalar("cache_scale_bytes", scales as i64);
        run.scalar("token_forwards", self.tracks.positions as i64);
        self.rates(run);
        if let Some(beside) = &mut self.beside {
            let before = beside.density();
            let costs = beside.follow(self.writer.rows(), gain, self.wish.temperature)?;
            for cost in costs {
                self.tracks.other.push(Spent {
                    token: written + 1 - each + cost.place,
                    seconds: cost.seconds,
                    flops: cost.flops,
                });
            }
            if before != beside.density() {
                run.sink.report(Report::Notice(format!(
                    "without a cache each token takes all before it through the model again: from token {written} on the \
                     comparison does so for a few tokens only, further and further apart"
                )));
            }
        }
        Ok(())
    }

    /// What follows from all that was done so far.
    fn rates(&self, run: &mut Run<'_>) {
        let tracks = &self.tracks;
        let seconds = tracks.decode_seconds();
        if tracks.gained > 0 && seconds > 0.0 {
            let tokens = tracks.gained as f64;
            let all = tokens * self.setup.batch as f64;
            run.scalar("tokens_per_second", all / seconds);
            run.scalar("seconds_per_token", seconds / tokens);
        }
        if let Some(moved) = tracks.bytes_per_second() {
            run.scalar("bytes_per_second", moved);
            if let Some(bandwidth) = self.bandwidth {
                run.scalar("bandwidth_share", moved / bandwidth);
            }
        }
        let rounds = tracks.all_rounds();
        if let Some(share) = rounds.acceptance() {
            run.scalar("acceptance_rate", share);
        }
        if let Some(expected) = tracks.expected_tokens() {
            run.scalar("expected_tokens", expected);
        }
        if self.setup.draft.is_some() && rounds.runs > 0 {
            let gained = tracks.gained as f64 / rounds.runs as f64;
            run.scalar("tokens_per_target_run", gained);
            run.scalar("draft_forwards", tracks.draft_positions as i64);
        }
    }

    /// The last values of a run, however it ended.
    fn report_all(&self, run: &mut Run<'_>) {
        let rows = self.writer.rows();
        let own = rows.first().map_or(&[][..], |row| &row[self.writer.prompt()..]);
        run.scalar("text", self.vocabulary.text(own));
        for (name, phase) in [
            ("prefill_intensity", Phase::Prefill),
            ("decode_intensity", Phase::Decode),
            ("judge_intensity", Phase::Judge),
        ] {
            if let Some(intensity) = self.tracks.intensity(phase) {
                run.scalar(name, intensity);
            }
        }
        if let Some(bandwidth) = self.bandwidth {
            run.scalar("bandwidth_bytes_per_second", bandwidth);
        }
        if let Some(beside) = self.beside.as_ref().filter(|_| self.writer.written() > 0) {
            run.scalar("max_logit_difference", f64::from(beside.worst()));
            match beside.same() {
                Same::Always => run.scalar("tokens_identical", true),
                Same::No => run.scalar("tokens_identical", false),
                Same::Drawn => {}
            }
        }
    }
}
