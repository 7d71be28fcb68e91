//! Ranked systems side by side.

use mlsys_lab::frame::{Dimension, Scatter, ScatterLine, ScatterPoint};
use mlsys_lab::schema::Scale;
use mlsys_lab::value::{number, significant};
use mlsys_lab::{Frame, Tables, Value};

use super::{Cores, System};
use mlsys_lab::picture::{bar, bars, table};
use mlsys_lab::steps::percent;

/// Every system that has a Linpack result, in the table's order, and this one: in place of the tabled one whose numbers
/// it has, else behind them.
fn among(own: &System) -> Vec<(System, bool)> {
    let tabled = Tables::builtin().names("system");
    let mut all: Vec<(System, bool)> = tabled
        .into_iter()
        .map(System::tabled)
        .filter(|system| system.linpack.is_some())
        .map(|system| {
            let is_own = system.name == own.name && same(&system, own);
            (system, is_own)
        })
        .collect();
    if !all.iter().any(|&(_, is_own)| is_own) {
        all.push((own.clone(), true));
    }
    all
}

/// Whether nothing that the list tells was changed.
fn same(a: &System, b: &System) -> bool {
    let of = |system: &System| {
        (
            system.cpus,
            system.cores_per_cpu,
            system.accelerators,
            system.units,
            system.linpack.map(|l| (l.rmax.to_bits(), l.rpeak.to_bits())),
        )
    };
    of(a) == of(b)
}

/// A count, or nothing.
fn count(value: Option<i64>) -> Value {
    value.map_or_else(|| "".into(), Value::from)
}

/// flop/s in the unit of such lists.
fn petaflops(rate: f64) -> String {
    number(significant(rate / 1e15, 6))
}

/// A system's name without its maker's.
fn short(title: &str) -> &str {
    title.split(" (").next().unwrap_or(title)
}

/// The table of the systems, recomputed: cores of CPUs, accelerators, cores as the list counts them, PFLOP/s.
pub(super) fn systems(own: &System) -> Frame {
    let row = |(system, is_own): (System, bool)| {
        let cores = system.cores().ok().flatten();
        let rate = |rate: Option<f64>| Value::from(rate.map_or_else(String::new, petaflops));
        [
            Value::from(short(&system.title)),
            count(cores.as_ref().map(|cores| cores.cpu)),
            count(cores.as_ref().map(|_| system.accelerators)),
            count(cores.as_ref().map(|cores| cores.total)),
            rate(system.linpack.map(|linpack| linpack.rmax)),
            rate(system.linpack.map(|linpack| linpack.rpeak)),
            Value::from(
                system.linpack.map_or_else(String::new, |linpack| percent(linpack.efficiency())),
            ),
            if is_own { "this" } else { "" }.into(),
        ]
    };
    table(
        ["system", "CPU", "accel.", "cores", "Rmax", "Rpeak", "of peak", ""],
        among(own).into_iter().map(row).collect(),
    )
}

/// Rmax over Rpeak, with lines along which the efficiency is the same.
pub(super) fn linpack(own: &System) -> Frame {
    let mut points = Vec::new();
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for (system, is_own) in among(own) {
        let Some(linpack) = system.linpack else {
            continue;
        };
        let place = |rate: f64| (rate > 0.0).then_some(rate / 1e15);
        if let Some(peak) = place(linpack.rpeak) {
            (least, most) = (least.min(peak), most.max(peak));
        }
        points.push(ScatterPoint {
            x: place(linpack.rpeak),
            y: place(linpack.rmax),
            label: format!("{} {}", short(&system.title), percent(linpack.efficiency())),
            series: usize::from(is_own),
        });
    }
    let line = |name: &str, share: f64| ScatterLine {
        name: name.to_owned(),
        points: [least / 1.5, most * 1.5].map(|peak| (peak, share * peak)).to_vec(),
    };
    let axis = |name: &str| Dimension {
        name: name.to_owned(),
        unit: "PF/s".to_owned(),
        scale: Scale::Log,
        ..Dimension::default()
    };
    Frame::Scatter(Scatter {
        x: axis("Rpeak"),
        y: axis("Rmax"),
        series: vec!["on the list".to_owned(), "this one".to_owned()],
        points,
        lines: vec![line("all of the peak", 1.0), line("three quarters", 0.75), line("half", 0.5)],
    })
}

/// Where the cores are.
pub(super) fn cores(cores: Option<&Cores>) -> Frame {
    let Some(cores) = cores else {
        return Frame::Text(
            "The list tells no processors of this system: set cpus and cores_per_cpu.".to_owned(),
        );
    };
    let units = cores.total - cores.cpu;
    let share = |count: i64| match cores.total {
        0 => String::new(),
        total => format!("{} of {total}", percent(count as f64 / total as f64)),
    };
    bars(
        "cores",
        vec![
            bar("in accelerators", units as f64, share(units)),
            bar("in CPUs", cores.cpu as f64, share(cores.cpu)),
        ],
    )
}
