//! Kind `lora-params`: trainable parameters of low-rank adapters on chosen projections of every layer.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite, percent};
use mlsys_sim::integer::too_large;

/// The projections that may carry an adapter.
const PROJECTIONS: [&str; 7] = ["q", "k", "v", "o", "gate", "up", "down"];

/// The lab `lora-params`.
pub struct LoraParams {
    schema: Schema,
}

impl LoraParams {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/lora-params.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for LoraParams {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let adapters = Adapters::read(&run.params)?;
        let count = adapters
            .count(adapters.rank)
            .ok_or_else(|| too_large(["rank", "hidden", "layers"], "the adapters' parameters"))?;
        let bytes = count as f64 * run.params.float("bytes_per_element")?;
        run.scalar("adapter_parameters", count);
        let sizes = || format!("{count} parameters");
        finite(run, "adapter_bytes", bytes, sizes)?;
        finite(run, "adapter_mb", bytes / 1e6, sizes)?;
        finite(run, "adapter_mib", bytes / f64::from(1 << 20), sizes)?;
        let base = run.params.optional_int("base_parameters");
        let total = match base {
            Some(base) => Some(
                base.checked_add(count)
                    .ok_or_else(|| too_large(["base_parameters", "rank"], "all parameters"))?,
            ),
            None => None,
        };
        if let Some(total) = total {
            run.scalar("total_parameters", total);
            run.scalar("trainable_percent", 100.0 * count as f64 / total as f64);
        }
        picture::offer(run, "projections", || adapters.table());
        picture::offer(run, "ranks", || adapters.ranks(base));
        picture::offer(run, "steps", || adapters.steps(count, total));
        Ok(())
    }
}

/// Which matrices carry an adapter, and of which rank.
struct Adapters {
    layers: i64,
    rank: i64,
    /// Name, inputs, outputs.
    targets: Vec<(&'static str, i64, i64)>,
}

impl Adapters {
    fn read(params: &Params) -> Result<Self, LabError> {
        let (hidden, heads) = (params.int("hidden")?, params.int("heads")?);
        let kv_heads = params.optional_int("kv_heads").unwrap_or(heads);
        let width = match params.optional_int("head_dim") {
            Some(width) => width,
            None if hidden % heads == 0 => hidden / heads,
            None => {
                let message =
                    format!("hidden {hidden} is no multiple of heads {heads}; set head_dim");
                return Err(LabError::contradiction(["hidden", "heads", "head_dim"], message));
            }
        };
        let ffn = params.int("ffn")?;
        let wide = || too_large(["heads", "head_dim"], "the width of all heads");
        let all = heads.checked_mul(width).ok_or_else(wide)?;
        let shared = kv_heads.checked_mul(width).ok_or_else(wide)?;
        let shape = |name: &str| match name {
            "q" => (hidden, all),
            "k" | "v" => (hidden, shared),
            "o" => (all, hidden),
            "gate" | "up" => (hidden, ffn),
            _ => (ffn, hidden),
        };
        let named = names(params)?;
        let targets = named.into_iter().map(|name| (name, shape(name).0, shape(name).1));
        Ok(Self {
            layers: params.int("layers")?,
            rank: params.int("rank")?,
            targets: targets.collect(),
        })
    }

    /// rank*(inputs + outputs) for each target and layer.
    fn count(&self, rank: i64) -> Option<i64> {
        let mut layer = 0_i64;
        for (_, inputs, outputs) in &self.targets {
            layer = layer.checked_add(rank.checked_mul(inputs.checked_add(*outputs)?)?)?;
        }
        layer.checked_mul(self.layers)
    }

    fn table(&self) -> Frame {
        let row = |(name, inputs, outputs): &(&str, i64, i64)| {
            let adapter = self.rank as f64 * (*inputs as f64 + *outputs as f64);
            let whole = *inputs as f64 * *outputs as f64;
            [
                Value::from(*name),
                Value::from(format!("{inputs} x {outputs}")),
                Value::Float(whole),
                Value::from(format!("{inputs} x {} and {} x {outputs}", self.rank, self.rank)),
                Value::Float(adapter),
                Value::from(percent(adapter / whole)),
            ]
        };
        let rows = self.targets.iter().map(row).collect();
        picture::table(
            ["projection", "matrix", "weights", "adapter", "weights", "of the matrix"],
            rows,
        )
    }

    fn ranks(&self, base: Option<i64>) -> Frame {
        let mut ranks = vec![1, 2, 4, 8, 16, 32, 64, 128];
        if !ranks.contains(&self.rank) {
            ranks.push(self.rank);
            ranks.sort_unstable();
        }
        let bar = |rank: i64| {
            let count = self.count(rank)? as f64;
            let own = if rank == self.rank { ", this one" } else { "" };
            let remark = match base {
                Some(base) => {
                    // Two digits: of the usual ranks one would be half gone.
                    let percent = significant(100.0 * count / (count + base as f64), 2);
                    format!("{}% trainable{own}", number(percent))
                }
                None => own.trim_start_matches(", ").to_owned(),
            };
            Some(picture::bar(format!("rank {rank}"), count, remark))
        };
        picture::bars("parameters", ranks.into_iter().filter_map(bar).collect())
    }

    fn steps(&self, count: i64, total: Option<i64>) -> Frame {
        let mut steps = Steps::default();
        for (name, inputs, outputs) in &self.targets {
            let each = self.rank as f64 * (*inputs as f64 + *outputs as f64);
            let numbers = format!("{}*({inputs} + {outputs})", self.rank);
            steps.add(&format!("{name}, a layer"), "rank*(inputs + outputs)", numbers, each);
        }
        let layer = count / self.layers;
        steps.add(
            "adapter_parameters",
            "layers * all of a layer",
            format!("{}*{layer}", self.layers),
            count,
        );
        if let Some(total) = total {
            let numbers = format!("100*{count}/{total}");
            let share = 100.0 * count as f64 / total as f64;
            steps.add("trainable_percent", "100*adapter/total", numbers, number(share));
        }
        steps.table()
    }
}

/// The chosen projections, each once.
fn names(params: &Params) -> Result<Vec<&'static str>, LabError> {
    let wrong = |message: String| Err(LabError::contradiction(["targets"], message));
    let Some(Value::Array(items)) = params.get("targets") else {
        return wrong("targets is not set; give some of q, k, v, o, gate, up, down".to_owned());
    };
    let mut named: Vec<&'static str> = Vec::new();
    for item in items {
        let known = PROJECTIONS.into_iter().find(|name| item.as_str() == Some(name));
        match known {
            None => {
                let message =
                    format!("targets names {item}; the projections are {}", PROJECTIONS.join(", "));
                return wrong(message);
            }
            Some(name) if named.contains(&name) => {
                return wrong(format!("targets names {name} twice; a projection has one adapter"));
            }
            Some(name) => named.push(name),
        }
    }
    Ok(named)
}
