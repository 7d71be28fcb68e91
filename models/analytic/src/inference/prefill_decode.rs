//! Kind `prefill-decode`: lower bounds on the time of a prompt and of one decode step.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite, percent};

/// The lab `prefill-decode`.
pub struct PrefillDecode {
    schema: Schema,
}

impl PrefillDecode {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/prefill-decode.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for PrefillDecode {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let serving = Serving::read(&run.params)?;
        let times = serving.times();
        let machine = || {
            format!(
                "{} devices at {} flop/s, {} bytes/s and a utilization of {}",
                number(serving.devices),
                number(serving.peak),
                number(serving.bandwidth),
                number(serving.utilization)
            )
        };
        finite(run, "prefill_flops", times.prefill_flops, machine)?;
        finite(run, "prefill_seconds", times.prefill, machine)?;
        finite(run, "weight_seconds", times.weights, machine)?;
        finite(run, "kv_seconds", times.cache, machine)?;
        finite(run, "matmul_seconds", times.matmul, machine)?;
        finite(run, "decode_seconds", times.decode, machine)?;
        finite(run, "tokens_per_second", serving.batch / times.decode, machine)?;
        run.scalar("matmul_bound", times.bound());
        picture::offer(run, "step", || times.step());
        picture::offer(run, "batches", || serving.batches());
        picture::offer(run, "steps", || serving.steps(&times));
        Ok(())
    }
}

/// A model being served.
#[derive(Clone, Copy)]
struct Serving {
    parameters: f64,
    bytes_per_parameter: f64,
    prompt: f64,
    batch: f64,
    cache_bytes: f64,
    devices: f64,
    peak: f64,
    bandwidth: f64,
    utilization: f64,
}

/// What it takes, in seconds but for the first.
struct Times {
    prefill_flops: f64,
    prefill: f64,
    weights: f64,
    cache: f64,
    matmul: f64,
    decode: f64,
}

impl Serving {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            parameters: params.float("parameters")?,
            bytes_per_parameter: params.float("bytes_per_parameter")?,
            prompt: params.float("prompt_tokens")?,
            batch: params.float("batch")?,
            cache_bytes: params.float("kv_bytes_per_sequence")?,
            devices: params.float("devices")?,
            peak: params.float("peak_flops_per_second")?,
            bandwidth: params.float("bandwidth_bytes_per_second")?,
            utilization: params.float("utilization")?,
        })
    }

    fn times(&self) -> Times {
        let (flops, bytes) = (self.devices * self.peak, self.devices * self.bandwidth);
        // 2 operations a weight and token, attention left out
        let prefill_flops = 2.0 * self.parameters * self.prompt * self.batch;
        // weight_seconds = N*bytes_per_parameter/(devices*bandwidth)
        let weights = self.parameters * self.bytes_per_parameter / bytes;
        // kv_seconds = batch*kv_bytes_per_sequence/(devices*bandwidth)
        let cache = self.batch * self.cache_bytes / bytes;
        // matmul_seconds = 2*N*batch/(devices*peak)
        let matmul = 2.0 * self.parameters * self.batch / flops;
        Times {
            prefill_flops,
            prefill: prefill_flops / (flops * self.utilization),
            weights,
            cache,
            matmul,
            // The products wait for their weights or for their operations, attention reads the cache in any case:
            // decode_seconds = kv_seconds + max(weight_seconds, matmul_seconds)
            decode: cache + weights.max(matmul),
        }
    }

    fn batches(&self) -> Frame {
        let mut batches = vec![1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];
        if !batches.contains(&self.batch) {
            batches.push(self.batch);
            batches.sort_by(f64::total_cmp);
        }
        let bar = |batch: f64| {
            let times = Self { batch, ..*self }.times();
            let rate = batch / times.decode;
            let own = if batch == self.batch { " (this)" } else { "" };
            let share = percent(times.cache / times.decode);
            let remark = format!("{share} cache{own}");
            rate.is_finite().then(|| picture::bar(format!("batch {batch}"), rate, remark))
        };
        picture::bars("tokens/s", batches.into_iter().filter_map(bar).collect())
    }

    fn steps(&self, times: &Times) -> Frame {
        let mut steps = Steps::default();
        let n = number(self.parameters);
        let (devices, batch) = (number(self.devices), number(self.batch));
        let (peak, bandwidth) = (number(self.peak), number(self.bandwidth));
        steps.add(
            "prefill_flops",
            "2*N*prompt_tokens*batch",
            format!("2*{n}*{}*{batch}", number(self.prompt)),
            times.prefill_flops,
        );
        steps.add(
            "prefill_seconds",
            "prefill_flops/(devices*peak*utilization)",
            format!(
                "{}/({devices}*{peak}*{})",
                number(times.prefill_flops),
                number(self.utilization)
            ),
            times.prefill,
        );
        steps.add(
            "weight_seconds",
            "N*bytes_per_parameter/(devices*bandwidth)",
            format!("{n}*{}/({devices}*{bandwidth})", number(self.bytes_per_parameter)),
            times.weights,
        );
        steps.add(
            "kv_seconds",
            "batch*kv_bytes_per_sequence/(devices*bandwidth)",
            format!("{batch}*{}/({devices}*{bandwidth})", number(self.cache_bytes)),
            times.cache,
        );
        steps.add(
            "matmul_seconds",
            "2*N*batch/(devices*peak)",
            format!("2*{n}*{batch}/({devices}*{peak})"),
            times.matmul,
        );
        steps.add(
            "decode_seconds",
            "kv_seconds + max(weight_seconds, matmul_seconds)",
            format!(
                "{} + max({}, {})",
                number(times.cache),
                number(times.weights),
                number(times.matmul)
            ),
            times.decode,
        );
        steps.add(
            "tokens_per_second",
            "batch/decode_seconds",
            format!("{batch}/{}", number(times.decode)),
            self.batch / times.decode,
        );
        let sign = if times.bound() == "compute" { ">=" } else { "<" };
        steps.add(
            "matmul_bound",
            "matmul_seconds >= weight_seconds?",
            format!("{} {sign} {}", number(times.matmul), number(times.weights)),
            times.bound(),
        );
        steps.table()
    }
}

impl Times {
    fn bound(&self) -> &'static str {
        if self.matmul >= self.weights { "compute" } else { "memory" }
    }

    fn step(&self) -> Frame {
        let longer = |holds: bool| {
            if holds { "the step waits for it" } else { "hidden behind that" }
        };
        let compute = self.bound() == "compute";
        picture::bars(
            "seconds",
            vec![
                picture::bar("reading the weights", self.weights, longer(!compute)),
                picture::bar("multiplying", self.matmul, longer(compute)),
                picture::bar("reading the cache", self.cache, "comes on top"),
                picture::bar("the step", self.decode, ""),
            ],
        )
    }
}
