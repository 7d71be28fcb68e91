//! A recorded run as a lab: it reports its record step by step, and is paused, stepped and paced as any run is.

use std::collections::BTreeMap;
use std::sync::Arc;

use mlsys_lab::LabError;
use mlsys_lab::control::NextStep;
use mlsys_lab::lab::{Lab, Run};
use mlsys_lab::report::{Report, RunData};
use mlsys_lab::schema::Schema;

pub struct Replayed {
    pub schema: &'static Schema,
    pub data: Arc<RunData>,
}

impl Lab for Replayed {
    fn schema(&self) -> &Schema {
        self.schema
    }

    /// What happened at a step is reported with it; single values come at the end: the record has no step for them.
    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let mut steps = self.steps();
        let mut done = 0;
        while let Some(next) = steps.first_entry() {
            match run.control.next_step(done) {
                // Knobs change nothing that has been.
                NextStep::Go(_) => {}
                NextStep::Redraw(_) => continue,
                NextStep::Stop(_) => return Ok(()),
            }
            done = *next.key();
            next.remove().into_iter().for_each(|report| run.sink.report(report));
        }
        for (name, value) in &self.data.scalars {
            run.scalar(name, value.clone());
        }
        for notice in &self.data.notices {
            run.sink.report(Report::Notice(notice.clone()));
        }
        Ok(())
    }
}

impl Replayed {
    /// What was reported at each step, changes before values and pictures last.
    fn steps(&self) -> BTreeMap<u64, Vec<Report>> {
        let data = &self.data;
        let mut steps: BTreeMap<u64, Vec<Report>> = BTreeMap::new();
        let mut add = |step: u64, report: Report| steps.entry(step).or_default().push(report);
        for change in &data.changes {
            add(change.step, Report::Change(change.clone()));
        }
        for (name, series) in &data.series {
            let gaps = series.gaps().iter().map(|&step| (step, f64::NAN));
            for (step, value) in series.points().iter().copied().chain(gaps) {
                let name = Arc::clone(name);
                add(step, Report::Point { name, step, value });
            }
        }
        for (panel, (step, frame)) in &data.frames {
            let (panel, step, frame) = (Arc::clone(panel), *step, frame.clone());
            add(step, Report::Frame { panel, step, frame: Box::new(frame) });
        }
        if let Some((step, reason)) = &data.diverged {
            let (step, reason) = (*step, reason.clone());
            add(step, Report::Diverged { step, reason });
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc;

    use super::*;
    use mlsys_lab::control::{Command, Control, Limits};
    use mlsys_lab::device::DeviceId;
    use mlsys_lab::frame::Frame;
    use mlsys_lab::params::{Params, Settings};
    use mlsys_lab::report::Change;
    use mlsys_lab::tables::Tables;
    use mlsys_lab::value::Value;

    static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
        Schema::parse("kind='t'\ntitle='t'\nmodule='t'\nabout='t'\nsource='t'\nbudget=1.0").unwrap()
    });

    fn recorded() -> RunData {
        let mut data = RunData::default();
        for step in 1..=20 {
            let value = if step == 7 { f64::NAN } else { 1.0 / step as f64 };
            data.apply(Report::Point { name: "loss".into(), step, value });
            if step % 5 == 0 {
                data.apply(Report::Point { name: "accuracy".into(), step, value: 0.5 });
            }
        }
        let (name, value) = ("rate".to_owned(), Value::Float(0.5));
        data.apply(Report::Change(Change { step: 3, name, value }));
        data.apply(Report::Scalar { name: "parameters".into(), value: Value::Int(7) });
        data.apply(Report::Notice("slow".into()));
        data.apply(Report::Frame {
            panel: "p".into(),
            step: 20,
            frame: Box::new(Frame::Text("end".into())),
        });
        data.apply(Report::Diverged { step: 20, reason: "too large".into() });
        data
    }

    fn replay(commands: &[Command]) -> RunData {
        let lab = Replayed { schema: &SCHEMA, data: Arc::new(recorded()) };
        let (sender, inbound) = mpsc::channel();
        commands.iter().for_each(|command| sender.send(command.clone()).unwrap());
        let mut again = RunData::default();
        let stop = Arc::new(AtomicBool::new(false));
        let mut run = Run {
            params: Params::resolve(&SCHEMA, &Settings::new(), Tables::builtin(), None).unwrap(),
            device: DeviceId::CPU,
            sink: &mut again,
            control: Control::steered(inbound, Limits::default(), stop),
        };
        lab.run(&mut run).unwrap();
        again
    }

    #[test]
    fn a_replay_reports_what_was_recorded() {
        assert_eq!(replay(&[]), recorded());
    }

    #[test]
    fn a_replay_steps_stops_and_ignores_knobs() {
        let set = Command::Set { name: "rate".into(), value: Value::Float(9.0) };
        let again =
            replay(&[set, Command::Step(3), Command::Pause, Command::Redraw, Command::Stop]);
        assert!(again.step <= 3, "{}", again.step);
        assert!(again.diverged.is_none() && again.scalars.is_empty());
        assert_eq!(again.changes, []);
    }
}
