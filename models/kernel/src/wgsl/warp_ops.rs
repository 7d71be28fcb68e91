//! What threads do together: calls of helpers, atomics, shuffles and votes.

use crate::diagnostic::Place;
use crate::typed_ast::{Atomic, Expr, Kind, Shuffle, Vote};
use crate::types::{Scalar, Type};
use crate::wgsl::function::{Writer, knows_place};
use crate::wgsl::names::Fragment;
use crate::wgsl::pointer::MemoryRef;
use crate::wgsl::{Root, Subgroups, Translated, refuse, type_name};

impl Writer<'_, '_> {
    /// A call of a helper; addresses among its arguments become indices, and their arrays part of which helper it is.
    pub(super) fn call(
        &mut self,
        function: usize,
        arguments: &[Expr],
        place: Place,
    ) -> Translated<String> {
        let mut roots = Vec::new();
        let mut given = Vec::new();
        for (at, argument) in arguments.iter().enumerate() {
            let (root, text) = if let Type::Pointer { .. } = argument.ty {
                let (root, text) = self.pointer(argument)?;
                if let Root::Local(_) = root {
                    let message = "the address of a thread's own variable is handed to a function";
                    let help = "return the value, or hand the array over in __shared__ memory";
                    return refuse(argument.place, message, help);
                }
                (Some(root), text.unwrap_or_else(|| Fragment::atom("0i")))
            } else {
                (None, self.value(argument)?)
            };
            let later = arguments[at + 1..].iter().any(Expr::has_effect);
            let text = if later { self.bind(&text) } else { text };
            roots.push(root);
            given.push(text.text);
        }
        let name = self.module.helper(function, roots, place)?;
        if knows_place(self.module.program, function) {
            given.extend(["threadIdx", "blockIdx", "gridDim"].map(str::to_owned));
        }
        Ok(format!("{name}({})", given.join(", ")))
    }

    pub(super) fn atomic(
        &mut self,
        atomic: Atomic,
        address: &Expr,
        operands: &[Expr],
        place: Place,
    ) -> Translated<Fragment> {
        let (root, _) = self.aside(|writer| writer.pointer(address))?.1;
        if let Root::Local(_) = root {
            return refuse(
                place,
                "an atomic on a thread's own variable: WGSL's work on shared and global memory",
                "write it as an ordinary operation",
            );
        }
        self.module.atomic.insert(root);
        let spot = self.place(address)?;
        type_name(spot.of, place)?;
        let spot = if operands.iter().any(Expr::has_effect) { spot.fixed(self) } else { spot };
        let operands = self.operands(&operands.iter().collect::<Vec<_>>())?;
        let (first, second) = (operands.first(), operands.get(1));
        let first = first.map_or_else(String::new, |text| text.text.clone());
        match (atomic, spot.of) {
            (Atomic::CompareAndSwap, _) => {
                let value = second.map_or_else(String::new, |text| text.text.clone());
                Ok(self.compare_and_swap(&spot, &first, &value))
            }
            (Atomic::Exchange, Scalar::Float) => {
                let name = self.module.names.fresh("t");
                let at = &spot.name;
                self.line(&format!(
                    "let {name} = bitcast<f32>(atomicExchange(&{at}, bitcast<u32>({first})));"
                ));
                Ok(Fragment::atom(name))
            }
            (Atomic::Add, Scalar::Float) => Ok(self.add_float(&spot, &first)),
            (_, Scalar::Float) => refuse(
                place,
                "an atomic on floats that WGSL has not",
                "use atomicAdd or atomicExch, or whole numbers",
            ),
            (Atomic::Increment | Atomic::Decrement, _) => refuse(
                place,
                "atomicInc and atomicDec: WGSL has none",
                "use atomicAdd and %, or atomicCAS in a loop",
            ),
            (_, _) => {
                let function = match atomic {
                    Atomic::Add => "atomicAdd",
                    Atomic::Subtract => "atomicSub",
                    Atomic::Min => "atomicMin",
                    Atomic::Max => "atomicMax",
                    Atomic::Exchange
                    | Atomic::CompareAndSwap
                    | Atomic::Increment
                    | Atomic::Decrement => "atomicExchange",
                    Atomic::And => "atomicAnd",
                    Atomic::Or => "atomicOr",
                    Atomic::Xor => "atomicXor",
                };
                let name = self.module.names.fresh("t");
                self.line(&format!("let {name} = {function}(&{}, {first});", spot.name));
                Ok(Fragment::atom(name))
            }
        }
    }

