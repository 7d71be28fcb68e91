//! Commands on the chosen picture: marks, steps, tables, charts, and the whole screen.

use mlsys_lab::frame::table::Filter;
use mlsys_lab::frame::{Frame, Graph, Table};
use mlsys_lab::schema::{Draw, Scale};
use mlsys_view::earlier;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::kernel::Play;
use mlsys_view::panel::{
    Extent, FrameView, Inspect, Smoothing, Tint, Way, extent, is_smoothed, step_after, step_before,
};

use crate::command::{Motion, Place};
use crate::list::TextField;
use crate::state::{App, FieldOf, LabState, Overlay, Side};

impl App {
    fn move_mark(&mut self, motion: Motion) -> bool {
        let half = self.half_screen();
        let way = match motion {
            Motion::Up => Way::Up(1),
            Motion::Down => Way::Down(1),
            Motion::PageUp => Way::Up(half),
            Motion::PageDown => Way::Down(half),
            Motion::Top => Way::First,
            Motion::Bottom => Way::Last,
        };
        self.lab_mut().is_some_and(|lab| go(lab, way))
    }

    pub(super) fn sort_table(&mut self) {
        self.screen.notice = self.with_table(|table, view| view.sort_marked(&table.columns));
    }

    /// Opens the field for the filter of the chosen table; it holds the last one.
    pub(super) fn open_row_filter(&mut self) {
        let text = self.with_table(|_, view| {
            let filter = view.filter.as_ref();
            filter.map_or(String::new(), |filter| filter.text.clone())
        });
        if let Some(text) = text {
            self.overlay = Some(Overlay::Field(FieldOf::Rows, TextField::over_the_page(text)));
        }
    }

    /// Filters the chosen table as the field says, or says what is wrong with it.
    pub(super) fn filter_rows(&mut self) {
        let Some(Overlay::Field(FieldOf::Rows, entry)) = &self.overlay else { return };
        let text = entry.text().to_owned();
        let complaint = self.with_table(|table, view| {
            let read = Filter::read(&text, &table.columns);
            read.map(|filter| view.filter = filter).err().map(|error| error.to_string())
        });
        match (complaint.flatten(), self.overlay.as_mut().and_then(Overlay::field)) {
            (Some(complaint), Some(field)) => field.complaint = Some(complaint),
            (Some(_) | None, _) => self.overlay = None,
        }
    }

    fn with_table<T>(&mut self, act: impl FnOnce(&Table, &mut FrameView) -> T) -> Option<T> {
        self.with_chosen(|frame, view| Some(act(frame.table()?, view)))?
    }

    fn with_graph<T>(&mut self, act: impl FnOnce(&Graph, &mut FrameView) -> T) -> Option<T> {
        self.with_chosen(|frame, view| Some(act(frame.graph()?, view)))?
    }

    fn with_chosen<T>(&mut self, act: impl FnOnce(&Frame, &mut FrameView) -> T) -> Option<T> {
        let lab = self.page.as_mut()?.lab_mut()?;
        let index = lab.chosen()?;
        look_at(lab, index, &self.screen.look.glyphs, act)
    }

    fn is_chosen(&self, test: impl Fn(&Frame) -> bool) -> bool {
        let scene = self.lab().and_then(|lab| lab.scene(lab.chosen()?));
        let frame = scene.and_then(|scene| scene.frame(self.glyphs()));
        frame.is_some_and(|frame| test(frame.as_ref()))
    }

    pub(super) fn has_table(&self) -> bool {
        self.is_chosen(|frame| frame.table().is_some_and(|table| !table.columns.is_empty()))
    }

    /// Whether the chosen picture is one, other than a chart, with parts that can be looked at closer.
    pub(super) fn has_space(&self) -> bool {
        self.is_chosen(|frame| frame.graph().is_some() || frame.timeline().is_some())
    }

    pub(super) fn has_timeline(&self) -> bool {
        self.is_chosen(|frame| frame.timeline().is_some())
    }

    /// What the colour of bars tells in the chosen timeline; nothing if the picture is none.
    pub fn tint(&self) -> Option<Tint> {
        let lab = self.lab()?;
        let view = lab.pictures.views.get(lab.chosen()?)?;
        self.has_timeline().then_some(view.frame.tint)
    }

