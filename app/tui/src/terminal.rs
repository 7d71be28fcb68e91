//! The terminal as we found it, ours for a while, and as we found it again.
//!
//! Whatever ends the program (a quit, an error, a panic in any thread, a signal), [`Guard`] gives the terminal back.

pub mod decode;

use std::any::Any;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{panic, thread};

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::queue;
use crossterm::style::ResetColor;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    disable_raw_mode, enable_raw_mode,
};
#[cfg(unix)]
use mlsys_run::child;
use mlsys_run::outcome::panic_message;
use mlsys_run::process;
use mlsys_run::session::RUN_THREAD;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use crate::message::Mouse;

/// Whether the terminal is ours at the moment, so that it is given back exactly once.
static OURS: AtomicBool = AtomicBool::new(false);

/// Whether the mouse is ours too while the terminal is.
static MOUSE: AtomicBool = AtomicBool::new(false);

/// Buttons, the wheel and moves with a button held, with places beyond column 223; and no more of it, in reverse.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// What the terminal is asked: the colour behind the text (OSC 11), and what it is (DA1). Every terminal answers the
/// second, so that its answer tells when the first will not come any more.
const QUESTIONS: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";

/// Whether the program has been stopped as a job of the shell and continued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Stopped,
    /// It was not started as a job of a shell, so nothing could continue it.
    NoShell,
}

/// Where frames go: the terminal, or something that stands in for it while the workbench is measured.
pub trait Screen {
    fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()>;

    fn size(&self) -> io::Result<(u16, u16)>;

    fn stop_job(&mut self) -> io::Result<Stop>;

    /// Takes the mouse or gives it back; where there is none there is none to take.
    fn mouse(&mut self, _mouse: Mouse) -> io::Result<()> {
        Ok(())
    }

    /// Puts a text into the clipboard by OSC 52; without a screen there is none.
    fn copy(&mut self, _text: &str) -> io::Result<()> {
        Ok(())
    }

    /// Lends the terminal to a closure and takes it back; without a screen only calls it.
    fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        Ok(work())
    }

    /// Draws everything anew with the next frame, whatever became of the terminal while we did not run.
    fn take_again(&mut self) -> io::Result<()>;
}

/// Holds the terminal in raw mode on the alternate screen; gives it back when dropped.
pub struct Guard {
    terminal: Terminal<CrosstermBackend<Bytes>>,
    bytes: Bytes,
}

impl Guard {
    /// Takes the terminal and keeps every panic, in whatever thread, off it; `tell` hears of those that end nothing.
    pub fn take(tell: impl Fn(String) + Send + Sync + 'static) -> io::Result<Self> {
        let main = thread::current().id();
        panic::set_hook(Box::new(move |info| {
            let thread = thread::current();
            if thread.id() == main {
                give_back();
                let _ = writeln!(io::stderr(), "mlsys stopped by a mistake of its own: {info}");
            } else if let Some(sentence) = broke_off(thread.name(), info.payload()) {
                tell(sentence);
            }
        }));
        enter()?;
        let bytes = Bytes::default();
        let terminal = Terminal::new(CrosstermBackend::new(bytes.clone()))?;
        Ok(Self { terminal, bytes })
    }

    pub fn ask(&mut self) -> io::Result<()> {
        self.bytes.write_all(QUESTIONS)?;
        self.bytes.send()
    }

    /// Whether there is no terminal any more: its window was closed, or the line to it is cut.
    #[cfg(unix)]
    pub fn has_vanished(&self) -> bool {
        rustix::termios::tcgetattr(rustix::stdio::stdout()).is_err()
    }

    /// Elsewhere the window takes the program along.
    #[cfg(not(unix))]
    pub fn has_vanished(&self) -> bool {
        false
    }
}

impl Screen for Guard {
    /// A terminal that knows how shows the frame whole.
    fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        queue!(self.bytes, BeginSynchronizedUpdate)?;
        self.terminal.draw(view)?;
        queue!(self.bytes, EndSynchronizedUpdate)?;
        self.bytes.send()
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    fn mouse(&mut self, mouse: Mouse) -> io::Result<()> {
        MOUSE.store(mouse == Mouse::On, Ordering::SeqCst);
        self.bytes.write_all(match mouse {
            Mouse::On => MOUSE_ON,
            Mouse::Off => MOUSE_OFF,
        })?;
        self.bytes.send()
    }

    fn copy(&mut self, text: &str) -> io::Result<()> {
        let in_tmux = std::env::var_os("TMUX").is_some();
        self.bytes.write_all(osc52(text, in_tmux).as_bytes())?;
        self.bytes.send()
    }

    /// Gives the terminal back, stops as Ctrl-Z does elsewhere, and takes it again when continued.
    #[cfg(unix)]
    fn stop_job(&mut self) -> io::Result<Stop> {
        use rustix::process::{getpgrp, getsid};
        // The leader of a session, such as the only program of a window or container, has no shell to continue it.
        if getsid(None)? == getpgrp() {
            return Ok(Stop::NoShell);
        }
        give_back();
        let stopped = stop_process_group();
        self.take_again()?;
        stopped?;
        Ok(Stop::Stopped)
    }