    /// WGSL's compare-and-exchange may fail for no reason: until it has a reason it is tried again.
    fn compare_and_swap(&mut self, spot: &MemoryRef, compare: &str, value: &str) -> Fragment {
        let (old, tried) = (self.module.names.fresh("t"), self.module.names.fresh("t"));
        let at = &spot.name;
        self.line(&format!(
            "var {old} = atomicLoad(&{at});
loop {{
  if ({old} != {compare}) {{ break; }}
  let {tried} = atomicCompareExchangeWeak(&{at}, {compare}, {value});
  {old} = {tried}.old_value;
  if ({tried}.exchanged) {{ break; }}
}}"
        ));
        Fragment::atom(old)
    }

    /// Atomic add of floats: a compare-exchange loop on their bits.
    fn add_float(&mut self, spot: &MemoryRef, value: &str) -> Fragment {
        let (old, tried) = (self.module.names.fresh("t"), self.module.names.fresh("t"));
        let at = &spot.name;
        self.line(&format!(
            "var {old} = atomicLoad(&{at});
loop {{
  let {tried} = atomicCompareExchangeWeak(&{at}, {old}, bitcast<u32>(bitcast<f32>({old}) + ({value})));
  if ({tried}.exchanged) {{ break; }}
  {old} = {tried}.old_value;
}}"
        ));
        Fragment::atom(format!("bitcast<f32>({old})"))
    }

    fn warps(&mut self, place: Place) -> Translated<()> {
        match self.module.target.subgroups {
            Subgroups::Of32 => {
                self.module.uses_subgroups = true;
                Ok(())
            }
            Subgroups::Other => refuse(
                place,
                "this works on a warp of 32 threads, and the device has no groups of that size",
                "pass values through __shared__ memory and __syncthreads()",
            ),
        }
    }

    pub(super) fn warp_barrier(&mut self, place: Place) -> Translated<()> {
        self.warps(place)?;
        self.line("subgroupBarrier();");
        Ok(())
    }

    /// All 32 lanes take part, or it is no operation of WGSL.
    fn whole_warp(&mut self, mask: &Expr) -> Translated<()> {
        self.warps(mask.place)?;
        if let Kind::Whole(value) = mask.kind
            && value as u32 == u32::MAX
        {
            return Ok(());
        }
        refuse(
            mask.place,
            "a mask that is not all 32 lanes, and WGSL's groups work as a whole",
            "write 0xffffffff",
        )
    }

    pub(super) fn shuffle(
        &mut self,
        shuffle: Shuffle,
        list: &[Expr],
        place: Place,
    ) -> Translated<Fragment> {
        let [mask, value, by, width @ ..] = list else {
            return refuse(place, "a shuffle without its arguments", "");
        };
        self.whole_warp(mask)?;
        if let Some(width) = width.first()
            && !matches!(width.kind, Kind::Whole(32))
        {
            let message = "a shuffle in parts of a warp, and WGSL's groups work as a whole";
            return refuse(width.place, message, "leave the width out");
        }
        let operands = self.operands(&[value, by])?;
        let [value, by] = operands.as_slice() else {
            return refuse(place, "a shuffle without its arguments", "");
        };
        // Kept, since it stands there twice and all lanes must take part once.
        let (value, by) = (self.bind(value).text, self.bind(by).text);
        let text = match shuffle {
            Shuffle::Index => format!("subgroupShuffle({value}, u32({by}) % 32u)"),
            Shuffle::Xor => format!("subgroupShuffle({value}, (lane ^ u32({by})) % 32u)"),
            // Lanes with a partner outside the warp keep their own value.
            Shuffle::Up => {
                format!(
                    "select(subgroupShuffle({value}, (lane - u32({by})) % 32u), {value}, lane < u32({by}))"
                )
            }
            Shuffle::Down => {
                format!(
                    "select(subgroupShuffle({value}, (lane + u32({by})) % 32u), {value}, lane + u32({by}) > 31u)"
                )
            }
        };
        Ok(self.bind(&Fragment::sum(text)))
    }

    pub(super) fn vote(&mut self, vote: Vote, list: &[Expr], place: Place) -> Translated<Fragment> {
        if vote == Vote::Active {
            let message = "WGSL has no __activemask, and no groups of the lanes that are here";
            return refuse(place, message, "name the lanes yourself: 0xffffffff for a whole warp");
        }
        let [mask, value] = list else { return refuse(place, "a vote without its arguments", "") };
        self.whole_warp(mask)?;
        let value = self.value(value)?.text;
        let text = match vote {
            Vote::Active | Vote::Ballot => format!("subgroupBallot({value}).x"),
            Vote::Any => format!("i32(subgroupAny({value}))"),
            Vote::All => format!("i32(subgroupAll({value}))"),
            // WGSL's functions have the names of the operations: subgroupAdd, subgroupMin and so on.
            Vote::Reduce(operation, _) => format!("subgroup{operation:?}({value})"),
        };
        Ok(self.bind(&Fragment::sum(text)))
    }
}
