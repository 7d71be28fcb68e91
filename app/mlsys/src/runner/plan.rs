//! What a lesson's labs will be run with: parameters and device, settled before anything runs.

use std::collections::{BTreeMap, BTreeSet};

use mlsys_lab::device::{DeviceChoice, DeviceId, DeviceInfo, NoDevice};
use mlsys_lab::lab::Lab;
use mlsys_lab::nearest::nearest;
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::schema::Schema;
use mlsys_lab::tables::Tables;
use mlsys_lesson::{DeviceFacts, LabDirective, Lesson};

use super::Request;
use crate::commands::World;
use mlsys_run::exit::Failure;
use mlsys_run::paths::Paths;
use mlsys_run::settings;
use mlsys_run::sources::{Earlier, Sources};

/// One lab of a lesson, ready to be run.
pub struct Plan<'a> {
    /// Its name in the lesson.
    pub id: &'a str,
    /// The lab.
    pub lab: &'static dyn Lab,
    /// Its parameters.
    pub params: Params,
    /// Where it runs.
    pub place: Place,
    /// Where it gets what its parameters name.
    pub sources: Sources,
}

/// Where a lab runs.
#[derive(Clone, Debug)]
pub enum Place {
    /// It answers at once, anywhere.
    Anywhere,
    /// On this device.
    On(DeviceInfo),
    /// Nowhere: the device is missing.
    Nowhere(NoDevice),
    /// Nowhere, and the lesson foresees that: a recording stands in, which is not run.
    Recording(NoDevice),
}

impl Plan<'_> {
    /// The lab's schema.
    pub fn schema(&self) -> &'static Schema {
        self.lab.schema()
    }

    /// The lab as later ones of the lesson may start from it.
    fn for_later(&self) -> Earlier {
        Earlier { id: self.id.to_owned(), lab: self.lab, params: self.params.clone() }
    }
}

/// Plans all labs of a lesson.
pub fn of_lesson<'a>(
    lesson: &'a Lesson,
    request: &Request,
    world: &World<'_>,
) -> Result<Vec<Plan<'a>>, Failure> {
    let planned = lesson.labs().map(|directive| of_lab(lesson, directive, request, world));
    let mut plans: Vec<Plan<'a>> = planned.collect::<Result<_, Failure>>()?;
    let all: Vec<Earlier> = plans.iter().map(Plan::for_later).collect();
    for (index, plan) in plans.iter_mut().enumerate() {
        let (earlier, others) = all.split_at(index);
        plan.sources = Sources {
            earlier: earlier.to_vec(),
            others: others.iter().map(|lab| lab.id.clone()).collect(),
            ..Sources::recorded(world.paths.as_ref().ok().map(Paths::runs), world.left.clone())
        };
    }
    Ok(plans)
}

fn of_lab<'a>(
    lesson: &Lesson,
    directive: &'a LabDirective,
    request: &Request,
    world: &World<'_>,
) -> Result<Plan<'a>, Failure> {
    let lab = mlsys_registry::registry().find(&directive.kind.value)?;
    let schema = lab.schema();
    let mut asked = request.set.get(&directive.id).cloned().unwrap_or_default();
    if settings::takes_data_dir(schema) {
        settings::set_data_dir(&mut asked, request.data_dir.as_deref());
    }
    if settings::takes_workers(schema) {
        settings::set_workers(&mut asked, request.workers.as_deref());
    }
    let settings = seeded(directive.settings(), request.seed).overlaid(&asked);
    let seed = request.seed.unwrap_or(lesson.front.seed);
    let params =
        Params::resolve(schema, &settings, Tables::builtin(), Some(seed)).map_err(|errors| {
            settings::failure(&format!("{} of {}", directive.id, lesson.front.id), &errors)
        })?;
    let place = if schema.uses_device(&params) {
        place(directive, request.device, world)
    } else {
        Place::Anywhere
    };
    Ok(Plan { id: &directive.id, lab, params, place, sources: Sources::default() })
}

/// A lesson's settings under a `--seed`, which is stronger than a seed that the lesson sets.
fn seeded(settings: Settings, seed: Option<u64>) -> Settings {
    if seed.is_none() {
        return settings;
    }
    let mut kept = Settings::new();
    for (name, given) in settings.iter().filter(|(name, _)| *name != "seed") {
        kept.push(name, given.clone());
    }
    kept
}

fn place(directive: &LabDirective, choice: DeviceChoice, world: &World<'_>) -> Place {
    let acceptable = directive.backends();
    let choice = match (choice, acceptable.as_slice()) {
        // Nothing but the processor will do: no driver needs to be asked.
        (DeviceChoice::Auto, [mlsys_lab::Backend::Cpu]) => DeviceChoice::Exactly(DeviceId::CPU),
        (choice, _) => choice,
    };
    match world.devices.choose(choice, &acceptable) {
        Ok(device) => Place::On(device),
        Err(missing) if choice == DeviceChoice::Auto && directive.may_replay() => {
            Place::Recording(missing)
        }
        Err(missing) => Place::Nowhere(missing),
    }
}

/// Refuses settings for labs that none of the lessons has.
pub fn refuse_unknown_labs(
    lessons: &[Lesson],
    set: &BTreeMap<String, Settings>,
) -> Result<(), Failure> {
    let known: BTreeSet<&str> =
        lessons.iter().flat_map(Lesson::labs).map(|lab| lab.id.as_str()).collect();
    match set.keys().find(|lab| !known.contains(lab.as_str())) {
        None => Ok(()),
        Some(lab) => {
            let hint = match nearest(lab, known.iter().copied()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("there are: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
            };
            Err(Failure::Usage(format!(
                "--set {}: no lesson here has a lab of that name; {hint}",
                lab.escape_debug()
            )))
        }
    }
}

/// The device that the lesson's expressions speak of: the one its labs run on.
pub fn device_facts(plans: &[Plan<'_>], world: &World<'_>) -> Option<DeviceFacts> {
    plans.iter().find_map(|plan| match &plan.place {
        Place::On(device) => Some(DeviceFacts {
            name: device.name.clone(),
            backend: device.id.backend.name().to_owned(),
            memory_bytes: device.memory_bytes,
            peak_flops_per_second: world.measured_peak(&device.name),
        }),
        Place::Anywhere | Place::Nowhere(_) | Place::Recording(_) => None,
    })
}
