#!/bin/sh
# Installs mlsys from a prebuilt archive, for one user and without root; `sh install.sh --help` says how.
# All of it is functions called by the last line: half of a download does nothing.
set -eu

# A release's copy of this script has the release's address here (install/archive.py --installers writes it).
release_url=''

mark='# added by the installer of mlsys'

usage() {
    cat <<'HELP'
Installs mlsys, a workbench for learning machine-learning systems.

    sh install.sh                download, check, install to ~/.local/bin
    sh install.sh --uninstall    remove all that it installed, and the lines that put it on the path

    --from ADDRESS   where the archives are: a web address or a folder    [MLSYS_INSTALL_FROM]
    --to FOLDER      where the program goes, instead of ~/.local/bin      [MLSYS_INSTALL_TO]
    --no-path        leave the shell's start files as they are

The archive of this platform is downloaded with its SHA-256 checksum; if they differ, nothing is installed.
Your answers and runs are in a folder of their own (mlsys doctor names it), which --uninstall leaves alone.
HELP
}

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

build='with Rust, "cargo install --locked --path app/mlsys" in a clone builds it'

platform() {
    system=$(uname -s) machine=$(uname -m)
    case $machine in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) fail "there is no archive for a processor of kind $machine; $build" ;;
    esac
    case $system in
        Linux)
            # musl's ldd says who it is on standard error, with a failure.
            if { ldd --version 2>&1 || true; } | grep -qi musl; then
                fail "the archives need glibc, and this system has musl; $build"
            fi
            echo "$machine-unknown-linux-gnu" ;;
        Darwin)
            # A shell under Rosetta says x86_64 on an Apple processor.
            if [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || echo 0)" = 1 ]; then machine=aarch64; fi
            echo "$machine-apple-darwin" ;;
        MINGW* | MSYS* | CYGWIN*) fail 'on Windows, use install.ps1 in PowerShell' ;;
        *) fail "there is no archive for $system; $build" ;;
    esac
}

# fetch NAME FILE: the named file of the release.
fetch() {
    case $from in
        *://*) ;;
        *)
            [ -f "$from/$1" ] || fail "there is no $1 in the folder $from"
            cp "$from/$1" "$2"
            return ;;
    esac
    # An address with https is never left for one without.
    case $from in https:*) allowed='=https' ;; *) allowed='=https,http,file' ;; esac
    if has curl; then
        curl --proto "$allowed" --fail --location --silent --show-error --retry 2 --output "$2" "$from/$1" && return
    elif has wget; then
        wget -q -O "$2" "$from/$1" && return
    else
        fail 'neither curl nor wget is here to download with; install one of them, or pass a folder with --from'
    fi
    fail "cannot download $from/$1; see whether the address opens in a browser, or pass another with --from"
}

sha256() {
    if has sha256sum; then sum=$(sha256sum <"$1")
    elif has shasum; then sum=$(shasum -a 256 <"$1")
    elif has openssl; then sum=$(openssl dgst -sha256 -r <"$1")
    else fail 'none of sha256sum, shasum and openssl is here to check the archive with; install one of them'
    fi
    echo "${sum%% *}"
}

# The start file of the login shell.
start_file() {
    case ${SHELL:-} in
        */zsh) echo "${ZDOTDIR:-$HOME}/.zshrc" ;;
        */fish) echo "${XDG_CONFIG_HOME:-$HOME/.config}/fish/conf.d/mlsys.fish" ;;
        */bash) if [ "$(uname -s)" = Darwin ]; then echo "$HOME/.bash_profile"; else echo "$HOME/.bashrc"; fi ;;
        *) echo "$HOME/.profile" ;;
    esac
}

put_on_path() {
    case ":$PATH:" in
        *":$to:"*)
            found=$(command -v mlsys || true)
            [ "$found" = "$to/mlsys" ] || say "Another program comes first on your path: $found"
            return ;;
    esac
    file=$(start_file)
    case $file in
        *.fish) line="fish_add_path --path '$to' $mark" ;;
        *) line="export PATH='$to':\"\$PATH\" $mark" ;;
    esac
    case $to in
        *"'"* | *:* | *'
'*) say "The folder's name cannot go on the path. Start the program as $to/mlsys"; return ;;
    esac
    # The last line of a start file may lack its end.
    if [ -s "$file" ] && [ -n "$(tail -c 1 "$file")" ]; then end_line='echo'; else end_line=':'; fi
    if [ "$path" = keep ]; then
        say "$to is not on your path. This line in $file puts it there:"
        say "    $line"
    elif [ -f "$file" ] && grep -qF "$line" "$file"; then
        say "$file puts $to on the path already: open a new terminal."
    elif mkdir -p "$(dirname "$file")" && { $end_line && printf '%s\n' "$line"; } >>"$file"; then
        say "$file puts $to on the path from now on: open a new terminal."
    else
        say "cannot write $file; start the program as $to/mlsys"
    fi
}

