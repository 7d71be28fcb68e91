//! Commands on a picture that is no chart.

use mlsys_lab::frame::table::Filter;
use mlsys_lab::frame::{Frame, Graph, Table};
use mlsys_lab::schema::{Draw, Scale};
use mlsys_view::earlier;
use mlsys_view::glyphs::{GlyphSet, Glyphs};
use mlsys_view::kernel::Play;
use mlsys_view::panel::{
    Extent, FrameView, Inspect, Smoothing, Tint, Way, Window, extent, is_smoothed, step_after,
    step_before,
};

use crate::command::{Motion, Place};
use crate::state::App;
use crate::state::lab::LabState;
use crate::state::overlay::Overlay;
use crate::state::page::{Page, Side};
use crate::text_field::{FieldPurpose, TextField};

impl App {
    /// Moves the mark of the chosen picture; false if it is a chart.
    pub(super) fn move_mark(&mut self, motion: Motion) -> bool {
        let half = self.half_screen();
        let lab = self.page.as_mut().and_then(Page::lab_mut);
        lab.is_some_and(|lab| {
            go(
                lab,
                match motion {
                    Motion::Up => Way::Up(1),
                    Motion::Down => Way::Down(1),
                    Motion::PageUp => Way::Up(half),
                    Motion::PageDown => Way::Down(half),
                    Motion::Top => Way::First,
                    Motion::Bottom => Way::Last,
                },
            )
        })
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
            self.overlay = Some(Overlay::Rows(TextField::new(FieldPurpose::Search, text)));
        }
    }

    /// Filters the chosen table as the field says, or says what is wrong with it.
    pub(super) fn filter_rows(&mut self) {
        let Some(Overlay::Rows(entry)) = &self.overlay else { return };
        let text = entry.text().to_owned();
        let read = self.with_table(|table, view| {
            let filter = Filter::read(&text, &table.columns)?;
            view.filter = filter;
            Ok::<(), String>(())
        });
        match (read, &mut self.overlay) {
            (Some(Err(complaint)), Some(Overlay::Rows(entry))) => entry.complaint = Some(complaint),
            (Some(_) | None, _) => self.overlay = None,
        }
    }

    fn with_table<T>(&mut self, act: impl FnOnce(&Table, &mut FrameView) -> T) -> Option<T> {
        let glyphs = &self.screen.look.glyphs;
        let lab = self.page.as_mut().and_then(Page::lab_mut)?;
        let (frame, mut view) = chosen(lab, glyphs)?;
        let result = act(frame.table()?, &mut view);
        lab.chosen_view()?.frame = view;
        Some(result)
    }

    pub(super) fn has_table(&self) -> bool {
        self.is_chosen(|frame| {
            let table = frame.table();
            table.is_some_and(|table| !table.columns.is_empty())
        })
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
        let lab = self.page.as_ref().and_then(Page::lab)?;
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
        let lab = self.page.as_ref().and_then(Page::lab);
        self.place() == Place::Picture && lab.is_some_and(|lab| walk_at(lab, lab.chosen()))
    }

    /// Whether there is something to go through point by point: on the picture's side the chosen chart or graph, else
    /// any graph of the lab.
    pub(super) fn has_points(&self, lab: &LabState) -> bool {
        let chart = lab.draws() == Some(Draw::Line);
        if self.ground() == Place::Picture {
            chart || walk_at(lab, lab.chosen()) || self.has_kernel_chosen()
        } else {
            walked(lab).is_some() || lab.debugger.is_some()
        }
    }

    fn is_chosen(&self, test: impl Fn(&Frame) -> bool) -> bool {
        let lab = self.page.as_ref().and_then(Page::lab);
        let scene = lab.and_then(|lab| lab.scene(lab.chosen()?));
        let frame = scene.and_then(|scene| scene.frame(&self.screen.look.glyphs));
        frame.is_some_and(|frame| test(frame.as_ref()))
    }

    pub(super) fn fold_group(&mut self) {
        self.screen.notice = self.with_graph(|graph, view| view.graph.fold(graph));
    }

    pub(super) fn fold_groups(&mut self) {
        self.screen.notice = self.with_graph(|graph, view| view.graph.fold_all(graph));
    }

    fn with_graph<T>(&mut self, act: impl FnOnce(&Graph, &mut FrameView) -> T) -> Option<T> {
        let lab = self.page.as_mut().and_then(Page::lab_mut)?;
        let index = lab.chosen()?;
        let mut act = Some(act);
        let mut result = None;
        look_at(lab, index, |frame, view| {
            if let (Some(graph), Some(act)) = (frame.graph(), act.take()) {
                result = Some(act(graph, view));
            }
        });
        result
    }

    /// Goes along the steps of the lab's picture without going to it; false if none has any.
    pub(super) fn walk_from_afar(&mut self, inspect: Inspect) -> bool {
        let by = match inspect {
            Inspect::NextPoint => 1,
            Inspect::PreviousPoint => -1,
            Inspect::Left
            | Inspect::Right
            | Inspect::Closer
            | Inspect::Wider
            | Inspect::Earlier
            | Inspect::Later
            | Inspect::Fit
            | Inspect::LogAxis
            | Inspect::Smooth => return false,
        };
        if self.ground() == Place::Picture {
            return false;
        }
        let glyphs = Glyphs::new(self.screen.look.glyphs.set);
        let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) else { return false };
        let Some(index) = walked(lab) else { return false };
        // The picture that is walked is shown large, else its steps were done in the dark.
        if let Some(place) = lab.pictures.panels.iter().position(|panel| *panel == index) {
            lab.pictures.chosen = place;
        }
        let mut said = None;
        let done = look_at(lab, index, |frame, view| {
            view.play = Play::Still;
            view.step(frame, by);
            said = view.step_said(frame, &glyphs);
        });
        // On a small screen the picture is not in sight.
        self.screen.notice = said;
        done
    }
}

