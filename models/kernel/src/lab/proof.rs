//! The claim for every launch: what it is about, and its sentence.

use crate::lab::{Job, panels};
use crate::machine::index;
use crate::proof::{BlockRule, Contract, Given, GridRule, MOST_OF_ONE, Party, Verdict, Witness};
use crate::{Fault, Finding, Launch, Place, recipe};
use mlsys_lab::frame::kernel::{Argument, Claim, ClaimKind, FaultSite, Whole};
use mlsys_lab::{Params, Run};

impl Job {
    /// What is shown or refuted of all launches like this one.
    pub(super) fn claim(&self, params: &Params) -> Claim {
        let contract = match self.example {
            Some(example) => example.contract(),
            None => self.contract(params.get("grid_dim").is_some()),
        };
        let verdict = self.kernel.prove(&contract);
        let mut claim = told(&verdict, &contract);
        if let Verdict::Refuted(witness) = &verdict {
            claim.refuted_by = self.refuted_by(witness).map(Box::new);
        }
        let own = BlockRule::Exactly(self.launch.block_dim);
        // A tile may be made for one block: of that alone more may be true than of all.
        if verdict != Verdict::Proved && contract.block != own {
            let only = Contract { block: own, ..contract };
            if self.kernel.prove(&only) == Verdict::Proved {
                let block = extents(self.launch.block_dim);
                claim.sentence += &format!("; for blocks of {block} alone it is proved");
            }
        }
        claim
    }

    /// The launch that refutes a claim, run once more for what it costs.
    fn refuted_by(&self, witness: &Witness) -> Option<FaultSite> {
        let arguments = recipe::arguments(&self.kernel, &witness.arguments);
        let start = self.kernel.launch(witness.launch.clone(), &arguments).ok()?;
        let mut machine = start.clone();
        machine.run(MOST_OF_ONE);
        Some(FaultSite {
            recipe: recipe::recipe(
                &self.source,
                &self.kernel,
                &witness.launch,
                witness.arguments.clone(),
            ),
            whole: Whole {
                order: panels::order(start.clone()),
                issues: panels::issues(start),
                ..panels::whole(&machine)
            },
            at: panels::problem(&witness.finding),
            element: None,
        })
    }

    /// A custom kernel's launches: what is as long as `elements` stays so for every n, everything else is as given.
    fn contract(&self, grid_given: bool) -> Contract {
        let size = self.sizes.elements;
        let like = |count: i64| {
            if count == size as i64 { "n".to_owned() } else { count.to_string() }
        };
        // Behind the arguments are the variables that the kernel's file declares: of one length for every n.
        let own = self.recipe.arguments.len().saturating_sub(self.kernel.globals().count());
        let given = self.recipe.arguments.iter().zip(0..).map(|(argument, at)| match argument {
            Argument::Buffer { elements, fill } if at >= own => {
                Given::Buffer { length: elements.to_string(), fill: fill.clone() }
            }
            Argument::Buffer { elements, fill } => {
                Given::Buffer { length: like(*elements as i64), fill: fill.clone() }
            }
            Argument::Whole(value) => Given::Whole(like(*value)),
            Argument::Real(value) => Given::Real(*value),
        });
        let (block, grid) = (self.launch.block_dim, self.launch.grid_dim);
        let threads = self.launch.threads_per_block();
        let line = block[1..] == [1, 1];
        let rule = |extent: u32| if extent == 1 { GridRule::One } else { GridRule::Any };
        let covers = u64::from(grid[0]) * threads >= size as u64;
        let along = if line && (!grid_given || covers && grid[0] > 1) {
            GridRule::Covers("n".to_owned())
        } else {
            rule(grid[0])
        };
        let dynamic = u64::from(self.launch.dynamic_shared);
        Contract {
            sizes: vec!["n".to_owned()],
            given: given.collect(),
            grid: [along, rule(grid[1]), rule(grid[2])],
            block: if line { BlockRule::Dimensions(1) } else { BlockRule::Exactly(block) },
            dynamic_shared: if line && dynamic > 0 && dynamic.is_multiple_of(4 * threads) {
                format!("{}*blockDim.x", dynamic / threads)
            } else {
                dynamic.to_string()
            },
        }
    }
}

pub(super) fn report(run: &mut Run<'_>, claim: &Claim) {
    run.scalar("proof", claim.kind.name());
    run.scalar("proof_sentence", claim.sentence.as_str());
}

fn told(verdict: &Verdict, contract: &Contract) -> Claim {
    let (kind, sentence) = match verdict {
        Verdict::Proved => (ClaimKind::Proved, format!("proved for {}", launches(contract))),
        Verdict::Refuted(witness) => (ClaimKind::Refuted, refuted(witness)),
        Verdict::Undecided(reason) => {
            let (line, column) = (reason.place.line, reason.place.column);
            let sentence =
                format!("not decided: line {line}, column {column}: {}", reason.sentence);
            (ClaimKind::Undecided, sentence)
        }
    };
    Claim { kind, sentence, refuted_by: None }
}

/// The launches of a contract, in words.
fn launches(contract: &Contract) -> String {
    let sizes = match contract.sizes.as_slice() {
        [] => "every grid".to_owned(),
        [last] => format!("every {last} from 1 on"),
        [first @ .., last] => format!("every {} and {last} from 1 on", first.join(", ")),
    };
    let block = match contract.block {
        BlockRule::Exactly(block) => format!("blocks of {}", extents(block)),
        BlockRule::Dimensions(_) => "block size up to 1,024".to_owned(),
    };
    let fixed = |given: &Given| match given {
        Given::Buffer { length, .. } => length.parse::<i64>().is_ok(),
        Given::Whole(value) => value.parse::<i64>().is_ok(),
        Given::Real(_) => false,
    };
    let rest = if contract.given.iter().any(fixed) { ", other arguments as given" } else { "" };
    format!("{sizes} and {block}{rest}: no race, no access out of bounds, no split barrier")
}

fn refuted(witness: &Witness) -> String {
    let Witness { sizes, launch, finding, second, .. } = witness;
    let sizes: String = sizes.iter().map(|(name, value)| format!("{name} = {value}, ")).collect();
    let named =
        format!("{sizes}block {}, grid {}", extents(launch.block_dim), extents(launch.grid_dim));
    let Finding { fault, sentence, block, thread, place, .. } = finding;
    let first = party(launch, *block, *thread, *place);
    match (fault, second) {
        (Fault::Race, Some(Party { block, thread, place, kind })) => {
            let touch = sentence.split(", and thread").next().unwrap_or_default();
            let second = party(launch, *block, *thread, *place);
            format!("refuted: {named}: {fault}: {first} {touch}, {second} {} it", kind.verb())
        }
        _ => format!("refuted: {named}: {fault}: {first}: {sentence}"),
    }
}

fn party(launch: &Launch, block: [u32; 3], thread: [u32; 3], place: Place) -> String {
    let place = format!("line {}, column {}", place.line, place.column);
    let thread = position(thread);
    if launch.grid_dim == [1; 3] {
        return format!("thread {thread} ({place})");
    }
    format!("thread {thread} of block {} ({place})", position(block))
}

fn extents(extents: [u32; 3]) -> String {
    match extents {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x} x {y}"),
        [x, y, z] => format!("{x} x {y} x {z}"),
    }
}

fn position(place: [u32; 3]) -> String {
    match place {
        [x, 0, 0] => x.to_string(),
        [x, y, 0] => format!("({x},{y})"),
        place => index(place),
    }
}
