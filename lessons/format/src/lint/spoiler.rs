//! Answers of numeric questions that are shown before they are asked for.
//!
//! The answer is looked for, at the precision in which it is shown, in the text above the question and in all that
//! directives above it show as text, in the values of settings and knobs of the labs above it, and in the panels, the
//! metrics and the headline that the lesson shows of those labs that answer at once, run as the lesson sets them. So that
//! numbers which are there for another reason do not drown authors,
//!
//! - a number counts alone if the answer has three significant digits or more, zeros at the end left out; with fewer, only
//!   if the answer's unit stands behind it;
//! - a number that the question itself gives is an input;
//! - a panel that is held back until the question, or one below it, is answered shows nothing before.

use mlsys_expr::{Value as Known, evaluate};
use mlsys_lab::Registry;
use mlsys_lab::frame::{CellRow, Cells, Frame, Milestone, Timeline, Total};
use mlsys_lab::report::RunData;
use mlsys_lab::schema::{Draw, Label, Panel, Schema};
use mlsys_lab::value::{Value, number, significant};

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::grade::quantity::{self, Written};
use crate::lint::labs::Labs;
use crate::lint::numbers::{Reading, Token, numbers};
use crate::model::{Block, LabDirective, Lesson, PanelRef, PredictKind, Question, QuestionKind};

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
        let later = lesson.blocks[at..].iter().filter_map(Block::as_question);
        let later: Vec<&str> = later.map(|question| question.id.as_str()).collect();
        let before: Vec<(&Shown<'_>, Vec<Reading>)> =
            page[..at].iter().map(|shown| (shown, shown.readings(unit))).collect();
        let mut told = vec![false; at];
        for (label, draw) in draws(question, lesson) {
            let QuestionKind::Numeric { answer, .. } = &draw.kind else { continue };
            let Ok(Known::Number(answer)) = evaluate(&answer.expr, &env) else { continue };
            let secret = Secret { answer, unit, later: &later };
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
        Block::Predict(predict) => {
            let choices = match &predict.kind {
                PredictKind::Choice { choices } => choices.as_slice(),
                PredictKind::Numeric { .. } => &[],
            };
            let said = predict.outcomes.iter().map(|outcome| &outcome.say);
            [&predict.prompt]
                .into_iter()
                .chain(&predict.explain)
                .chain(said)
                .chain(choices)
                .collect()
        }
        Block::Question(question) => {
            let choices = question.kind.choices();
            [&question.prompt].into_iter().chain(&question.explain).chain(choices).collect()
        }
        Block::Lab(lab) => {
            let panels = lab.panels.iter().filter_map(|panel| panel.title.as_ref());
            lab.title.iter().chain(panels).collect()
        }
        Block::Check(check) => vec![&check.assert.source],
        Block::Notes(_) => Vec::new(),
    }
}

/// An answer that is not to be shown.
#[derive(Clone, Copy)]
struct Secret<'q> {
    answer: f64,
    unit: Option<&'q str>,
    /// The question and those below it: panels that wait for one of them are not shown yet.
    later: &'q [&'q str],
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
            Block::Lab(lab) => {
                self.asked_in(block, lab.place, lesson).or_else(|| self.shown_by(lab, run))
            }
            Block::Predict(predict) => self.asked_in(block, predict.place, lesson),
            Block::Question(question) => self.asked_in(block, question.place, lesson),
            Block::Check(check) => self.asked_in(block, check.place, lesson),
            Block::Notes(_) => None,
        }
    }

    /// Texts of a directive, as they stand in the file.
    fn asked_in(&self, block: &Block, place: Place, lesson: &Lesson) -> Option<Told> {
        let text = texts(block).into_iter().find(|text| self.is_written(text))?;
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
        // What a clock gives is another number in the next run, and no answer.
        let is_metric = |name: &str| {
            let metric = schema.metric(name);
            let is_known = metric.is_some_and(|metric| schema.label(metric) != Label::Measured);
            is_known && data.metric(name).is_some_and(|value| self.is_in(&value))
        };
        if let Some(metric) = lab.metrics.iter().find(|metric| is_metric(&metric.value)) {
            let by = format!("the metric `{}`", metric.value);
            return Some(Told { place: metric.place, by });
        }
        if let Some(headline) = schema.headline.as_ref().filter(|one| is_metric(&one.metric)) {
            let by = format!("`{}` below the panels of lab {}", headline.label, lab.id);
            return Some(Told { place: lab.place, by });
        }
        let is_seen = |panel: &&PanelRef| {
            let until = panel.until.as_ref().map(|until| until.value.as_str());
            until.is_none_or(|until| !self.later.contains(&until))
        };
        let all = schema.panels.iter().map(|panel| (panel, lab.place));
        let named = lab.panels.iter().filter(is_seen);
        let named = named.filter_map(|panel| Some((schema.panel(&panel.name)?, panel.place)));
        let panels: Vec<_> = if lab.panels.is_empty() { all.collect() } else { named.collect() };
        let tells = |panel: &Panel| {
            let frame = data.frames.get(panel.name.as_str()).filter(|_| panel.draw == Draw::Frame);
            let is_drawn = frame.is_some_and(|(_, frame)| self.is_drawn(frame));
            // Curves and runs that have ended are points without their numbers.
            let lists = matches!(panel.draw, Draw::Bars | Draw::Table);
            is_drawn || lists && panel.metrics.iter().any(|name| is_metric(name))
        };
        let is_measured = |panel: &Panel| schema.panel_label(panel) == Some(Label::Measured);
        let (panel, place) =
            panels.into_iter().find(|(panel, _)| !is_measured(panel) && tells(panel))?;
        Some(Told { place, by: format!("panel {} of lab {}", panel.name, lab.id) })
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
            Frame::Cells(cells) => self.is_in_cells(cells),
            Frame::Timeline(timeline) => self.is_on_timeline(timeline),
            Frame::Histogram(histogram) => {
                histogram.levels.iter().any(|level| self.is_written(&level.label))
            }
            Frame::Images(images) => {
                images.images.iter().any(|image| self.is_written(&image.label))
            }
            // What these draw are lengths, colours and steps.
            Frame::HeatMap(_)
            | Frame::BoxPlot(_)
            | Frame::Scatter(_)
            | Frame::MessageTrace(_)
            | Frame::Kernel(_) => false,
        }
    }

    fn is_in_cells(&self, cells: &Cells) -> bool {
        let is_in_row = |row: &CellRow| {
            let mut texts = row.cells.iter().flatten().map(|cell| &cell.text);
            self.is_written(&row.label)
                || self.is_written(&row.remark)
                || texts.any(|text| self.is_written(text))
        };
        self.is_written(&cells.note) || cells.rows.iter().any(is_in_row)
    }

    /// Marks are named with their places, and a total with its peak.
    fn is_on_timeline(&self, timeline: &Timeline) -> bool {
        let is_mark = |mark: &Milestone| self.is_value(mark.at) || self.is_written(&mark.label);
        let peak = timeline.total.as_ref().and_then(Total::peak);
        peak.is_some_and(|(at, most)| self.is_value(at) || self.is_value(most))
            || timeline.marks.iter().any(is_mark)
            || timeline.spans.iter().any(|span| self.is_written(&span.label))
    }
}
