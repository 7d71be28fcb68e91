//! Calls that reach beyond one thread: barriers, shuffles and votes.

use super::convert::converted;
use super::{Checked, Checker};
use crate::source::Place;
use crate::typed::{Expr, Kind, Shuffle, Vote};
use crate::types::{Scalar, Type};

impl Checker {
    /// `__syncthreads` and its kin.
    pub(super) fn barrier(
        &mut self,
        name: &str,
        values: &[Expr],
        place: Place,
    ) -> Checked<Option<Expr>> {
        let kind = match name {
            "__syncthreads" => {
                self.count(name, values, 0, place)?;
                Kind::Barrier
            }
            "__syncwarp" if values.is_empty() => Kind::WarpBarrier(None),
            "__syncwarp" => {
                self.count(name, values, 1, place)?;
                return Ok(None);
            }
            _ => return Ok(None),
        };
        Ok(Some(Expr { place, ty: Type::Void, kind }))
    }

    pub(super) fn mask(&mut self, value: Expr) -> Checked<Expr> {
        self.convert(value, Type::Scalar(Scalar::Unsigned))
    }

    pub(super) fn together(
        &mut self,
        name: &str,
        shuffle: Warp,
        values: Vec<Expr>,
        place: Place,
    ) -> Checked<Expr> {
        let wanted = match shuffle {
            Warp::Shuffle(_) if values.len() == 4 => 4,
            Warp::Shuffle(_) => 3,
            Warp::Vote(_) => 2,
            Warp::Barrier => 1,
        };
        self.count(name, &values, wanted, place)?;
        let mut values = values.into_iter();
        let Some(mask) = values.next() else {
            return Err(super::Told);
        };
        let mut all = vec![self.mask(mask)?];
        match shuffle {
            Warp::Barrier => {
                let mask = all.pop().map(Box::new);
                Ok(Expr { place, ty: Type::Void, kind: Kind::WarpBarrier(mask) })
            }
            Warp::Vote(vote) => {
                for value in values {
                    all.push(self.truth(value)?);
                }
                let ty =
                    Type::Scalar(if vote == Vote::Ballot { Scalar::Unsigned } else { Scalar::Int });
                Ok(Expr { place, ty, kind: Kind::Vote(vote, all) })
            }
            Warp::Shuffle(shuffle) => {
                let Some(value) = values.next() else {
                    return Err(super::Told);
                };
                let Some(scalar) = value.ty.scalar() else {
                    return self.tell(
                        place,
                        format!("{name} passes numbers on, this is a {}", value.ty),
                        "",
                    );
                };
                let promoted = scalar.promoted();
                all.push(converted(value, scalar, promoted));
                for value in values {
                    all.push(self.convert(value, Type::Scalar(Scalar::Int))?);
                }
                if let Some(width) = all.get(3).and_then(super::known)
                    && !(width > 0 && width <= 32 && width & (width - 1) == 0)
                {
                    return self.tell(
                        place,
                        format!("a width of {width} is no power of two up to 32"),
                        "",
                    );
                }
                Ok(Expr { place, ty: Type::Scalar(promoted), kind: Kind::Shuffle(shuffle, all) })
            }
        }
    }
}

/// What all lanes of a warp do together.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Warp {
    Shuffle(Shuffle),
    Vote(Vote),
    Barrier,
}

pub(super) fn warp_call(name: &str) -> Option<Warp> {
    Some(match name {
        "__shfl_sync" => Warp::Shuffle(Shuffle::Index),
        "__shfl_up_sync" => Warp::Shuffle(Shuffle::Up),
        "__shfl_down_sync" => Warp::Shuffle(Shuffle::Down),
        "__shfl_xor_sync" => Warp::Shuffle(Shuffle::Xor),
        "__ballot_sync" => Warp::Vote(Vote::Ballot),
        "__any_sync" => Warp::Vote(Vote::Any),
        "__all_sync" => Warp::Vote(Vote::All),
        "__syncwarp" => Warp::Barrier,
        _ => return None,
    })
}
