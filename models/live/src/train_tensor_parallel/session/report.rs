//! What a session says: sizes, modelled seconds, and what each step found.

use mlsys_lab::Run;
use mlsys_lab::report::Report;

use super::{Modelled, Session, Setup};
use crate::train_tensor_parallel::clock;
use mlsys_nn::divergence;

impl Session {
    pub(super) fn report_sizes(&self, run: &mut Run<'_>) {
        let setup = &self.setup;
        run.scalar("f32_rounding", f64::from(f32::EPSILON) / 2.0);
        run.scalar("parameters", self.model.parameters() as i64);
        run.scalar("model_flops", self.flops() as i64);
        run.scalar("weight_bytes_per_worker", clock::weight_bytes(setup) as i64);
        let kept = clock::activation_bytes(setup);
        run.scalar("activation_bytes_per_worker", kept as i64);
        let alone = Setup { ranks: 1, ..setup.clone() };
        let kept = clock::activation_bytes(&alone);
        run.scalar("reference_activation_bytes", kept as i64);
        self.report_modelled(run);
    }

    pub(in crate::train_tensor_parallel) fn flops(&self) -> u64 {
        self.model.flops(self.setup.batch as u64)
    }

    /// What a rank sends: counted, or by formula before the first step.
    pub(in crate::train_tensor_parallel) fn sent(&self) -> (f64, f64) {
        match &self.last {
            Some(last) => (last.sent.messages as f64, last.sent.bytes as f64),
            None => {
                let sent = clock::sent(&clock::parts(&self.setup, self.knobs.sums));
                (sent.messages, sent.bytes)
            }
        }
    }

    pub(in crate::train_tensor_parallel) fn modelled(&self) -> Modelled {
        let (messages, bytes) = self.sent();
        Modelled {
            compute: self.flops() as f64 / (self.setup.ranks as f64 * self.knobs.rate),
            communication: self.knobs.network.seconds(messages, bytes),
        }
    }

    pub(super) fn report_modelled(&self, run: &mut Run<'_>) {
        let modelled = self.modelled();
        run.scalar("compute_seconds", modelled.compute);
        run.scalar("communication_seconds", modelled.communication);
        run.scalar("step_seconds", modelled.step());
        let alone = self.setup.ranks as f64 * modelled.compute;
        run.scalar("speedup", alone / modelled.step());
    }

    pub(super) fn report_step(&mut self, run: &mut Run<'_>) {
        let Some(last) = &self.last else {
            return;
        };
        let step = self.step;
        let mut point = |name: &'static str, value: f64| {
            run.sink.report(Report::Point { name: name.into(), step, value });
        };
        point("loss", last.loss);
        point("measured_step_seconds", last.seconds);
        if let Some(beside) = &last.beside {
            point("reference_loss", beside.loss);
            point("reference_step_seconds", beside.seconds);
            point("max_output_difference", beside.output);
            point("max_gradient_difference", beside.gradient);
            point("max_weight_difference", beside.weight);
        }
        run.scalar("all_reduces", last.done.all_reduces);
        run.scalar("all_gathers", last.done.all_gathers);
        run.scalar("reduce_scatters", last.done.reduce_scatters);
        run.scalar("bytes_sent_per_worker", last.sent.bytes as i64);
        run.scalar("messages_per_worker", last.sent.messages as i64);
        if let Some(what) = self.ceiling.judge(last.loss).or(last.broken) {
            self.divergence = Some(what);
            let reason = divergence::at_rate(what, self.knobs.learning_rate);
            run.sink.report(Report::Diverged { step, reason });
        }
        self.report_modelled(run);
    }
}