    /// Whether the chosen picture is an exchange of messages, or one of several that follow each other.
    pub(super) fn has_stages(&self) -> bool {
        self.is_chosen(|frame| matches!(frame, Frame::MessageTrace(_) | Frame::FrameSequence(_)))
    }

    pub(super) fn has_groups(&self) -> bool {
        self.is_chosen(|frame| frame.graph().is_some_and(|graph| !graph.groups.is_empty()))
    }

    /// Whether the keys act on a picture that has steps, other than a kernel's.
    pub fn is_walked(&self) -> bool {
        let lab = self.lab().filter(|_| self.place() == Place::Picture);
        lab.is_some_and(|lab| walk_at(lab, lab.chosen()))
    }

    /// Whether points can be stepped through: in the chosen picture, or from other sides in any graph of the lab.
    pub(super) fn has_points(&self, lab: &LabState) -> bool {
        if self.ground() == Place::Picture {
            let chart = lab.draws() == Some(Draw::Line);
            chart || walk_at(lab, lab.chosen()) || self.has_kernel_chosen()
        } else {
            walked(lab).is_some() || lab.debugger.is_some()
        }
    }

    pub(super) fn fold_group(&mut self) {
        self.screen.notice = self.with_graph(|graph, view| view.graph.fold(graph));
    }

    pub(super) fn fold_groups(&mut self) {
        self.screen.notice = self.with_graph(|graph, view| view.graph.fold_all(graph));
    }

    /// Goes along the steps of the lab's picture without going to it; false if none has any.
    fn walk_from_afar(&mut self, inspect: Inspect) -> bool {
        let by = if inspect == Inspect::NextPoint { 1 } else { -1 };
        if self.ground() == Place::Picture
            || !matches!(inspect, Inspect::NextPoint | Inspect::PreviousPoint)
        {
            return false;
        }
        let glyphs = Glyphs::new(self.glyphs().set);
        let Some(lab) = self.lab_mut() else { return false };
        let Some(index) = walked(lab) else { return false };
        // The picture that is walked is shown large, else its steps were done in the dark.
        if let Some(place) = lab.pictures.panels.iter().position(|panel| *panel == index) {
            lab.pictures.chosen = place;
        }
        let step = look_at(lab, index, &ascii(), |frame, view| {
            view.play = Play::Still;
            view.step(frame, by);
            view.step_text(frame, &glyphs)
        });
        let Some(sentence) = step else { return false };
        // On a small screen the picture is not in sight.
        self.screen.notice = sentence;
        true
    }

    pub(super) fn full_screen(&mut self) {
        let Some(page) = self.page.as_mut() else { return };
        match page.full_screen.take() {
            Some(side) => page.side = side,
            None => page.full_screen = Some(std::mem::replace(&mut page.side, Side::Picture)),
        }
    }

    /// Leaves the full screen or takes the cursor away; false if there was nothing to leave.
    pub(super) fn leave_picture(&mut self) -> bool {
        let Some(page) = self.page.as_mut() else { return false };
        if page.full_screen.is_some() {
            self.full_screen();
            return true;
        }
        let on_picture = page.focus() == Side::Picture;
        // A launch that failed opens at a thread: that is not the learner's choice to undo.
        let chosen = page.fault.is_none();
        let Some(lab) = page.lab_mut().filter(|_| on_picture) else { return false };
        if lab.debugger.as_mut().is_some_and(|walk| walk.rest() || chosen && walk.follow()) {
            return true;
        }
        let left = lab.chosen_view().is_some_and(|view| {
            let frame = &mut view.frame;
            let selected = frame.graph.selected.take();
            let played = std::mem::take(&mut frame.play) == Play::Going;
            played || frame.mark.take().is_some() || selected.is_some()
        });
        left || lab.pictures.cursor.take().is_some()
    }

