//! Kind `lowering`: one kernel, what a compiler makes of it for each kind of device, and what a device makes of that.

mod pictures;

use mlsys_lab::device::Backend;
use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Value, picture};

use mlsys_sim::lowering::forms::{self, BLOCKS, Form};
use mlsys_sim::lowering::{Build, Kernel, Target, Toolchain, ToolchainError, Work, difference};

pub struct Lowering {
    schema: Schema,
    toolchain: Option<Box<dyn Toolchain>>,
}

impl Lowering {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/lowering.toml"))?;
        Ok(Self { schema, toolchain: None })
    }

    #[must_use]
    pub fn with_toolchain(mut self, toolchain: Box<dyn Toolchain>) -> Self {
        self.toolchain = Some(toolchain);
        self
    }

    /// Seconds in which each form is made here, or why it is not.
    fn compile(
        &self,
        run: &mut Run<'_>,
        asked: &Asked,
    ) -> Vec<(Target, Result<f64, ToolchainError>)> {
        let seconds = |target: &Target| match &self.toolchain {
            Some(toolchain) => toolchain.compile_seconds(asked.build(), *target),
            None => Err(ToolchainError::NoCompiler),
        };
        let all: Vec<_> = asked.targets.iter().map(|target| (*target, seconds(target))).collect();
        for (target, seconds) in &all {
            if let Ok(seconds) = seconds {
                run.scalar(&format!("compile_seconds.{}", target.member()), *seconds);
            }
        }
        all
    }

    /// Runs the kernel on the run's device and reports how far it is from the processor's result.
    fn carry_out(&self, run: &mut Run<'_>, work: &Work) -> Ran {
        let wanted = work.reference();
        let found = match (&self.toolchain, run.device.backend) {
            (None, _) => Err(ToolchainError::NoRunner),
            (Some(_), Backend::Cpu) => Err(ToolchainError::NotOnProcessor),
            (Some(toolchain), Backend::Wgpu | Backend::Cuda) => {
                run.status(format!("on {}", run.device));
                let found = toolchain.run(run.device, work);
                run.status("");
                found
            }
        };
        let found = found.map(|mut found| {
            found.truncate(work.elements);
            found
        });
        match &found {
            Ok(found) => match difference(found, &wanted) {
                most if most.is_finite() => run.scalar("max_difference", most),
                _ => run.notice(
                    "what the device gave is no number everywhere, or not as many as it should be: there is no largest difference",
                ),
            },
            Err(reason) => run.notice(format!(
                "the result is the processor's own, in Rust; device {} did not run the kernel: {reason}",
                run.device
            )),
        }
        Ran { wanted, found }
    }
}

pub(crate) struct Ran {
    wanted: Vec<f32>,
    /// The device's, or why there is none.
    found: Result<Vec<f32>, ToolchainError>,
}

impl Lab for Lowering {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let asked = Asked::read(&run.params)?;
        let made: Vec<(Target, Form)> = asked
            .targets
            .iter()
            .filter_map(|target| Some((*target, asked.form(*target)?)))
            .collect();
        run.scalar("targets_compiled", made.len() as i64);
        for (target, form) in &made {
            let member = target.member();
            run.scalar(&format!("lines.{member}"), form.printed);
            run.scalar(&format!("bounds_checked.{member}"), form.bounds_checked);
        }
        let compiled = self.compile(run, &asked);
        // compilers_without_ir = languages*architectures, compilers_with_ir = languages + architectures
        run.scalar("compilers_without_ir", asked.languages * asked.architectures);
        run.scalar("compilers_with_ir", asked.languages + asked.architectures);
        let text = forms::source(asked.kernel.name()).unwrap_or("");
        picture::offer(run, "source", || pictures::source(text, asked.remark()));
        let sides = [asked.left, asked.right].map(|target| (target, asked.form(target)));
        picture::offer(run, "lowered", || pictures::lowered(&sides));
        picture::offer(run, "lines", || pictures::lines_of_source(text, &sides));
        picture::offer(run, "names", pictures::names);
        picture::offer(run, "bridge", || pictures::bridge(asked.languages, asked.architectures));
        picture::offer(run, "compilers", || pictures::compilers(&made, &compiled));
        let ran = asked.work.as_ref().map(|work| (work, self.carry_out(run, work)));
        let device = run.device;
        picture::offer(run, "run", || match &ran {
            Some((work, ran)) => pictures::ran(work, ran, device),
            None => Frame::Text("Nothing was run: run is off.".to_owned()),
        });
        Ok(())
    }
}

struct Asked {
    kernel: Kernel,
    targets: Vec<Target>,
    left: Target,
    right: Target,
    block: i64,
    /// Elements of one load as asked for; kernels that load one at a time do so.
    width: i64,
    languages: i64,
    architectures: i64,
    /// Nothing if nothing is to be run.
    work: Option<Work>,
}

impl Asked {
    fn read(params: &Params) -> Result<Self, LabError> {
        let block = params.int("threads_per_block")?;
        if !BLOCKS.contains(&block) {
            let known = "the forms that come with the program are for 32, 64, 128 and 256 threads";
            return Err(LabError::contradiction(["threads_per_block"], known));
        }
        let width = params.int("vector_width")?;
        if width != 1 && width != 4 {
            let known = "the forms that come with the program load 1 or 4 elements at a time";
            return Err(LabError::contradiction(["vector_width"], known));
        }
        let name = params.text("kernel")?;
        let kernel: Kernel = name.parse().map_err(|_| {
            LabError::contradiction(["kernel"], format!("there is no kernel '{name}'"))
        })?;
        let elements = params.size("elements")?;
        let seed = params.int("seed")?.unsigned_abs();
        let build = build(kernel, block, width);
        Ok(Self {
            work: params.bool("run")?.then(|| Work::new(build, elements, seed)),
            kernel,
            targets: targets(params)?,
            left: target("left", params.text("left")?)?,
            right: target("right", params.text("right")?)?,
            block,
            width,
            languages: params.int("languages")?,
            architectures: params.int("architectures")?,
        })
    }

    fn build(&self) -> Build {
        build(self.kernel, self.block, self.width)
    }

    fn form(&self, target: Target) -> Option<Form> {
        let width = self.build().width as i64;
        forms::form(self.kernel.name(), width, target, self.block)
    }

    /// What has to be told about the kernel besides its text.
    fn remark(&self) -> Option<&'static str> {
        let ignored = self.width > 1 && self.build().width == 1;
        ignored.then_some("This kernel loads one element at a time, whatever vector_width says.")
    }
}

/// What is compiled: kernels that load one element at a time do so whatever is asked for.
fn build(kernel: Kernel, block: i64, width: i64) -> Build {
    let width = if forms::is_vectorized(kernel.name()) { width } else { 1 };
    Build { kernel, block: block as usize, width: width as usize }
}

fn targets(params: &Params) -> Result<Vec<Target>, LabError> {
    let Some(Value::Array(names)) = params.get("targets") else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for name in names {
        let Value::Text(name) = name else {
            let message = format!("{name} is no name of a target");
            return Err(LabError::contradiction(["targets"], message));
        };
        let target = target("targets", name)?;
        if !found.contains(&target) {
            found.push(target);
        }
    }
    Ok(found)
}

fn target(param: &str, name: &str) -> Result<Target, LabError> {
    name.parse().map_err(|_| {
        let known = Target::ALL.map(Target::name).join(", ");
        LabError::contradiction([param], format!("'{name}' is none of {known}"))
    })
}
