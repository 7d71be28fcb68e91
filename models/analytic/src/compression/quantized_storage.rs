//! Kind `quantized-storage`: bytes of a model at a given bit width, with the scales that block formats carry.

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Lab, LabError, Params, Run};

use mlsys_lab::picture;
use mlsys_lab::steps::{Steps, finite, percent};

/// Formats in use: name, bits, weights a scale, bits of it, scales a second scale, bits of that.
const FORMATS: [(&str, Format); 7] = [
    ("32-bit floats", Format::plain(32.0)),
    ("16-bit floats", Format::plain(16.0)),
    ("8-bit integers, a scale a row of 4096", Format::blocks(8.0, 4096.0, 32.0)),
    ("MXFP8", Format::blocks(8.0, 32.0, 8.0)),
    ("4-bit integers, groups of 32", Format::blocks(4.0, 32.0, 16.0)),
    ("4-bit integers, groups of 128", Format::blocks(4.0, 128.0, 16.0)),
    (
        "NF4, scales quantized again",
        Format { bits: 4.0, block: 64.0, scale: 8.0, second_block: 256.0, second: 32.0 },
    ),
];

/// The lab `quantized-storage`.
pub struct QuantizedStorage {
    schema: Schema,
}

impl QuantizedStorage {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/quantized-storage.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for QuantizedStorage {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let parameters = run.params.float("parameters")?;
        let format = Format::read(&run.params)?;
        let bits = format.bits + format.overhead();
        let bytes = parameters * bits / 8.0;
        let sizes = || format!("{} parameters of {} bits", number(parameters), number(bits));
        finite(run, "overhead_bits_per_parameter", format.overhead(), sizes)?;
        finite(run, "bits_per_parameter", bits, sizes)?;
        finite(run, "bytes_per_parameter", bits / 8.0, sizes)?;
        finite(run, "overhead_bytes", parameters * format.overhead() / 8.0, sizes)?;
        finite(run, "bytes", bytes, sizes)?;
        finite(run, "gb", bytes / 1e9, sizes)?;
        finite(run, "gib", bytes / f64::from(1 << 30), sizes)?;
        picture::offer(run, "parts", || format.parts());
        picture::offer(run, "formats", || format.among(parameters));
        picture::offer(run, "steps", || format.steps(parameters));
        Ok(())
    }
}

/// How weights are stored; a block of 0 means that there is no such scale.
#[derive(Clone, Copy)]
struct Format {
    bits: f64,
    block: f64,
    scale: f64,
    second_block: f64,
    second: f64,
}

impl Format {
    const fn plain(bits: f64) -> Self {
        Self::blocks(bits, 0.0, 0.0)
    }

    const fn blocks(bits: f64, block: f64, scale: f64) -> Self {
        Self { bits, block, scale, second_block: 0.0, second: 0.0 }
    }

    fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            bits: params.float("bits")?,
            block: params.float("block_size")?,
            scale: params.float("scale_bits")?,
            second_block: params.float("second_block_size")?,
            second: params.float("second_scale_bits")?,
        })
    }

    /// scale_bits/block_size, spread over the weights of a block.
    fn first(&self) -> f64 {
        if self.block > 0.0 { self.scale / self.block } else { 0.0 }
    }

    /// second_scale_bits/(block_size*second_block_size).
    fn second(&self) -> f64 {
        if self.block > 0.0 && self.second_block > 0.0 {
            self.second / (self.block * self.second_block)
        } else {
            0.0
        }
    }

    fn overhead(&self) -> f64 {
        self.first() + self.second()
    }

    fn parts(&self) -> Frame {
        let all = self.bits + self.overhead();
        let part = |label: &str, bits: f64| picture::bar(label, bits, percent(bits / all));
        picture::bars(
            "bits a weight",
            vec![
                part("the weight itself", self.bits),
                part("its share of a scale", self.first()),
                part("its share of a second scale", self.second()),
                picture::bar("together", all, ""),
            ],
        )
    }

    fn among(&self, parameters: f64) -> Frame {
        let own = self.bits + self.overhead();
        let bar = |name: &str, format: &Self, remark: &str| {
            let bits = format.bits + format.overhead();
            let words = format!("{} bits a weight{remark}", number(significant(bits, 4)));
            picture::bar(name, parameters * bits / 8e9, words)
        };
        let mut bars: Vec<_> = FORMATS.iter().map(|(name, format)| bar(name, format, "")).collect();
        bars.push(bar("this one", self, ""));
        bars.retain(|bar| bar.value.is_some_and(f64::is_finite));
        bars.sort_by(|a, b| b.value.unwrap_or(own).total_cmp(&a.value.unwrap_or(own)));
        picture::bars("GB", bars)
    }

    fn steps(&self, parameters: f64) -> Frame {
        let mut steps = Steps::default();
        let none = "no scales".to_owned();
        let first = if self.block > 0.0 {
            format!("{}/{}", number(self.scale), number(self.block))
        } else {
            none.clone()
        };
        steps.add("scales", "scale_bits/block_size", first, self.first());
        let second = if self.second() > 0.0 {
            format!(
                "{}/({}*{})",
                number(self.second),
                number(self.block),
                number(self.second_block)
            )
        } else {
            none
        };
        steps.add(
            "second scales",
            "second_scale_bits/(block_size*second_block_size)",
            second,
            self.second(),
        );
        let bits = self.bits + self.overhead();
        steps.add(
            "bits_per_parameter",
            "bits + overhead",
            format!("{} + {}", number(self.bits), number(self.overhead())),
            bits,
        );
        steps.add(
            "bytes",
            "parameters*bits_per_parameter/8",
            format!("{}*{}/8", number(parameters), number(bits)),
            parameters * bits / 8.0,
        );
        steps.table()
    }
}
