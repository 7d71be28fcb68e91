//! What a session says of the network as it is rounded.

use mlsys_lab::Run;
use mlsys_sim::quantizer::Noise;

use super::session::Session;
use super::setup::Method;

impl Session {
    /// Everything but what trying layers alone finds.
    pub(super) fn report(&self, run: &mut Run<'_>) {
        run.scalar("accuracy_before", self.before.score);
        run.scalar("accuracy_after", self.after.score);
        run.scalar("accuracy_drop", self.before.score - self.after.score);
        let changed = self.after.changed(&self.before).len();
        run.scalar("changed_predictions", changed as i64);
        if self.judge.reads_tokens() {
            run.scalar("perplexity_before", self.before.loss.exp());
            run.scalar("perplexity_after", self.after.loss.exp());
        }
        self.report_noise(run);
        let size = self.rounded.size();
        run.scalar("stored_bytes_before", size.before as i64);
        run.scalar("stored_bytes", size.after() as i64);
        run.scalar("compression_ratio", size.ratio());
        run.scalar("bits_per_weight", size.bits_per_weight());
        run.scalar("forward_seconds_before", self.seconds_before);
        if let Some(seconds) = self.seconds_after {
            run.scalar("forward_seconds_after", seconds);
        }
        let own = self.knobs().weight_bits();
        let known = (0..self.layers.len()).filter(|layer| self.scan.lost(*layer, own).is_some());
        for layer in known {
            self.report_sensitivity(run, layer);
        }
    }

    fn report_noise(&self, run: &mut Run<'_>) {
        let noise = self.rounded.noise(&self.layers, &self.row);
        for (layer, noise) in self.layers.iter().zip(&noise) {
            for (family, decibels) in
                [("sqnr_db", noise.sqnr_db()), ("predicted_sqnr_db", noise.predicted_db())]
            {
                if let Some(decibels) = decibels {
                    run.scalar(&format!("{family}.{}", layer.name), decibels);
                }
            }
        }
        let all = match self.knobs().method {
            Method::Kmeans => self.fresh,
            Method::Round | Method::Aware | Method::Nf4 => {
                noise.into_iter().fold(Noise::default(), Noise::and)
            }
        };
        run.scalar("max_error_over_half_step", all.worst);
        let clipped = all.clipped as f64 / all.weights.max(1) as f64;
        run.scalar("clipped_fraction", clipped);
    }

    /// What was lost with one layer alone rounded to the bits that are set.
    pub(super) fn report_sensitivity(&self, run: &mut Run<'_>, layer: usize) {
        let lost = self.scan.lost(layer, self.knobs().weight_bits());
        if let (Some(lost), Some(layer)) = (lost, self.layers.get(layer)) {
            run.scalar(&format!("sensitivity.{}", layer.name), lost);
        }
    }
}