/// The picture with steps that is walked from afar: the chosen one if it has any, else the lab's first.
fn walked(lab: &LabState) -> Option<usize> {
    let mut all = lab.chosen().into_iter().chain(lab.pictures.panels.iter().copied());
    all.find(|index| walk_at(lab, Some(*index)))
}

/// Whether a panel shows a picture with steps, other than a kernel's.
fn walk_at(lab: &LabState, index: Option<usize>) -> bool {
    let frame = index.and_then(|index| lab.frame(index));
    frame.is_some_and(|frame| FrameView::default().steps(frame).is_some())
}

/// Moves the mark left or right, or looks closer; false if the picture is a chart, or the way to look is for charts.
pub(super) fn inspect_frame(lab: &mut LabState, inspect: Inspect) -> bool {
    let Some(index) = lab.chosen().filter(|_| lab.draws() != Some(Draw::Line)) else {
        return false;
    };
    match inspect {
        Inspect::Left => go(lab, Way::Left),
        Inspect::Right => go(lab, Way::Right),
        Inspect::PreviousPoint
        | Inspect::NextPoint
        | Inspect::Closer
        | Inspect::Wider
        | Inspect::Earlier
        | Inspect::Later
        | Inspect::Fit => look_at(lab, index, |frame, view| view.inspect(frame, inspect)),
        Inspect::Smooth if is_timeline(lab, index) => {
            look_at(lab, index, |frame, view| view.inspect(frame, inspect))
        }
        Inspect::LogAxis | Inspect::Smooth => false,
    }
}

fn is_timeline(lab: &LabState, index: usize) -> bool {
    lab.frame(index).is_some_and(|frame| frame.timeline().is_some())
}

/// Whether the steps of the chosen picture follow each other by themselves.
pub(super) fn plays(lab: &LabState) -> bool {
    let view = lab.chosen().and_then(|index| lab.pictures.views.get(index));
    view.is_some_and(|view| view.frame.play == Play::Going)
}

