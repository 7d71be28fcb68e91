//! An answer that is not to be shown, and where it is shown all the same.

use mlsys_lab::value::{Value, number};

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::grade::quantity::{self, Written};
use crate::lint::numbers::{Reading, Token, numbers};
use crate::lint::spoiler::panels::{LabShown, PanelReadings};
use crate::lint::spoiler::texts;
use crate::model::{Block, Knob, LabDirective, Lesson, Question};

/// What is looked for.
pub(super) enum Sought {
    One(f64),
    /// Numbers next to each other.
    Row(Vec<f64>),
}

impl Sought {
    /// Numbers that tell when they stand next to each other: some that do not merely count up, of three digits together.
    pub(super) fn row(values: &[f64]) -> Option<Self> {
        let [first, second, ..] = values else { return None };
        let counts = values.windows(2).all(|pair| pair[1] - pair[0] == second - first);
        let counts = counts && values.len() > 2;
        let digits = values.iter().map(|value| digits(*value)).sum::<usize>();
        (!counts && digits >= 3).then(|| Self::Row(values.to_vec()))
    }
}

/// Significant digits, zeros at the end left out.
fn digits(value: f64) -> usize {
    let text = number(value);
    let mantissa = text.split('e').next().unwrap_or(&text).replace(['.', '-'], "");
    mantissa.trim_matches('0').len()
}

/// An answer that is not to be shown.
pub(super) struct Secret<'q> {
    pub(super) sought: Sought,
    pub(super) unit: Option<&'q str>,
    /// The question and those below it: panels that wait for one of them are not shown yet.
    pub(super) later: &'q [&'q str],
}

/// Where it is shown all the same.
pub(super) struct Told {
    place: Place,
    by: String,
}

impl Told {
    /// `label` is the question's draw.
    pub(super) fn error(self, lesson: &Lesson, question: &Question, label: &str) -> Diagnostic {
        let line = lesson.source.line(question.place.start);
        let message = format!(
            "{} gives the answer of `{}`{label}, which is asked for in line {line}",
            self.by, question.id
        );
        let held = match self.by.starts_with("panel ") {
            true => format!("hold the panel back with until = \"{}\", ", question.id),
            false => String::new(),
        };
        let help = format!(
            "{held}ask before, change the numbers of the question, or write shown = \"why\" in `{}` if reading it off is what is asked",
            question.id
        );
        lesson.source.error(Code::Spoiler, self.place, message).help(help)
    }
}

