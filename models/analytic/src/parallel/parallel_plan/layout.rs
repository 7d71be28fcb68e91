//! A layout: how many ranks each of the four dimensions has, and which network each of them runs over.

/// A dimension of parallelism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    /// Every layer's matrices are split.
    Tensor,
    /// The sequence is split.
    Context,
    /// The layers are split into stages.
    Pipeline,
    /// The batch is split.
    Data,
}

impl Dimension {
    /// From the innermost, whose ranks are neighbours, to the outermost: the order of Llama 3 (arXiv 2407.21783,
    /// section 3.3.2), which gives the fastest network to the dimension with the most traffic.
    pub(super) const ALL: [Self; 4] = [Self::Tensor, Self::Context, Self::Pipeline, Self::Data];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Tensor => "tensor",
            Self::Context => "context",
            Self::Pipeline => "pipeline",
            Self::Data => "data",
        }
    }
}

/// Ranks of each dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Layout {
    pub(super) tensor: i64,
    pub(super) context: i64,
    pub(super) pipeline: i64,
    pub(super) data: i64,
}

/// What the ranks of a dimension talk over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// One rank: no communication.
    Alone,
    /// All of a group lie in one server.
    Server,
    /// Some of a group lie in different servers, and the slowest link sets the pace.
    Network,
}

impl Layout {
    /// tensor*context*pipeline*data, unless it is beyond 64 bits.
    pub(super) fn devices(self) -> Option<i64> {
        self.model_ranks()?.checked_mul(self.data)
    }

    /// tensor*context*pipeline: the ranks that hold one copy of the model between them.
    pub(super) fn model_ranks(self) -> Option<i64> {
        let ranks = self.tensor.checked_mul(self.context)?;
        ranks.checked_mul(self.pipeline)
    }

    pub(super) const fn ranks(self, dimension: Dimension) -> i64 {
        match dimension {
            Dimension::Tensor => self.tensor,
            Dimension::Context => self.context,
            Dimension::Pipeline => self.pipeline,
            Dimension::Data => self.data,
        }
    }

    /// Ranks that hold the same weights: gradients are summed over them, and states may be sharded over them.
    pub(super) fn replicas(self) -> f64 {
        self.context as f64 * self.data as f64
    }

    /// The network of a dimension's groups, given the devices in a server and the innermost dimension filling
    /// it first. A group that sums gradients has the ranks of context and data.
    pub(super) fn reach(self, dimension: Dimension, server: i64) -> Reach {
        let whole = |ranks: Option<i64>| {
            let inside = ranks.is_some_and(|ranks| ranks <= server && server % ranks == 0);
            if inside { Reach::Server } else { Reach::Network }
        };
        let alone = match dimension {
            Dimension::Data => self.data == 1 && self.context == 1,
            Dimension::Tensor | Dimension::Context | Dimension::Pipeline => {
                self.ranks(dimension) == 1
            }
        };
        if alone {
            return Reach::Alone;
        }
        match dimension {
            Dimension::Tensor => whole(Some(self.tensor)),
            Dimension::Context => whole(self.tensor.checked_mul(self.context)),
            Dimension::Pipeline => whole(self.model_ranks()),
            Dimension::Data => whole(self.devices()),
        }
    }

    /// The four numbers, from the innermost.
    pub(super) fn short(self) -> String {
        let Self { tensor, context, pipeline, data } = self;
        format!("{tensor}.{context}.{pipeline}.{data}")
    }

    /// As papers write it.
    pub(super) fn name(self) -> String {
        let Self { tensor, context, pipeline, data } = self;
        format!("TP {tensor}, CP {context}, PP {pipeline}, DP {data}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_dimension_has_the_server_for_itself() {
        let layout = Layout { tensor: 8, context: 16, pipeline: 16, data: 8 };
        assert_eq!(layout.devices(), Some(16_384));
        for (dimension, server, reach) in [
            (Dimension::Tensor, 8, Reach::Server),
            (Dimension::Tensor, 4, Reach::Network),
            // Nine do not divide among groups of eight: some group lies across.
            (Dimension::Tensor, 9, Reach::Network),
            (Dimension::Context, 8, Reach::Network),
            (Dimension::Context, 128, Reach::Server),
            (Dimension::Pipeline, 2048, Reach::Server),
            (Dimension::Data, 16_384, Reach::Server),
            (Dimension::Data, 8, Reach::Network),
        ] {
            assert_eq!(layout.reach(dimension, server), reach, "{dimension:?} {server}");
        }
        let alone = Layout { context: 1, ..layout };
        assert_eq!(alone.reach(Dimension::Context, 8), Reach::Alone);
        // Context ranks hold the same weights, and sum gradients though there is one data rank.
        let summed = Layout { data: 1, ..layout };
        assert_eq!(summed.reach(Dimension::Data, 8), Reach::Network);
    }
}
