//! Pseudo-terminals, and the program itself on one with the time at which each frame was complete.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use std::{env, str, thread};

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// What ends a frame: the end of a synchronised update.
const FRAME_END: &[u8] = b"\x1b[?2026l";

/// Nothing that is measured takes as long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A pseudo-terminal of this size in columns and rows: its master and slave ends.
///
/// The master end is closed in child processes, so that closing it here takes the terminal away.
pub fn open(size: (u16, u16)) -> io::Result<(File, File)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    fcntl_setfd(&master, FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let slave = File::from(rustix::fs::open(name.as_c_str(), flags, Mode::empty())?);
    resize(&slave, size)?;
    Ok((File::from(master), slave))
}

pub fn resize(terminal: &File, (columns, rows): (u16, u16)) -> io::Result<()> {
    let window = Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, window)?)
}

/// The program on a terminal.
pub struct Screen {
    child: Child,
    master: File,
    frames: Receiver<Frame>,
    started: Instant,
}

pub struct Frame {
    /// When its last byte came.
    pub at: Instant,
    /// Row and column of the cursor at its end, counted from 1, as its last move says.
    pub cursor: Option<(u16, u16)>,
}

impl Screen {
    /// Starts the program with these arguments on a terminal of this size in columns and rows.
    pub fn open(size: (u16, u16), arguments: &[&str], data: &Path) -> io::Result<Self> {
        let (master, slave) = open(size)?;
        let mut command = Command::new(env::current_exe()?);
        command
            .args(arguments)
            .env("MLSYS_DATA_DIR", data)
            .env("TERM", "xterm-256color")
            .env("COLORTERM", "truecolor")
            .env("LANG", "C.UTF-8")
            .env_remove("NO_COLOR")
            .env_remove("MLSYS_PLAIN")
            .env_remove("MLSYS_THEME")
            .env_remove("MLSYS_COURSE")
            .env_remove("MLSYS_DEVICE")
            .stdin(Stdio::from(slave.try_clone()?))
            .stdout(Stdio::from(slave.try_clone()?))
            .stderr(Stdio::from(slave));
        let (sender, frames) = mpsc::channel();
        let mut reader = master.try_clone()?;
        let started = Instant::now();
        let child = command.spawn()?;
        thread::Builder::new().name("frames".to_owned()).spawn(move || {
            let mut buffer = [0; 64 * 1024];
            let mut pending: Vec<u8> = Vec::new();
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                let at = Instant::now();
                pending.extend_from_slice(buffer.get(..count).unwrap_or(&buffer));
                while let Some(end) = find(&pending, FRAME_END) {
                    let frame: Vec<u8> = pending.drain(..end + FRAME_END.len()).collect();
                    let frame = Frame { at, cursor: cursor(&frame) };
                    if sender.send(frame).is_err() {
                        return;
                    }
                }
            }
        })?;
        Ok(Self { child, master, frames, started })
    }

    pub fn started(&self) -> Instant {
        self.started
    }

    pub fn keys(&mut self, keys: &str) -> io::Result<()> {
        self.master.write_all(keys.as_bytes())
    }

    /// The next frame for which something holds.
    pub fn frame(&self, holds: impl Fn(&Frame) -> bool) -> io::Result<Frame> {
        let until = Instant::now() + TIMEOUT;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let frame = self.frames.recv_timeout(left).map_err(|_| {
                io::Error::other("the workbench on the pseudo-terminal has stopped drawing")
            })?;
            if holds(&frame) {
                return Ok(frame);
            }
        }
    }

    /// Reads frames until none has come for so long.
    pub fn quiet(&self, quiet: Duration) {
        let until = Instant::now() + TIMEOUT;
        while Instant::now() < until && self.frames.recv_timeout(quiet).is_ok() {}
    }

    /// Memory of the program in bytes, where the system tells it.
    pub fn resident_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Where the last move of the cursor in these bytes goes.
fn cursor(bytes: &[u8]) -> Option<(u16, u16)> {
    let end = bytes.iter().rposition(|&byte| byte == b'H')?;
    let start = bytes.get(..end)?.iter().rposition(|&byte| byte == b'[')?;
    let parameters = str::from_utf8(bytes.get(start + 1..end)?).ok()?;
    let (row, column) = parameters.split_once(';')?;
    Some((row.parse().ok()?, column.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_where_its_last_move_went() {
        assert_eq!(cursor(b"\x1b[1;1Hab\x1b[12;40H\x1b[?25h"), Some((12, 40)));
        assert_eq!(cursor(b"Hello"), None);
    }
}
