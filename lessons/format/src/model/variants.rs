//! Directives that name drawn numbers: as they are written, and with numbers.

use std::collections::BTreeMap;

use crate::model::answer::Formula;
use crate::model::drawn::{Variants, Varied, literal};
use crate::model::fill::{BadPiece, Drawn};
use crate::model::id::LessonId;
use crate::model::sheet::Sheet;

/// Draws that are looked at where there are more.
const MOST_DRAWS: usize = 1000;

/// A directive that may name drawn numbers in its texts and expressions.
pub(crate) trait Varying: Clone {
    fn id(&self) -> &str;

    fn variants(&self) -> Option<&Variants<Self>>;

    /// The directive, which is an instance of these.
    fn keeping(self, variants: Variants<Self>) -> Self;

    /// Its texts in which expressions may stand between braces.
    fn texts_mut(&mut self) -> Vec<&mut String>;

    /// In a translation, what is shown for its texts.
    fn wording_mut(&mut self) -> Option<&mut BTreeMap<String, String>>;

    fn formulas(&self) -> Vec<&Formula>;

    /// Puts numbers in the place of names in its expressions and settings.
    fn put(&mut self, drawn: &Drawn<'_>);

    /// The directive as it is written, with names in place of the numbers it draws.
    fn written(&self) -> &Self {
        self.variants().map_or(self, |variants| &variants.written)
    }

    fn draw(&mut self, pick: impl Fn(&Varied, &str) -> f64) {
        let Some(variants) = self.variants() else { return };
        let drawn = variants.names.iter().map(|varied| pick(varied, self.id())).collect();
        *self = variants.with(drawn);
    }
}

#[expect(private_bounds, reason = "only directives of this crate vary")]
impl<T: Varying> Variants<T> {
    /// A directive as it is written, with the printed numbers; the directive itself where it names none.
    pub(crate) fn printed(names: Vec<Varied>, written: T) -> T {
        if names.is_empty() {
            return written;
        }
        let drawn = names.iter().map(|varied| varied.values[0]).collect();
        Self { names, drawn, written }.instance()
    }

    pub(crate) fn with(&self, drawn: Vec<f64>) -> T {
        Self { drawn, ..self.clone() }.instance()
    }

    /// The directive with its numbers in the place of their names.
    fn instance(self) -> T {
        let drawn = Drawn { names: &self.names, values: &self.drawn };
        let mut directive = self.written.clone();
        directive.texts_mut().into_iter().for_each(|text| drawn.text(text));
        if let Some(wording) = directive.wording_mut() {
            let worded = std::mem::take(wording).into_iter().map(|(mut original, mut own)| {
                drawn.text(&mut original);
                drawn.text(&mut own);
                (original, own)
            });
            *wording = worded.collect();
        }
        directive.put(&drawn);
        directive.keeping(self)
    }

    /// Every draw there is, the printed one first; of more than a thousand those of the learners 1 to 1000. Numbers of
    /// other directives stay the printed ones.
    pub(crate) fn draws(&self, lesson: &LessonId) -> Vec<Vec<f64>> {
        let own = self.names.iter().map(|varied| varied.own_values().len());
        let count = own.fold(1, usize::saturating_mul);
        if count <= MOST_DRAWS {
            return (0..count).map(|index| self.combination(index)).collect();
        }
        let mut draws = vec![self.combination(0)];
        for learner in 1..=MOST_DRAWS {
            let Ok(learner) = learner.to_string().parse() else { continue };
            let sheet = Sheet { salt: String::new(), learner };
            let draw = |varied: &Varied| match varied.shared {
                Some(_) => varied.values[0],
                None => sheet.draw(lesson, self.written.id(), varied),
            };
            let drawn = self.names.iter().map(draw).collect();
            if !draws.contains(&drawn) {
                draws.push(drawn);
            }
        }
        draws
    }

    /// The printed numbers, the smallest, the largest, and draws in which each value of each name occurs.
    pub(crate) fn covering(&self) -> Vec<Vec<f64>> {
        let end = |pick: fn(f64, f64) -> f64| {
            let values = self.names.iter().map(|varied| varied.own_values().iter().copied());
            values.map(|values| values.reduce(pick).unwrap_or_default()).collect()
        };
        let most = self.names.iter().map(|varied| varied.own_values().len()).max().unwrap_or(0);
        let each = |at: usize| {
            let own = self.names.iter().map(Varied::own_values);
            own.map(|values| values[at % values.len()]).collect()
        };
        let mut draws: Vec<Vec<f64>> = Vec::new();
        for drawn in [each(0), end(f64::min), end(f64::max)].into_iter().chain((1..most).map(each))
        {
            if !draws.contains(&drawn) {
                draws.push(drawn);
            }
        }
        draws
    }

    /// Every draw of the numbers that it names, those of other directives too, the printed one first; at most a thousand.
    pub(crate) fn all(&self) -> Vec<Vec<f64>> {
        let counts = self.names.iter().map(|varied| varied.values.len());
        let count = counts.fold(1, usize::saturating_mul);
        (0..count.min(MOST_DRAWS))
            .map(|index| combination(&self.names, index, |one| &one.values))
            .collect()
    }

    fn combination(&self, index: usize) -> Vec<f64> {
        combination(&self.names, index, Varied::own_values)
    }

    /// The first text that cannot show these numbers, and why.
    pub(crate) fn bad_text(&self, drawn: &[f64]) -> Option<BadPiece> {
        let drawn = Drawn { names: &self.names, values: drawn };
        let mut written = self.written.clone();
        written.texts_mut().into_iter().find_map(|text| drawn.fill(text).err())
    }

    /// Whether another directive draws one of its numbers.
    pub(crate) fn shares(&self) -> bool {
        self.names.iter().any(|varied| varied.shared.is_some())
    }

    /// A draw in words, such as `n = 5, k = 3`.
    pub(crate) fn label(&self, drawn: &[f64]) -> String {
        let named = self.names.iter().zip(drawn);
        let words =
            named.map(|(varied, value)| format!("{} = {}", varied.name.value, literal(*value)));
        words.collect::<Vec<_>>().join(", ")
    }
}

/// One of all combinations; the first name changes first.
fn combination<'n>(
    names: &'n [Varied],
    mut index: usize,
    values: impl Fn(&'n Varied) -> &'n [f64],
) -> Vec<f64> {
    let value = |varied: &'n Varied| {
        let values = values(varied);
        let value = values[index % values.len()];
        index /= values.len();
        value
    };
    names.iter().map(value).collect()
}
