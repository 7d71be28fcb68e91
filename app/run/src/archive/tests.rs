//! Archives packed here, damaged, and hostile.

use std::collections::BTreeMap;

use super::*;

fn files() -> BTreeMap<String, Vec<u8>> {
    let long = format!("{}/{}.md", "folder".repeat(15), "name".repeat(20));
    let texts = [
        ("course.toml", "id = 1"),
        ("gpu/warps.md", "text"),
        ("gpu/ü.md", ""),
        (long.as_str(), "far down"),
    ];
    texts.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into()
}

fn packed(files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    packed_with(files, BTreeMap::new())
}

fn packed_with(files: &BTreeMap<String, Vec<u8>>, built_in: BTreeMap<LessonId, String>) -> Vec<u8> {
    let manifest = Manifest::new("mine".parse().unwrap(), Withheld::Included, files, built_in);
    manifest.pack(files).unwrap().bytes
}

#[test]
fn built_in_lessons_are_named_with_their_versions() {
    let versions = BTreeMap::from([("gpu/coalescing".parse().unwrap(), "9f".to_owned())]);
    let archive = read(&packed_with(&files(), versions.clone()), "x").unwrap();
    assert_eq!(archive.built_in, versions);
    assert!(!archive.files.keys().any(|path| path.contains("coalescing")));
    assert!(read(&packed(&files()), "x").unwrap().built_in.is_empty());
}

/// One entry as any program may write it: raw path, kind and size field, with a right checksum.
fn entry(path: &[u8], kind: u8, size: &[u8], content: &[u8]) -> Vec<u8> {
    let mut header = [0_u8; 512];
    header[..path.len()].copy_from_slice(path);
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..124 + size.len()].copy_from_slice(size);
    header[148..156].copy_from_slice(b"        ");
    header[156] = kind;
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u64 = header.iter().map(|&byte| u64::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut entry = header.to_vec();
    entry.extend(content);
    entry.resize(entry.len().next_multiple_of(512), 0);
    entry
}

fn refused(entries: &[Vec<u8>]) -> String {
    let mut tar = entries.concat();
    tar.extend([0; 1024]);
    read(&gzip(&tar).unwrap(), "x.tar.gz").err().unwrap().to_string()
}

#[test]
fn packing_is_lossless_and_deterministic() {
    let files = files();
    let bytes = packed(&files);
    assert_eq!(packed(&files), bytes);
    let archive = read(&bytes, "x.tar.gz").unwrap();
    let back: BTreeMap<String, Vec<u8>> =
        archive.files.iter().map(|(path, file)| (path.clone(), file.bytes.to_vec())).collect();
    assert_eq!(back, files);
    assert_eq!(archive.files["gpu/warps.md"].name, "x.tar.gz/gpu/warps.md");
    // The bytes themselves are part of the promise: another machine gives them, too.
    assert_eq!(
        sha256(&decompress(&bytes).unwrap()),
        "d3eeaa47b6425a8f2f3f25fa776a3fa1f8b95447c1a88f1c716e71741d1cebe2"
    );
}

#[test]
fn a_known_hash_is_right() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn any_flipped_byte_and_any_cut_is_detected() {
    let bytes = packed(&files());
    let whole = read(&bytes, "x").unwrap();
    for cut in 0..bytes.len() {
        assert!(read(&bytes[..cut], "x").is_err(), "cut at {cut}");
    }
    let mut seen = 0;
    for at in 10..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        // Bits that only fill the last compressed bytes may be anything.
        match read(&flipped, "x") {
            Ok(archive) => assert_eq!(archive, whole, "flipped at {at}"),
            Err(_) => seen += 1,
        }
    }
    assert!(seen >= bytes.len() - 16, "{seen} of {}", bytes.len());
    // A file that was exchanged with care for every checksum but its hash.
    let tar = decompress(&bytes).unwrap();
    let at = tar.windows(4).position(|window| window == b"text").unwrap();
    let mut other = tar.clone();
    other[at..at + 4].copy_from_slice(b"evil");
    let error = read(&gzip(&other).unwrap(), "x").err().unwrap();
    assert_eq!(error, ArchiveError::HashMismatch { entry: "gpu/warps.md".to_owned() });
    // One cut between blocks, inside the tar.
    for blocks in 0..tar.len() / 512 - 1 {
        let error = read(&gzip(&tar[..blocks * 512]).unwrap(), "x").err().unwrap();
        assert!(
            matches!(error, ArchiveError::Truncated | ArchiveError::TruncatedEntry { .. }),
            "{blocks}: {error}"
        );
    }
}

