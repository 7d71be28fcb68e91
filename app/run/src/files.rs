//! Files that hold the learner's work: for their user alone, and whole or as they were.
//!
//! On Unix folders have the mode 0700 and files 0600. What exists keeps the mode that it has.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::process::Failure;

/// Creates a folder and those above it.
pub fn create_folder(path: &Path) -> io::Result<()> {
    builder().recursive(true).create(path)
}

/// Creates a folder that must not exist yet.
pub fn create_new_folder(path: &Path) -> io::Result<()> {
    builder().create(path)
}

fn builder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are of Unix"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// How files are opened that may have to be created.
pub fn options() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are of Unix"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Replaces a file: if the process is killed, it holds the bytes before or these. Does not wait for the disk.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, |_| Ok(()))
}

/// Replaces a file and waits for the disk: it holds the bytes before or these also after a loss of power.
pub fn replace_on_disk(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, File::sync_all)?;
    sync_folder(folder_of(path));
    Ok(())
}

/// Writes a file that was asked for: whole, or it stays as it was. A pipe, a device or a link is written to.
pub fn write_output(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::Usage(format!("'{}' is a folder; name a file", path.display())));
    }
    let about = fs::symlink_metadata(path).ok();
    let written = if about.as_ref().is_some_and(|about| !about.is_file()) {
        fs::write(path, bytes)
    } else {
        let mut draft = tempfile::Builder::new();
        #[cfg(unix)]
        {
            // Not the learner's alone, unless the file that it replaces is; less the process' mask.
            let readable = std::os::unix::fs::PermissionsExt::from_mode(0o666);
            draft.permissions(about.map_or(readable, |about| about.permissions()));
        }
        persist(&mut draft, path, bytes, |_| Ok(()))
    };
    let failed = |error| format!("'{}' cannot be written: {error}", path.display());
    written.map_err(|error| Failure::Usage(failed(error)))
}

fn put(path: &Path, bytes: &[u8], sync: impl Fn(&File) -> io::Result<()>) -> io::Result<()> {
    persist(&mut tempfile::Builder::new(), path, bytes, sync)
}

fn persist(
    draft: &mut tempfile::Builder<'_, '_>,
    path: &Path,
    bytes: &[u8],
    sync: impl Fn(&File) -> io::Result<()>,
) -> io::Result<()> {
    // Its name cannot be guessed, and it is removed unless it takes the place of the file.
    let mut draft = draft.prefix(".mlsys-").tempfile_in(folder_of(path)).map_err(of_system)?;
    draft.write_all(bytes).map_err(of_system)?;
    sync(draft.as_file())?;
    draft.persist(path)?;
    Ok(())
}

/// The error without the name of the draft, which means nothing to its reader.
fn of_system(error: io::Error) -> io::Error {
    match error.to_string().rsplit_once(" at path ") {
        Some((what, _)) => io::Error::new(error.kind(), what),
        None => error,
    }
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Puts a new name in a folder on the disk, where folders can be opened. The file is there without it.
fn sync_folder(folder: &Path) {
    if cfg!(unix) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

/// Whether files can be written into a folder, which is created if need be.
pub fn try_writing(folder: &Path) -> io::Result<()> {
    create_folder(folder)?;
    let mut probe = tempfile::tempfile_in(folder)?;
    probe.write_all(b"mlsys doctor")
}

/// Appends whole lines, all of them or none: a disk that fills up in the middle leaves the file as it was. A line before
/// them that another process left without its end is ended first, so that these do not become part of it.
///
/// Two processes that append at once do not mix their lines, on file systems that have locks. The file is one that is
/// read as well.
pub fn append_lines(file: &mut File, lines: &[u8]) -> io::Result<()> {
    let locked = file.lock().is_ok();
    let before = file.metadata().map(|about| about.len());
    let written = ends_with_line(file).and_then(|is_ended| match is_ended {
        true => file.write_all(lines),
        false => file.write_all(&[b"\n", lines].concat()),
    });
    if let (Err(_), true, Ok(before)) = (&written, locked, before) {
        let _ = file.set_len(before);
    }
    if locked {
        let _ = file.unlock();
    }
    written
}

fn ends_with_line(file: &mut File) -> io::Result<bool> {
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(last == [b'\n'])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_of_a_failure() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        replace(&file, b"first").unwrap();
        replace_on_disk(&file, b"second").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"second");
        fs::create_dir(folder.path().join("b")).unwrap();
        assert!(replace(&folder.path().join("b"), b"in the place of a folder").is_err());
        assert!(replace(&folder.path().join("none/c"), b"no folder").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn an_output_is_whole_and_its_error_names_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out.csv");
        write_output(&file, b"first").unwrap();
        write_output(&file, b"second").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"second");
        let blocked = folder.path().join("none/out.csv");
        let error = write_output(&blocked, b"").unwrap_err().to_string();
        assert!(error.starts_with(&format!("'{}' cannot be written: ", blocked.display())));
        assert!(!error.contains(".mlsys-"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            write_output(&file, b"third").unwrap();
            assert_eq!(mode(), 0o600);
            // Through a link into the file that it names.
            let link = folder.path().join("link");
            std::os::unix::fs::symlink(&file, &link).unwrap();
            write_output(&link, b"fourth").unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"fourth");
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        }
    }

    #[cfg(unix)]
    #[test]
    fn new_files_and_folders_are_for_their_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (deep, file) = (folder.path().join("a/b"), folder.path().join("a/b/c"));
        create_folder(&deep).unwrap();
        replace(&file, b"text").unwrap();
        let log = deep.join("log");
        options().append(true).create(true).open(&log).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let modes = [mode(&folder.path().join("a")), mode(&deep), mode(&file), mode(&log)];
        assert_eq!(modes, [0o700, 0o700, 0o600, 0o600]);
    }
}
