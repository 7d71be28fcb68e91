//! Kind `flash-io`: the order of memory accesses of standard attention against FlashAttention.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite};

/// The lab `flash-io`.
pub struct FlashIo {
    schema: Schema,
}

impl FlashIo {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/flash-io.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for FlashIo {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let attention = Attention::read(&run.params)?;
        let (heads, batch) = (run.params.float("heads")?, run.params.float("batch")?);
        let bytes = run.params.float("bytes_per_element")?;
        let scores = attention.sequence.powi(2) * heads * batch * bytes;
        let sizes = || format!("{} tokens of {} heads", number(attention.sequence), number(heads));
        finite(run, "scores_bytes", scores, sizes)?;
        finite(run, "standard_accesses", attention.standard(), sizes)?;
        finite(run, "flash_accesses", attention.flash(), sizes)?;
        finite(run, "access_ratio", attention.ratio(), sizes)?;
        picture::offer(run, "accesses", || attention.lengths());
        picture::offer(run, "steps", || {
            let mut steps = Steps::default();
            let (n, d, m) =
                (number(attention.sequence), number(attention.width), number(attention.sram));
            let numbers = format!("{n}^2*{heads}*{batch}*{bytes}");
            steps.add("scores_bytes", "N^2*heads*batch*bytes_per_element", numbers, scores);
            steps.add(
                "standard_accesses",
                "N*d + N^2",
                format!("{n}*{d} + {n}^2"),
                attention.standard(),
            );
            steps.add("flash_accesses", "N^2*d^2/M", format!("{n}^2*{d}^2/{m}"), attention.flash());
            let numbers = format!("{}/{}", number(attention.standard()), number(attention.flash()));
            steps.add("access_ratio", "standard/flash", numbers, attention.ratio());
            steps.table()
        });
        Ok(())
    }
}

/// One head of attention on a chip.
#[derive(Clone, Copy)]
struct Attention {
    /// N.
    sequence: f64,
    /// d.
    width: f64,
    /// M, in elements.
    sram: f64,
}

impl Attention {
    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            sequence: params.float("sequence")?,
            width: params.float("head_dim")?,
            sram: params.float("sram_elements")?,
        })
    }

    /// The scores go to memory and come back: N*d + N^2.
    fn standard(&self) -> f64 {
        self.sequence * self.width + self.sequence.powi(2)
    }

    /// Keys and values are read once for each block of queries that fits: N^2*d^2/M.
    fn flash(&self) -> f64 {
        (self.sequence * self.width).powi(2) / self.sram
    }

    fn ratio(&self) -> f64 {
        self.standard() / self.flash()
    }

    fn lengths(&self) -> Frame {
        let mut lengths = vec![256.0, 1024.0, 4096.0, 16384.0];
        if !lengths.contains(&self.sequence) {
            lengths.push(self.sequence);
            lengths.sort_by(f64::total_cmp);
        }
        let mut bars = Vec::new();
        for sequence in lengths {
            let at = Self { sequence, ..*self };
            let own = if sequence == self.sequence { "this one" } else { "" };
            let times = format!("{} times as many", number(significant(at.ratio(), 3)));
            bars.push(picture::bar(
                format!("{sequence} tokens, standard"),
                at.standard() / 1e6,
                times,
            ));
            bars.push(picture::bar(format!("{sequence} tokens, flash"), at.flash() / 1e6, own));
        }
        bars.retain(|bar| bar.value.is_some_and(f64::is_finite));
        picture::bars("million", bars)
    }
}
