//! What a run tells in numbers.

use mlsys_lab::Run;
use mlsys_lab::report::Report;

use super::Session;
use crate::generate::beside::Same;
use crate::generate::tracks::{Phase, Spent};
use crate::generate::writer::Gain;
use crate::stepped::point;
use mlsys_distributed::transport::CommError;

impl Session {
    /// Tokens were gained in so many seconds, besides what their drafts took.
    pub(super) fn gained(
        &mut self,
        run: &mut Run<'_>,
        gain: &Gain,
        seconds: f64,
    ) -> Result<(), CommError> {
        let scores = gain.pass.scores.iter().flatten().flatten();
        if scores.into_iter().any(|score| !score.is_finite()) {
            let said = "a score is not a number any more: the model's weights are not";
            self.diverged = Some(said.to_owned());
            run.sink.report(Report::Diverged {
                step: self.writer.written() as u64,
                reason: said.to_owned(),
            });
        }
        let each = gain.tokens.max(1);
        let spent = std::mem::take(&mut self.pending);
        let seconds = (seconds + spent.seconds) / each as f64;
        let flops = (gain.pass.flops + spent.flops) / each as u64;
        let written = self.writer.written();
        let step = written as u64;
        for token in written + 1 - each..=written {
            self.tracks.own.push(Spent { token, seconds, flops });
        }
        if written > 1 {
            point(run, "decode_seconds", step, seconds);
        }
        point(run, "forward_flops", step, flops as f64);
        let [numbers, scales] = self.writer.decoder().cache_bytes();
        point(run, "cache_bytes", step, numbers as f64);
        run.scalar("cache_scale_bytes", scales as i64);
        run.scalar("token_forwards", self.tracks.positions as i64);
        self.rates(run);
        if let Some(beside) = &mut self.beside {
            let before = beside.density();
            let costs = beside.follow(self.writer.rows(), gain, self.wish.temperature)?;
            for cost in costs {
                self.tracks.other.push(Spent {
                    token: written + 1 - each + cost.place,
                    seconds: cost.seconds,
                    flops: cost.flops,
                });
            }
            if before != beside.density() {
                run.sink.report(Report::Notice(format!(
                    "without a cache each token takes all before it through the model again: from token {written} on the \
                     comparison does so for a few tokens only, further and further apart"
                )));
            }
        }
        Ok(())
    }

    /// What follows from all that was done so far.
    fn rates(&self, run: &mut Run<'_>) {
        let tracks = &self.tracks;
        let seconds = tracks.decode_seconds();
        if tracks.gained > 0 && seconds > 0.0 {
            let tokens = tracks.gained as f64;
            let all = tokens * self.setup.batch as f64;
            run.scalar("tokens_per_second", all / seconds);
            run.scalar("seconds_per_token", seconds / tokens);
        }
        if let Some(moved) = tracks.bytes_per_second() {
            run.scalar("bytes_per_second", moved);
            if let Some(bandwidth) = self.bandwidth {
                run.scalar("bandwidth_share", moved / bandwidth);
            }
        }
        let rounds = tracks.all_rounds();
        if let Some(share) = rounds.acceptance() {
            run.scalar("acceptance_rate", share);
        }
        if let Some(expected) = tracks.expected_tokens() {
            run.scalar("expected_tokens", expected);
        }
        if self.setup.draft.is_some() && rounds.runs > 0 {
            let gained = tracks.gained as f64 / rounds.runs as f64;
            run.scalar("tokens_per_target_run", gained);
            run.scalar("draft_forwards", tracks.draft_positions as i64);
        }
    }

    /// The last values of a run, however it ended.
    pub(super) fn report_all(&self, run: &mut Run<'_>) {
        let rows = self.writer.rows();
        let own = rows.first().map_or(&[][..], |row| &row[self.writer.prompt()..]);
        run.scalar("text", self.vocabulary.text(own));
        for (name, phase) in [
            ("prefill_intensity", Phase::Prefill),
            ("decode_intensity", Phase::Decode),
            ("judge_intensity", Phase::Judge),
        ] {
            if let Some(intensity) = self.tracks.intensity(phase) {
                run.scalar(name, intensity);
            }
        }
        if let Some(bandwidth) = self.bandwidth {
            run.scalar("bandwidth_bytes_per_second", bandwidth);
        }
        if let Some(beside) = self.beside.as_ref().filter(|_| self.writer.written() > 0) {
            run.scalar("max_logit_difference", f64::from(beside.worst()));
            match beside.same() {
                Same::Always => run.scalar("tokens_identical", true),
                Same::No => run.scalar("tokens_identical", false),
                Same::Drawn => {}
            }
        }
    }
}