pub(super) fn change_play(lab: &mut LabState) {
    if let Some(index) = lab.chosen() {
        look_at(lab, index, |frame, view| view.change_play(frame));
    }
}

/// The next step of the chosen picture, if its steps follow each other.
pub(super) fn beat(lab: &mut LabState) {
    if let Some(index) = lab.chosen() {
        look_at(lab, index, |frame, view| view.beat(frame));
    }
}

fn go(lab: &mut LabState, way: Way) -> bool {
    let Some(index) = lab.chosen().filter(|_| lab.draws() != Some(Draw::Line)) else {
        return false;
    };
    look_at(lab, index, |frame, view| view.go(frame, way));
    true
}

/// Changes how a picture that is no chart is looked at; false if it is one or not there yet. The picture is not copied:
/// it may be large.
fn look_at(lab: &mut LabState, index: usize, act: impl FnOnce(&Frame, &mut FrameView)) -> bool {
    // What is marked depends on no glyph of the numbers.
    let glyphs = Glyphs::new(GlyphSet::Ascii);
    let scene = lab.scene(index);
    let seen = scene.and_then(|scene| Some((scene.frame(&glyphs)?, scene.view.frame.clone())));
    let Some((frame, mut view)) = seen else { return false };
    act(frame.as_ref(), &mut view);
    drop(frame);
    if let Some(kept) = lab.pictures.views.get_mut(index) {
        kept.frame = view;
    }
    true
}

fn chosen(lab: &LabState, glyphs: &Glyphs) -> Option<(Frame, FrameView)> {
    let scene = lab.scene(lab.chosen()?)?;
    let frame = scene.frame(glyphs)?;
    Some((frame.into_owned(), scene.view.frame.clone()))
}

enum Change {
    Cursor(u64),
    Window(Window),
    Scale,
    Smoothing,
}

/// The steps of the chosen chart.
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

/// Looks at the chosen chart in another way; returns what is to be said of it.
pub(super) fn inspect_chart(lab: &mut LabState, inspect: Inspect) -> Option<String> {
    let there = chosen_extent(lab)?;
    let scene = lab.scene(lab.chosen()?)?;
    let window = scene.view.chart.window;
    let (from, to) = window.steps(there);
    let column = window.column(there);
    // The first press shows the cursor where the newest values are.
    let moved = |by: &dyn Fn(u64) -> u64| Change::Cursor(lab.pictures.cursor.map_or(to, by));
    let change = match inspect {
        Inspect::Left => moved(&|at| at.clamp(from, to).saturating_sub(column)),
        Inspect::Right => moved(&|at| at.clamp(from, to).saturating_add(column)),
        Inspect::PreviousPoint => moved(&|at| step_before(&scene, at).unwrap_or(at)),
        Inspect::NextPoint => moved(&|at| step_after(&scene, at).unwrap_or(at)),
        Inspect::Closer => Change::Window(window.closer(there, lab.pictures.cursor)),
        Inspect::Wider => Change::Window(window.wider(there)),
        Inspect::Earlier => Change::Window(window.earlier(there)),
        Inspect::Later => Change::Window(window.later(there)),
        Inspect::Fit => Change::Window(window.fit(there)),
        Inspect::LogAxis => Change::Scale,
        Inspect::Smooth => Change::Smoothing,
    };
    let smoothed = is_smoothed(&scene);
    match change {
        Change::Cursor(at) => {
            put_cursor(lab, |_| at);
            return None;
        }
        Change::Window(window) => lab.chosen_view()?.chart.window = window,
        Change::Scale => {
            let scale = &mut lab.chosen_view()?.chart.scale;
            *scale = match scale {
                Scale::Linear => Scale::Log,
                Scale::Log => Scale::Linear,
            };
        }
        Change::Smoothing => {
            let (smoothing, said) = if smoothed {
                (Smoothing::Off, "no curve is smoothed")
            } else {
                (Smoothing::On, "all curves are smoothed; the raw ones stay behind")
            };
            lab.chosen_view()?.chart.smoothing = smoothing;
            return Some(said.to_owned());
        }
    }
    None
}