#[test]
fn entries_outside_the_folder_or_not_files_are_refused() {
    let plain = |path: &[u8]| entry(path, b'0', b"00000000004\0", b"text");
    for path in [
        "../evil.md",
        "gpu/../../evil.md",
        "/etc/passwd",
        "C:/evil.md",
        "C:evil.md",
        "..\\evil.md",
        "a/./b.md",
        "a//b.md",
        "..",
    ] {
        let error = refused(&[plain(path.as_bytes())]);
        assert!(
            error.contains("could lead out") && error.contains(&path.escape_debug().to_string()),
            "{path}: {error}"
        );
    }
    for (kind, part) in [
        (b'1', "a hard link"),
        (b'2', "a symbolic link"),
        (b'3', "a device"),
        (b'4', "a device"),
        (b'6', "a pipe"),
        (b'x', "an extended header"),
        (b'L', "an extended header"),
        (b'S', "of an unknown kind"),
    ] {
        let error = refused(&[entry(b"link.md", kind, b"00000000000\0", b"")]);
        assert!(error.contains("'link.md'") && error.contains(part), "{error}");
    }
    assert!(refused(&[entry(b"../up/", b'5', b"00000000000\0", b"")]).contains("could lead out"));
    let error = refused(&[plain(b"a.md"), plain(b"b.md"), plain(b"a.md")]);
    assert!(error.contains("'a.md' is there twice"), "{error}");
    let error = refused(&[plain(b"\xff\xfe.md")]);
    assert!(error.contains("\\xff\\xfe.md' is not UTF-8"), "{error}");
    let error = refused(&[plain(b"\x1b[2J.md")]);
    assert!(error.contains("\\u{1b}[2J.md"), "{error}");
}

#[test]
fn oversized_archives_are_refused_before_they_are_held() {
    // A thousand to one, as deflate compresses zeros.
    let bomb = gzip(&vec![0; MAX_UNPACKED + 1]).unwrap();
    assert!(bomb.len() < 200_000);
    assert_eq!(read(&bomb, "x").err().unwrap(), ArchiveError::TooLarge { max: MAX_UNPACKED });
    for size in [&b"77777777777\0"[..], b"\x80\0\0\0\0\0\0\xff\xff\xff\xff\xff", b"00004000001\0"] {
        let error = refused(&[entry(b"big.md", b'0', size, b"")]);
        assert!(error.contains("'big.md' has more than 1048576 bytes"), "{error}");
    }
    let many: Vec<_> = (0..=MAX_FILES)
        .map(|n| entry(format!("{n}.md").as_bytes(), b'0', b"00000000000\0", b""))
        .collect();
    assert!(refused(&many).contains("more than 2000 files"));
    let error = refused(&[entry(b"short.md", b'0', b"00000010000\0", b"x")]);
    assert!(error.contains("inside the entry 'short.md'"), "{error}");
}

#[test]
fn the_manifest_must_exist_and_match() {
    let text = |path: &str, text: &str| {
        let size = format!("{:011o}\0", text.len());
        entry(path.as_bytes(), b'0', size.as_bytes(), text.as_bytes())
    };
    let list = |files: &str| {
        text(
            MANIFEST,
            &format!(
                r#"{{"format": 1, "course": "mine", "answers": "included", "files": {{{files}}}}}"#
            ),
        )
    };
    let errors = [
        refused(&[text("a.md", "a")]),
        refused(&[text(MANIFEST, "{}")]),
        refused(&[text(MANIFEST, r#"{"format": 3}"#)]),
        refused(&[list(""), text("a.md", "a")]),
        refused(&[list(r#""a.md": {"bytes": 1, "sha256": "00"}"#)]),
        refused(&[list(r#""a.md": {"bytes": 1, "sha256": "00"}"#), text("a.md", "a")]),
    ];
    for (error, part) in errors.iter().zip([
        "there is no manifest.json",
        "missing field `format`",
        "it is of format 3",
        "'a.md' is not in its manifest.json",
        "'a.md' is missing",
        "'a.md' is not the one that was packed",
    ]) {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(read(b"PK\x03\x04 a zip file", "x").err().unwrap(), ArchiveError::NotGzip);
    assert_eq!(read(b"", "x").err().unwrap(), ArchiveError::NotGzip);
}
