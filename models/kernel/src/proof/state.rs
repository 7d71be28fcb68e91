//! The state of a symbolic thread at a place of the kernel, and how states are joined where paths meet.

use crate::diagnostic::Place;
use crate::proof::polynomial::{Formula, Polynomial};
use crate::proof::symbols::{Scope, Symbols};
use crate::typed_ast::Index;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touch {
    Read,
    Write,
    Atomic,
}

/// One access in the text, as every thread that comes there makes it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Site {
    pub(super) place: Place,
    pub(super) touch: Touch,
    pub(super) array: Array,
    pub(super) index: Polynomial,
    pub(super) path: Vec<Formula>,
    pub(super) epoch: Polynomial,
}

/// Why a kernel is neither proved nor refuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub place: Place,
    /// The end of a sentence that begins with "not decided".
    pub sentence: String,
}

pub(super) type Checked<T> = Result<T, Reason>;

pub(super) fn undecided<T>(place: Place, sentence: impl Into<String>) -> Checked<T> {
    Err(Reason { place, sentence: sentence.into() })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Array {
    /// By the kernel's parameter.
    Global(Index),
    Shared(Index),
    /// By the function and its variable: every thread has its own.
    Local(Index, Index),
    /// A row of this length, in numbers: the bound of an index into it.
    Row(i64),
}

/// A value as far as indices and conditions may depend on it.
///
/// A whole number of 32 bits stands for all that differ from it by a multiple of 2^32: sums and products need not know
/// whether a number is signed. Where that matters, an unsigned number is first brought to 0 or above (`canonical`).
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Whole(Polynomial),
    Truth(Formula),
    Address(Array, Polynomial),
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) variables: Vec<Value>,
    /// Conditions under which a thread comes here.
    pub(super) path: Vec<Formula>,
    /// Barriers passed.
    pub(super) epoch: Polynomial,
}

impl State {
    pub(super) fn under(&self, condition: Formula) -> Self {
        let mut state = self.clone();
        state.path.push(condition);
        state
    }
}

/// Where the ways through some statements lead.
#[derive(Default)]
pub(super) struct Flow {
    pub(super) next: Option<State>,
    pub(super) breaks: Vec<State>,
    pub(super) continues: Vec<State>,
    pub(super) returns: Vec<(State, Value)>,
}

impl Symbols {
    /// The states of ways that together are all ways from a place where the path had `base` conditions.
    pub(super) fn merge(&mut self, base: usize, mut states: Vec<State>) -> Option<State> {
        let first = states.pop()?;
        if states.is_empty() {
            return Some(first);
        }
        states.push(first);
        let ways: Vec<Formula> =
            states.iter().map(|state| Formula::And(state.path[base..].to_vec())).collect();
        let mut path = states[0].path[..base].to_vec();
        let whole = states.iter().all(|state| state.path.len() == base + 1);
        let halves = states.len() == 2 && states[0].path[base..] != states[1].path[base..];
        if !(whole && halves && states[1].path[base] == states[0].path[base].negated()) {
            path.push(Formula::Or(ways.clone()));
        }
        let epochs = states.iter().map(|state| Value::Whole(state.epoch.clone())).collect();
        let epoch = match self.either(&ways, epochs) {
            Value::Whole(epoch) => epoch,
            Value::Truth(_) | Value::Address(..) | Value::Other => Polynomial::default(),
        };
        let count = states[0].variables.len();
        let variables = (0..count).map(|index| {
            self.either(&ways, states.iter().map(|state| state.variables[index].clone()).collect())
        });
        Some(State { variables: variables.collect(), path, epoch })
    }

    /// The value that is each of `values` on its way.
    pub(super) fn either(&mut self, ways: &[Formula], values: Vec<Value>) -> Value {
        if values.iter().all(|value| *value == values[0]) {
            return values[0].clone();
        }
        let numbers: Option<Vec<(Option<Array>, &Polynomial)>> = values
            .iter()
            .map(|value| match value {
                Value::Whole(number) => Some((None, number)),
                Value::Address(array, offset) => Some((Some(*array), offset)),
                Value::Truth(_) | Value::Other => None,
            })
            .collect();
        if let Some(numbers) = numbers
            && numbers.iter().all(|(array, _)| *array == numbers[0].0)
        {
            let scopes = ways.iter().map(|way| self.scope_of_formula(way));
            let of = numbers.iter().map(|(_, number)| self.scope_of(number));
            let scope = scopes.chain(of).max().unwrap_or(Scope::Thread);
            let chosen = Polynomial::symbol(self.whole(scope));
            let cases = ways
                .iter()
                .zip(&numbers)
                .map(|(way, (_, number))| Formula::equal(&chosen, number).and(way.clone()));
            let cases = Formula::Or(cases.collect());
            if let Some(symbol) = chosen.symbols().next() {
                self.know(symbol, cases);
            }
            return numbers[0].0.map_or(Value::Whole(chosen.clone()), |array| {
                Value::Address(array, chosen.clone())
            });
        }
        let truths: Option<Vec<Formula>> = values
            .into_iter()
            .zip(ways)
            .map(|(value, way)| match value {
                Value::Truth(holds) => Some(holds.and(way.clone())),
                Value::Whole(_) | Value::Address(..) | Value::Other => None,
            })
            .collect();
        truths.map_or(Value::Other, |any| Value::Truth(Formula::Or(any)))
    }
}
