#!/usr/bin/env python3
"""Builds what a release consists of, into one folder (target/release-files unless --into names another).

    install/archive.py                     builds the program with cargo, then its archive and checksum
    install/archive.py PROGRAM             the archive of a program that is built already
    install/archive.py --installers URL    install.sh and install.ps1 that download from URL

An archive is mlsys-TARGET.tar.gz (.zip on Windows) with one folder mlsys-TARGET in it. Its name has no version, so that
".../releases/latest/download/NAME" needs no question to an API. The same program gives the same bytes: dates are that of
the last commit, the order and the modes are fixed.
"""
import argparse, gzip, hashlib, io, os, pathlib, subprocess, sys, tarfile, time, zipfile

sys.dont_write_bytecode = True
import licenses

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ["LICENSE-APACHE", "LICENSE-MIT", "README.md"]
INSTALLERS = {"install.sh": "release_url=''", "install.ps1": "$ReleaseUrl = ''"}


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def built(target, cargo):
    folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    subprocess.run(["cargo", "build", "--release", "--locked", "--target", target, *cargo], cwd=ROOT, check=True)
    return ROOT / folder / target / "release" / executable(target)


def executable(target):
    return "mlsys.exe" if "windows" in target else "mlsys"


def date():
    return int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct"))


def packed_tar(files, seconds):
    packed = io.BytesIO()
    # The header of gzip holds a date too.
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, mode, content in files:
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode, entry.mtime = len(content), mode, seconds
                archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def packed_zip(files, seconds):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, mode, content in files:
            entry = zipfile.ZipInfo(name, time.gmtime(seconds)[:6])
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return packed.getvalue()


def archive(program, target, into):
    folder = f"mlsys-{target}"
    files = [(f"{folder}/{executable(target)}", 0o755, program.read_bytes())]
    files += [(f"{folder}/{name}", 0o644, (ROOT / name).read_bytes()) for name in DOCUMENTS]
    files.append((f"{folder}/THIRD-PARTY.txt", 0o644, licenses.document(ROOT, target).encode()))
    windows = "windows" in target
    content = (packed_zip if windows else packed_tar)(files, date())
    name = folder + (".zip" if windows else ".tar.gz")
    (into / name).write_bytes(content)
    # The format of sha256sum: `sha256sum -c` reads it as well as the installers.
    checksum = f"{hashlib.sha256(content).hexdigest()}  {name}\n"
    (into / f"{name}.sha256").write_bytes(checksum.encode())
    print(into / name, f"{len(content) / 1e6:.1f} MB", checksum.split()[0])


def installers(url, into):
    if not url.startswith(("https://", "http://")) or set(url) & set("'\"$`\\ \n"):
        sys.exit(f"archive.py: {url} is no web address that a script can hold; pass one like https://HOST/FOLDER")
    for name, line in INSTALLERS.items():
        text = (ROOT / "install" / name).read_text(encoding="utf-8")
        if text.count(line) != 1:
            sys.exit(f"archive.py: install/{name} has {text.count(line)} lines {line}; it needs one, for the address")
        (into / name).write_bytes(text.replace(line, line[:-2] + f"'{url.rstrip('/')}'").encode())
        (into / name).chmod(0o755)
        print(into / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", type=pathlib.Path, help="a program that is built already")
    parser.add_argument("--target", help="its platform as a Rust target triple; this machine's without it")
    parser.add_argument("--into", type=pathlib.Path, default=ROOT / "target" / "release-files", help="the folder to write to")
    parser.add_argument("--installers", metavar="URL", help="write the installers instead, downloading from URL")
    parser.add_argument("--cargo", action="append", default=[], metavar="ARGUMENT", help="an argument for cargo build")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    if options.installers:
        return installers(options.installers, options.into)
    target = options.target or output("rustc", "--print", "host-tuple").strip()
    program = options.program or built(target, options.cargo)
    if not program.is_file():
        sys.exit(f"archive.py: there is no program at {program}")
    archive(program, target, options.into)


main()
