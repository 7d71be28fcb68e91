//! Questions, predictions, tries and checks with numbers in place of the names that they draw.

use std::collections::BTreeMap;

use crate::model::Check;
use crate::model::answer::{Formula, Wrong};
use crate::model::drawn::{Variants, Varied};
use crate::model::fill::Drawn;
use crate::model::kernel::{KernelTask, KernelTest};
use crate::model::lab::Setting;
use crate::model::predict::{Predict, PredictKind, Target};
use crate::model::question::{Asked, Question, QuestionKind};
use crate::model::variants::Varying;

impl Drawn<'_> {
    fn settings(&self, set: &mut [Setting]) {
        set.iter_mut().for_each(|setting| self.value_of(&mut setting.value));
    }

    /// Tests vary the drawn numbers as well: each has one value.
    fn test(&self, test: &mut KernelTest) {
        let drawn = self.names.iter().zip(self.values);
        let drawn = drawn.map(|(varied, value)| Varied { values: vec![*value], ..varied.clone() });
        test.vary = drawn.chain(std::mem::take(&mut test.vary)).collect();
    }

    fn kernel(&self, task: &mut KernelTask) {
        task.tests.iter_mut().for_each(|test| self.test(test));
    }

    fn kind(&self, kind: &mut QuestionKind) {
        let formulas = |formulas: &mut Vec<Formula>| {
            formulas.iter_mut().for_each(|formula| self.formula(formula));
        };
        match kind {
            QuestionKind::Numeric { answer, wrong, .. } => {
                self.formula(answer);
                wrong.iter_mut().for_each(|wrong| self.formula(&mut wrong.value));
            }
            QuestionKind::List { answer, wrong, .. } => {
                formulas(answer);
                wrong.iter_mut().for_each(|wrong| formulas(&mut wrong.value));
            }
            QuestionKind::Expression { set, accept, .. } => {
                self.settings(set);
                self.formula(accept);
            }
            QuestionKind::Kernel(task) => self.kernel(task),
            QuestionKind::Withheld(Asked::Kernel { samples, .. }) => {
                samples.iter_mut().for_each(|test| self.test(test));
            }
            QuestionKind::Choice { .. }
            | QuestionKind::Multiple { .. }
            | QuestionKind::Match { .. }
            | QuestionKind::Order { .. }
            | QuestionKind::Text { .. }
            | QuestionKind::Withheld(_) => {}
        }
    }
}

impl Varying for Question {
    fn id(&self) -> &str {
        &self.id
    }

    fn variants(&self) -> Option<&Variants<Self>> {
        self.variants.as_deref()
    }

    fn keeping(self, variants: Variants<Self>) -> Self {
        Self { variants: Some(Box::new(variants)), ..self }
    }

    /// Kernels are left out: they are full of braces that are C's.
    fn texts_mut(&mut self) -> Vec<&mut String> {
        let Self { prompt, hints, explain, kind, .. } = self;
        let mut texts: Vec<&mut String> = vec![prompt];
        texts.extend(hints);
        texts.extend(explain);
        texts.extend(kind.texts_mut());
        texts
    }

    fn wording_mut(&mut self) -> Option<&mut BTreeMap<String, String>> {
        Some(&mut self.wording)
    }

    fn formulas(&self) -> Vec<&Formula> {
        Self::formulas(self)
    }

    fn put(&mut self, drawn: &Drawn<'_>) {
        drawn.kind(&mut self.kind);
    }
}

impl Varying for Predict {
    fn id(&self) -> &str {
        &self.id
    }

    fn variants(&self) -> Option<&Variants<Self>> {
        self.variants.as_deref()
    }

    fn keeping(self, variants: Variants<Self>) -> Self {
        Self { variants: Some(Box::new(variants)), ..self }
    }

    fn texts_mut(&mut self) -> Vec<&mut String> {
        let Self { prompt, kind, target, outcomes, explain, .. } = self;
        let mut texts: Vec<&mut String> = vec![prompt];
        if let PredictKind::Choice { choices } = kind {
            texts.extend(choices);
        }
        if let Target::Choice(answer) = target {
            texts.push(answer);
        }
        texts.extend(outcomes.iter_mut().map(|outcome| &mut outcome.say));
        texts.extend(explain);
        texts
    }

