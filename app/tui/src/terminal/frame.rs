//! The bytes of a frame, kept together until it is whole.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

/// What is to be sent to the terminal; nothing goes out by itself, not even when it is dropped.
///
/// A frame that is cut off by a panic must not be written onto the screen that was given back.
#[derive(Clone, Debug, Default)]
pub(super) struct Bytes(Rc<RefCell<Vec<u8>>>);

impl Bytes {
    pub(super) fn send(&self) -> io::Result<()> {
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
pub(super) fn send(mut bytes: &[u8]) -> io::Result<()> {
    use rustix::io::Errno;
    use rustix::stdio::stdout;
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => super::wait_for(stdout())?,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn send(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
