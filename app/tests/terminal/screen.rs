//! A pseudo-terminal with the workbench on it.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use super::{LEAVE, SHOW_CURSOR};

/// Far more than any of it takes; only a failure waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Screen {
    child: Child,
    master: File,
    slave: File,
    before: Termios,
    bytes: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    size: (u16, u16),
    data: PathBuf,
}

impl Screen {
    pub(crate) fn open(columns: u16, rows: u16, arguments: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let slave = File::from(rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap());
        let master = File::from(master);
        tcsetwinsize(&slave, size(columns, rows)).unwrap();
        let before = tcgetattr(&slave).unwrap();

        let unique = format!(
            "mlsys-terminal-{}-{columns}x{rows}-{:?}",
            std::process::id(),
            std::thread::current().id()
        );
        let data = std::env::temp_dir().join(unique);
        let end = || Stdio::from(slave.try_clone().unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_mlsys"))
            .args(arguments)
            .env("MLSYS_DATA_DIR", &data)
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();

        let (sender, bytes) = mpsc::channel();
        let mut reader = master.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            master,
            slave,
            before,
            bytes,
            seen: Vec::new(),
            size: (columns, rows),
            data,
        }
    }

    pub(crate) fn keys(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Resizes the terminal; without a controlling terminal the kernel does not tell the program, so this does.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        tcsetwinsize(&self.slave, size(columns, rows)).unwrap();
        self.size = (columns, rows);
        self.signal(Signal::WINCH);
    }

    /// Reads until the text stands on the screen.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + PATIENCE;
        loop {
            let screen = shown(&self.seen, self.size);
            if screen.contains(text) {
                return;
            }
            assert!(
                self.read_more(until),
                "{text:?} did not appear; on the screen:\n{screen}"
            );
        }
    }

    /// Waits for the program to end.
    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                while self.read_more(Instant::now() + Duration::from_millis(200)) {}
                return status.code();
            }
            assert!(Instant::now() < until, "the program does not end");
            self.read_more(Instant::now() + Duration::from_millis(20));
        }
    }

    /// The terminal's modes are as they were, the first screen is back, and the cursor is seen.
    #[track_caller]
    pub(crate) fn is_given_back(&self) {
        let after = tcgetattr(&self.slave).unwrap();
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        let seen = String::from_utf8_lossy(&self.seen);
        let left = seen.rfind(LEAVE);
        assert!(left.is_some(), "the alternate screen was not left");
        assert!(
            seen.rfind(SHOW_CURSOR) >= left,
            "the cursor was not shown again"
        );
        assert!(seen.rfind("\x1b[?1049h") < left);
    }

    fn read_more(&mut self, until: Instant) -> bool {
        match self
            .bytes
            .recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            Ok(bytes) => {
                self.seen.extend(bytes);
                true
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize {
        ws_col: columns,
        ws_row: rows,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// What the screen shows after these bytes, row by row.
///
/// The app writes only cells that changed and moves the cursor between them, so the bytes alone are no text. Of all
/// sequences only those that move or clear matter here; every glyph the app draws is one column wide.
fn shown(bytes: &[u8], (columns, rows): (u16, u16)) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut cells = vec![vec![' '; usize::from(columns)]; usize::from(rows)];
    let (mut row, mut column) = (0, 0);
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '\x1b' {
            if let Some(cell) = cells
                .get_mut(row)
                .and_then(|line: &mut Vec<char>| line.get_mut(column))
            {
                *cell = c;
            }
            column += 1;
            continue;
        }
        let mut arguments = String::new();
        // A control sequence ends at its first letter.
        let end = loop {
            match characters.next() {
                Some(c) if c.is_ascii_alphabetic() => break c,
                Some(c) => arguments.push(c),
                None => break ' ',
            }
        };
        match end {
            'H' => {
                let (down, right) = arguments
                    .trim_start_matches('[')
                    .split_once(';')
                    .unwrap_or(("1", "1"));
                row = down.parse::<usize>().unwrap_or(1).saturating_sub(1);
                column = right.parse::<usize>().unwrap_or(1).saturating_sub(1);
            }
            'J' => cells.iter_mut().for_each(|line| line.fill(' ')),
            _ => {}
        }
    }
    let lines: Vec<String> = cells.into_iter().map(String::from_iter).collect();
    lines.join("\n")
}
