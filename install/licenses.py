"""The licences of all crates that the program is made of, which an archive has to bring along."""
import json, pathlib, subprocess

NAMES = ("licen", "copying", "notice", "unlicense", "copyright")


def crates(root, target):
    """The crates from registries that `mlsys` is compiled from for the target, by name and version."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    told = json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in told["packages"]}
    uses = {node["id"]: [dep["pkg"] for dep in node["deps"] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])]
            for node in told["resolve"]["nodes"]}
    [program] = [id for id in told["workspace_members"] if packages[id]["name"] == "mlsys"]
    reached, rest = set(), [program]
    while rest:
        if (package := rest.pop()) not in reached:
            reached.add(package)
            rest.extend(uses[package])
    found = [packages[id] for id in reached if packages[id]["source"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def texts(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and path.name.lower().startswith(NAMES)]
    return [path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip() for path in files]


def document(root, target):
    """A list of the crates, each with the numbers of its texts, and each text once."""
    numbers, lines = {}, []
    for package in crates(root, target):
        own = [numbers.setdefault(text, len(numbers) + 1) for text in texts(package)]
        told = [package["license"], *package["authors"], package["repository"], *(f"[{number}]" for number in own)]
        lines.append(f"{package['name']} {package['version']}: " + ", ".join(filter(None, told)))
    parts = ["mlsys is compiled from these crates, on some platforms without a few. Numbers are those of the texts below.", "\n".join(lines)]
    parts += [f"{'=' * 8} [{number}] {'=' * 8}\n\n{text}" for text, number in numbers.items()]
    return "\n\n".join(parts) + "\n"