impl App {
    /// Gives the whole screen to the chosen picture, or goes back to where the learner was.
    pub(super) fn full_screen(&mut self) {
        if let Some(page) = self.page.as_mut() {
            match page.full_screen.take() {
                Some(side) => page.side = side,
                None => {
                    page.full_screen = Some(page.side);
                    page.side = Side::Picture;
                }
            }
        }
    }

    /// Leaves the full screen or takes the cursor away; false if there was nothing to leave.
    pub(super) fn leave_picture(&mut self) -> bool {
        let Some(page) = self.page.as_mut() else { return false };
        if page.full_screen.is_some() {
            self.full_screen();
            return true;
        }
        let on_picture = page.side == Side::Picture;
        let lab = page.lab_mut().filter(|_| on_picture);
        lab.is_some_and(|lab| {
            let walk = lab.debugger.as_mut();
            if walk.is_some_and(|walk| walk.rest() || walk.follow()) {
                return true;
            }
            let view = lab.chosen_view();
            let left = view.is_some_and(|view| {
                let frame = &mut view.frame;
                let selected = frame.graph.selected.take();
                let played = std::mem::take(&mut frame.play) == Play::Going;
                played || frame.mark.take().is_some() || selected.is_some()
            });
            left || lab.pictures.cursor.take().is_some()
        })
    }

    pub(super) fn next_earlier_runs(&mut self) {
        let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) else { return };
        lab.others.overlay = lab.others.overlay.next();
        self.screen.notice = Some(match (lab.others.earlier.len(), lab.others.overlay) {
            (_, earlier::Overlay::Newest) => {
                "the newest earlier run is behind the curves".to_owned()
            }
            (1, earlier::Overlay::All) => "the one earlier run is behind the curves".to_owned(),
            (count, earlier::Overlay::All) => format!("{count} earlier runs are behind the curves"),
            (_, earlier::Overlay::Nothing) => "no earlier run is behind the curves".to_owned(),
        });
    }

    pub(super) fn inspect(&mut self, inspect: Inspect) {
        if self.inspect_kernel(inspect) || self.walk_from_afar(inspect) {
            return;
        }
        let lab = self.page.as_mut().and_then(Page::lab_mut);
        let said = lab.and_then(|lab| {
            if inspect_frame(lab, inspect) { None } else { inspect_chart(lab, inspect) }
        });
        self.screen.notice = match (inspect, self.tint()) {
            (Inspect::Smooth, Some(Tint::Class)) => Some("coloured by kind".to_owned()),
            (Inspect::Smooth, Some(Tint::Label)) => {
                Some("coloured by label: bars of one label are alike".to_owned())
            }
            (_, _) => said,
        };
    }

    /// Moves through the picture; from a chart, up and down lead to another picture.
    pub(super) fn move_picture(&mut self, motion: Motion) {
        if self.move_in_kernel(motion) || self.move_mark(motion) {
            return;
        }
        let Some(lab) = self.page.as_mut().and_then(Page::lab_mut) else { return };
        let count = lab.pictures.panels.len().max(1);
        match motion {
            Motion::Up => lab.pictures.chosen = (lab.pictures.chosen + count - 1) % count,
            Motion::Down => lab.pictures.chosen = (lab.pictures.chosen + 1) % count,
            Motion::PageUp => self.inspect(Inspect::Earlier),
            Motion::PageDown => self.inspect(Inspect::Later),
            Motion::Top => put_cursor(lab, |there| there.first),
            Motion::Bottom => put_cursor(lab, |there| there.last),
        }
    }
}