    /// Elsewhere there is no such stop.
    #[cfg(not(unix))]
    fn stop_job(&mut self) -> io::Result<Stop> {
        Ok(Stop::NoShell)
    }

    fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        give_back();
        let done = work();
        self.take_again()?;
        Ok(done)
    }

    fn take_again(&mut self) -> io::Result<()> {
        // Raw mode that is on by our account may long be off: only off and on sets it for certain.
        disable_raw_mode()?;
        enter()?;
        // To resize is to draw everything anew; to clear would also ask where the cursor is.
        let size = self.terminal.size()?;
        self.terminal.resize(ratatui::layout::Rect::new(0, 0, size.width, size.height))
    }
}

/// Stops the whole process group, which a parent that waits for us belongs to: the shell continues when all have stopped.
#[cfg(unix)]
pub fn stop_process_group() -> io::Result<()> {
    use rustix::process::{Signal, kill_current_process_group};
    Ok(child::between_starts(|| kill_current_process_group(Signal::STOP))?)
}

/// What to say to a panic in a thread that is not the main one; a run's is caught and shown as a failed run.
fn broke_off(name: Option<&str>, panic: &(dyn Any + Send)) -> Option<String> {
    let name = name.unwrap_or("without a name");
    let message = panic_message(panic);
    (!name.starts_with(RUN_THREAD)).then(|| format!("the thread '{name}' broke off: {message}"))
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
        // A thread that unwinds may not touch the hook.
        if !thread::panicking() {
            let _ = panic::take_hook();
        }
    }
}

/// Makes reads and writes block again, where another program has left the terminal non-blocking.
#[cfg(unix)]
pub fn wait_for(end: impl std::os::fd::AsFd) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let flags = fcntl_getfl(&end)?;
    Ok(fcntl_setfl(&end, flags - OFlags::NONBLOCK)?)
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    OURS.store(true, Ordering::SeqCst);
    process::hush();
    let mut bytes = Vec::new();
    queue!(bytes, EnterAlternateScreen, EnableBracketedPaste, Hide)?;
    if MOUSE.load(Ordering::SeqCst) {
        bytes.extend_from_slice(MOUSE_ON);
    }
    let entered = send(&bytes);
    if entered.is_err() {
        give_back();
    }
    entered
}

/// Leaves the alternate screen and raw mode, once; errors cannot be reported here.
pub fn give_back() {
    if OURS.swap(false, Ordering::SeqCst) {
        let mut bytes = Vec::new();
        if MOUSE.load(Ordering::SeqCst) {
            bytes.extend_from_slice(MOUSE_OFF);
        }
        let _ = queue!(
            bytes,
            EndSynchronizedUpdate,
            DisableBracketedPaste,
            ResetColor,
            LeaveAlternateScreen,
            Show
        );
        let _ = send(&bytes);
        let _ = disable_raw_mode();
        process::speak();
    }
}

/// What is to be sent to the terminal; nothing goes out by itself, not even when it is dropped.
///
/// A frame that is cut off by a panic must not be written onto the screen that was given back.
#[derive(Clone, Debug, Default)]
struct Bytes(Rc<RefCell<Vec<u8>>>);

impl Bytes {
    fn send(&self) -> io::Result<()> {
        let mut bytes = self.0.take();
        let sent = send(&bytes);
        // The room is kept for the next frame.
        bytes.clear();
        self.0.replace(bytes);
        sent
    }
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends bytes past the standard library's buffer, whose lock a thread that panicked may hold and which would keep for
/// the end of the program what a terminal that has vanished did not take.
#[cfg(unix)]
fn send(mut bytes: &[u8]) -> io::Result<()> {
    use rustix::io::Errno;
    use rustix::stdio::stdout;
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_for(stdout())?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn send(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

fn osc52(text: &str, in_tmux: bool) -> String {
    let plain = format!("\x1b]52;c;{}\x07", base64(text.as_bytes()));
    if in_tmux {
        // tmux takes the first where `set-clipboard` is on, and hands the second on where `allow-passthrough` is.
        let passed = plain.replace('\x1b', "\x1b\x1b");
        format!("{plain}\x1bPtmux;{passed}\x1b\\")
    } else {
        plain
    }
}

/// Base64 as in RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            let padding = place > chunk.len();
            text.push(if padding { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unexpected_panics_are_reported() {
        let panic: Box<dyn Any + Send> = Box::new("device lost\nmore".to_owned());
        let told = |name| broke_off(name, panic.as_ref());
        assert_eq!(
            told(Some("wgpu-poll")).as_deref(),
            Some("the thread 'wgpu-poll' broke off: device lost")
        );
        assert!(told(None).is_some());
        assert_eq!(told(Some("run-train")), None);
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        for (text, code) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
            ("µ→ß", "wrXihpLDnw=="),
        ] {
            assert_eq!(base64(text.as_bytes()), code, "{text}");
        }
    }

    #[test]
    fn inside_tmux_the_terminal_around_it_is_told_too() {
        assert_eq!(osc52("foo", false), "\x1b]52;c;Zm9v\x07");
        let inside = osc52("foo", true);
        assert!(inside.ends_with("\x1bPtmux;\x1b\x1b]52;c;Zm9v\x07\x1b\\"), "{inside:?}");
    }
}
