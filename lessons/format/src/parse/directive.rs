//! Directives: from fences to blocks.

use std::collections::BTreeMap;

use mlsys_lab::nearest::nearest;
use mlsys_lab::schema::{Class, Label};

use crate::diagnostic::{Code, Located, Place, Problems, Source, shortened};
use crate::model::{
    Block, Check, DeviceName, Disclosure, Goal, Knob, LabDirective, Notes, Outcome, PanelRef,
    Predict, PredictKind, Prose, Setting, Target, Theory, Varied,
};
use crate::parse::characters;
use crate::parse::fields::Fields;
use crate::parse::keys::{bounds, distinct, one_of, settings};
use crate::parse::question;
use crate::parse::split::Directive;
use crate::parse::vary::{self, Above};

/// Most directives in one lesson.
pub const MAX_DIRECTIVES: usize = 200;

const DIRECTIVES: [&str; 6] = ["lab", "predict", "try", "question", "check", "notes"];

/// Reads the directives of one file, watching over their ids and their number.
#[derive(Default)]
pub(super) struct Directives {
    ids: Vec<Located<String>>,
    unread: Vec<String>,
    /// The labs and questions so far, with what each draws.
    drawn: Vec<(String, Vec<Varied>)>,
    count: usize,
}

impl Directives {
    /// The block a directive stands for, unless it has an error.
    pub(super) fn read(&mut self, fence: &Directive, problems: &mut Problems<'_>) -> Option<Block> {
        self.count += 1;
        if self.count > MAX_DIRECTIVES {
            if self.count == MAX_DIRECTIVES + 1 {
                problems.error(
                    Code::TooManyDirectives,
                    fence.opening,
                    format!("the lesson has more than {MAX_DIRECTIVES} directives"),
                    "split it into several lessons",
                );
            }
            return None;
        }
        let name = &fence.name;
        let block = match name.value.as_str() {
            "notes" => return Some(notes(fence, problems)),
            "lab" | "predict" | "try" | "question" | "check" => {
                let is_named = self.has_own_id(fence, problems);
                let above = Above { drawn: &self.drawn, unread: &self.unread };
                // A directive without a usable id is read for its errors alone.
                block(fence, problems, above).filter(|_| is_named)
            }
            unknown => {
                let help = match nearest(unknown, DIRECTIVES) {
                    Some(known) => format!("did you mean {{{known}}}?"),
                    None => format!("there are {{{}}}", DIRECTIVES.join("}, {")),
                };
                let message = format!("there is no directive {{{}}}", shortened(unknown));
                problems.error(Code::UnknownDirective, name.place, message, help);
                None
            }
        };
        match &block {
            Some(Block::Lab(lab)) => self.drawn.push((lab.id.clone(), lab.vary.clone())),
            Some(Block::Question(question)) => {
                let names = question.variants.as_ref().map(|variants| variants.names.clone());
                self.drawn.push((question.id.clone(), names.unwrap_or_default()));
            }
            Some(_) | None => {}
        }
        if block.is_none() {
            self.unread.push(fence.id.value.clone());
        }
        block
    }

    /// Ids of the directives that could not be read.
    pub(super) fn into_unread(self) -> Vec<String> {
        self.unread
    }

    /// Whether a directive has an id that is well-formed and its own.
    fn has_own_id(&mut self, fence: &Directive, problems: &mut Problems<'_>) -> bool {
        let (id, kind) = (&fence.id, &fence.name.value);
        if id.value.is_empty() {
            let message = format!("this {{{kind}}} has no id");
            let help = format!("write {{{kind}}} and a name, such as {{{kind}}} first");
            problems.error(Code::BadId, fence.opening, message, help);
            return false;
        }
        let well_formed = id.value.starts_with(|c: char| c.is_ascii_lowercase())
            && id.value.len() <= 40
            && id.value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let reserved = matches!(id.value.as_str(), "device" | "answer");
        if !well_formed || reserved {
            let message = if reserved {
                format!("`{}` already has a meaning in expressions", id.value)
            } else {
                format!("`{}` is not an id", shortened(&id.value))
            };
            let help = "an id begins with a lower-case letter and has only those, digits and _, at most 40";
            problems.error(Code::BadId, id.place, message, help);
            return false;
        }
        if let Some(first) = self.ids.iter().find(|other| other.value == id.value) {
            let line = problems.source().line(first.place.start);
            let message = format!("the id `{}` is already that of line {line}", id.value);
            problems.error(Code::DuplicateId, id.place, message, "give it another one");
            return false;
        }
        self.ids.push(id.clone());
        true
    }
}

