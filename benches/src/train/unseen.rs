//! A screen that is drawn to and not looked at.

use std::io::{self, Write};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use mlsys_tui::terminal::{Screen, Stop};

/// The screen that is drawn to: a large one.
pub(super) const SIZE: (u16, u16) = (120, 40);

/// A terminal that discards its bytes.
pub(super) struct Unseen(Terminal<CrosstermBackend<io::Sink>>);

impl Unseen {
    pub(super) fn new() -> io::Result<Self> {
        let viewport = Viewport::Fixed(Rect::new(0, 0, SIZE.0, SIZE.1));
        let backend = CrosstermBackend::new(io::sink());
        Ok(Self(Terminal::with_options(backend, TerminalOptions { viewport })?))
    }
}

impl Screen for Unseen {
    fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.0.draw(view)?;
        io::sink().flush()
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        Ok(SIZE)
    }

    fn stop_job(&mut self) -> io::Result<Stop> {
        Ok(Stop::NoShell)
    }

    fn take_again(&mut self) -> io::Result<()> {
        Ok(())
    }
}
