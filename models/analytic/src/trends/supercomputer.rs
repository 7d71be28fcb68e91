//! Kind `supercomputer`: cores, peaks and Linpack efficiency of ranked systems, recomputed from their parts.

mod picture;

use mlsys_lab::schema::{Schema, SchemaError};
use mlsys_lab::value::number;
use mlsys_lab::{Frame, Lab, LabError, Params, Run, Tables, Value};

use mlsys_lab::picture::offer;
use mlsys_lab::steps::{Steps, finite};
use mlsys_sim::integer::too_large;

/// The lab `supercomputer`.
pub struct Supercomputer {
    schema: Schema,
}

impl Supercomputer {
    /// The lab with its schema read.
    ///
    /// # Errors
    /// The schema does not read.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = Schema::parse(include_str!("../../labs/supercomputer.toml"))?;
        Ok(Self { schema })
    }
}

impl Lab for Supercomputer {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn run(&self, run: &mut Run<'_>) -> Result<(), LabError> {
        let system = System::of_params(&run.params)?;
        let cores = system.cores()?;
        if let Some(cores) = &cores {
            run.scalar("cpu_cores", cores.cpu);
            run.scalar("total_cores", cores.total);
        }
        if let Some(linpack) = system.linpack {
            finite(run, "linpack_efficiency", linpack.efficiency(), || {
                format!(
                    "an Rmax of {} over an Rpeak of {}",
                    number(linpack.rmax),
                    number(linpack.rpeak)
                )
            })?;
        }
        if let Some(nodes) = &system.nodes {
            let told = || {
                format!(
                    "{} nodes with {} accelerators of {} flop/s",
                    number(nodes.count),
                    number(nodes.accelerators),
                    number(nodes.peak)
                )
            };
            finite(run, "node_flops_per_second", nodes.one(), told)?;
            finite(run, "accelerator_flops_per_second", nodes.all(), told)?;
        }
        offer(run, "systems", || picture::systems(&system));
        offer(run, "linpack", || picture::linpack(&system));
        offer(run, "cores", || picture::cores(cores.as_ref()));
        offer(run, "steps", || system.steps(cores.as_ref()));
        Ok(())
    }
}

/// A system by its parts; what the list does not tell is absent.
#[derive(Clone, Default)]
struct System {
    name: String,
    title: String,
    cpus: Option<i64>,
    cores_per_cpu: Option<i64>,
    accelerators: i64,
    units: i64,
    linpack: Option<Linpack>,
    nodes: Option<Nodes>,
}

/// What a system reached on the Linpack benchmark and what it could reach at most, flop/s.
#[derive(Clone, Copy)]
struct Linpack {
    rmax: f64,
    rpeak: f64,
}

/// Nodes with accelerators: how many nodes, accelerators a node, flop/s of one accelerator.
#[derive(Clone, Copy)]
struct Nodes {
    count: f64,
    accelerators: f64,
    peak: f64,
}

/// Cores as the list counts them: those of the processors and the units of the accelerators.
struct Cores {
    cpu: i64,
    total: i64,
}

impl Linpack {
    /// linpack_efficiency = rmax/rpeak
    fn efficiency(self) -> f64 {
        self.rmax / self.rpeak
    }
}

impl Nodes {
    /// node = accelerators_per_node*flops_per_second_per_accelerator
    fn one(&self) -> f64 {
        self.accelerators * self.peak
    }

    /// all = nodes*node
    fn all(&self) -> f64 {
        self.count * self.one()
    }
}

impl System {
    fn of_params(params: &Params) -> Result<Self, LabError> {
        let name = params.text("system")?;
        let title = Tables::builtin()
            .field("system", name, "title")
            .and_then(|title| title.as_str().map(str::to_owned));
        Ok(Self {
            name: name.to_owned(),
            title: title.unwrap_or_else(|| name.to_owned()),
            ..Self::read(&|name| params.optional_int(name), &|name| params.optional_float(name))
        })
    }