# Every start file is looked at, because the login shell may have changed since. Written through, not replaced: a start
# file may be a link.
take_off_path() {
    for file in "${ZDOTDIR:-$HOME}/.zshrc" "$HOME/.bashrc" "$HOME/.bash_profile" "$HOME/.profile" \
        "${XDG_CONFIG_HOME:-$HOME/.config}/fish/conf.d/mlsys.fish"; do
        if [ -f "$file" ] && grep -qF "$mark" "$file"; then
            grep -vF "$mark" "$file" >"$work/rest" || true
            if [ -s "$work/rest" ] || [ -L "$file" ]; then cat "$work/rest" >"$file"; else rm -f "$file"; fi
            say "removed the line of mlsys from $file"
        fi
    done
}

# The manual pages and the shells' completions are where man, bash, fish and zsh look next to a folder named bin.
share_files() {
    case $to in */bin) share=${to%/bin}/share ;; *) return 1 ;; esac
    completions="bash:$share/bash-completion/completions/mlsys
fish:$share/fish/vendor_completions.d/mlsys.fish
zsh:$share/zsh/site-functions/_mlsys"
}

write_share_files() {
    share_files || return 0
    echo "$completions" | while IFS=: read -r shell file; do
        { mkdir -p "$(dirname "$file")" && "$to/mlsys" completions "$shell" >"$file"; } || say "cannot write $file"
    done
    "$to/mlsys" manual "$share/man/man1" 2>"$work/manual" || say "cannot write the manual pages to $share/man/man1"
}

remove_share_files() {
    share_files || return 0
    rm -f "$share/man/man1/mlsys.1" "$share/man/man1"/mlsys-*.1
    echo "$completions" | while IFS=: read -r _ file; do
        rm -f "$file"
        rmdir -p "$(dirname "$file")" 2>/dev/null || true
    done
    rmdir -p "$share/man/man1" 2>/dev/null || true
}

install_program() {
    [ -n "$from" ] || fail 'this copy names no release to download from; pass its address or a folder with --from'
    target=$(platform)
    archive=mlsys-$target.tar.gz
    say "Downloading $from/$archive"
    fetch "$archive.sha256" "$work/checksum"
    fetch "$archive" "$work/$archive"
    expected=$(cut -c 1-64 "$work/checksum" | head -n 1)
    case $expected in
        *[!0-9a-f]* | '') fail "$from/$archive.sha256 is no checksum file; nothing was installed. Is the address right?" ;;
    esac
    actual=$(sha256 "$work/$archive")
    if [ "$actual" != "$expected" ]; then
        fail "the archive is not the released one, nothing was installed.
    released    $expected
    downloaded  $actual
Try again; if it stays so, report it where you found this script."
    fi
    tar -xzf "$work/$archive" -C "$work" || fail 'cannot unpack the archive; nothing was installed'
    mkdir -p "$to" || fail "cannot create $to; name another folder with --to"
    # In its folder under another name, because programs may not be allowed to run in the temporary one; tried before it
    # replaces one that works; and renamed, so that a program that runs keeps its own file.
    new=$to/.mlsys.$$
    cp "$work/mlsys-$target/mlsys" "$new" || fail "cannot write to $to; name another folder with --to"
    version=$("$new" --version </dev/null) ||
        fail "the program does not start on this system (above is why), nothing was installed; $build"
    mv -f "$new" "$to/mlsys" || fail "cannot replace $to/mlsys; name another folder with --to"
    say "Installed $version as $to/mlsys"
    write_share_files
    put_on_path
    say 'Begin with: mlsys'
}

uninstall() {
    take_off_path
    [ -f "$to/mlsys" ] || fail "there is no mlsys in $to; name its folder with --to"
    rm -f "$to/mlsys" || fail "cannot remove $to/mlsys"
    remove_share_files
    rmdir "$to" 2>/dev/null || true
    say "removed $to/mlsys"
}

main() {
    action=install_program path=write
    from=${MLSYS_INSTALL_FROM:-$release_url} to=${MLSYS_INSTALL_TO:-}
    while [ $# -gt 0 ]; do
        case $1 in
            --from | --to)
                [ $# -gt 1 ] || fail "$1 needs a value; --help shows it"
                if [ "$1" = --from ]; then from=$2; else to=$2; fi
                shift ;;
            --no-path) path=keep ;;
            --uninstall) action=uninstall ;;
            --help | -h) usage; exit ;;
            *) fail "there is no option $1; --help lists them" ;;
        esac
        shift
    done
    [ -n "${HOME:-}" ] || fail 'HOME is not set; set it to your home folder'
    to=${to:-$HOME/.local/bin} from=${from%/}
    case $to in /*) ;; *) to=$PWD/$to ;; esac
    work=$(mktemp -d) || fail 'cannot create a temporary folder; set TMPDIR to one with 100 MB free'
    trap 'rm -rf "$work"; rm -f "$to/.mlsys.$$"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    $action
}

main "$@"
