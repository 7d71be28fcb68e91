//! What a proof assumes of every launch: the sizes, how long each buffer is, how large a grid is, which blocks there are.

use crate::proof::polynomial::{Formula, Polynomial};
use crate::proof::state::{Array, Value};
use crate::proof::symbols::{Scope, Symbols};
use crate::typed_ast::Program;
use crate::types::Type;
use mlsys_expr::{BinaryOp, Dialect, Expr, Node, UnaryOp};
use mlsys_lab::frame::kernel::Fill;
use std::collections::BTreeMap;

/// One parameter of the kernel; lengths and numbers are formulas over the sizes, `gridDim.x` and `blockDim.x`.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    Buffer { length: String, fill: Fill },
    Whole(String),
    Real(f64),
}

/// How many blocks there are along an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GridRule {
    One,
    /// Enough for as many threads, or more.
    Covers(String),
    Exactly(String),
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockRule {
    Exactly([u32; 3]),
    /// Every block of one dimension, or of two or three, with at most 1,024 threads.
    Dimensions(usize),
}

/// The launches that a claim is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    /// Names of whole numbers of at least 1, each independent of the others.
    pub sizes: Vec<String>,
    /// In the order of the kernel's parameters.
    pub given: Vec<Given>,
    pub grid: [GridRule; 3],
    pub block: BlockRule,
    /// Bytes of the `extern __shared__` array.
    pub dynamic_shared: String,
}

pub(super) const MOST_THREADS: i64 = 1024;
const MOST_DEEP: i64 = 64;

const AXES: [&str; 3] = ["x", "y", "z"];

pub(super) struct Model {
    pub(super) thread: [Polynomial; 3],
    pub(super) block: [Polynomial; 3],
    pub(super) block_dim: [Polynomial; 3],
    pub(super) grid_dim: [Polynomial; 3],
    pub(super) parameters: Vec<Value>,
    /// Elements of each buffer, or nothing for a number.
    lengths: Vec<Option<Polynomial>>,
    dynamic_shared: Polynomial,
}

impl Model {
    /// The model of a contract, for all its blocks or one of them; none if a formula in it is none.
    pub(super) fn new(
        program: &Program,
        contract: &Contract,
        block: Option<[u32; 3]>,
    ) -> Option<(Self, Symbols)> {
        let mut symbols = Symbols::default();
        let one = || Polynomial::constant(1);
        let mut names = BTreeMap::new();
        let at_least_one = |symbols: &mut Symbols| {
            let value = Polynomial::symbol(symbols.natural(Scope::Launch));
            symbols.know_of_launch(Formula::at_most(&one(), &value));
            value
        };
        for name in &contract.sizes {
            let value = at_least_one(&mut symbols);
            names.insert(name.clone(), value);
        }
        let fixed = match (contract.block, block) {
            (_, Some(block)) | (BlockRule::Exactly(block), None) => Some(block),
            (BlockRule::Dimensions(_), None) => None,
        };
        let mut block_dim = [one(), one(), one()];
        let mut threads = one();
        for (axis, extent) in block_dim.iter_mut().enumerate() {
            *extent = match (fixed, contract.block) {
                (Some(block), _) => Polynomial::constant(i64::from(block[axis])),
                (None, BlockRule::Dimensions(count)) if axis < count => {
                    let extent = at_least_one(&mut symbols);
                    let most = if axis == 2 { MOST_DEEP } else { MOST_THREADS };
                    symbols.know_of_launch(Formula::at_most(&extent, &Polynomial::constant(most)));
                    extent
                }
                (None, _) => one(),
            };
            threads = threads.times(extent);
            names.insert(format!("blockDim.{}", AXES[axis]), extent.clone());
        }
        symbols.know_of_launch(Formula::at_most(&threads, &Polynomial::constant(MOST_THREADS)));
        let mut grid_dim = [one(), one(), one()];
        for axis in 0..3 {
            let extent = match &contract.grid[axis] {
                GridRule::One => one(),
                GridRule::Exactly(formula) => polynomial(formula, &names)?,
                GridRule::Any => at_least_one(&mut symbols),
                GridRule::Covers(formula) => {
                    let extent = at_least_one(&mut symbols);
                    let covered = polynomial(formula, &names)?;
                    let threads = extent.times(&block_dim[axis]);
                    symbols.know_of_launch(Formula::at_most(&covered, &threads));
                    extent
                }
            };
            names.insert(format!("gridDim.{}", AXES[axis]), extent.clone());
            grid_dim[axis] = extent;
        }
        let mut indices = |extents: &[Polynomial; 3], scope| {
            extents.each_ref().map(|extent| {
                if extent.known() == Some(1) {
                    return Polynomial::default();
                }
                let symbol = symbols.natural(scope);
                let index = Polynomial::symbol(symbol);
                symbols.know(symbol, Formula::less(&index, extent));
                index
            })
        };
        let thread = indices(&block_dim, Scope::Thread);
        let block = indices(&grid_dim, Scope::Block);
        let (mut parameters, mut lengths) = (Vec::new(), Vec::new());
        for (index, given) in contract.given.iter().enumerate() {
            let (value, length) = match given {
                Given::Buffer { length, .. } => {
                    let address = Value::Address(Array::Global(index), Polynomial::default());
                    (address, Some(polynomial(length, &names)?))
                }
                Given::Whole(formula) => (Value::Whole(polynomial(formula, &names)?), None),
                Given::Real(_) => (Value::Other, None),
            };
            parameters.push(value);
            lengths.push(length);
        }
        // The kernel's own variables in global memory follow its arguments, and have one length in every launch.
        lengths.truncate(program.own_params());
        parameters.truncate(program.own_params());
        let length = |elements: u64| Some(Polynomial::constant(elements as i64));
        lengths.extend(program.globals.iter().map(|global| length(global.elements)));
        let dynamic_shared = polynomial(&contract.dynamic_shared, &names)?;
        let model =
            Self { thread, block, block_dim, grid_dim, parameters, lengths, dynamic_shared };
        Some((model, symbols))
    }

