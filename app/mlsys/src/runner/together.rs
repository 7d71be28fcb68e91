//! Lessons run side by side, those that measure time alone; results stand in the order of the lessons.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use mlsys_lab::Backend;
use mlsys_lab::schema::Class;
use mlsys_lesson::{Lesson, Target};
use mlsys_run::console::Console;

use super::plan::{Place, Plan};

/// Runs each of `count` jobs, `jobs` of them at a time unless `is_alone` says that nothing else may run meanwhile. What a
/// job returns stands at its place; it is missing if the job returned nothing.
pub fn run<R: Send>(
    (count, jobs): (usize, NonZeroUsize),
    console: &mut Console,
    is_alone: impl Fn(usize) -> bool,
    job: impl Fn(usize, &mut Console) -> Option<R> + Sync,
) -> Vec<R> {
    let (alone, together): (Vec<usize>, Vec<usize>) =
        (0..count).partition(|&index| jobs.get() == 1 || is_alone(index));
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = |console: &mut Console| {
        while let Some(&index) = together.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = job(index, console).map(|result| (index, result));
            done.lock().unwrap_or_else(PoisonError::into_inner).extend(result);
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.get().min(together.len()) {
            scope.spawn(|| work(&mut Console::warnings()));
        }
        work(console);
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    for index in alone {
        done.extend(job(index, console).map(|result| (index, result)));
    }
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Whether a lesson judges what a clock or a counter of the machine gives, or runs on a GPU, which lessons would share.
pub fn needs_the_machine(lesson: &Lesson, plans: &[Plan<'_>]) -> bool {
    let on_gpu = |plan: &Plan<'_>| matches!(&plan.place, Place::On(device) if device.id.backend != Backend::Cpu);
    let targets = lesson.predictions().filter_map(|predict| match &predict.target {
        Target::Metric(formula) | Target::Answer(formula) => Some(&formula.expr),
        Target::Choice(_) => None,
    });
    let mut judged = lesson.checks().map(|check| &check.assert.expr).chain(targets);
    let is_measured = |name: &str| {
        let Some((lab, metric)) = name.split_once('.') else { return false };
        let plan = plans.iter().find(|plan| plan.id == lab);
        plan.and_then(|plan| plan.schema().metric(metric))
            .is_some_and(|metric| metric.class == Class::Hardware)
    };
    plans.iter().any(on_gpu)
        || lesson.checks().any(|check| check.class == Class::Hardware)
        || judged.any(|expr| expr.names().iter().any(|(name, _)| is_measured(&name.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_order_and_nothing_runs_with_what_is_alone() {
        let (running, alone) = (AtomicUsize::new(0), |index: usize| index.is_multiple_of(5));
        for jobs in [1, 2, 3, 40] {
            let jobs = NonZeroUsize::new(jobs).unwrap();
            let job = |index: usize, _: &mut Console| {
                let others = running.fetch_add(1, Ordering::SeqCst);
                assert!(!alone(index) || others == 0);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                (index != 7).then_some(index)
            };
            let done = run((30, jobs), &mut Console::silent(), alone, job);
            assert_eq!(done, (0..30).filter(|&index| index != 7).collect::<Vec<_>>());
        }
    }
}
