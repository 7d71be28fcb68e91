//! Checks: conditions on what the labs found, and what becomes of those that depend on the machine.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use mlsys_expr::Expr;
use mlsys_lab::schema::Class;
use mlsys_lesson::{Check, CheckOutcome, DeviceFacts};

use super::plan::Plan;
use super::work::{Ran, Work, env};
use crate::commands::World;
use mlsys_run::results::{Item, Kind, Verdict};

/// What becomes of a hardware check that fails each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HardwareRule {
    /// It is reported as unstable.
    Report,
    /// It fails.
    Fail,
}

/// How often a hardware check that fails is tried again.
const RETRIES: u32 = 2;

/// What checks of a lesson are tried on.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The lesson's id.
    pub lesson: &'a str,
    /// Its labs.
    pub plan: &'a [Plan<'a>],
    /// What became of them.
    pub ran: &'a BTreeMap<&'a str, Ran>,
    /// The device they ran on.
    pub facts: &'a Option<DeviceFacts>,
    /// What becomes of hardware checks that fail.
    pub rule: HardwareRule,
}

/// Tries a check; one of class hardware that fails gets fresh runs of its labs, twice.
pub fn item(check: &Check, setting: Setting<'_>, work: &mut Work, world: &mut World<'_>) -> Item {
    let started = Instant::now();
    let mut verdict = judged(check, setting.ran, setting);
    if check.class == Class::Hardware {
        let mut tries = 0;
        while matches!(verdict, Verdict::Failed(_))
            && tries < RETRIES
            && !world.interrupt.is_asked()
        {
            tries += 1;
            let fresh = fresh_runs(&check.assert.expr, setting, work, world);
            verdict = judged(check, &fresh, setting);
        }
        verdict = match (verdict, setting.rule) {
            (Verdict::Failed(reason), HardwareRule::Report) => Verdict::Unstable(format!(
                "failed {} times, the last time with {reason}",
                tries + 1
            )),
            (verdict, HardwareRule::Report | HardwareRule::Fail) => verdict,
        };
    }
    Item {
        id: check.id.clone(),
        about: check.assert.source.clone(),
        kind: Kind::Check { class: check.class },
        verdict,
        elapsed: started.elapsed(),
    }
}

/// The runs again, those that the condition speaks of and that take a device done anew.
fn fresh_runs<'a>(
    condition: &Expr,
    setting: Setting<'a>,
    work: &mut Work,
    world: &mut World<'_>,
) -> BTreeMap<&'a str, Ran> {
    let named = labs(condition);
    let again = |plan: &&Plan<'_>| named.contains(plan.id) && plan.schema().is_live();
    let mut runs = setting.ran.clone();
    for plan in setting.plan.iter().filter(again) {
        runs.insert(plan.id, work.again(setting.lesson, plan, world));
    }
    runs
}

fn judged(check: &Check, ran: &BTreeMap<&str, Ran>, setting: Setting<'_>) -> Verdict {
    // What was not run, for whatever reason, is told once, with the lab.
    if let Some(reason) = labs(&check.assert.expr).into_iter().find_map(|lab| not_run(lab, ran)) {
        return Verdict::Skipped(reason);
    }
    match check.evaluate(&env(setting.plan, ran, setting.facts)) {
        CheckOutcome::Passed => Verdict::Passed,
        CheckOutcome::Failed(reason) | CheckOutcome::Error(reason) => Verdict::Failed(reason),
        CheckOutcome::Skipped(reason) => Verdict::Skipped(reason),
    }
}

fn not_run(lab: &str, ran: &BTreeMap<&str, Ran>) -> Option<String> {
    match ran.get(lab)?.verdict() {
        Verdict::Skipped(reason) | Verdict::Broken(reason, _) => {
            Some(format!("lab {lab}: {reason}"))
        }
        Verdict::Passed | Verdict::Failed(_) | Verdict::Unstable(_) => None,
    }
}

/// The labs that an expression speaks of.
fn labs(expr: &Expr) -> BTreeSet<&str> {
    expr.names().into_iter().filter_map(|(name, _)| name.parts().next()).collect()
}
