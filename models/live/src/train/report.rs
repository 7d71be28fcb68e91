//! What a session says while it trains.

use mlsys_device as device;
use mlsys_lab::Run;
use mlsys_lab::report::FrameTrigger;
use mlsys_nn::train::clock::Phase;
use mlsys_nn::train::norms::{Norms, StepNorms};
use mlsys_nn::train::{Knobs, Timing};

use super::Session;
use super::panels::Subject;
use crate::stepped::{known, point};

impl Session {
    /// Reads and reports the losses that are still on the device.
    pub(super) fn read_losses(&mut self, run: &mut Run<'_>) {
        for (step, loss) in super::read(&mut self.unread) {
            if step == 1 {
                // Whatever was compiled is compiled now.
                run.status("");
            }
            point(run, "loss", step, loss);
            if let Some(what) = self.steps.judge_loss(0, loss) {
                self.diverge(run, step, what);
                // Steps that were under way meanwhile say nothing any more.
                break;
            }
        }
    }

    fn diverge(&mut self, run: &mut Run<'_>, step: u64, what: &'static str) {
        let rate = self.knobs.update.learning_rate;
        let reason = format!(
            "{what}: at learning rate {} each update overshoots and the next gradient is larger still; \
                 a smaller rate, or gradient_clip, keeps the steps short",
            mlsys_lab::value::number(rate),
        );
        self.steps.diverge(run, step, what, reason);
    }

    /// Reports every series that has a value each `record_every` steps.
    pub(super) fn record(&mut self, run: &mut Run<'_>, norms: StepNorms) {
        let step = self.steps.done;
        self.recorded = step;
        let Norms { gradient_of_layer, weights_of_layer, gradient, weights, update, change } =
            norms.read(&self.layers);
        point(run, "gradient_norm", step, gradient);
        for (family, norms) in
            [("gradient_norm", gradient_of_layer), ("weight_norm", weights_of_layer)]
        {
            for (index, norm) in norms.into_iter().enumerate() {
                point(run, &format!("{family}.layer{}", index + 1), step, norm);
            }
        }
        if weights > 0.0 {
            point(run, "update_ratio", step, update / weights);
        }
        point(run, "weight_change", step, change);
        if !(weights.is_finite() && update.is_finite()) {
            self.diverge(run, step, "a weight is no longer a finite number");
        }
        self.report_progress(run);
    }

    pub(super) fn report_progress(&mut self, run: &mut Run<'_>) {
        let step = self.steps.done;
        point(run, "samples_seen", step, self.samples_seen as f64);
        let epochs = self.data.train.epochs(self.samples_seen);
        point(run, "epochs", step, epochs);
        if let Some(seconds) = self.times.seconds_per_step() {
            let samples = self.knobs.batch_size as f64 / seconds;
            let flops = self.flops_per_step() as f64 / seconds;
            let is_language = self.data.language.is_some();
            for (name, value) in [
                ("seconds_per_step", Some(seconds)),
                ("samples_per_second", Some(samples)),
                ("tokens_per_second", is_language.then_some(samples * self.config.context as f64)),
                ("flops_per_second", Some(flops)),
                ("mfu", self.peak.map(|peak| flops / peak)),
            ] {
                point(run, name, step, value);
            }
        }
        if self.knobs.timing == Timing::Phases {
            for phase in Phase::ALL {
                known(run, phase.name(), self.times.seconds_of(phase));
            }
        }
    }

    pub(super) fn evaluate(&mut self, run: &mut Run<'_>) {
        self.evaluated = self.steps.done;
        let network = self.trainer.network();
        let held_out = self.judged.held_out.judge(&network, self.knobs.activation);
        let accuracy = match &self.judged.train {
            Some(train) => train.judge(&network, self.knobs.activation).accuracy,
            None => held_out.accuracy,
        };
        let language = self.data.language.as_ref();
        let is_text = language.is_some_and(|language| language.vocabulary.is_characters());
        for (name, value) in [
            ("validation_loss", Some(held_out.loss)),
            ("bits_per_character", is_text.then(|| held_out.loss / std::f64::consts::LN_2)),
            ("exact_match", self.judged.answers.right(&held_out.hits)),
            ("accuracy", Some(accuracy)),
            ("validation_accuracy", Some(held_out.accuracy)),
        ] {
            point(run, name, self.steps.done, value);
        }
    }

    pub(super) fn offer(&mut self, run: &mut Run<'_>, moment: FrameTrigger) {
        if self.steps.divergence().is_none() {
            let subject = Subject {
                trainer: &self.trainer,
                train: &self.data.train,
                activation: self.knobs.activation,
                step: self.steps.done,
                evaluated: self.evaluated,
            };
            if self.pictures.offer(run.sink, moment, subject) > 0 {
                // The device did other work than steps.
                self.times.void_window();
            }
        }
        run.sink.frames_done();
    }

    pub(super) fn report_sizes(&self, run: &mut Run<'_>) {
        const BYTES: u64 = 4;
        let parameters = self.architecture.parameters();
        let Knobs { activation, batch_size, rule, .. } = self.knobs;
        let kept = self.architecture.kept_numbers(activation, batch_size as u64);
        for (name, count) in [
            ("parameters", parameters),
            ("flops_per_step", self.flops_per_step()),
            ("weight_bytes", BYTES * parameters),
            ("gradient_bytes", BYTES * parameters),
            ("optimizer_bytes", BYTES * parameters * rule.moments()),
            ("activation_bytes", BYTES * kept),
        ] {
            run.scalar(name, count as i64);
        }
        if self.knobs.timing == Timing::Phases && device::is_asynchronous(self.id) {
            run.notice("profile: waiting for the device between phases makes each step slower");
        }
    }

    fn flops_per_step(&self) -> u64 {
        let batch = self.knobs.batch_size as u64;
        self.architecture.forward_flops(batch) + self.architecture.backward_flops(batch)
    }
}
