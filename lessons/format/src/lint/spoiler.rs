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
use mlsys_lab::schema::{Label, Schema};
use mlsys_lab::value::{Value, number, significant};

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::grade::quantity::{self, Written};
use crate::lint::labs::Labs;
use crate::model::{Block, LabDirective, Lesson, Question, QuestionKind};

/// An error for each block that shows the answer of a numeric question below it, in one of the question's draws and, where
/// the block is a question, in one of its own.
pub fn spoilers(lesson: &Lesson, registry: &Registry) -> Vec<Diagnostic> {
    let labs = Labs::run(lesson, registry);
    let env = labs.env(lesson);
    let page: Vec<Shown<'_>> =
        lesson.blocks.iter().map(|block| Shown::new(block, lesson)).collect();
    let mut found = Vec::new();
    for (at, block) in lesson.blocks.iter().enumerate() {
        let Block::Question(question) = block else { continue };
        let QuestionKind::Numeric { unit, shown: None, .. } = &question.kind else { continue };
        let unit = unit.as_deref();
        let before: Vec<(&Shown<'_>, Vec<Reading>)> =
            page[..at].iter().map(|shown| (shown, shown.readings(unit))).collect();
        let mut told = vec![false; at];
        for (label, draw) in draws(question, lesson) {
            let QuestionKind::Numeric { answer, .. } = &draw.kind else { continue };
            let Ok(Known::Number(answer)) = evaluate(&answer.expr, &env) else { continue };
            let secret = Secret { answer, unit };
            if numbers(&draw.prompt).any(|one| secret.is_told(&one)) {
                continue;
            }
            for (index, (shown, readings)) in before.iter().enumerate() {
                let is_lab = shown.block.as_lab().is_some();
                if told[index] || !is_lab && !readings.iter().any(|one| secret.is_read(one)) {
                    continue;
                }
                let place = shown.place_of(&secret, lesson, &labs);
                told[index] = place.is_some();
                found.extend(place.map(|place| place.error(lesson, question, &label)));
            }
        }
    }
    found
}

/// A question with each of its draws, and what tells them apart; the question as it is where it draws nothing.
fn draws(question: &Question, lesson: &Lesson) -> Vec<(String, Question)> {
    let Some(variants) = &question.variants else {
        return vec![(String::new(), question.clone())];
    };
    let draws = variants.draws(&lesson.front.id).into_iter();
    let labelled =
        |drawn: Vec<f64>| (format!(" with {}", variants.label(&drawn)), variants.with(drawn));
    draws.map(labelled).collect()
}

/// A block as it is shown to all learners: once, or a question with each of its draws.
struct Shown<'l> {
    block: &'l Block,
    draws: Vec<Block>,
}

impl<'l> Shown<'l> {
    fn new(block: &'l Block, lesson: &Lesson) -> Self {
        let draws = match block {
            Block::Question(question) if question.variants.is_some() => {
                let draws = draws(question, lesson).into_iter();
                draws.map(|(_, question)| Block::Question(question)).collect()
            }
            Block::Prose(_)
            | Block::Lab(_)
            | Block::Predict(_)
            | Block::Question(_)
            | Block::Check(_)
            | Block::Notes(_) => Vec::new(),
        };
        Self { block, draws }
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        let own = self.draws.is_empty().then_some(self.block);
        own.into_iter().chain(&self.draws)
    }

    /// The numbers in its texts.
    fn readings(&self, unit: Option<&str>) -> Vec<Reading> {
        let texts = self.blocks().flat_map(texts);
        texts.flat_map(|text| numbers(text)).map(|token| Reading::new(&token, unit)).collect()
    }

    /// The first place that shows an answer.
    fn place_of(&self, secret: &Secret<'_>, lesson: &Lesson, labs: &Labs<'_>) -> Option<Told> {
        let run = self.block.as_lab().and_then(|lab| labs.of(lab));
        self.blocks().find_map(|block| secret.shown_in(block, lesson, run))
    }
}

/// The texts of a block that are read before what follows it.
fn texts(block: &Block) -> Vec<&String> {
    match block {
        Block::Prose(prose) => vec![&prose.markdown],
        Block::Predict(predict) => [&predict.prompt].into_iter().chain(&predict.explain).collect(),
        Block::Question(question) => {
            [&question.prompt].into_iter().chain(&question.explain).collect()
        }
        Block::Lab(_) | Block::Check(_) | Block::Notes(_) => Vec::new(),
    }
}

