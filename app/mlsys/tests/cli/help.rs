//! What the tests share: a folder of their own and the program run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

/// A folder of a test, gone when the test is over.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("mlsys-cli-{}-{number}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file of the folder, by its path as an argument.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    /// The program with these arguments, its data kept in this folder and nothing in its environment that steers it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mlsys"));
        command
            .args(arguments)
            .stdin(Stdio::null())
            .env("MLSYS_DATA_DIR", self.path("data"))
            .envs(["LC_ALL", "LC_MESSAGES", "LANG"].map(|name| (name, "")))
            .env_remove("MLSYS_LANG")
            .env_remove("MLSYS_COURSE")
            .env_remove("MLSYS_DEVICE")
            .env_remove("MLSYS_PLAIN")
            .env_remove("MLSYS_THEME");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How the program ended and what it said.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// It said no: this exit code, nothing on standard output, and each of these on standard error.
    #[track_caller]
    pub fn refused(&self, code: i32, said: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
        for text in said {
            assert!(self.err.contains(text), "'{text}' is missing in {self:?}");
        }
        assert!(!self.err.contains("panicked"), "{self:?}");
    }

    /// It did what was asked.
    #[track_caller]
    pub fn did(&self) -> &str {
        assert_eq!(self.code, Some(0), "{self:?}");
        &self.out
    }

    /// Its output, which is one JSON object and nothing else.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.did()).unwrap()
    }
}

/// Recorded runs in a data folder.
pub fn records(data: &Path) -> Vec<PathBuf> {
    let runs = fs::read_dir(data.join("runs"));
    let mut found: Vec<PathBuf> =
        runs.into_iter().flatten().map(|run| run.unwrap().path()).collect();
    found.sort();
    found
}