    /// How many elements an array has; none if that is no whole polynomial.
    pub(super) fn length(&self, program: &Program, array: Array) -> Option<Polynomial> {
        let of = |ty: Type| match ty {
            Type::Array { extents, .. } => Polynomial::constant(extents.elements() as i64),
            Type::Void | Type::Scalar(_) | Type::Pointer { .. } => Polynomial::constant(1),
        };
        match array {
            Array::Global(parameter) => self.lengths.get(parameter)?.clone(),
            Array::Shared(index) => {
                let shared = &program.shared[index];
                if shared.bytes > 0 {
                    return Some(of(shared.ty));
                }
                let element = i64::from(shared.ty.element()?.bytes());
                let whole = self.dynamic_shared.terms().all(|(_, by)| by % element == 0);
                let terms = self.dynamic_shared.terms().map(|(product, by)| {
                    let start = Polynomial::constant(by / element);
                    product.iter().fold(start, |all, s| all.times(&Polynomial::symbol(*s)))
                });
                whole.then(|| terms.fold(Polynomial::default(), |all, term| all.plus(&term)))
            }
            Array::Local(function, index) => {
                Some(of(program.functions[function].variables[index].ty))
            }
            Array::Row(numbers) => Some(Polynomial::constant(numbers)),
        }
    }

    pub(super) fn array_name(program: &Program, array: Array) -> String {
        let name = match array {
            Array::Global(parameter) => &program.params[parameter].name,
            Array::Shared(index) => &program.shared[index].name,
            Array::Local(function, index) => &program.functions[function].variables[index].name,
            Array::Row(_) => return "its row".to_owned(),
        };
        format!("'{name}'")
    }
}

/// A formula of sums and products over names.
pub(super) fn polynomial(
    formula: &str,
    names: &BTreeMap<String, Polynomial>,
) -> Option<Polynomial> {
    fn read(expr: &Expr, names: &BTreeMap<String, Polynomial>) -> Option<Polynomial> {
        if let Node::Number(number) = &expr.node {
            let whole = number.fract() == 0.0 && *number < 1e9;
            return whole.then(|| Polynomial::constant(*number as i64));
        }
        if let Node::Name(name) = &expr.node {
            return names.get(name.as_str()).cloned();
        }
        if let Node::Unary(UnaryOp::Negate, of) = &expr.node {
            return read(of, names).map(|of| of.times_number(-1));
        }
        let Node::Binary(operation, left, right) = &expr.node else { return None };
        let (left, right) = (read(left, names)?, read(right, names)?);
        if *operation == BinaryOp::Add {
            return Some(left.plus(&right));
        }
        if *operation == BinaryOp::Subtract {
            return Some(left.minus(&right));
        }
        (*operation == BinaryOp::Multiply).then(|| left.times(&right))
    }
    let expr = mlsys_expr::parse(formula, Dialect::Lesson).ok()?;
    read(&expr, names).filter(Polynomial::is_moderate)
}
