//! Pictures of several runs, once all labs of a lesson have run.

use std::collections::BTreeMap;
use std::sync::Arc;

use mlsys_lab::schema::Draw;
use mlsys_lesson::Lesson;

use super::plan::Plan;
use super::work::Ran;
use mlsys_run::results::Comparison;
use mlsys_run::session::Outcome;
use mlsys_view::attempts::{FinishedRun, RunComparison, lines};

/// The pictures of several runs that any lab of the lesson declares, each once.
pub fn comparisons(
    lesson: &Lesson,
    plans: &[Plan<'_>],
    ran: &BTreeMap<&str, Ran>,
) -> Vec<Comparison> {
    let finished = plans.iter().filter_map(|plan| match ran.get(plan.id)? {
        Ran::Finished(finished, _) if matches!(finished.outcome, Outcome::Finished) => {
            let params = plan.params.iter();
            let params = params.map(|(name, value)| (name.to_owned(), value.clone()));
            let of = (Some(lesson.front.id.to_string()), plan.id.to_owned());
            let data = &finished.data;
            Some(Arc::new(FinishedRun::new(plan.schema(), of, params.collect(), Vec::new(), data)))
        }
        Ran::Finished(..) | Ran::Not(_) => None,
    });
    let all: Vec<Arc<FinishedRun>> = finished.collect();
    let mut found: Vec<Comparison> = Vec::new();
    for plan in plans {
        let panels = plan.schema().panels.iter();
        for panel in panels.filter(|panel| panel.draw == Draw::Attempts) {
            if found.iter().any(|one| one.panel == panel.name) {
                continue;
            }
            let company = RunComparison { all: &all, own: None, goals: lesson.goals(&panel.name) };
            let lines = lines(plan.schema(), panel, &company);
            if !lines.is_empty() {
                found.push(Comparison { panel: panel.name.clone(), lines });
            }
        }
    }
    found
}
