//! The program as a test runs it: a folder of its own for data and files, and nothing in its environment that steers it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use serde_json::Value;

/// A minute, which only a failing test waits for.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Variables that change what the program does or how it looks.
const VARIABLES: [&str; 12] = [
    "MLSYS_COURSE",
    "MLSYS_DEVICE",
    "MLSYS_LANG",
    "MLSYS_LEARNER",
    "MLSYS_PLAIN",
    "MLSYS_THEME",
    "LC_ALL",
    "LC_MESSAGES",
    "LANG",
    "COLORTERM",
    "COLORFGBG",
    "NO_COLOR",
];

/// A temporary folder, removed at the end of the test, in which a program runs.
pub struct Sandbox {
    program: PathBuf,
    folder: PathBuf,
}

impl Sandbox {
    pub fn new(program: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("mlsys-test-{}-{number}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self { program: program.into(), folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn arg(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// Writes a file, with the folders it needs; returns its path as an argument.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program with the arguments of a line, taken apart as [`words`] does.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words(line)).stdin(Stdio::null()).env("MLSYS_DATA_DIR", self.path("data"));
        VARIABLES.iter().for_each(|name| {
            command.env_remove(name);
        });
        command
    }

    #[track_caller]
    pub fn run(&self, line: &str) -> Ended {
        Ended::new(self.command(line).output().unwrap())
    }

    /// Starts the program with its output piped.
    pub fn spawn(&self, line: &str) -> Child {
        let mut command = self.command(line);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Recorded runs in the data folder, the oldest first.
    pub fn records(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.path("data/runs"));
        let runs = runs.into_iter().flatten().map(|run| run.unwrap().path());
        let mut found: Vec<PathBuf> = runs.collect();
        found.sort();
        found
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The arguments of a command line; single quotes keep blanks, as in a shell.
pub fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None, false);
    for letter in line.chars() {
        match letter {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_with(String::new);
            }
            letter if letter.is_whitespace() && !quoted => words.extend(word.take()),
            letter => word.get_or_insert_with(String::new).push(letter),
        }
    }
    words.extend(word);
    words
}

/// Runs a command to its end with these lines as standard input.
pub fn type_in(command: &mut Command, lines: &str) -> Ended {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A program that has ended early reads no more, and its output says why.
    let _ = stdin.write_all(lines.as_bytes());
    drop(stdin);
    Ended::new(child.wait_with_output().unwrap())
}

#[track_caller]
pub fn until<T>(mut poll: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(Instant::now() < deadline, "nothing came within {TIMEOUT:?}");
        thread::yield_now();
    }
}

pub fn json_file(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn new(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// It refused: this exit code, nothing on standard output, and each of these on standard error.
    #[track_caller]
    pub fn refused(&self, code: i32, parts: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        self.warned(parts);
        assert!(!self.err.contains("panicked"), "{self:?}");
    }

    #[track_caller]
    pub fn warned(&self, parts: &[&str]) {
        contains(&self.err, parts);
    }

    #[track_caller]
    pub fn success(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.out
    }

    /// It succeeded, with each of these on standard output.
    #[track_caller]
    pub fn printed(&self, parts: &[&str]) {
        contains(self.success(), parts);
    }

    /// Its output, which is one JSON object and nothing else.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(self.success()).unwrap()
    }
}

#[track_caller]
pub fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "'{part}' is missing in:\n{text}");
    }
}
