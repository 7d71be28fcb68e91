//! Which pictures of a lab are shown, and how.

use std::collections::BTreeSet;

use mlsys_lab::Schema;
use mlsys_lab::report::RunData;
use mlsys_lesson::{Block, Lesson};
use mlsys_view::panel::View;

#[derive(Default)]
pub struct Pictures {
    /// The panels that are shown, by index into the schema.
    pub panels: Vec<usize>,
    /// The panels the lesson names, or all of the schema's, those that wait for an answer among them.
    pub listed: Vec<Listed>,
    pub chosen: usize,
    pub views: Vec<View>,
    /// The step that all charts point at.
    pub cursor: Option<u64>,
    /// What the run had reported when the view was frozen, while it is.
    pub frozen: Option<Box<RunData>>,
}

/// A panel of the lesson.
pub struct Listed {
    /// By index into the schema.
    pub panel: usize,
    pub title: Option<String>,
    /// The question, prediction or try that has to be done before it is shown.
    pub until: Option<String>,
}

impl Listed {
    /// A panel that is called by its name and shown from the beginning.
    pub fn untitled(panel: usize) -> Self {
        Self { panel, title: None, until: None }
    }
}

impl Pictures {
    /// What the lesson calls a panel, if it says so.
    pub fn title(&self, panel: usize) -> Option<&str> {
        self.listed.iter().find(|listed| listed.panel == panel)?.title.as_deref()
    }

    /// The panel this many places after the one drawn large, by index into the schema.
    pub fn after(&self, places: usize) -> Option<usize> {
        self.panels.get((self.chosen + places) % self.panels.len().max(1)).copied()
    }

    pub fn advance(&mut self, places: usize) {
        self.chosen = (self.chosen + places) % self.panels.len().max(1);
    }

    /// Shows the panels that none of these open tasks holds back; a chosen one stays chosen, the first one the first.
    pub fn release(&mut self, open: &BTreeSet<String>) {
        if self.listed.iter().all(|listed| listed.until.is_none()) {
            return;
        }
        let chosen = self.after(0).filter(|_| self.chosen > 0);
        let is_held = |listed: &&Listed| listed.until.as_ref().is_some_and(|id| open.contains(id));
        let seen = self.listed.iter().filter(|listed| !is_held(listed));
        self.panels = seen.map(|listed| listed.panel).collect();
        let place = self.panels.iter().position(|panel| Some(*panel) == chosen);
        self.chosen = place.unwrap_or(0);
    }

    /// What is said of each panel that waits for a task of its lesson.
    pub fn held_back(&self, schema: &Schema, lesson: &Lesson) -> Vec<String> {
        let held = self.listed.iter().filter(|listed| !self.panels.contains(&listed.panel));
        let said = held.filter_map(|listed| {
            let name = &schema.panels.get(listed.panel)?.name;
            let id = listed.until.as_deref()?;
            let done = match lesson.tasks().find(|task| task.id() == Some(id))? {
                Block::Predict(predict) if predict.turn.is_some() => format!("try {id} is done"),
                Block::Predict(_) => format!("prediction {id} is made and its run has begun"),
                Block::Question(_)
                | Block::Prose(_)
                | Block::Lab(_)
                | Block::Check(_)
                | Block::Notes(_) => format!("question {id} is answered rightly"),
            };
            Some(format!("{name} is shown when {done}"))
        });
        said.collect()
    }
}
