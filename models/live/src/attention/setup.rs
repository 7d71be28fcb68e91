//! What the parameters ask for.

use mlsys_lab::{LabError, Params, Value};

use super::tiles::{Ahead, Sight, Tiling};

/// The longest sequence.
const LONGEST: f64 = 8192.0;

/// More lengths than this are not a sweep but a mistake.
const MOST_LENGTHS: usize = 16;

/// More tiles than this take too long: each is a handful of operations on the device.
pub(super) const MOST_TILES: usize = 1 << 17;

/// What does not change while a run goes on.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) heads: usize,
    pub(super) sequence: usize,
    pub(super) width: usize,
    pub(super) ahead: Ahead,
    /// The lengths that are timed.
    pub(super) sweep: Vec<usize>,
    pub(super) repetitions: usize,
    pub(super) seed: u64,
}

/// What may.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knobs {
    pub(super) tiling: Tiling,
    pub(super) window: usize,
    pub(super) logit_scale: f64,
}

impl Setup {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        Ok(Self {
            heads: params.size("heads")?,
            sequence: params.size("sequence")?,
            width: params.size("head_dim")?,
            ahead: match params.bool("causal")? {
                true => Ahead::Hidden,
                false => Ahead::Seen,
            },
            sweep: lengths(params)?,
            repetitions: params.size("repetitions")?,
            seed: params.int("seed")? as u64,
        })
    }

    /// Full attention.
    pub(super) fn sight(&self) -> Sight {
        Sight { ahead: self.ahead, window: None }
    }

    /// Heads, tokens and width, of so many tokens.
    pub(super) fn shape(&self, sequence: usize) -> [usize; 3] {
        [self.heads, sequence, self.width]
    }

    /// The longest sequence of the run.
    pub(super) fn longest(&self) -> usize {
        self.sweep.iter().copied().fold(self.sequence, usize::max)
    }

    /// Bytes that the run takes at most, or a little more: scores, their exponentials, a mask that is spread over all heads, and
    /// the inputs with what is made of them.
    pub(super) fn bytes(&self) -> u64 {
        let [heads, n, d] = self.shape(self.longest()).map(|x| x as u64);
        4 * (4 * heads * n * n + 16 * heads * n * d)
    }

    /// 4 * heads * N²: one matrix of scores a head.
    pub(super) fn naive_score_bytes(&self, sequence: usize) -> u64 {
        4 * self.heads as u64 * (sequence as u64).pow(2)
    }

    /// 4 * heads * (d² + d): what causal linear attention keeps of all earlier tokens, a sum of products and one of features.
    pub(super) fn linear_state_bytes(&self) -> u64 {
        let d = self.width as u64;
        4 * self.heads as u64 * (d * d + d)
    }

    /// 4 * heads * N² * d: two products, q kᵀ and shares times v, without what a causal mask saves.
    pub(super) fn softmax_flops(&self) -> u64 {
        let [heads, n, d] = self.shape(self.sequence).map(|x| x as u64);
        4 * heads * n * n * d
    }

    /// 4 * heads * N * d²
    pub(super) fn linear_flops(&self) -> u64 {
        let [heads, n, d] = self.shape(self.sequence).map(|x| x as u64);
        4 * heads * n * d * d
    }

    /// Elements of one head that the stored scores move: 4Nd for q, k, v and the output, 4N² for scores and shares, each
    /// written and read.
    pub(super) fn naive_accesses(&self) -> u64 {
        let [_, n, d] = self.shape(self.sequence).map(|x| x as u64);
        4 * n * d + 4 * n * n
    }

    /// The same by tiles: queries and outputs once, keys and values once for each row of tiles.
    pub(super) fn tiled_accesses(&self, tiling: Tiling) -> u64 {
        let [_, n, d] = self.shape(self.sequence).map(|x| x as u64);
        2 * n * d + 2 * n * d * n.div_ceil(tiling.rows as u64)
    }

    /// The same over a window: of keys and values only the tiles of which something is seen.
    pub(super) fn window_accesses(&self, knobs: &Knobs) -> u64 {
        let [_, n, d] = self.shape(self.sequence).map(|x| x as u64);
        let tiles = knobs.tiling.tiles(self.sequence, self.windowed(knobs));
        let keys: u64 = tiles.map(|tile| tile.keys.len() as u64).sum();
        2 * n * d + 2 * d * keys
    }

    /// The same with the linear kernel, whose sums stay close: every input and output once.
    pub(super) fn linear_accesses(&self) -> u64 {
        let [_, n, d] = self.shape(self.sequence).map(|x| x as u64);
        4 * n * d
    }

    /// Attention over a window.
    pub(super) fn windowed(&self, knobs: &Knobs) -> Sight {
        Sight { ahead: self.ahead, window: Some(knobs.window) }
    }
}

impl Knobs {
    /// # Errors
    /// If the tiles are so small that there are too many.
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let tiling =
            Tiling { rows: params.size("tile_rows")?, columns: params.size("tile_columns")? };
        let sequence = params.size("sequence")?;
        let tiles = tiling.count(sequence);
        if tiles > MOST_TILES {
            let message = format!(
                "{sequence} tokens in tiles of {} x {} make {tiles} tiles, more than the {MOST_TILES} that are computed one by one; make the tiles larger or the sequence shorter",
                tiling.rows, tiling.columns
            );
            let params = ["tile_rows", "tile_columns", "sequence"];
            return Err(LabError::contradiction(params, message));
        }
        Ok(Self {
            tiling,
            window: params.size("window")?,
            logit_scale: params.float("logit_scale")?,
        })
    }

    /// 4 * tile_rows * tile_columns for the scores of a tile, and a maximum and a sum of each row.
    pub(super) fn tiled_score_bytes(&self) -> u64 {
        let [rows, columns] = [self.tiling.rows as u64, self.tiling.columns as u64];
        4 * rows * columns + 8 * rows
    }
}

fn lengths(params: &Params) -> Result<Vec<usize>, LabError> {
    let wrong = |message: String| LabError::contradiction(["sweep"], message);
    let Some(Value::Array(given)) = params.get("sweep") else {
        return Err(wrong("give lengths, such as [64, 128]".to_owned()));
    };
    if given.is_empty() || given.len() > MOST_LENGTHS {
        let message =
            format!("{} lengths; give 1 to {MOST_LENGTHS}, such as [64, 128]", given.len());
        return Err(wrong(message));
    }
    let length = |(place, value): (usize, &Value)| {
        let whole = value.as_f64().filter(|x| x.fract() == 0.0);
        let fits = whole.filter(|x| (1.0..=LONGEST).contains(x));
        fits.map(|x| x as usize).ok_or_else(|| {
            wrong(format!(
                "length {} is {value}; each must be a whole number from 1 to {LONGEST}",
                place + 1
            ))
        })
    };
    given.iter().enumerate().map(length).collect()
}