    pub(super) fn next_earlier_runs(&mut self) {
        let Some(lab) = self.lab_mut() else { return };
        lab.others.overlay = lab.others.overlay.next();
        let is_launch = lab.kernel().is_some();
        if is_launch && lab.others.overlay == earlier::Overlay::All {
            // A launch is compared with one other.
            lab.others.overlay = lab.others.overlay.next();
        }
        let runs = match (lab.others.overlay, lab.others.earlier.len()) {
            (earlier::Overlay::Newest, _) => "the newest earlier run is".to_owned(),
            (earlier::Overlay::All, 1) => "the one earlier run is".to_owned(),
            (earlier::Overlay::All, count) => format!("{count} earlier runs are"),
            (earlier::Overlay::Nothing, _) => "no earlier run is".to_owned(),
        };
        let place = if is_launch { "next to the counts" } else { "behind the curves" };
        self.notify(format!("{runs} {place}"));
    }

    pub(super) fn inspect(&mut self, inspect: Inspect) {
        if self.inspect_kernel(inspect) || self.walk_from_afar(inspect) {
            return;
        }
        let sentence = self.lab_mut().and_then(|lab| {
            if inspect_frame(lab, inspect) { None } else { inspect_chart(lab, inspect) }
        });
        self.screen.notice = sentence;
        match self.tint().filter(|_| inspect == Inspect::Smooth) {
            Some(Tint::Class) => self.notify("coloured by kind"),
            Some(Tint::Label) => self.notify("coloured by label: bars of one label are alike"),
            None => {}
        }
    }

    /// Moves through the picture; from a chart, up and down lead to another picture.
    pub(super) fn move_picture(&mut self, motion: Motion) {
        if self.move_in_kernel(motion) || self.move_mark(motion) {
            return;
        }
        let Some(lab) = self.lab_mut() else { return };
        match motion {
            Motion::Up => lab.pictures.advance(lab.pictures.panels.len().saturating_sub(1)),
            Motion::Down => lab.pictures.advance(1),
            Motion::PageUp => self.inspect(Inspect::Earlier),
            Motion::PageDown => self.inspect(Inspect::Later),
            Motion::Top => put_cursor(lab, |there| there.first),
            Motion::Bottom => put_cursor(lab, |there| there.last),
        }
    }
}

/// The picture with steps that is walked from afar: the chosen one if it has any, else the lab's first.
fn walked(lab: &LabState) -> Option<usize> {
    let mut all = lab.chosen().into_iter().chain(lab.pictures.panels.iter().copied());
    all.find(|index| walk_at(lab, Some(*index)))
}

fn walk_at(lab: &LabState, index: Option<usize>) -> bool {
    let frame = index.and_then(|index| lab.frame(index));
    frame.is_some_and(|frame| FrameView::default().steps(frame).is_some())
}

/// Moves the mark left or right, or looks closer; false if the picture is a chart, or the way to look is for charts.
fn inspect_frame(lab: &mut LabState, inspect: Inspect) -> bool {
    let Some(index) = lab.chosen().filter(|_| lab.draws() != Some(Draw::Line)) else {
        return false;
    };
    let is_timeline = lab.frame(index).is_some_and(|frame| frame.timeline().is_some());
    match inspect {
        Inspect::Left => go(lab, Way::Left),
        Inspect::Right => go(lab, Way::Right),
        Inspect::LogAxis => false,
        Inspect::Smooth if !is_timeline => false,
        Inspect::PreviousPoint
        | Inspect::NextPoint
        | Inspect::Closer
        | Inspect::Wider
        | Inspect::Earlier
        | Inspect::Later
        | Inspect::Fit
        | Inspect::Smooth => {
            look_at(lab, index, &ascii(), |frame, view| view.inspect(frame, inspect)).is_some()
        }
    }
}

pub(super) fn plays(lab: &LabState) -> bool {
    let view = lab.chosen().and_then(|index| lab.pictures.views.get(index));
    view.is_some_and(|view| view.frame.play == Play::Going)
}

pub(super) fn change_play(lab: &mut LabState) {
    look_at_chosen(lab, |frame, view| view.change_play(frame));
}

pub(super) fn beat(lab: &mut LabState) {
    look_at_chosen(lab, |frame, view| view.beat(frame));
}

