#!/usr/bin/env python3
"""The steps of the Containerfile, carried out without docker: `sudo install/container.py PROGRAM`.

A bare Debian is made with debootstrap (apt-get install debootstrap) in a temporary folder. Each step runs in it as docker
would run it; then the program does, as its user. With --debian the bare one is kept in that folder for the next time.
"""
import argparse, functools, http.server, pathlib, shlex, shutil, subprocess, sys, tempfile, threading

HERE = pathlib.Path(__file__).resolve().parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def steps():
    lines = [line for line in (HERE / "Containerfile").read_text().splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            yield line.split(maxsplit=1)


class Container:
    def __init__(self, root, debian, arguments):
        self.root, self.debian, self.arguments = root, debian, arguments
        self.environment, self.user, self.folder = {"PATH": PATH}, "root", "/"

    def run(self, command):
        home = "/root" if self.user == "root" else f"/home/{self.user}"
        variables = {"HOME": home} | self.environment | self.arguments
        settings = [f"{name}={value}" for name, value in variables.items()]
        inside = ["env", "-i", *settings, "sh", "-c", f"cd {shlex.quote(self.folder)} && {command}"]
        # A mount and process namespace of its own: /proc is there for the step and gone after it.
        outside = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.root}/proc"]
        subprocess.run([*outside, "chroot", f"--userspec={self.user}:", self.root, *inside], check=True)

    def step(self, kind, rest):
        print("==", kind, rest, flush=True)
        match kind:
            case "FROM":
                debian, suite = rest.removesuffix("-slim").split(":")
                assert debian == "debian", f"{rest} is no Debian, which is all that debootstrap makes"
                if not self.debian.exists():
                    subprocess.run(["debootstrap", "--variant=minbase", suite, self.debian], check=True, stdout=subprocess.DEVNULL)
                # With its owners and devices, which shutil does not copy.
                subprocess.run(["cp", "--archive", self.debian, self.root], check=True)
            case "ARG":
                assert rest in self.arguments, f"the argument {rest} is not given"
            case "ENV":
                self.environment |= dict(word.split("=", 1) for word in shlex.split(rest))
            case "RUN":
                self.run(rest)
            case "COPY":
                source, target = rest.split()
                shutil.copy2(HERE.parent / source, self.root / target.lstrip("/"))
            case "USER":
                # What is given to the build is not there when the container runs.
                self.user, self.arguments = rest, {}
            case "WORKDIR":
                self.folder = rest
            case "CMD":
                self.command = rest
            case _:
                sys.exit(f"container.py: it does not know the step {kind}; teach it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path, help="the program to pack")
    parser.add_argument("--debian", type=pathlib.Path, help="the folder that keeps the bare Debian")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        site, root = pathlib.Path(folder) / "site", pathlib.Path(folder) / "root"
        debian = options.debian or pathlib.Path(folder) / "debian"
        subprocess.run([HERE / "archive.py", options.program, "--into", site], check=True)
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        container = Container(root, debian, {"ADDRESS": f"http://127.0.0.1:{server.server_address[1]}"})
        for step in steps():
            container.step(*step)
        assert container.command == '["mlsys"]', container.command
        for command in ["id -un", "mlsys --version", "mlsys doctor", "mlsys run systems/training-loop --device cpu"]:
            container.step("RUN", command)
        assert any((root / "data").iterdir()), "the program kept nothing in /data"


main()