    fn wording_mut(&mut self) -> Option<&mut BTreeMap<String, String>> {
        Some(&mut self.wording)
    }

    fn formulas(&self) -> Vec<&Formula> {
        let theory = self.theory.iter().map(|theory| &theory.formula);
        let outcomes = self.outcomes.iter().map(|outcome| &outcome.when);
        self.target.formula().into_iter().chain(theory).chain(outcomes).collect()
    }

    fn put(&mut self, drawn: &Drawn<'_>) {
        if let Target::Metric(formula) | Target::Answer(formula) = &mut self.target {
            drawn.formula(formula);
        }
        self.theory.iter_mut().for_each(|theory| drawn.formula(&mut theory.formula));
        self.outcomes.iter_mut().for_each(|outcome| drawn.formula(&mut outcome.when));
    }
}

impl Varying for Check {
    fn id(&self) -> &str {
        &self.id
    }

    fn variants(&self) -> Option<&Variants<Self>> {
        self.variants.as_deref()
    }

    fn keeping(self, variants: Variants<Self>) -> Self {
        Self { variants: Some(Box::new(variants)), ..self }
    }

    fn texts_mut(&mut self) -> Vec<&mut String> {
        self.why.iter_mut().collect()
    }

    fn wording_mut(&mut self) -> Option<&mut BTreeMap<String, String>> {
        None
    }

    fn formulas(&self) -> Vec<&Formula> {
        vec![&self.assert]
    }

    fn put(&mut self, drawn: &Drawn<'_>) {
        drawn.formula(&mut self.assert);
    }
}

impl QuestionKind {
    fn texts_mut(&mut self) -> Vec<&mut String> {
        fn both(wrong: &mut [Wrong<String>]) -> impl Iterator<Item = &mut String> {
            wrong.iter_mut().flat_map(|Wrong { value, say, .. }| [value, say])
        }
        match self {
            Self::Numeric { .. } | Self::List { .. } => self.says_mut(),
            Self::Choice { answer, wrong } => [answer].into_iter().chain(both(wrong)).collect(),
            Self::Multiple { answer, wrong } => answer.iter_mut().chain(both(wrong)).collect(),
            Self::Match { pairs, extra } => {
                let pairs = pairs.iter_mut().flat_map(|pair| [&mut pair.left, &mut pair.right]);
                pairs.chain(extra).collect()
            }
            Self::Order { answer, wrong } => {
                let wrong = wrong.iter_mut();
                let wrong =
                    wrong.flat_map(|Wrong { value, say, .. }| value.iter_mut().chain([say]));
                answer.iter_mut().chain(wrong).collect()
            }
            Self::Expression { answer, wrong, .. } => {
                [&mut answer.value].into_iter().chain(both(wrong)).collect()
            }
            Self::Text { answer, accept, wrong } => {
                [answer].into_iter().chain(accept).chain(both(wrong)).collect()
            }
            Self::Kernel(task) => {
                let KernelTask { tests, limits, wrong, .. } = task.as_mut();
                let names = tests.iter_mut().map(|test| &mut test.name);
                let limits = limits.iter_mut().map(|limit| &mut limit.say);
                names.chain(limits).chain(wrong.iter_mut().map(|wrong| &mut wrong.say)).collect()
            }
            Self::Withheld(asked) => match asked {
                Asked::Choice { choices }
                | Asked::Multiple { choices }
                | Asked::Order { choices } => choices.iter_mut().collect(),
                Asked::Match { left, choices } => left.iter_mut().chain(choices).collect(),
                Asked::Kernel { samples, .. } => {
                    samples.iter_mut().map(|test| &mut test.name).collect()
                }
                Asked::Numeric { .. } | Asked::List | Asked::Expression | Asked::Text => Vec::new(),
            },
        }
    }
}
