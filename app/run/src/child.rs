//! A child process with an input, an output and a limit of time.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How a process ended, and what it wrote.
pub struct Ended {
    pub status: ExitStatus,
    pub out: Vec<u8>,
    pub err: String,
}

/// Held while a process starts.
static STARTING: Mutex<()> = Mutex::new(());

/// Starts a process, at a moment at which this process group is not stopped by [`between_starts`].
pub fn start(command: &mut Command) -> io::Result<Child> {
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    command.spawn()
}

/// Does something while no process starts, such as stopping this process group.
///
/// A new process is in the group of its parent until it executes its program, and until then a thread of the parent waits
/// for it without heeding signals (vfork(2)). Stopped in between, neither of them ever stops or continues.
pub fn between_starts<R>(work: impl FnOnce() -> R) -> R {
    let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    work()
}

/// Runs a command with this standard input; none if it was killed because it took longer.
pub fn run(mut command: Command, input: Vec<u8>, limit: Duration) -> io::Result<Option<Ended>> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Running(start(&mut command)?);
    let (sender, receiver) = mpsc::channel();
    let mut stdin = child.0.stdin.take();
    // What has ended early reads no more; its output says why.
    let writer = thread::spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(&input)));
    let (out, err) = (child.0.stdout.take(), child.0.stderr.take());
    let errors = thread::spawn(move || read_all(err));
    let reader = thread::spawn(move || {
        let out = read_all(out);
        // The parent may have given up.
        let _ = sender.send(());
        out
    });
    if receiver.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
        return Ok(None);
    }
    let status = child.0.wait()?;
    let panicked = |_| io::Error::other("a thread that read its output has panicked");
    let out = reader.join().map_err(panicked)??;
    let err = errors.join().map_err(panicked)??;
    drop(writer.join());
    Ok(Some(Ended { status, out, err: String::from_utf8_lossy(&err).into_owned() }))
}

fn read_all(from: Option<impl Read>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        from.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// A process that does not outlive its use.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It fails where the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_killed() {
        let run = |script: &str, limit: Duration| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            run(command, vec![b'x'; 1 << 20], limit).unwrap()
        };
        assert!(run("while :; do :; done", Duration::from_millis(20)).is_none());
        let minute = Duration::from_secs(60);
        let ended = run("cat >/dev/null; echo done; echo why >&2; exit 3", minute).unwrap();
        assert_eq!(
            (ended.status.code(), ended.out, ended.err),
            (Some(3), b"done\n".into(), "why\n".into())
        );
        // Its input is not read to its end.
        assert_eq!(run("exec <&-; echo early", minute).unwrap().out, b"early\n");
    }
}
