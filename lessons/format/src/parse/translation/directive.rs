//! The texts of one directive of a translation.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Place, Problems};
use crate::model::{
    Asked, Block, LabDirective, Predict, PredictKind, Question, QuestionKind, Varying,
};
use crate::parse::fields::Fields;
use crate::parse::split::Directive;
use crate::parse::vary;

/// Puts the texts of a directive in the place of the original's.
pub(super) fn read(fence: &Directive, block: &mut Block, problems: &mut Problems<'_>) {
    let what = format!("this {{{}}} of a translation", fence.name.value);
    let Some(mut fields) = Fields::read(fence.body, fence.opening, &what, problems) else { return };
    let mut texts = Texts { fields: &mut fields, place: fence.opening, missing: Vec::new() };
    // Keys that a translation inherits.
    let inherited: &[&'static str] = match block {
        Block::Lab(lab) => {
            texts.lab(lab);
            &["kind", "devices", "set", "vary", "knob", "metrics", "closed"]
        }
        Block::Predict(predict) => {
            texts.varied(predict, fence.place, Texts::predict);
            &[
                "type",
                "metric",
                "answer",
                "min",
                "max",
                "theory",
                "theory_label",
                "lab",
                "set",
                "vary",
                "outcome",
            ]
        }
        Block::Question(question) => {
            texts.varied(question, fence.place, Texts::question);
            &[
                "type",
                "answer",
                "min",
                "max",
                "tolerance",
                "points",
                "wrong",
                "shown",
                "pair",
                "lab",
                "param",
                "set",
                "vary",
            ]
        }
        Block::Check(check) => {
            texts.varied(check, fence.place, |texts, check| texts.optional("why", &mut check.why));
            &["assert", "class", "vary"]
        }
        Block::Prose(_) | Block::Notes(_) => &[],
    };
    texts.tell_missing(&fence.id.value);
    for key in inherited {
        fields.inherited(key);
    }
    fields.finish();
}

/// Whether a directive has anything to translate.
pub(super) fn has_texts(block: &Block) -> bool {
    match block {
        Block::Lab(lab) => {
            lab.title.is_some() || lab.panels.iter().any(|panel| panel.title.is_some())
        }
        Block::Check(check) => check.why.is_some(),
        Block::Predict(_) | Block::Question(_) => true,
        Block::Prose(_) | Block::Notes(_) => false,
    }
}

/// Takes texts one by one and remembers which are missing.
struct Texts<'f, 'p, 's> {
    fields: &'f mut Fields<'p, 's>,
    place: Place,
    missing: Vec<&'static str>,
}

