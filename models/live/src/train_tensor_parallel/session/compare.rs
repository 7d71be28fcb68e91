//! How far all ranks together are from one worker.

use super::{Beside, Session};
use crate::train_tensor_parallel::worker::Answer;
use mlsys_distributed::reference::{difference, relative_difference};

impl Session {
    /// How far all ranks together are from one worker; keeps their weights.
    pub(super) fn compare(
        &mut self,
        answers: &[Answer],
        trained: Option<&Answer>,
        checked: Option<&Answer>,
        seconds: f64,
    ) -> Option<Beside> {
        let (trained, checked) = (trained?, checked?.all.as_ref()?);
        let count = self.layout.len();
        let (mut gradient, mut weights) = (vec![0.0; count], vec![0.0; count]);
        // What all have comes from the first: the last to be put down.
        for (rank, answer) in answers.iter().enumerate().rev() {
            let all = answer.all.as_ref()?;
            self.layout.put(&mut gradient, rank, &all.gradient);
            self.layout.put(&mut weights, rank, &all.weights);
        }
        let logits = self.logits(answers)?;
        let beside = Beside {
            loss: trained.loss,
            seconds,
            output: relative_difference(&logits, &checked.logits),
            gradient: relative_difference(&gradient, &checked.gradient),
            weight: difference(&weights, &trained.all.as_ref()?.weights),
        };
        self.weights = weights.into();
        Some(beside)
    }

    /// The scores of all tokens, `[batch, time, vocab]`.
    fn logits(&self, answers: &[Answer]) -> Option<Vec<f32>> {
        let (batch, ranks) = (self.setup.batch, self.setup.ranks);
        let of = |rank: usize| Some(&answers.get(rank)?.all.as_ref()?.logits);
        if !self.setup.mode.cuts_tokens() {
            return of(0).cloned();
        }
        let own = self.setup.config.context / ranks * self.setup.config.vocab;
        let mut all = Vec::with_capacity(batch * ranks * own);
        for sequence in 0..batch {
            for rank in 0..ranks {
                all.extend_from_slice(of(rank)?.get(sequence * own..(sequence + 1) * own)?);
            }
        }
        Some(all)
    }
}
