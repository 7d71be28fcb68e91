//! Keeps what graphics drivers write to standard error, whenever they like, off the terminal.

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::os::fd::OwnedFd;
    use std::sync::Mutex;

    /// The standard error that the program was started with, while it is put aside.
    static ASIDE: Mutex<Option<OwnedFd>> = Mutex::new(None);

    /// Sends standard error nowhere until [`speak`]; without effect where that is not possible.
    pub fn hush() {
        let Ok(mut aside) = ASIDE.lock() else { return };
        if aside.is_some() {
            return;
        }
        let nowhere = File::options().write(true).open("/dev/null");
        let kept = rustix::io::dup(rustix::stdio::stderr());
        if let (Ok(nowhere), Ok(kept)) = (nowhere, kept)
            && rustix::stdio::dup2_stderr(&nowhere).is_ok()
        {
            *aside = Some(kept);
        }
    }

    /// Gives standard error back.
    pub fn speak() {
        let Ok(mut aside) = ASIDE.lock() else { return };
        if let Some(kept) = aside.take() {
            // It was open a moment ago, so this can only fail if it was closed meanwhile.
            let _ = rustix::stdio::dup2_stderr(&kept);
        }
    }
}

#[cfg(not(unix))]
mod unix {
    pub fn hush() {}
    pub fn speak() {}
}

pub use unix::{hush, speak};
