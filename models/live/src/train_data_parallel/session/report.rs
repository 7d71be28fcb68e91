//! What a session says.

use mlsys_lab::Run;
use mlsys_lab::report::Report;

use super::{Replicas, Session, Zero};
use crate::train_data_parallel::compress::Compression;
use crate::train_data_parallel::modelled::Modelled;
use crate::train_data_parallel::task::Held;
use mlsys_distributed::transport::Flow;
use mlsys_sim::collective::Algorithm;

impl Session {
    /// Reports what follows from the parameters alone.
    pub(super) fn report_sizes(&self, run: &mut Run<'_>) {
        let model = &self.setup.model;
        let batch = self.knobs.batch as u64;
        run.scalar("parameters", model.parameters() as i64);
        run.scalar("model_flops", model.flops(batch) as i64);
        run.scalar("f32_rounding", f64::from(f32::EPSILON) / 2.0);
        let Modelled { compute, communication, step, speedup, .. } = self.modelled;
        for (name, value) in [
            ("compute_seconds", compute),
            ("communication_seconds", communication),
            ("step_seconds", step),
            ("speedup", speedup),
        ] {
            run.scalar(name, value);
        }
        let bytes = self.knobs.compression.bytes(model.parameters() as usize);
        let ratio = 4.0 * model.parameters() as f64 / bytes as f64;
        run.scalar("compression_ratio", ratio);
        if let Some(notice) = self.notice() {
            run.sink.report(Report::Notice(notice));
        }
    }

    /// Where a knob does not do what its name says.
    fn notice(&self) -> Option<String> {
        if self.knobs.algorithm == Algorithm::Ring {
            return None;
        }
        let name = self.knobs.algorithm.name();
        if self.setup.zero > Zero::Nothing {
            Some(format!(
                "zero_stage {} leaves each worker the sum of its own shard, which a ring does: algorithm {name} plays no part",
                self.setup.zero as u8
            ))
        } else if self.knobs.compression != Compression::None {
            Some(format!(
                "compressed gradients are passed round a ring whole: algorithm {name} plays no part"
            ))
        } else {
            None
        }
    }

    /// The most that a worker sent in a step, averaged over the steps from one sum to the next; and the messages of the
    /// step that sent them.
    pub(super) fn sent(&self) -> Flow {
        let workers = 0..self.setup.workers;
        let most = self.sent.as_ref().map(|sent| {
            workers.map(|rank| sent.traffic.sent_by(rank)).fold(Flow::default(), |most, flow| {
                Flow {
                    messages: most.messages.max(flow.messages),
                    bytes: most.bytes.max(flow.bytes),
                }
            })
        });
        let most = most.unwrap_or_default();
        let steps = self.sent.as_ref().map_or(1, |sent| sent.steps);
        Flow { messages: most.messages, bytes: most.bytes / steps.max(1) }
    }

    /// What a worker held at most.
    pub(super) fn held(&self) -> Held {
        let most = |of: fn(&Held) -> u64| {
            let held = self.answers.iter().map(|answer| of(&answer.held));
            held.max().unwrap_or(0)
        };
        Held {
            weights: most(|held| held.weights),
            gradient: most(|held| held.gradient),
            optimizer: most(|held| held.optimizer),
            left_out: most(|held| held.left_out),
            late: most(|held| held.late),
        }
    }

    /// Bytes of activations of a worker.
    pub(super) fn activation_bytes(&self) -> u64 {
        let each = self.knobs.batch / self.setup.workers / self.knobs.pieces.max(1);
        self.setup.model.activation_bytes(each as u64)
    }

    /// Reports what was counted and measured.
    pub(super) fn report_results(&self, run: &mut Run<'_>) {
        if self.step == 0 {
            return;
        }
        let (sent, held) = (self.sent(), self.held());
        for (name, count) in [
            ("bytes_sent_per_worker", sent.bytes),
            ("messages_per_worker", sent.messages),
            ("weight_bytes_per_worker", held.weights),
            ("gradient_bytes_per_worker", held.gradient),
            ("optimizer_bytes_per_worker", held.optimizer),
            ("activation_bytes_per_worker", self.activation_bytes()),
        ] {
            run.scalar(name, count as i64);
        }
        run.scalar("replicas_identical", self.replicas == Replicas::Identical);
        if let (Some(many), Some(one)) = (self.seconds(), self.seconds_of_one()) {
            run.scalar("measured_speedup", one / many);
        }
        if let Some(one) = self.seconds_of_one() {
            run.scalar("reference_step_seconds", one);
        }
        let (_, activations) = self.alone();
        run.scalar("reference_activation_bytes", activations as i64);
    }

    /// The median wall time of a step of the workers.
    pub(super) fn seconds(&self) -> Option<f64> {
        self.measured.workers()
    }

    /// The same of one worker alone.
    pub(super) fn seconds_of_one(&self) -> Option<f64> {
        self.measured.one()
    }
}