/// An answer that is not to be shown.
#[derive(Clone, Copy)]
struct Secret<'q> {
    answer: f64,
    unit: Option<&'q str>,
}

/// Where it is shown all the same.
struct Told {
    place: Place,
    by: String,
}

impl Told {
    /// `label` is the question's draw.
    fn error(self, lesson: &Lesson, question: &Question, label: &str) -> Diagnostic {
        let line = lesson.source.line(question.place.start);
        let message = format!(
            "{} gives the answer of `{}`{label}, which is asked for in line {line}",
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
        self.is_read(&Reading::new(token, self.unit))
    }

    fn is_read(&self, reading: &Reading) -> bool {
        let is_right = |written: Option<Written>| written.is_some_and(|one| one.is(self.answer));
        let Reading { plain, with_unit, has_unit } = *reading;
        match is_right(plain) || is_right(with_unit) {
            false => false,
            true if self.is_common() => is_right(plain) && has_unit,
            true => true,
        }
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
    ) -> Option<Told> {
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
                    .map(|(place, digits)| Told { place, by: format!("`{digits}` in the text") })
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
    fn asked_in(&self, texts: [Option<&String>; 2], place: Place, lesson: &Lesson) -> Option<Told> {
        let text = texts.into_iter().flatten().find(|text| self.is_written(text))?;
        let token = numbers(text).find(|token| self.is_told(token))?;
        let line = text[..token.at].rfind('\n').map_or(0, |at| at + 1);
        let before = &text[line..token.at + token.digits.len()];
        let at = lesson.source.slice(place).find(before).map_or(place, |at| {
            let end = place.start + at + before.len();
            Place::new(end - token.digits.len(), end)
        });
        Some(Told { place: at, by: format!("`{}` in this text", token.digits) })
    }

    fn shown_by(&self, lab: &LabDirective, run: Option<(&Schema, &RunData)>) -> Option<Told> {
        if let Some(setting) = lab.set.iter().find(|setting| self.is_in(&setting.value)) {
            let by = format!("the setting `{}`", setting.name);
            return Some(Told { place: setting.value_place, by });
        }
        let is_shown = |values: &Vec<Value>| values.iter().any(|value| self.is_in(value));
        let turned = lab.knobs.iter().find(|knob| {
            knob.values.as_ref().is_some_and(is_shown)
                || knob.default.as_ref().is_some_and(|one| self.is_in(one))
        });
        if let Some(knob) = turned {
            let by = format!("a value of the knob `{}`", knob.param);
            return Some(Told { place: knob.place, by });
        }
        let (schema, data) = run?;
        let all = schema.panels.iter().map(|panel| (panel.name.as_str(), lab.place));
        let named = lab.panels.iter().map(|panel| (panel.name.as_str(), panel.place));
        let panels: Vec<_> = if lab.panels.is_empty() { all.collect() } else { named.collect() };
        // What a clock gives is another number in the next run, and no answer.
        let is_measured = |name: &str| {
            let panel = schema.panel(name);
            panel.is_some_and(|panel| schema.panel_label(panel) == Some(Label::Measured))
        };
        panels.into_iter().filter(|(name, _)| !is_measured(name)).find_map(|(name, place)| {
            let (_, frame) = data.frames.get(name)?;
            let by = format!("panel {name} of lab {}", lab.id);
            self.is_drawn(frame).then_some(Told { place, by })
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

/// A number in a text as it reads where a unit is asked for.
#[derive(Clone, Copy)]
struct Reading {
    plain: Option<Written>,
    /// With the word behind it as its unit.
    with_unit: Option<Written>,
    /// Whether that word is the unit that is asked for.
    has_unit: bool,
}

impl Reading {
    fn new(token: &Token<'_>, unit: Option<&str>) -> Self {
        let digits = token.digits.replace(',', "");
        let with_unit = |behind: &str| quantity::read(&format!("{digits} {behind}"), unit).ok();
        let has_unit = unit.is_some_and(|unit| {
            let first = unit.split(' ').next().unwrap_or(unit);
            token.behind.is_some_and(|behind| {
                let same = |a: &str, b: &str| {
                    a.trim_end_matches('s').eq_ignore_ascii_case(b.trim_end_matches('s'))
                };
                same(behind, first)
            })
        });
        let plain = quantity::read(&digits, None).ok();
        Self { plain, with_unit: token.behind.and_then(with_unit), has_unit }
    }
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
