//! The terminal as we found it, ours for a while, and as we found it again.
//!
//! Whatever ends the program (a quit, an error, a panic in any thread, a signal), [`Guard`] gives the terminal back.

use std::io::{self, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::{panic, thread};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::quiet;

/// Whether the terminal is ours at the moment, so that it is given back exactly once.
static OURS: AtomicBool = AtomicBool::new(false);

/// Where frames go: the terminal, or something that stands in for it while the workbench is measured.
pub trait Screen {
    /// Draws one frame as one update.
    fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()>;

    /// The size in columns and rows.
    fn size(&self) -> io::Result<(u16, u16)>;

    /// Stops as a job of the shell, and comes back when continued.
    fn suspend(&mut self) -> io::Result<()>;
}

/// Holds the terminal in raw mode on the alternate screen; gives it back when dropped.
pub struct Guard {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Guard {
    /// Takes the terminal and makes every panic, in whatever thread, silent on it.
    pub fn take() -> io::Result<Self> {
        let main = thread::current().id();
        panic::set_hook(Box::new(move |info| {
            // A run's panic is caught and shown as a failed run; only our own thread's ends the program.
            if thread::current().id() == main {
                give_back();
                let _ = writeln!(
                    io::stderr(),
                    "mlsys stopped by a mistake of its own: {info}"
                );
            }
        }));
        enter()?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        Ok(Self { terminal })
    }
}

impl Screen for Guard {
    /// A terminal that knows how shows the frame whole.
    fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        queue!(io::stdout(), BeginSynchronizedUpdate)?;
        self.terminal.draw(view)?;
        execute!(io::stdout(), EndSynchronizedUpdate)
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    /// Gives the terminal back, stops as Ctrl-Z does elsewhere, and takes it again when continued.
    #[cfg(unix)]
    fn suspend(&mut self) -> io::Result<()> {
        give_back();
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)?;
        enter()?;
        self.terminal.clear()
    }

    /// Elsewhere there is no such stop.
    #[cfg(not(unix))]
    fn suspend(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
        let _ = panic::take_hook();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    OURS.store(true, Ordering::SeqCst);
    quiet::hush();
    let entered = execute!(
        io::stdout(),
        EnterAlternateScreen,
        EnableBracketedPaste,
        Hide
    );
    if entered.is_err() {
        give_back();
    }
    entered
}

/// Leaves the alternate screen and raw mode, once; errors are of no use to anybody here.
pub fn give_back() {
    if OURS.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        let _ = execute!(
            out,
            EndSynchronizedUpdate,
            DisableBracketedPaste,
            LeaveAlternateScreen,
            Show
        );
        let _ = disable_raw_mode();
        quiet::speak();
    }
}
