//! Answers of numeric questions that are shown before they are asked for.
//!
//! The answer is looked for, at the precision in which it is shown, in the text above the question, in the values of
//! settings and knobs of the labs above it, and in the panels that the lesson shows of those labs that answer at once, run
//! as the lesson sets them. So that numbers which are there for another reason do not drown authors,
//!
//! - a number counts alone if the answer has three significant digits or more, zeros at the end left out; with fewer, only
//!   if the answer's unit stands behind it;
//! - a number that the question itself gives is an input.

use mlsys_expr::{Value as Known, evaluate};
use mlsys_lab::Registry;
use mlsys_lab::frame::Frame;
use mlsys_lab::report::RunData;
use mlsys_lab::schema::Schema;
use mlsys_lab::value::{Value, number, significant};

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::env::LessonEnv;
use crate::grade::quantity::{self, Written};
use crate::grade::run_once;
use crate::model::{Block, LabDirective, Lesson, Question, QuestionKind};

/// An error for each block that shows the answer of a numeric question below it.
pub fn spoilers(lesson: &Lesson, registry: &Registry) -> Vec<Diagnostic> {
    let runs: Vec<(&LabDirective, &Schema, RunData)> =
        lesson.labs().filter_map(|lab| ran(lab, registry)).collect();
    let env = LessonEnv::unrun(lesson);
    let env = runs.iter().fold(env, |env, (lab, schema, data)| env.with_run(&lab.id, schema, data));
    let mut found = Vec::new();
    for (at, block) in lesson.blocks.iter().enumerate() {
        let Block::Question(question) = block else { continue };
        let QuestionKind::Numeric { answer, unit, shown: None, .. } = &question.kind else {
            continue;
        };
        let Ok(Known::Number(answer)) = evaluate(&answer.expr, &env) else { continue };
        let secret = Secret { answer, unit: unit.as_deref() };
        if numbers(&question.prompt).any(|one| secret.is_told(&one)) {
            continue;
        }
        for before in &lesson.blocks[..at] {
            let run = runs.iter().find(|(lab, ..)| before.as_lab() == Some(lab));
            let shown =
                secret.shown_in(before, lesson, run.map(|(_, schema, data)| (*schema, data)));
            found.extend(shown.map(|shown| shown.error(lesson, question)));
        }
    }
    found
}

/// The reports of a lab with the lesson's settings; none if it takes a while or does not run so.
fn ran<'l>(
    lab: &'l LabDirective,
    registry: &'l Registry,
) -> Option<(&'l LabDirective, &'l Schema, RunData)> {
    let found = registry.find(&lab.kind.value).ok()?;
    let schema = found.schema();
    if schema.is_live() {
        return None;
    }
    Some((lab, schema, run_once(found, &lab.settings()).ok()?))
}

/// An answer that is not to be shown.
#[derive(Clone, Copy)]
struct Secret<'q> {
    answer: f64,
    unit: Option<&'q str>,
}

/// Where it is shown all the same.
struct Shown {
    place: Place,
    by: String,
}

impl Shown {
    fn error(self, lesson: &Lesson, question: &Question) -> Diagnostic {
        let line = lesson.source.line(question.place.start);
        let message = format!(
            "{} gives the answer of `{}`, which is asked for in line {line}",
            self.by, question.id
        );
        let help = format!(
            "ask before, change the numbers of the question, or write shown = \"why\" in `{}` if reading it off is what is asked",
            question.id
        );
        lesson.source.error(Code::Spoiler, self.place, message).help(help)
    }
}

