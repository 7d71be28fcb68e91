//! Files that an author starts from: a new lesson, and the skeleton of a translation, which has the original's prose and
//! texts, to be written over in another language.

use mlsys_lab::value::toml_lines;

use crate::diagnostic::one_line;
use crate::model::{
    Asked, Block, Lesson, LessonId, Predict, PredictKind, Question, QuestionKind, Varying,
};
use crate::parse::FORMAT;

impl Lesson {
    /// A short text that changes when anything that a translation carries does: title, prose, prompts, hints, choices.
    /// What only the original has, such as settings and tolerances, leaves it as it is.
    pub fn fingerprint(&self) -> String {
        let text = format!("{}\n{}", self.front.title, texts(self));
        // FNV-1a, 64 bits folded to 32: collisions need no defence here.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
    }
}

/// A translation file of a lesson that still has the original's words.
pub fn skeleton(lesson: &Lesson, lang: &str) -> String {
    format!(
        "+++\nformat = {FORMAT}\nid = {}\nlang = {}\ntitle = {}\n\
             # The original as it was when this was translated; `mlsys lesson check` tells when it has changed.\n\
             of = {}\n+++\n{}",
        toml_lines(lesson.front.id.as_str()),
        toml_lines(lang),
        toml_lines(&lesson.front.title),
        toml_lines(&lesson.fingerprint()),
        texts(lesson),
    )
}

/// Everything after the front matter.
fn texts(lesson: &Lesson) -> String {
    let mut writer = Writer(String::new());
    lesson.blocks.iter().for_each(|block| writer.block(block));
    writer.0
}

struct Writer(String);

impl Writer {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Prose(prose) => self.paragraph(&prose.markdown),
            Block::Notes(notes) => {
                let marks = "`".repeat(longest_fence(&notes.markdown).max(2) + 1);
                self.paragraph(&format!("{marks}{{notes}}\n{}\n{marks}", notes.markdown));
            }
            Block::Lab(lab) => {
                let mut body = String::new();
                line(&mut body, "title", lab.title.as_deref());
                for panel in &lab.panels {
                    if let Some(title) = &panel.title {
                        let (name, title) = (toml_lines(&panel.name), toml_lines(title));
                        body.push_str(&format!("[[panel]]\nname = {name}\ntitle = {title}\n"));
                    }
                }
                self.directive(block, &body);
            }
            Block::Predict(predict) => self.directive(block, &predict_texts(predict)),
            Block::Question(question) => self.directive(block, &question_texts(question)),
            Block::Check(check) => {
                let mut body = String::new();
                line(&mut body, "why", check.written().why.as_deref());
                self.directive(block, &body);
            }
        }
    }

    fn paragraph(&mut self, text: &str) {
        self.0 += text;
        self.0 += "\n\n";
    }

    /// Every directive stands in the skeleton, since it divides the prose.
    fn directive(&mut self, block: &Block, body: &str) {
        let (name, id) = (block.directive(), block.id().unwrap_or(""));
        let marks = "`".repeat(longest_fence(body).max(2) + 1);
        self.paragraph(&format!("{marks}{{{name}}} {id}\n{body}{marks}"));
    }
}

/// The longest run of backticks at the start of a line.
fn longest_fence(text: &str) -> usize {
    text.lines()
        .map(|line| {
            let line = line.trim_start();
            line.len() - line.trim_start_matches('`').len()
        })
        .max()
        .unwrap_or(0)
}

fn predict_texts(predict: &Predict) -> String {
    let (predict, mut body) = (predict.written(), String::new());
    line(&mut body, "prompt", Some(&predict.prompt));
    if let PredictKind::Choice { choices } = &predict.kind {
        list(&mut body, "choices", choices);
    }
    list(&mut body, "say", predict.outcomes.iter().map(|outcome| &outcome.say));
    line(&mut body, "explain", predict.explain.as_deref());
    body
}

fn question_texts(question: &Question) -> String {
    let question = question.written();
    let (mut body, kind) = (String::new(), &question.kind);
    line(&mut body, "prompt", Some(&question.prompt));
    if let QuestionKind::Match { pairs, extra } = kind {
        list(&mut body, "left", pairs.iter().map(|pair| &pair.left));
        list(&mut body, "right", pairs.iter().map(|pair| &pair.right));
        list(&mut body, "extra", extra);
    } else {
        if let QuestionKind::Withheld(Asked::Match { left, .. }) = kind {
            list(&mut body, "left", left);
        } else if let QuestionKind::Text { answer, .. } = kind {
            list(&mut body, "accept", [answer]);
        }
        list(&mut body, "choices", kind.choices());
    }
    list(&mut body, "say", kind.says());
    if let QuestionKind::Kernel(task) = kind {
        list(&mut body, "limits", task.limits.iter().map(|limit| &limit.say));
    }
    list(&mut body, "hints", &question.hints);
    line(&mut body, "explain", question.explain.as_deref());
    body
}

fn line(body: &mut String, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        body.push_str(&format!("{key} = {}\n", toml_lines(text)));
    }
}

fn list<'t>(body: &mut String, key: &str, texts: impl IntoIterator<Item = &'t String>) {
    let mut texts = texts.into_iter().peekable();
    if texts.peek().is_some() {
        body.push_str(&format!("{key} = [\n"));
        texts.for_each(|text| body.push_str(&format!("  {},\n", toml_lines(text))));
        body.push_str("]\n");
    }
}

const TEMPLATE: &str = include_str!("template.md");

/// A commented lesson with one of everything; it passes `mlsys lesson check` as it is.
pub fn new_lesson(id: &LessonId, title: &str) -> String {
    let title = one_line(title);
    TEMPLATE
        .replace("@ID@", id.as_str())
        .replace("\"@TITLE@\"", &toml_lines(&title))
        .replace("@TITLE@", &title)
}