fn block(fence: &Directive, problems: &mut Problems<'_>, above: Above<'_>) -> Option<Block> {
    let (name, id) = (fence.name.value.as_str(), fence.id.value.clone());
    let what = format!("this {{{name}}}");
    let mut fields = Fields::read(fence.body, fence.opening, &what, problems)?;
    let place = fence.place;
    let block = match name {
        "lab" => lab(id, place, &mut fields, above).map(Block::Lab),
        "predict" => predict(id, place, None, &mut fields, above).map(Block::Predict),
        "try" => attempt(id, place, &mut fields, above).map(Block::Predict),
        "question" => question::read(id, place, &mut fields, above).map(Block::Question),
        _ => check(id, place, &mut fields, above).map(Block::Check),
    };
    fields.finish();
    block
}

pub(super) fn prose(source: &Source, place: Place, problems: &mut Problems<'_>) -> Option<Block> {
    let text = source.slice(place);
    characters::report(place, problems, characters::Where::Prose);
    let markdown = characters::harmless(text);
    let blank = markdown.lines().take_while(|line| line.trim().is_empty()).count();
    let shown = markdown.trim_matches('\n').trim_end();
    (!shown.trim().is_empty()).then(|| {
        Block::Prose(Prose { markdown: shown.to_owned(), line: source.line(place.start) + blank })
    })
}

pub(super) fn notes(fence: &Directive, problems: &mut Problems<'_>) -> Block {
    characters::report(fence.body, problems, characters::Where::Prose);
    let text = characters::harmless(problems.source().slice(fence.body));
    Block::Notes(Notes { markdown: text.trim().to_owned(), place: fence.place })
}

fn check(id: String, place: Place, fields: &mut Fields<'_, '_>, above: Above<'_>) -> Option<Check> {
    fields.require(&[("assert", "assert = \"run.accuracy >= 0.9\"")]);
    let assert = fields.formula("assert");
    let class = fields.line("class");
    let class = class.and_then(|class| one_of(&class, Class::ALL, Class::name, fields));
    let why = fields.text("why");
    let names = vary::named_above(fields, above);
    let written = Check {
        id,
        assert: assert?,
        class: class.unwrap_or(Class::Exact),
        why: why.map(|why| why.value),
        variants: None,
        place,
    };
    Some(vary::following(names?, written, place, fields, above))
}

/// A prediction, or with `turn` a try: the knobs that the learner turns.
fn predict(
    id: String,
    place: Place,
    turn: Option<Vec<Setting>>,
    fields: &mut Fields<'_, '_>,
    above: Above<'_>,
) -> Option<Predict> {
    fields.require(&[("type", "type = \"numeric\""), ("prompt", "prompt = \"...\"")]);
    let ty = fields.line("type");
    let prompt = fields.text("prompt");
    match (fields.has("metric"), fields.place_of("answer")) {
        (false, None) => fields.error(
            Code::MissingKey,
            fields.owner(),
            "this {predict} has nothing to be held against",
            "add metric = \"run.accuracy\" for what a run shows, or answer = \"...\" for what is known",
        ),
        (true, Some(answer)) => fields.error(
            Code::Contradiction,
            answer,
            "this {predict} has both `metric` and `answer`",
            "keep the one that the guess is to be held against",
        ),
        (true, None) | (false, Some(_)) => {}
    }
    let metric = fields.formula("metric").map(Target::Metric);
    let (kind, answer) = match ty.as_ref().map(|ty| ty.value.as_str()) {
        Some("choice") => {
            fields.require(&[("choices", "choices = [\"...\", \"...\"]")]);
            let choices = distinct(fields.texts("choices"), 2, fields);
            let answer = fields.text("answer");
            if let (Some(choices), Some(answer)) = (&choices, &answer)
                && !choices.contains(&answer.value)
            {
                let help = "repeat one of the choices letter by letter";
                let message = "`answer` is none of the choices";
                fields.error(Code::BadValue, answer.place, message, help);
            }
            let kind = choices.map(|choices| PredictKind::Choice { choices });
            (kind, answer.map(|answer| Target::Choice(answer.value)))
        }
        Some("numeric") => {
            let unit = fields.line("unit").map(|unit| unit.value);
            let bounds = bounds(unit.as_deref(), fields);
            let answer = fields.formula("answer").map(Target::Answer);
            (Some(PredictKind::Numeric { unit, bounds }), answer)
        }
        Some(_) | None => {
            if let Some(ty) = &ty {
                one_of(ty, ["numeric", "choice"], |name| name, fields);
            }
            for key in ["choices", "unit", "min", "max", "answer"] {
                fields.ignore(key);
            }
            (None, None)
        }
    };
    let label = fields.line("theory_label");
    let label = label.and_then(|label| one_of(&label, Label::ALL, Label::name, fields));
    let theory = fields.formula("theory");
    let theory = theory.map(|formula| Theory { formula, label: label.unwrap_or(Label::Computed) });
    let lab = fields.line("lab");
    let outcomes = fields.tables("outcome", |fields| {
        fields.require(&[("when", "when = \"run.accuracy > 0.9\""), ("say", "say = \"...\"")]);
        let (when, say) = (fields.formula("when"), fields.text("say"));
        Some(Outcome { when: when?, say: say?.value })
    });
    let explain = fields.text("explain");
    let names = vary::named_above(fields, above);
    let written = Predict {
        id,
        prompt: prompt?.value,
        kind: kind?,
        target: metric.or(answer)?,
        theory,
        lab,
        turn,
        outcomes,
        explain: explain.map(|text| text.value),
        wording: BTreeMap::new(),
        variants: None,
        place,
    };
    Some(vary::following(names?, written, place, fields, above))
}

