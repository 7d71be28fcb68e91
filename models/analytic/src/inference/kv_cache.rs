//! Kind `kv-cache`: bytes of keys and values that a model keeps, and how many sequences fit.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite, percent};
use mlsys_sim::inference::bytes_per_token;

/// The lab `kv-cache`.
pub struct KvCache {
    schema: Schema,
}

impl KvCache {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/kv-cache.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for KvCache {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let cache = Cache::read(&run.params)?;
        let (sequence, total) = (cache.sequence(), cache.sequence() * cache.batch);
        let sizes = || {
            format!(
                "{} sequences of {} tokens at {} bytes each",
                number(cache.batch),
                number(cache.tokens),
                number(cache.token)
            )
        };
        finite(run, "bytes_per_token", cache.token, sizes)?;
        finite(run, "bytes_per_sequence", sequence, sizes)?;
        finite(run, "total_bytes", total, sizes)?;
        finite(run, "total_gb", total / 1e9, sizes)?;
        finite(run, "total_gib", total / f64::from(1 << 30), sizes)?;
        if let Some(memory) = cache.memory {
            let fits = cache.fits(memory).ok_or_else(|| {
                let message = "a cached element has 0 bytes, so any number of sequences fits; set bytes_per_element";
                LabError::contradiction(["bytes_per_element", "memory_bytes"], message)
            })?;
            run.scalar("max_batch", fits);
        }
        let prompt = run.params.optional_float("prompt_tokens");
        let generated = run.params.optional_float("generated_tokens");
        if let (Some(prompt), Some(generated)) = (prompt, generated) {
            // Each sequence ends after `generated` steps and then frees all it holds.
            let freed = cache.batch * (prompt + generated) / generated;
            finite(run, "evicted_tokens_per_step", freed, sizes)?;
        }
        picture::offer(run, "memory", || cache.in_memory());
        picture::offer(run, "lengths", || cache.lengths());
        picture::offer(run, "steps", || cache.steps());
        Ok(())
    }
}

/// What is cached, and where.
struct Cache {
    /// Bytes of one token over all layers.
    token: f64,
    /// How they come about: formula and numbers.
    why: (&'static str, String),
    tokens: f64,
    batch: f64,
    memory: Option<f64>,
    weights: f64,
}

impl Cache {
    fn read(params: &Params) -> Result<Self, LabError> {
        let (layers, bytes) = (params.float("layers")?, params.float("bytes_per_element")?);
        let (token, why) = if let Some(latent) = params.optional_float("latent_rank") {
            // One latent vector stands for keys and values of all heads, and one rotary key for all of them.
            let rope = params.optional_float("rope_dim").unwrap_or(0.0);
            let numbers = format!("{layers}*({latent} + {rope})*{bytes}");
            let formula = "layers*(latent_rank + rope_dim)*bytes_per_element";
            (layers * (latent + rope) * bytes, (formula, numbers))
        } else {
            let (heads, width) = (params.float("kv_heads")?, params.float("head_dim")?);
            let numbers = format!("2*{layers}*{heads}*{width}*{bytes}");
            let formula = "2*layers*kv_heads*head_dim*bytes_per_element";
            (bytes_per_token(layers, heads, width, bytes), (formula, numbers))
        };
        Ok(Self {
            token,
            why,
            tokens: params.float("tokens")?,
            batch: params.float("batch")?,
            memory: params.optional_float("memory_bytes"),
            weights: params.float("weight_bytes")?,
        })
    }

    fn sequence(&self) -> f64 {
        self.token * self.tokens
    }

    /// Sequences that fit beside the weights; nothing if a sequence takes no room.
    fn fits(&self, memory: f64) -> Option<i64> {
        let fits = ((memory - self.weights) / self.sequence()).floor().max(0.0);
        fits.is_finite().then_some(fits as i64)
    }

    fn in_memory(&self) -> Frame {
        let mut batches = vec![1.0, 4.0, 16.0, 64.0, 256.0];
        if !batches.contains(&self.batch) {
            batches.push(self.batch);
            batches.sort_by(f64::total_cmp);
        }
        let gb = 1e9;
        let mut bars = vec![picture::bar("weights", self.weights / gb, "")];
        for batch in batches {
            let bytes = self.sequence() * batch;
            let own = if batch == self.batch { " (this)" } else { "" };
            let remark = match self.memory {
                Some(memory) if bytes + self.weights > memory => format!("does not fit{own}"),
                Some(memory) => format!("{} full{own}", percent((bytes + self.weights) / memory)),
                None => own.trim_start().to_owned(),
            };
            bars.push(picture::bar(format!("cache of {batch}"), bytes / gb, remark));
        }
        if let Some(memory) = self.memory {
            bars.push(picture::bar("the device", memory / gb, ""));
        }
        bars.retain(|bar| bar.value.is_some_and(f64::is_finite));
        picture::bars("GB", bars)
    }

    fn lengths(&self) -> Frame {
        let mut lengths = vec![512.0, 2048.0, 8192.0, 32768.0, 131_072.0];
        if !lengths.contains(&self.tokens) {
            lengths.push(self.tokens);
            lengths.sort_by(f64::total_cmp);
        }
        let bar = |tokens: f64| {
            let own = if tokens == self.tokens { "this one" } else { "" };
            picture::bar(format!("{tokens} tokens"), self.token * tokens / 1e9, own)
        };
        picture::bars("GB a sequence", lengths.into_iter().map(bar).collect())
    }

    fn steps(&self) -> Frame {
        let mut steps = Steps::default();
        let (tokens, batch) = (number(self.tokens), number(self.batch));
        steps.add("bytes_per_token", self.why.0, self.why.1.clone(), self.token);
        let sequence = self.sequence();
        let numbers = format!("{}*{tokens}", number(self.token));
        steps.add("bytes_per_sequence", "bytes_per_token*tokens", numbers, sequence);
        let numbers = format!("{}*{batch}", number(sequence));
        steps.add("total_bytes", "bytes_per_sequence*batch", numbers, sequence * self.batch);
        if let Some(memory) = self.memory
            && let Some(fits) = self.fits(memory)
        {
            let numbers = format!(
                "floor(({} - {})/{})",
                number(memory),
                number(self.weights),
                number(sequence)
            );
            let formula = "floor((memory_bytes - weight_bytes)/bytes_per_sequence), not below 0";
            steps.add("max_batch", formula, numbers, fits);
        }
        steps.table()
    }
}