impl Secret<'_> {
    /// Whether it is too short to be recognised without its unit.
    fn is_common(&self) -> bool {
        let digits = number(self.answer);
        let mantissa = digits.split('e').next().unwrap_or(&digits).replace(['.', '-'], "");
        mantissa.trim_matches('0').len() < 3
    }

    /// Whether a number in a text is this one.
    fn is_told(&self, token: &Token<'_>) -> bool {
        let is_right = |written: Written| written.is(self.answer);
        let digits = token.digits.replace(',', "");
        let with_unit = |behind: &str| {
            quantity::read(&format!("{digits} {behind}"), self.unit).is_ok_and(is_right)
        };
        let plain = quantity::read(&digits, None).is_ok_and(is_right);
        let unit = self.unit.is_some_and(|unit| {
            let first = unit.split(' ').next().unwrap_or(unit);
            token.behind.is_some_and(|behind| {
                let same = |a: &str, b: &str| {
                    a.trim_end_matches('s').eq_ignore_ascii_case(b.trim_end_matches('s'))
                };
                same(behind, first)
            })
        });
        if self.is_common() {
            return plain && unit;
        }
        plain || token.behind.is_some_and(with_unit)
    }

    /// Whether a value of a picture, a setting or a knob reads like it.
    fn is_value(&self, value: f64) -> bool {
        let digits = |x| significant(x, 4);
        let scaled = self.answer * self.unit.map_or(1.0, quantity::scale);
        !self.is_common() && [self.answer, scaled].iter().any(|x| digits(value) == digits(*x))
    }

    fn is_in(&self, value: &Value) -> bool {
        match value {
            Value::Int(_) | Value::Float(_) => value.as_f64().is_some_and(|x| self.is_value(x)),
            Value::Text(text) => self.is_written(text),
            Value::Array(items) => items.iter().any(|item| self.is_in(item)),
            Value::Table(entries) => entries.values().any(|entry| self.is_in(entry)),
            Value::Bool(_) => false,
        }
    }

    fn is_written(&self, text: &str) -> bool {
        numbers(text).any(|token| self.is_told(&token))
    }

    /// The first place of a block that shows it; `run` is what came of the block's lab.
    fn shown_in(
        &self,
        block: &Block,
        lesson: &Lesson,
        run: Option<(&Schema, &RunData)>,
    ) -> Option<Shown> {
        match block {
            Block::Prose(prose) => {
                let source = &lesson.source;
                let lines = prose.markdown.lines().enumerate();
                let mut told = lines.filter_map(|(line, text)| {
                    let token = numbers(text).find(|token| self.is_told(token))?;
                    let start = source.text.split_inclusive('\n').take(prose.line + line - 1);
                    let start = start.map(str::len).sum::<usize>() + token.at;
                    Some((Place::new(start, start + token.digits.len()), token.digits))
                });
                told.next()
                    .map(|(place, digits)| Shown { place, by: format!("`{digits}` in the text") })
            }
            Block::Lab(lab) => self.shown_by(lab, run),
            Block::Predict(predict) => {
                let texts = [Some(&predict.prompt), predict.explain.as_ref()];
                self.asked_in(texts, predict.place, lesson)
            }
            Block::Question(question) => {
                let texts = [Some(&question.prompt), question.explain.as_ref()];
                self.asked_in(texts, question.place, lesson)
            }
            Block::Check(_) | Block::Notes(_) => None,
        }
    }

    /// Texts of a directive, as they stand in the file.
    fn asked_in(
        &self,
        texts: [Option<&String>; 2],
        place: Place,
        lesson: &Lesson,
    ) -> Option<Shown> {
        let text = texts.into_iter().flatten().find(|text| self.is_written(text))?;
        let token = numbers(text).find(|token| self.is_told(token))?;
        let line = text[..token.at].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[line..token.at + token.digits.len()];
        let at = lesson.source.slice(place).find(before).map_or(place, |at| {
            let end = place.start + at + before.len();
            Place::new(end - token.digits.len(), end)
        });
        Some(Shown { place: at, by: format!("`{}` in this text", token.digits) })
    }

    fn shown_by(&self, lab: &LabDirective, run: Option<(&Schema, &RunData)>) -> Option<Shown> {
        if let Some(setting) = lab.set.iter().find(|setting| self.is_in(&setting.value)) {
            let by = format!("the setting `{}`", setting.name);
            return Some(Shown { place: setting.value_place, by });
        }
        let is_shown = |values: &Vec<Value>| values.iter().any(|value| self.is_in(value));
        let turned = lab.knobs.iter().find(|knob| {
            knob.values.as_ref().is_some_and(is_shown)
                || knob.default.as_ref().is_some_and(|one| self.is_in(one))
        });
        if let Some(knob) = turned {
            let by = format!("a value of the knob `{}`", knob.param);
            return Some(Shown { place: knob.place, by });
        }
        let (schema, data) = run?;
        let all = schema.panels.iter().map(|panel| (panel.name.as_str(), lab.place));
        let named = lab.panels.iter().map(|panel| (panel.name.as_str(), panel.place));
        let panels: Vec<_> = if lab.panels.is_empty() { all.collect() } else { named.collect() };
        panels.into_iter().find_map(|(name, place)| {
            let (_, frame) = data.frames.get(name)?;
            let by = format!("panel {name} of lab {}", lab.id);
            self.is_drawn(frame).then_some(Shown { place, by })
        })
    }

    /// Whether a picture has it among the numbers that it writes out.
    fn is_drawn(&self, frame: &Frame) -> bool {
        let is_value = |value: f64| self.is_value(value);
        match frame {
            Frame::Table(table) => table.rows.iter().flatten().any(|cell| self.is_in(cell)),
            Frame::Bars(bars) => bars.bars.iter().any(|bar| {
                bar.value.is_some_and(is_value)
                    || self.is_written(&bar.remark)
                    || self.is_written(&bar.label)
            }),
            Frame::Stacks(stacks) => stacks.stacks.iter().any(|stack| {
                let values = || stack.values.iter().copied().flatten();
                values().any(is_value) || is_value(values().sum()) || self.is_written(&stack.remark)
            }),
            Frame::Graph(graph) => {
                let facts = graph.nodes.iter().flat_map(|node| &node.facts);
                facts.into_iter().any(|fact| self.is_in(&fact.value))
            }
            Frame::Panes(panes) => panes.iter().any(|pane| self.is_drawn(&pane.frame)),
            Frame::FrameSequence(sequence) => {
                sequence.at(sequence.cover).is_some_and(|pane| self.is_drawn(&pane.frame))
            }
            Frame::Text(text) => self.is_written(text),
            Frame::StyledText(text) => self.is_written(&text.note),
            // What these draw are lengths, colours and steps.
            Frame::HeatMap(_)
            | Frame::Histogram(_)
            | Frame::BoxPlot(_)
            | Frame::Scatter(_)
            | Frame::Cells(_)
            | Frame::Images(_)
            | Frame::Timeline(_)
            | Frame::MessageTrace(_)
            | Frame::Kernel(_) => false,
        }
    }
}

