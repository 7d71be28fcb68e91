//! A pseudo-terminal with the workbench on it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use mlsys_harness::sandbox::{Sandbox, TIMEOUT};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::sandbox;

const LEAVE: &str = "\x1b[?1049l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// How long nothing comes once a program has said everything.
const QUIET: Duration = Duration::from_millis(200);

pub(crate) struct Screen {
    child: Child,
    master: File,
    slave: File,
    before: Termios,
    bytes: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    size: (u16, u16),
    /// Its data and files, removed with it.
    _folder: Sandbox,
    hang_up: Arc<AtomicBool>,
}

impl Screen {
    /// Starts the program on a terminal of this size in columns and rows.
    pub(crate) fn open(size: (u16, u16), line: &str, environment: &[(&str, &str)]) -> Self {
        let (master, slave) = mlsys_benches::pty::open(size).unwrap();
        let before = tcgetattr(&slave).unwrap();
        let folder = sandbox();
        let end = || Stdio::from(slave.try_clone().unwrap());
        let mut command = folder.command(line);
        command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        let child = command
            .envs(environment.iter().copied())
            // As a shell starts its jobs: to stop one is not to stop the tests.
            .process_group(0)
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();

        let (sender, bytes) = mpsc::channel();
        let mut reader = master.try_clone().unwrap();
        let hang_up = Arc::new(AtomicBool::new(false));
        let hung_up = Arc::clone(&hang_up);
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..count].to_vec()).is_err() || hung_up.load(Ordering::SeqCst)
                {
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
            size,
            _folder: folder,
            hang_up,
        }
    }

    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    pub(crate) fn kill(mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }

    /// Forgets the output so far, so that only what is drawn anew counts.
    pub(crate) fn forget(&mut self) {
        self.seen.clear();
    }

    /// Takes the terminal away, as closing its window does.
    pub(crate) fn vanish(mut self) -> Option<i32> {
        self.hang_up.store(true, Ordering::SeqCst);
        // The thread that reads lets go of the terminal at the next piece that comes.
        self.keys("?");
        while self.read_more(Instant::now() + TIMEOUT) {}
        let nowhere = File::open("/dev/null").unwrap();
        drop(std::mem::replace(&mut self.master, nowhere));
        self.exit_code()
    }

    /// Makes reading from the terminal nonblocking, as an earlier program may have left it.
    pub(crate) fn set_nonblocking(&self) {
        let flags = fcntl_getfl(&self.slave).unwrap();
        fcntl_setfl(&self.slave, flags | OFlags::NONBLOCK).unwrap();
    }

    /// Sets the terminal as a shell does when it takes it back.
    pub(crate) fn as_a_shell_sets_it(&self) {
        tcsetattr(&self.slave, OptionalActions::Now, &self.before).unwrap();
    }

    pub(crate) fn is_raw(&self) -> bool {
        tcgetattr(&self.slave).unwrap().local_modes != self.before.local_modes
    }

    /// Waits for raw mode; false after the timeout. A job that continues sets it twice, and it is off in between.
    pub(crate) fn becomes_raw(&mut self) -> bool {
        let until = Instant::now() + TIMEOUT;
        while !self.is_raw() && Instant::now() < until {
            self.read_more(Instant::now() + Duration::from_millis(10));
        }
        self.is_raw()
    }

    /// Waits until the program is stopped as a job.
    #[track_caller]
    pub(crate) fn wait_until_stopped(&mut self) {
        let until = Instant::now() + TIMEOUT;
        let options = WaitOptions::UNTRACED | WaitOptions::NOHANG;
        loop {
            if let Some((_, status)) = waitpid(Some(Pid::from_child(&self.child)), options).unwrap()
            {
                assert!(status.stopped(), "it ended instead of stopping");
                break;
            }
            assert!(Instant::now() < until, "it does not stop");
            self.read_more(Instant::now() + Duration::from_millis(10));
        }
        self.read_until_quiet(QUIET);
    }

    /// Reads until nothing has come for this time.
    pub(crate) fn read_until_quiet(&mut self, quiet: Duration) {
        while self.read_more(Instant::now() + quiet) {}
    }

    #[track_caller]
    pub(crate) fn wait_for_bytes(&mut self, text: &str) {
        let until = Instant::now() + TIMEOUT;
        while !self.raw().contains(text) {
            assert!(
                self.read_more(until),
                "{text:?} did not come; what came:\n{}",
                self.raw().escape_debug()
            );
        }
    }

    /// Bytes that were typed and not yet read.
    pub(crate) fn unread(&self) -> u64 {
        rustix::io::ioctl_fionread(&self.slave).unwrap()
    }

    pub(crate) fn shown(&self) -> String {
        shown(&self.seen, self.size)
    }

    pub(crate) fn keys(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Tells the whole job, as a shell does.
    pub(crate) fn signal_job(&mut self, signal: Signal) {
        kill_process_group(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Resizes the terminal; without a controlling terminal the kernel does not tell the program, so this does.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        mlsys_benches::pty::resize(&self.slave, (columns, rows)).unwrap();
        self.size = (columns, rows);
        self.signal(Signal::WINCH);
    }

    /// Reads until the text stands on the screen.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + TIMEOUT;
        loop {
            let screen = shown(&self.seen, self.size);
            if screen.contains(text) {
                return;
            }
            assert!(self.read_more(until), "{text:?} did not appear; on the screen:\n{screen}");
        }
    }

    /// Types keys that end the program, which it does with exit code 0 and the terminal restored.
    #[track_caller]
    pub(crate) fn quit(mut self, keys: &str) {
        self.keys(keys);
        self.ends(0);
    }

    #[track_caller]
    pub(crate) fn ends(&mut self, code: i32) {
        assert_eq!(self.exit_code(), Some(code));
        self.assert_restored();
    }

    pub(crate) fn exit_code(&mut self) -> Option<i32> {
        let until = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.read_until_quiet(QUIET);
                return status.code();
            }
            assert!(Instant::now() < until, "the program does not end");
            self.read_more(Instant::now() + Duration::from_millis(20));
        }
    }

    /// The modes of the terminal are as before, the main screen is back, and the cursor is visible.
    #[track_caller]
    pub(crate) fn assert_restored(&mut self) {
        // What the program wrote may still be on its way through the thread that reads.
        self.wait_for_bytes(LEAVE);
        self.read_until_quiet(QUIET);
        let after = tcgetattr(&self.slave).unwrap();
        assert_eq!(after.local_modes, self.before.local_modes);
        assert_eq!(after.input_modes, self.before.input_modes);
        assert_eq!(after.output_modes, self.before.output_modes);
        let seen = String::from_utf8_lossy(&self.seen);
        let left = seen.rfind(LEAVE);
        assert!(seen.rfind(SHOW_CURSOR) >= left, "the cursor was not shown again");
        assert!(seen.rfind("\x1b[?1049h") < left);
        let (taken, released) = (seen.rfind("\x1b[?1000h"), seen.rfind("\x1b[?1000l"));
        assert!(released >= taken, "the mouse was not released");
    }

    fn read_more(&mut self, until: Instant) -> bool {
        match self.bytes.recv_timeout(until.saturating_duration_since(Instant::now())) {
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
            if let Some(cell) =
                cells.get_mut(row).and_then(|line: &mut Vec<char>| line.get_mut(column))
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
                let (down, right) =
                    arguments.trim_start_matches('[').split_once(';').unwrap_or(("1", "1"));
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