    /// The tabled system of that name.
    fn tabled(name: &str) -> Self {
        let field = |path: &str| Tables::builtin().field("system", name, path);
        let title = field("title").and_then(|title| title.as_str().map(str::to_owned));
        Self {
            name: name.to_owned(),
            title: title.unwrap_or_else(|| name.to_owned()),
            ..Self::read(
                &|path| match field(path) {
                    Some(Value::Int(count)) => Some(count),
                    _ => None,
                },
                &|path| field(path).and_then(|value| value.as_f64()),
            )
        }
    }

    fn read(int: &dyn Fn(&str) -> Option<i64>, float: &dyn Fn(&str) -> Option<f64>) -> Self {
        let linpack = || {
            Some(Linpack {
                rmax: float("rmax_flops_per_second")?,
                rpeak: float("rpeak_flops_per_second")?,
            })
        };
        let nodes = || {
            Some(Nodes {
                count: float("nodes")?,
                accelerators: float("accelerators_per_node")?,
                peak: float("flops_per_second_per_accelerator")?,
            })
        };
        Self {
            cpus: int("cpus"),
            cores_per_cpu: int("cores_per_cpu"),
            accelerators: int("accelerators").unwrap_or(0),
            units: int("units_per_accelerator").unwrap_or(0),
            linpack: linpack(),
            nodes: nodes(),
            ..Self::default()
        }
    }

    /// cpu_cores = cpus*cores_per_cpu; total_cores = cpu_cores + accelerators*units_per_accelerator
    fn cores(&self) -> Result<Option<Cores>, LabError> {
        let (Some(cpus), Some(each)) = (self.cpus, self.cores_per_cpu) else {
            return Ok(None);
        };
        let cpu = cpus
            .checked_mul(each)
            .ok_or_else(|| too_large(["cpus", "cores_per_cpu"], "the number of CPU cores"))?;
        let units = self.accelerators.checked_mul(self.units);
        let total = units.and_then(|units| cpu.checked_add(units));
        let total = total.ok_or_else(|| {
            too_large(["accelerators", "units_per_accelerator"], "the number of cores")
        })?;
        Ok(Some(Cores { cpu, total }))
    }

    fn steps(&self, cores: Option<&Cores>) -> Frame {
        let mut steps = Steps::default();
        if let (Some(cores), Some(cpus), Some(each)) = (cores, self.cpus, self.cores_per_cpu) {
            let numbers = format!("{cpus}*{each}");
            steps.add("cpu_cores", "cpus*cores_per_cpu", numbers, cores.cpu);
            steps.add(
                "total_cores",
                "cpu_cores + accelerators*units_per_accelerator",
                format!("{} + {}*{}", cores.cpu, self.accelerators, self.units),
                cores.total,
            );
        }
        if let Some(linpack) = self.linpack {
            steps.add(
                "linpack_efficiency",
                "rmax/rpeak",
                format!("{}/{}", number(linpack.rmax), number(linpack.rpeak)),
                linpack.efficiency(),
            );
        }
        if let Some(nodes) = &self.nodes {
            steps.add(
                "node_flops_per_second",
                "accelerators_per_node*flops_per_second_per_accelerator",
                format!("{}*{}", number(nodes.accelerators), number(nodes.peak)),
                nodes.one(),
            );
            steps.add(
                "accelerator_flops_per_second",
                "nodes*node_flops_per_second",
                format!("{}*{}", number(nodes.count), number(nodes.one())),
                nodes.all(),
            );
        }
        steps.table()
    }
}

#[cfg(test)]
mod tests {
    use super::System;

    #[test]
    fn the_tables_give_the_core_counts_that_the_list_prints() {
        for (name, total) in [
            ("frontier", 8_699_904),
            ("aurora", 9_264_128),
            ("eagle", 2_073_600),
            ("fugaku", 7_630_848),
            ("lumi", 2_752_704),
        ] {
            let cores = System::tabled(name).cores().unwrap().unwrap();
            assert_eq!(cores.total, total, "{name}");
        }
        assert!(System::tabled("summit").cores().unwrap().is_none());
    }
}