/// A number in a text.
struct Token<'t> {
    /// Where it begins.
    at: usize,
    digits: &'t str,
    /// The word behind it.
    behind: Option<&'t str>,
}

/// The numbers of a text in order: digits, `.` and `_` between them, an exponent.
fn numbers(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let at = from + text[from..].find(|c: char| c.is_ascii_digit())?;
            let rest = &text[at..];
            let mut length = run_of(rest, |c| c.is_ascii_digit() || matches!(c, '_' | ','));
            let groups = rest[..length].trim_end_matches(',').split(',').skip(1);
            if groups.into_iter().any(|group| group.len() != 3) {
                length = rest.find(',').unwrap_or(length);
            }
            if let Some(fraction) = rest[length..].strip_prefix('.') {
                let digits = run_of(fraction, |c| c.is_ascii_digit());
                length += if digits > 0 { digits + 1 } else { 0 };
            }
            let exponent =
                rest[length..].strip_prefix('e').map(|rest| rest.strip_prefix('-').unwrap_or(rest));
            if let Some(exponent) = exponent {
                let digits = run_of(exponent, |c| c.is_ascii_digit());
                if digits > 0 {
                    length = rest.len() - exponent.len() + digits;
                }
            }
            from = at + length;
            let digits = rest[..length].trim_end_matches([',', '_']);
            // Part of a name, such as `fp16` or `H100`.
            let is_name = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if !is_name {
                return Some(Token { at, digits, behind: word(&text[from..]) });
            }
        }
    })
}

fn run_of(text: &str, is_in: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_in(c)).unwrap_or(text.len())
}

/// The word or unit at the beginning of a text.
fn word(text: &str) -> Option<&str> {
    let text = text.strip_prefix(['*', '`']).unwrap_or(text).trim_start_matches(['*', ' ', '`']);
    let word = &text[..run_of(text, |c| c.is_alphabetic() || matches!(c, '/' | '%' | 'µ'))];
    (!word.is_empty()).then_some(word)
}
