//! Kind `sm-limits`: what one multiprocessor can hold, and how many warps hide an instruction's latency.

mod pictures;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Frame, Lab, LabError, Run, Tables, Value};

use mlsys_lab::picture;
use mlsys_lab::steps::Steps;
use mlsys_sim::integer::too_large;
use mlsys_sim::multiprocessor::{Multiprocessor, WARP};

/// The lab `sm-limits`.
pub struct SmLimits {
    schema: Schema,
}

impl SmLimits {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/sm-limits.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for SmLimits {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let capability = run.params.text("compute_capability")?.to_owned();
        let latency = run.params.int("instruction_latency_cycles")?;
        let limits = Limits::of(&capability, latency)?;
        let sm = &limits.sm;
        run.scalar("max_warps_per_sm", sm.max_warps);
        run.scalar("max_threads_per_sm", limits.threads);
        run.scalar("max_blocks_per_sm", sm.max_blocks);
        run.scalar("registers_per_sm", sm.registers);
        run.scalar("max_registers_per_thread", sm.max_registers_per_thread);
        run.scalar("shared_bytes_per_sm", sm.shared_bytes);
        run.scalar("max_shared_bytes_per_block", sm.max_shared_bytes_per_block);
        run.scalar("sub_cores", sm.sub_cores);
        run.scalar("warps_per_sub_core", limits.warps_per_sub_core);
        run.scalar("warps_to_hide_latency", limits.warps_to_hide_latency);
        let mut steps = limits.steps();
        if let Some(percent) = run.params.optional_int("carveout_percent") {
            let bytes = limits.carveout(percent)?;
            run.scalar("carveout_bytes", bytes);
            steps.add(
                "carveout_bytes",
                "the smallest carveout of at least carveout_percent of shared_bytes_per_sm",
                format!(
                    "of {}, the first not below {percent}% of {}",
                    Value::Array(sm.carveouts.iter().copied().map(Value::Int).collect()),
                    sm.shared_bytes
                ),
                bytes,
            );
        }
        if let Some(sms) = run.params.optional_int("sms") {
            let whole = |of: i64| of.checked_mul(sms);
            let large = || too_large(["sms"], "device_threads");
            let warps = whole(sm.max_warps).ok_or_else(large)?;
            let threads = whole(limits.threads).ok_or_else(large)?;
            run.scalar("device_warps", warps);
            run.scalar("device_threads", threads);
            let numbers = format!("{sms}*{}", sm.max_warps);
            steps.add("device_warps", "sms*max_warps_per_sm", numbers, warps);
            let numbers = format!("{sms}*{}", limits.threads);
            steps.add("device_threads", "sms*max_threads_per_sm", numbers, threads);
        }
        let gpu = run.params.text("gpu").ok().map(str::to_owned);
        let sms = run.params.optional_int("sms");
        picture::offer(run, "multiprocessor", || pictures::unfolded(&limits, gpu.as_deref(), sms));
        picture::offer(run, "scheduler", || pictures::scheduler(&limits));
        picture::offer(run, "generations", generations);
        picture::offer(run, "latency", || limits.latency());
        picture::offer(run, "steps", || steps.table());
        Ok(())
    }
}

/// What one multiprocessor holds, and what follows from it.
struct Limits {
    sm: Multiprocessor,
    latency: i64,
    threads: i64,
    warps_per_sub_core: i64,
    warps_to_hide_latency: i64,
}

impl Limits {
    fn of(capability: &str, latency: i64) -> Result<Self, LabError> {
        let sm = Multiprocessor::of(capability)?;
        Ok(Self {
            // max_threads_per_sm = 32*max_warps_per_sm
            threads: WARP * sm.max_warps,
            // warps_per_sub_core = max_warps_per_sm/sub_cores
            warps_per_sub_core: sm.max_warps / sm.sub_cores,
            // A scheduler issues one warp a cycle, so that as many warps as cycles of latency keep it busy:
            // warps_to_hide_latency = sub_cores*instruction_latency_cycles
            warps_to_hide_latency: sm.sub_cores.checked_mul(latency).ok_or_else(|| {
                too_large(["instruction_latency_cycles"], "warps_to_hide_latency")
            })?,
            latency,
            sm,
        })
    }

    /// The shared memory that the driver sets up when this share of the largest is asked for.
    fn carveout(&self, percent: i64) -> Result<i64, LabError> {
        // the smallest carveout c with 100*c >= carveout_percent*shared_bytes_per_sm
        let enough = |bytes: &&i64| 100 * **bytes >= percent * self.sm.shared_bytes;
        let found = self.sm.carveouts.iter().filter(enough).min();
        found.copied().ok_or_else(|| {
            LabError::contradiction(
                ["carveout_percent"],
                "the table has no carveout of this size for this compute_capability",
            )
        })
    }

    fn steps(&self) -> Steps {
        let sm = &self.sm;
        let mut steps = Steps::default();
        steps.add(
            "max_threads_per_sm",
            "32*max_warps_per_sm",
            format!("32*{}", sm.max_warps),
            self.threads,
        );
        steps.add(
            "warps_per_sub_core",
            "max_warps_per_sm/sub_cores",
            format!("{}/{}", sm.max_warps, sm.sub_cores),
            self.warps_per_sub_core,
        );
        steps.add(
            "warps_to_hide_latency",
            "sub_cores*instruction_latency_cycles",
            format!("{}*{}", sm.sub_cores, self.latency),
            self.warps_to_hide_latency,
        );
        steps
    }

    fn latency(&self) -> Frame {
        let enough = self.warps_to_hide_latency <= self.sm.max_warps;
        let remark = if enough {
            "fits: arithmetic alone can hide it".to_owned()
        } else {
            let short = self.warps_to_hide_latency - self.sm.max_warps;
            format!("{short} more than fit: each warp needs several instructions in flight")
        };
        picture::bars(
            "warps",
            vec![
                picture::bar("resident at most", self.sm.max_warps as f64, ""),
                picture::bar("to hide the latency", self.warps_to_hide_latency as f64, remark),
            ],
        )
    }
}

/// The limits of every tabled generation.
fn generations() -> Frame {
    let row = |capability: &str| -> Option<[Value; 7]> {
        let sm = Multiprocessor::of(capability).ok()?;
        Some([
            capability.into(),
            sm.max_warps.into(),
            (WARP * sm.max_warps).into(),
            sm.max_blocks.into(),
            sm.registers.into(),
            sm.shared_bytes.into(),
            sm.max_shared_bytes_per_block.into(),
        ])
    };
    let names = Tables::builtin().names("compute_capability");
    picture::table(
        [
            "compute capability",
            "warps",
            "threads",
            "blocks",
            "registers",
            "shared bytes",
            "of a block",
        ],
        names.into_iter().filter_map(row).collect(),
    )
}