fn look_at_chosen<T>(
    lab: &mut LabState,
    act: impl FnOnce(&Frame, &mut FrameView) -> T,
) -> Option<T> {
    look_at(lab, lab.chosen()?, &ascii(), act)
}

/// Moves the mark of the chosen picture; false if it is a chart.
fn go(lab: &mut LabState, way: Way) -> bool {
    let is_chart = lab.chosen().is_none() || lab.draws() == Some(Draw::Line);
    if !is_chart {
        look_at_chosen(lab, |frame, view| view.go(frame, way));
    }
    !is_chart
}

/// For what depends on no glyph of the numbers, such as what is marked.
fn ascii() -> Glyphs {
    Glyphs::new(GlyphSet::Ascii)
}

/// Changes the view of a picture that is no chart, if it is there. The picture is not copied: it may be large.
fn look_at<T>(
    lab: &mut LabState,
    index: usize,
    glyphs: &Glyphs,
    act: impl FnOnce(&Frame, &mut FrameView) -> T,
) -> Option<T> {
    let scene = lab.scene(index)?;
    let (frame, mut view) = (scene.frame(glyphs)?, scene.view.frame.clone());
    let result = act(frame.as_ref(), &mut view);
    drop(frame);
    lab.pictures.views.get_mut(index)?.frame = view;
    Some(result)
}

fn chosen_extent(lab: &LabState) -> Option<Extent> {
    let index = lab.chosen().filter(|_| lab.draws() == Some(Draw::Line))?;
    extent(&lab.scene(index)?)
}

/// Puts the cursor of all charts at a step and keeps it in sight in the chosen one.
pub(super) fn put_cursor(lab: &mut LabState, at: impl Fn(Extent) -> u64) {
    if let Some(there) = chosen_extent(lab) {
        let at = at(there).clamp(there.first, there.last);
        lab.pictures.cursor = Some(at);
        if let Some(view) = lab.chosen_view() {
            view.chart.window = view.chart.window.around(at, there);
        }
    }
}

pub(super) fn inspect_chart(lab: &mut LabState, inspect: Inspect) -> Option<String> {
    let there = chosen_extent(lab)?;
    let scene = lab.scene(lab.chosen()?)?;
    let (mut chart, cursor) = (scene.view.chart.clone(), lab.pictures.cursor);
    let window = chart.window;
    let (from, to) = window.steps(there);
    let column = window.column(there);
    let mut sentence = None;
    match inspect {
        Inspect::Closer => chart.window = window.closer(there, cursor),
        Inspect::Wider => chart.window = window.wider(there),
        Inspect::Earlier => chart.window = window.earlier(there),
        Inspect::Later => chart.window = window.later(there),
        Inspect::Fit => chart.window = window.fit(there),
        Inspect::LogAxis => {
            let is_linear = chart.scale == Scale::Linear;
            chart.scale = if is_linear { Scale::Log } else { Scale::Linear };
        }
        Inspect::Smooth if is_smoothed(&scene) => {
            chart.smoothing = Smoothing::Off;
            sentence = Some("no curve is smoothed");
        }
        Inspect::Smooth => {
            chart.smoothing = Smoothing::On;
            sentence = Some("all curves are smoothed; the raw ones stay behind");
        }
        Inspect::Left => return point(lab, |at| at.clamp(from, to).saturating_sub(column), to),
        Inspect::Right => return point(lab, |at| at.clamp(from, to).saturating_add(column), to),
        Inspect::PreviousPoint => {
            let before = cursor.and_then(|at| step_before(&scene, at));
            return point(lab, |at| before.unwrap_or(at), to);
        }
        Inspect::NextPoint => {
            let after = cursor.and_then(|at| step_after(&scene, at));
            return point(lab, |at| after.unwrap_or(at), to);
        }
    }
    lab.chosen_view()?.chart = chart;
    sentence.map(str::to_owned)
}

/// Moves the cursor; the first press shows it where the newest values are.
fn point(lab: &mut LabState, by: impl Fn(u64) -> u64, newest: u64) -> Option<String> {
    let at = lab.pictures.cursor.map_or(newest, by);
    put_cursor(lab, |_| at);
    None
}
