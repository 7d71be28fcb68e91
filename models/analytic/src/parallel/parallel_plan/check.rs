//! Whether a row of a table agrees with itself: its product with its devices, its batch with its tokens.

use mlsys_lab::{Frame, LabError, Params, Value};

use mlsys_lab::picture;
use mlsys_sim::integer::too_large;

use super::layout::Layout;
use super::read_layout;

/// What a row says and what its own numbers give.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) layout: Layout,
    /// Devices the row claims, or that are there.
    pub(super) claimed_devices: i64,
    /// tensor*context*pipeline*data.
    pub(super) devices: i64,
    pub(super) sequence: i64,
    pub(super) global_batch: i64,
    /// global_batch*sequence.
    pub(super) tokens: i64,
    pub(super) claimed_tokens: Option<i64>,
    batch: Batch,
}

/// How the batch is given.
#[derive(Clone, Copy, Debug)]
enum Batch {
    /// For all.
    Global,
    /// Sequences for each data-parallel rank.
    Rank(i64),
}

impl Claim {
    pub(super) fn read(params: &Params) -> Result<Self, LabError> {
        let layout = read_layout(params)?;
        let devices = layout
            .devices()
            .ok_or_else(|| too_large(["tensor", "context", "pipeline", "data"], "devices"))?;
        let (batch, global_batch) = match params.optional_int("global_batch") {
            Some(batch) => (Batch::Global, Some(batch)),
            None => {
                let each = params.int("batch_per_data_rank")?;
                (Batch::Rank(each), each.checked_mul(layout.data))
            }
        };
        let global_batch = global_batch
            .ok_or_else(|| too_large(["batch_per_data_rank", "data"], "global_batch"))?;
        let sequence = params.int("sequence")?;
        let tokens = global_batch
            .checked_mul(sequence)
            .ok_or_else(|| too_large(["sequence", "global_batch"], "tokens_per_batch"))?;
        Ok(Self {
            layout,
            claimed_devices: params.int("devices")?,
            devices,
            sequence,
            global_batch,
            tokens,
            claimed_tokens: params.optional_int("claimed_tokens_per_batch"),
            batch,
        })
    }

    fn wrong_devices(&self) -> Option<String> {
        let Layout { tensor, context, pipeline, data } = self.layout;
        (self.devices != self.claimed_devices).then(|| {
            format!(
                "{tensor}*{context}*{pipeline}*{data} is {} devices, not {}",
                self.devices, self.claimed_devices
            )
        })
    }

    fn wrong_tokens(&self) -> Option<String> {
        let claimed = self.claimed_tokens.filter(|claimed| *claimed != self.tokens)?;
        Some(format!(
            "{}*{} is {} tokens, not {claimed}",
            self.global_batch, self.sequence, self.tokens
        ))
    }

    /// What of the row contradicts what; nothing if it agrees with itself.
    pub(super) fn wrong(&self) -> Option<String> {
        let all = [self.wrong_devices(), self.wrong_tokens()];
        let all: Vec<String> = all.into_iter().flatten().collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// Data-parallel ranks that the claimed devices need.
    fn data_for_devices(&self) -> Option<i64> {
        let ranks = self.layout.model_ranks()?;
        (self.claimed_devices % ranks == 0).then(|| self.claimed_devices / ranks)
    }

    /// Data-parallel ranks that the claimed tokens need.
    fn data_for_tokens(&self) -> Option<i64> {
        let Batch::Rank(each) = self.batch else {
            return None;
        };
        let of_rank = each.checked_mul(self.sequence)?;
        let claimed = self.claimed_tokens?;
        (claimed % of_rank == 0).then(|| claimed / of_rank)
    }

    /// The row multiplied out.
    pub(super) fn table(&self) -> Frame {
        let cure = |data: Option<i64>, wrong: &Option<String>| match (wrong, data) {
            (None, _) => "agrees".to_owned(),
            (Some(_), Some(data)) => format!("data = {data} would"),
            (Some(_), None) => "no number of data ranks would".to_owned(),
        };
        let Layout { tensor, context, pipeline, data } = self.layout;
        let mut rows = vec![[
            Value::from("devices"),
            self.claimed_devices.into(),
            format!("{tensor}*{context}*{pipeline}*{data}").into(),
            self.devices.into(),
            cure(self.data_for_devices(), &self.wrong_devices()).into(),
        ]];
        let of_batch = match self.batch {
            Batch::Global => "as given".to_owned(),
            Batch::Rank(each) => format!("{each}*{data}"),
        };
        rows.push([
            "sequences a step".into(),
            "".into(),
            of_batch.into(),
            self.global_batch.into(),
            "".into(),
        ]);
        rows.push([
            "tokens a step".into(),
            self.claimed_tokens.map_or_else(|| "".into(), Value::from),
            format!("{}*{}", self.global_batch, self.sequence).into(),
            self.tokens.into(),
            match self.claimed_tokens {
                Some(_) => cure(self.data_for_tokens(), &self.wrong_tokens()).into(),
                None => "".into(),
            },
        ]);
        picture::table(["what", "claimed", "with numbers", "comes to", ""], rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The row of an early version of the paper, which many slides copy.
    #[test]
    fn the_impossible_row_is_told_what_would_put_it_right() {
        let claim = |data: i64| Claim {
            layout: Layout { tensor: 8, context: 16, pipeline: 16, data },
            claimed_devices: 16_384,
            devices: 2048 * data,
            sequence: 131_072,
            global_batch: 16 * data,
            tokens: 16 * data * 131_072,
            claimed_tokens: Some(16_777_216),
            batch: Batch::Rank(16),
        };
        let wrong = claim(4).wrong().unwrap();
        assert_eq!(
            wrong,
            "8*16*16*4 is 8192 devices, not 16384; 64*131072 is 8388608 tokens, not 16777216"
        );
        assert_eq!(claim(4).data_for_devices(), Some(8));
        assert_eq!(claim(4).data_for_tokens(), Some(8));
        assert_eq!(claim(8).wrong(), None);
    }
}