/// A prediction about a run with knobs turned: which lab, and what is turned.
fn attempt(
    id: String,
    place: Place,
    fields: &mut Fields<'_, '_>,
    above: Above<'_>,
) -> Option<Predict> {
    fields.require(&[("lab", "lab = \"run\""), ("set", "set = { learning_rate = 1.0 }")]);
    let turn = settings(fields);
    let attempt = predict(id, place, Some(turn), fields, above)?;
    attempt.lab.is_some().then_some(attempt)
}

fn lab(
    id: String,
    place: Place,
    fields: &mut Fields<'_, '_>,
    above: Above<'_>,
) -> Option<LabDirective> {
    fields.require(&[("kind", "kind = \"train\"")]);
    let kind = fields.line("kind");
    let title = fields.line("title");
    let devices = devices(fields);
    let mut set = settings(fields);
    let knobs = fields.named("knob", |name, fields| {
        let range = (fields.number("min"), fields.number("max"));
        if let (Some(min), Some(max)) = &range
            && min.value > max.value
        {
            let message = format!("`min` is {}, which is above `max`", min.value);
            fields.error(Code::Contradiction, min.place, message, "swap the two");
        }
        if let (Some(place), true) = (fields.place_of("values"), range != (None, None)) {
            let message = "`values` and a range exclude each other";
            fields.error(Code::Contradiction, place, message, "keep one of them");
        }
        Some(Knob {
            param: name.value.clone(),
            values: fields.values("values"),
            min: range.0.map(|min| min.value),
            max: range.1.map(|max| max.value),
            default: fields.value("default").map(|default| default.value),
            place: name.place,
        })
    });
    let vary = vary::parameters(&mut set, &knobs, fields, above);
    let panels = fields.tables("panel", |fields| {
        fields.require(&[("name", "name = \"loss-curve\"")]);
        let name = fields.line("name");
        let title = fields.line("title");
        let goals = fields.tables("goal", goal);
        let until = fields.line("until");
        let name = name?;
        Some(PanelRef {
            name: name.value,
            title: title.map(|title| title.value),
            goals,
            until,
            place: name.place,
        })
    });
    let metrics = fields.texts("metrics").unwrap_or_default();
    let kernel = if fields.flag("closed") { Disclosure::Closed } else { Disclosure::Open };
    Some(LabDirective {
        id,
        kind: kind?,
        title: title.map(|title| title.value),
        devices,
        set,
        vary: vary?,
        knobs,
        panels,
        kernel,
        metrics,
        place,
    })
}

fn goal(fields: &mut Fields<'_, '_>) -> Option<Goal> {
    fields.require(&[
        ("name", "name = \"silver\""),
        ("ratio", "ratio = 25"),
        ("loss", "loss = 0.01"),
    ]);
    let name = fields.line("name");
    let (ratio, loss) = (fields.number("ratio"), fields.number("loss"));
    if let Some(ratio) = ratio.as_ref().filter(|ratio| ratio.value <= 0.0) {
        let help = "25 is twenty-five times better along the first axis";
        fields.error(Code::BadValue, ratio.place, "`ratio` is not above 0", help);
    }
    if let Some(loss) = loss.as_ref().filter(|loss| loss.value < 0.0) {
        let help = "0.01 is at most 0.01 worse along the second axis";
        fields.error(Code::BadValue, loss.place, "`loss` is below 0", help);
    }
    let name = name?;
    Some(Goal { name: name.value, ratio: ratio?.value, loss: loss?.value, place: name.place })
}

fn devices(fields: &mut Fields<'_, '_>) -> Vec<DeviceName> {
    let Some(place) = fields.place_of("devices") else {
        fields.texts("devices");
        return DeviceName::ALL.to_vec();
    };
    let Some(names) = fields.texts("devices") else { return Vec::new() };
    if names.is_empty() {
        let help = "name at least one of cuda, wgpu, cpu, replay, or leave the key out for all";
        fields.error(Code::BadValue, place, "`devices` is empty", help);
    }
    let mut devices = Vec::new();
    for name in &names {
        let Some(device) = one_of(name, DeviceName::ALL, DeviceName::name, fields) else {
            continue;
        };
        if devices.contains(&device) {
            let message = format!("`{}` is named twice", device.name());
            fields.error(Code::BadValue, name.place, message, "name it once");
        } else {
            devices.push(device);
        }
    }
    devices
}
