//! How large arrays are.

use crate::ast;
use crate::ast::{Declarator, Initial};
use crate::check::{Checked, Checker, known};
use crate::diagnostic::Place;
use crate::types::Extents;

/// Elements in one direction, and in a row of an array without a known end.
const MOST_ELEMENTS: u32 = u32::MAX / 16;

impl Checker<'_> {
    pub(super) fn dynamic(&mut self, name: &Declarator) -> Checked<Option<Extents>> {
        let [None, row @ ..] = name.extents.as_slice() else {
            let message = "an extern __shared__ array has no extent";
            return self.refuse(name.place, message, "write extern __shared__ float tile[];");
        };
        self.open(row.iter().flatten(), name.place).map(Some)
    }

    /// The extents of an array of rows of which the number is not known.
    pub(super) fn open<'e>(
        &mut self,
        row: impl Iterator<Item = &'e ast::Expr>,
        place: Place,
    ) -> Checked<Extents> {
        let row = row.map(|extent| self.extent(extent)).collect::<Checked<Vec<u32>>>()?;
        let list: Vec<u32> = std::iter::once(Extents::OPEN).chain(row).collect();
        if list.len() > Extents::MOST {
            return self.too_deep(place);
        }
        let extents = Extents::new(&list);
        if extents.inner().elements() > u64::from(MOST_ELEMENTS) {
            let message = format!("a row has at most {MOST_ELEMENTS} elements");
            return self.refuse(place, message, "compute the index");
        }
        Ok(extents)
    }

    fn too_deep<T>(&mut self, place: Place) -> Checked<T> {
        self.refuse(place, "arrays have at most three dimensions here", "compute the index")
    }

    pub(super) fn extents(&mut self, name: &Declarator) -> Checked<Option<Extents>> {
        if name.extents.is_empty() {
            return Ok(None);
        }
        if name.extents.len() > Extents::MOST {
            return self.too_deep(name.place);
        }
        let mut list = Vec::new();
        for (dimension, extent) in name.extents.iter().enumerate() {
            let Some(extent) = extent else {
                // `float a[] = {1, 2}` counts its values.
                match (&name.initial, dimension) {
                    (Some(Initial::List(values)), 0)
                        if name.extents.len() == 1 && !values.is_empty() =>
                    {
                        list.push(values.len() as u32);
                        continue;
                    }
                    _ => {
                        let message = format!("the extent of '{}' is missing", name.name);
                        return self.refuse(name.place, message, "write float tile[32]");
                    }
                }
            };
            list.push(self.extent(extent)?);
        }
        Ok(Some(Extents::new(&list)))
    }

    fn extent(&mut self, extent: &ast::Expr) -> Checked<u32> {
        let checked = self.value(extent)?;
        let whole = checked.ty.scalar().is_some_and(|scalar| !scalar.is_real());
        match known(&checked).filter(|_| whole) {
            Some(count) if (1..=i64::from(MOST_ELEMENTS)).contains(&count) => Ok(count as u32),
            Some(count) => {
                let message = format!("an array has no {count} elements");
                self.refuse(extent.place, message, "an extent is at least 1")
            }
            None => self.refuse(
                extent.place,
                "an extent must be known before the kernel runs",
                "write #define TILE 32, or extern __shared__ float tile[]; for one that is given at launch",
            ),
        }
    }
}
