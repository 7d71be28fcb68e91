//! A plan as a picture that can be stepped through.

use mlsys_lab::frame::message_trace::{Action as Shown, Begins, Layout, MessageTrace, Ranged};

use crate::collective::{Action, Algorithm, Plan};

impl Algorithm {
    /// How the ranks are drawn.
    pub fn layout(self) -> Layout {
        match self {
            Self::Ring => Layout::Ring,
            Self::Tree | Self::DoubleTree => Layout::Tree,
            Self::ParameterServer => Layout::Star,
            Self::RecursiveHalvingDoubling | Self::ShardedParameterServer => Layout::Mesh,
        }
    }
}

impl Plan {
    /// The plan's messages as a message trace.
    ///
    /// Every rank begins with its own version of everything, a server with nothing: for a collective that begins
    /// otherwise, set [`MessageTrace::begins`]. Numbers of the buffers are put in by [`MessageTrace::sample_from`].
    pub fn exchange(&self, what: &str, layout: Layout, element_bytes: u64) -> MessageTrace {
        let ranged = |message: crate::collective::Message| Ranged {
            from: message.from,
            to: message.to,
            bytes: (message.elements.len() as u64).saturating_mul(element_bytes),
            elements: message.elements,
            action: match message.action {
                Action::Add => Shown::Add,
                Action::Replace => Shown::Replace,
            },
        };
        let rounds = (0..self.rounds()).map(|round| {
            let phase = self.phase(round).map_or("", |phase| phase.name());
            (phase.to_owned(), self.round(round).map(ranged).collect())
        });
        let elements = self.split().elements();
        let mut exchange = MessageTrace::ranged(what, layout, self.endpoints(), elements, rounds);
        if let Some(server) = self.server() {
            let all: Vec<usize> = (0..exchange.chunks.len()).collect();
            exchange.begins = Begins::Listed(vec![all; server]);
            exchange.names = (0..server).map(|rank| format!("rank {rank}")).collect();
            exchange.names.push("server".to_owned());
        }
        exchange
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collective::execute;

    #[test]
    fn trace_ends_with_the_plans_result() {
        for algorithm in Algorithm::ALL {
            for ranks in [1, 2, 4, 8] {
                let plan = Plan::all_reduce(algorithm, ranks, 19).unwrap();
                let own = |rank: usize| (0..19).map(|i| (i * i + 3 * rank) as f32 / 8.0).collect();
                let mut buffers: Vec<Vec<f32>> = (0..ranks).map(own).collect();
                let mut exchange = plan.exchange("numbers", algorithm.layout(), 4);
                exchange.sample_from(buffers.iter().map(Vec::as_slice), 1);
                if plan.server().is_some() {
                    buffers.push(vec![0.0; 19]);
                }
                execute(&plan, &mut buffers).unwrap();
                let after = exchange.after(usize::MAX, 0..exchange.chunks.len());
                let mut first = 0;
                for (chunk, of) in exchange.chunks.iter().enumerate() {
                    for (rank, buffer) in buffers.iter().enumerate().take(ranks) {
                        let held = after.held(rank, chunk).unwrap();
                        assert_eq!(held.from.count(), ranks, "{algorithm:?} {ranks}");
                        assert_eq!(held.sample, [buffer[first]], "{algorithm:?} {ranks}");
                    }
                    first += of.elements as usize;
                }
            }
        }
    }

    #[test]
    fn large_traces_are_cut() {
        let plan = Plan::all_reduce(Algorithm::Ring, 16_384, 1 << 20).unwrap();
        let exchange = plan.exchange("gradient", Layout::Ring, 4);
        assert_eq!(exchange.rounds_in_all(), 2 * 16_383);
        assert!(!exchange.rounds.is_empty() && exchange.rounds.len() < 4);
    }
}
