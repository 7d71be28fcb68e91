//! Kind `lowering`: one kernel, and what a compiler makes of it for each kind of device.

mod forms;
mod pictures;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::{Lab, LabError, Params, Run, Value};

use crate::picture;
use forms::{BLOCKS, Form, Target};

/// The lab `lowering`.
pub struct Lowering {
    schema: Schema,
}

impl Lowering {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("lowering/lowering.toml"))?;
        Ok(Self { schema })
    }
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
        // compilers_without_ir = languages*architectures, compilers_with_ir = languages + architectures
        run.scalar(
            "compilers_without_ir",
            asked.languages * asked.architectures,
        );
        run.scalar("compilers_with_ir", asked.languages + asked.architectures);
        let text = forms::source(&asked.kernel).unwrap_or_default();
        picture::offer(run, "source", || pictures::source(text, asked.remark()));
        let sides = [asked.left, asked.right].map(|target| (target, asked.form(target)));
        let shown = sides.each_ref().map(|(target, form)| {
            let form = form.as_ref().ok_or_else(|| absent(*target));
            (*target, form)
        });
        let [left, right] = &shown;
        picture::offer(run, "lowered", || pictures::lowered(left, right));
        picture::offer(run, "lines", || pictures::lines_of_source(text, &shown));
        picture::offer(run, "names", pictures::names);
        picture::offer(run, "bridge", || {
            pictures::bridge(asked.languages, asked.architectures)
        });
        Ok(())
    }
}

/// What is wanted.
struct Asked {
    kernel: String,
    targets: Vec<Target>,
    left: Target,
    right: Target,
    block: i64,
    /// Elements of one load as asked for; kernels that load one at a time do so.
    width: i64,
    languages: i64,
    architectures: i64,
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
        Ok(Self {
            kernel: params.text("kernel")?.to_owned(),
            targets: targets(params)?,
            left: target("left", params.text("left")?)?,
            right: target("right", params.text("right")?)?,
            block,
            width,
            languages: params.int("languages")?,
            architectures: params.int("architectures")?,
        })
    }

    fn form(&self, target: Target) -> Option<Form> {
        let width = if forms::is_vectorized(&self.kernel) {
            self.width
        } else {
            1
        };
        forms::form(&self.kernel, width, target, self.block)
    }

    /// What has to be told about the kernel besides its text.
    fn remark(&self) -> Option<&'static str> {
        let ignored = self.width > 1 && !forms::is_vectorized(&self.kernel);
        ignored.then_some("This kernel loads one element at a time, whatever vector_width says.")
    }
}

/// The forms to make, each once.
fn targets(params: &Params) -> Result<Vec<Target>, LabError> {
    let Some(Value::Array(names)) = params.get("targets") else {
        return Ok(Vec::new());
    };
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
    Target::find(name).ok_or_else(|| {
        let known = Target::ALL.map(Target::name).join(", ");
        LabError::contradiction([param], format!("'{name}' is none of {known}"))
    })
}

/// Why a form is not there.
fn absent(target: Target) -> String {
    match target {
        Target::Ptx => "ptx: none here, NVRTC makes it where CUDA is".to_owned(),
        Target::Ir | Target::Wgsl | Target::Spirv | Target::Cuda | Target::Hip | Target::Metal => {
            format!("{}: no such form", target.name())
        }
    }
}