impl Texts<'_, '_, '_> {
    fn lab(&mut self, lab: &mut LabDirective) {
        if let Some(title) = &mut lab.title {
            self.line("title", title);
        } else if let Some(title) = self.fields.line("title") {
            lab.title = Some(title.value);
        }
        let panels = self.fields.tables("panel", |fields| {
            fields.require(&[("name", "name = \"loss-curve\""), ("title", "title = \"...\"")]);
            let (name, title) = (fields.line("name"), fields.line("title"));
            Some((name?, title?))
        });
        for (name, title) in panels {
            match lab.panels.iter_mut().find(|panel| panel.name == name.value) {
                Some(panel) => panel.title = Some(title.value),
                None => {
                    let known: Vec<&str> = lab.panels.iter().map(|p| p.name.as_str()).collect();
                    let help = format!("its panels are: {}", known.join(", "));
                    let message = "the original shows no such panel";
                    self.fields.error(Code::UnknownPanel, name.place, message, help);
                }
            }
        }
    }

    fn predict(&mut self, predict: &mut Predict) {
        self.text("prompt", &mut predict.prompt);
        if let Some(own) = self.texts("say", predict.outcomes.len()) {
            predict.outcomes.iter_mut().zip(own).for_each(|(outcome, own)| outcome.say = own);
        }
        self.optional("explain", &mut predict.explain);
        match &mut predict.kind {
            PredictKind::Numeric { unit, .. } => self.unit(unit),
            PredictKind::Choice { choices } => {
                let own = self.texts("choices", choices.len());
                predict.wording = worded(choices.iter(), own);
            }
        }
    }

    /// The texts of a directive with drawn numbers stand in the place of those it is written with.
    fn varied<T: Varying>(
        &mut self,
        directive: &mut T,
        place: Place,
        texts: impl Fn(&mut Self, &mut T),
    ) {
        let Some(variants) = directive.variants() else { return texts(self, directive) };
        let mut own = variants.clone();
        texts(self, &mut own.written);
        vary::check_texts(&own.names, &mut own.written, place, self.fields);
        *directive = own.with(own.drawn.clone());
    }

    fn question(&mut self, question: &mut Question) {
        self.text("prompt", &mut question.prompt);
        if let Some(hints) = self.texts("hints", question.hints.len()) {
            question.hints = hints;
        }
        self.optional("explain", &mut question.explain);
        let kind = &mut question.kind;
        match kind {
            QuestionKind::Numeric { unit, .. }
            | QuestionKind::Withheld(Asked::Numeric { unit, .. }) => {
                self.unit(unit);
            }
            QuestionKind::Expression { .. } => self.fields.inherited("accept"),
            // Kernels stay as they are; only the sentences about them are translated.
            QuestionKind::Kernel(_) => self.fields.inherited("starter"),
            // Readers of a translation answer in its language.
            QuestionKind::Text { accept, .. } => accept.extend(self.fields.strings("accept")),
            QuestionKind::Match { pairs, extra } => {
                let left = self.texts("left", pairs.len());
                let right = self.texts("right", pairs.len());
                let others = self.texts("extra", extra.len());
                question.wording = worded(pairs.iter().map(|pair| &pair.left), left);
                question.wording.extend(worded(pairs.iter().map(|pair| &pair.right), right));
                question.wording.extend(worded(extra.iter(), others));
                return;
            }
            QuestionKind::Withheld(Asked::Match { left, .. }) => {
                let own = self.texts("left", left.len());
                question.wording = worded(left.iter(), own);
            }
            QuestionKind::List { .. }
            | QuestionKind::Order { .. }
            | QuestionKind::Choice { .. }
            | QuestionKind::Multiple { .. }
            | QuestionKind::Withheld(_) => {}
        }
        let choices = kind.choices();
        if !choices.is_empty() {
            let own = self.texts("choices", choices.len());
            question.wording.extend(worded(choices, own));
        }
        if kind.is_withheld() {
            return;
        }
        let says = kind.says_mut();
        if let Some(own) = self.texts("say", says.len()) {
            says.into_iter().zip(own).for_each(|(say, own)| *say = own);
        }
        if let QuestionKind::Kernel(task) = kind
            && let Some(own) = self.texts("limits", task.limits.len())
        {
            task.limits.iter_mut().zip(own).for_each(|(limit, own)| limit.say = own);
        }
    }

    fn text(&mut self, key: &'static str, text: &mut String) {
        match self.fields.text(key) {
            Some(own) => *text = own.value,
            None => self.missing.push(key),
        }
    }

    fn line(&mut self, key: &'static str, text: &mut String) {
        match self.fields.line(key) {
            Some(own) => *text = own.value,
            None => self.missing.push(key),
        }
    }

    /// A text that the original may lack; then there is nothing to translate.
    fn optional(&mut self, key: &'static str, text: &mut Option<String>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.unwanted(key),
        }
    }

    /// A unit is mostly the same in all languages: it may be left as it is.
    fn unit(&mut self, unit: &mut Option<String>) {
        match unit {
            Some(unit) => {
                if let Some(own) = self.fields.line("unit") {
                    *unit = own.value;
                }
            }
            None => self.unwanted("unit"),
        }
    }

    /// As many texts as the original has; with another number of them, the original's stand.
    fn texts(&mut self, key: &'static str, count: usize) -> Option<Vec<String>> {
        let place = self.fields.place_of(key);
        let own = self.fields.texts(key);
        let Some(place) = place else {
            if count > 0 {
                self.missing.push(key);
            }
            return None;
        };
        let own = own?;
        if own.len() != count {
            let message = format!(
                "the original has {count} `{key}` and the translation {}: the original has changed",
                own.len()
            );
            let help = "until they are as many, learners read the original's words";
            self.fields.warning(Code::StaleTranslation, place, message, help);
            return None;
        }
        let own: Vec<String> = own.into_iter().map(|text| text.value).collect();
        let twice = (1..own.len()).find(|&at| own[..at].contains(&own[at]));
        if let (Some(at), true) = (twice, key != "hints" && key != "say") {
            let message = format!("`{}` is there twice", own[at]);
            let help = "two choices that read the same cannot be told apart";
            self.fields.error(Code::BadValue, place, message, help);
            return None;
        }
        Some(own)
    }

    fn unwanted(&mut self, key: &'static str) {
        if let Some(place) = self.fields.place_of(key) {
            let message = format!("the original has no `{key}`");
            self.fields.error(Code::UnknownKey, place, message, "remove it");
            self.fields.ignore(key);
        }
    }

    fn tell_missing(&mut self, id: &str) {
        if !self.missing.is_empty() {
            let message = format!("`{id}` lacks {}", self.missing.join(", "));
            let help = "until they are there, learners read the original's words";
            let place = self.place;
            self.fields.warning(Code::Untranslated, place, message, help);
        }
    }
}

/// Which text is shown for which of the original's.
fn worded<'t>(
    original: impl IntoIterator<Item = &'t String>,
    own: Option<Vec<String>>,
) -> BTreeMap<String, String> {
    original.into_iter().cloned().zip(own.into_iter().flatten()).collect()
}