impl Secret<'_> {
    /// Where it begins in a text.
    pub(super) fn find<'t>(&self, text: &'t str) -> Option<Token<'t>> {
        let tokens: Vec<Token<'t>> = numbers(text).collect();
        let readings: Vec<Reading> =
            tokens.iter().map(|token| Reading::new(token, self.unit)).collect();
        let at = self.place_in(&readings)?;
        tokens.into_iter().nth(at)
    }

    /// Whether a text with these numbers shows it.
    pub(super) fn is_read_in(&self, readings: &[Reading]) -> bool {
        self.place_in(readings).is_some()
    }

    fn place_in(&self, readings: &[Reading]) -> Option<usize> {
        match &self.sought {
            Sought::One(answer) => readings.iter().position(|one| self.is_number(one, *answer)),
            Sought::Row(answers) => {
                let is_right = |(one, answer): (&Reading, &f64)| {
                    one.plain.is_some_and(|written| written.is(*answer))
                };
                let mut rows = readings.windows(answers.len());
                rows.position(|row| row.iter().zip(answers).all(is_right))
            }
        }
    }

    fn is_number(&self, reading: &Reading, answer: f64) -> bool {
        let is_right = |written: Option<Written>| written.is_some_and(|one| one.is(answer));
        let Reading { plain, with_unit, has_unit } = *reading;
        match is_right(plain) || is_right(with_unit) {
            false => false,
            // It is too short to be recognised without its unit.
            true if digits(answer) < 3 => is_right(plain) && has_unit,
            true => true,
        }
    }

    fn is_in(&self, value: &Value) -> bool {
        match (value, &self.sought) {
            (Value::Int(_) | Value::Float(_), Sought::One(answer)) => {
                value.as_f64().is_some_and(|x| self.is_value(x, *answer))
            }
            (Value::Array(items), Sought::Row(answers)) => {
                let is_right = |(item, answer): (&Value, &f64)| item.as_f64() == Some(*answer);
                let mut rows = items.windows(answers.len());
                rows.any(|row| row.iter().zip(answers).all(is_right))
            }
            (Value::Text(text), _) => self.find(text).is_some(),
            (Value::Array(items), Sought::One(_)) => items.iter().any(|item| self.is_in(item)),
            (Value::Table(entries), _) => entries.values().any(|entry| self.is_in(entry)),
            (Value::Int(_) | Value::Float(_) | Value::Bool(_), _) => false,
        }
    }

    /// Whether a value reads like the answer, in the unit that is asked for or in one without a prefix.
    fn is_value(&self, value: f64, answer: f64) -> bool {
        let digits_of = |x| mlsys_lab::value::significant(x, 4);
        let scaled = answer * self.unit.map_or(1.0, quantity::scale);
        digits(answer) >= 3 && [answer, scaled].iter().any(|x| digits_of(value) == digits_of(*x))
    }

    /// The first place in the texts of a block that shows it.
    pub(super) fn told_in(&self, block: &Block, lesson: &Lesson) -> Option<Told> {
        match block {
            Block::Prose(prose) => {
                let source = &lesson.source;
                let lines = prose.markdown.lines().enumerate();
                let mut told = lines.filter_map(|(line, text)| {
                    let token = self.find(text)?;
                    let start = source.text.split_inclusive('\n').take(prose.line + line - 1);
                    let start = start.map(str::len).sum::<usize>() + token.at;
                    Some((Place::new(start, start + token.digits.len()), token.digits))
                });
                told.next()
                    .map(|(place, digits)| Told { place, by: format!("`{digits}` in the text") })
            }
            Block::Lab(lab) => self.asked_in(block, lab.place, lesson),
            Block::Predict(predict) => self.asked_in(block, predict.place, lesson),
            Block::Question(question) => self.asked_in(block, question.place, lesson),
            Block::Check(check) => self.asked_in(block, check.place, lesson),
            Block::Notes(_) => None,
        }
    }

    /// Texts of a directive, as they stand in the file.
    fn asked_in(&self, block: &Block, place: Place, lesson: &Lesson) -> Option<Told> {
        let (text, token) =
            texts(block).into_iter().find_map(|text| Some((text, self.find(text)?)))?;
        let line = text[..token.at].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[line..token.at + token.digits.len()];
        let at = lesson.source.slice(place).find(before).map_or(place, |at| {
            let end = place.start + at + before.len();
            Place::new(end - token.digits.len(), end)
        });
        Some(Told { place: at, by: format!("`{}` in this text", token.digits) })
    }

    /// Settings and knobs, and of a lab that answers at once the metrics and the headline.
    pub(super) fn shown_by(&self, lab: &LabDirective, run: Option<&LabShown<'_>>) -> Option<Told> {
        if let Some(setting) = lab.set.iter().find(|setting| self.is_in(&setting.value)) {
            let by = format!("the setting `{}`", setting.name);
            return Some(Told { place: setting.value_place, by });
        }
        let is_shown = |values: &Vec<Value>| match self.sought {
            Sought::One(_) => values.iter().any(|value| self.is_in(value)),
            Sought::Row(_) => false,
        };
        let turned = lab.knobs.iter().find(|knob| {
            knob.values.as_ref().is_some_and(is_shown)
                || knob.default.as_ref().is_some_and(|one| self.is_in(one))
        });
        if let Some(knob) = turned {
            let by = format!("a value of the knob `{}`", knob.param);
            return Some(Told { place: knob.place, by });
        }
        let run = run?;
        let is_metric = |name: &str| run.metric(name).is_some_and(|value| self.is_in(&value));
        if let Some(metric) = lab.metrics.iter().find(|metric| is_metric(&metric.value)) {
            let by = format!("the metric `{}`", metric.value);
            return Some(Told { place: metric.place, by });
        }
        let headline = run.headline().filter(|one| is_metric(&one.metric))?;
        let by = format!("`{}` below the panels of lab {}", headline.label, lab.id);
        Some(Told { place: lab.place, by })
    }

    /// A knob that stands at it before the lab runs.
    pub(super) fn turned_to(&self, knobs: &[(&Knob, Value)]) -> Option<Told> {
        let (knob, _) = knobs.iter().find(|(_, value)| self.is_in(value))?;
        Some(Told { place: knob.place, by: format!("the value of the knob `{}`", knob.param) })
    }

    /// The first of a lab's panels that is seen before the question and writes it.
    pub(super) fn drawn_in(
        &self,
        panels: &[PanelReadings<'_>],
        lab: &LabDirective,
    ) -> Option<Told> {
        let waits = |panel: &PanelReadings<'_>| {
            panel.until.is_some_and(|until| self.later.contains(&until))
        };
        let panel = panels.iter().find(|panel| !waits(panel) && self.is_drawn(panel))?;
        Some(Told { place: panel.place, by: format!("panel {} of lab {}", panel.name, lab.id) })
    }

    fn is_drawn(&self, panel: &PanelReadings<'_>) -> bool {
        match &self.sought {
            Sought::One(answer) => {
                let scaled = answer * self.unit.map_or(1.0, quantity::scale);
                let is_long = digits(*answer) >= 3;
                let is_value =
                    |one: &Written| is_long && one.is(scaled) || self.is_value(one.value, *answer);
                self.is_read_in(&panel.asked) || panel.plain.iter().any(is_value)
            }
            Sought::Row(_) => panel.rows.iter().any(|row| self.is_read_in(row)),
        }
    }
}
