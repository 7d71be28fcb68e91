//! `mlsys lab`: one lab run and printed, or labs explained.

mod about;
mod check;
mod print;

use mlsys_lab::control::Limits;
use mlsys_lab::device::{Backend, DeviceChoice, DeviceId, DeviceInfo};
use mlsys_lab::output;
use mlsys_lab::params::{Params, Settings};
use mlsys_lab::schema::Schema;
use mlsys_lab::tables::Tables;

use super::{World, open};
use crate::cli::{self, AboutLabs};
use mlsys_run::execute::{Order, execute};
use mlsys_run::exit::{Exit, Failure};
use mlsys_run::session::Outcome;
use mlsys_run::settings;
use mlsys_run::sources::Sources;
use mlsys_tui::{Opening, own_page};

/// Does what `mlsys lab` asks for.
pub fn run(options: &cli::Lab, world: &mut World<'_>) -> Result<Exit, Failure> {
    // A course may bring labs of its own.
    world.library()?;
    match (&options.about, &options.kind) {
        (Some(AboutLabs::List(listing)), _) => about::list(*listing, world.console),
        (Some(AboutLabs::Check { paths }), _) => check::run(paths, world),
        (Some(AboutLabs::Show { kind, listing }), _) => about::show(kind, *listing, world.console),
        (None, Some(kind)) => run_one(kind, options, world),
        (None, None) => Err(Failure::usage("name a lab; `mlsys lab list` shows them all")),
    }
}

fn run_one(kind: &str, options: &cli::Lab, world: &mut World<'_>) -> Result<Exit, Failure> {
    let lab = mlsys_registry::registry().find(kind)?;
    let schema = lab.schema();
    let mut given = settings::of_lab(&options.set)?;
    if let Some(name) = &options.preset {
        let preset = schema.preset(name).map_err(|error| Failure::usage(error.to_string()))?;
        given = preset.settings().overlaid(&given);
    }
    settings::set_data_dir(&mut given, options.data_dir.as_deref());
    settings::set_weights(
        &mut given,
        options.load_weights.as_deref(),
        options.save_weights.as_deref(),
    );
    let resolve = |given: &Settings| {
        Params::resolve(schema, given, Tables::builtin(), options.machine.seed)
            .map_err(|errors| settings::failure(kind, &errors))
    };
    let params = resolve(&given)?;
    // A lab that splits nothing refuses worker processes, with a screen as without one.
    settings::set_workers(&mut given, world.workers.as_deref());
    let with_workers = resolve(&given)?;
    if !options.json
        && open::on_a_terminal()
        && let Some(page) = own_page::lesson(schema, &params)
    {
        return open::workbench(
            options.machine,
            Some(Opening { lesson: page, source: None, turns: Vec::new() }),
            world,
        );
    }
    let params = with_workers;
    let device = device_for(schema, &params, options.machine.device, world)?;

    world.listen();
    let runs = world.runs();
    let order = Order {
        label: kind,
        lab,
        params: params.clone(),
        device: device.clone(),
        limits: Limits::default(),
        lesson: None,
        runs: runs.as_deref(),
        sources: Sources::recorded(world.runs(), world.left.clone()),
    };
    let finished = execute(order, &world.interrupt, world.console);
    if let Some(trouble) = finished.trouble() {
        let files = match &finished.outcome {
            Outcome::Failed(error) => settings::read_from(&options.set, error),
            Outcome::Finished | Outcome::Stopped(_) | Outcome::Panicked(_) => String::new(),
        };
        return Ok(world.failed(finished.exit(), &format!("lab {kind}: {trouble}{files}")));
    }
    if options.json {
        world.console.line(output::to_json(schema, &params, device.id, &finished.data))?;
    } else {
        print::finished(schema, &finished.data, world.console)?;
    }
    Ok(Exit::Passed)
}

/// The device of a run; one that answers at once needs none, but a device that was asked for must be there.
fn device_for(
    schema: &Schema,
    params: &Params,
    choice: DeviceChoice,
    world: &World<'_>,
) -> Result<DeviceInfo, Failure> {
    let at_once = choice == DeviceChoice::Auto && !schema.uses_device(params);
    let choice = if at_once { DeviceChoice::Exactly(DeviceId::CPU) } else { choice };
    Ok(world.devices.choose(choice, &Backend::ALL)?)
}
