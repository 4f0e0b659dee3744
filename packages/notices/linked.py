"""Finds out which components a build links into a program.

`linked` asks the build, not a list: which archive members and startup files the linker takes, and which headers the compiler
reads. Each of these files belongs to a package of the distribution, to a library that script/dependencies has
compiled, or to Zig. components.toml maps those to components. A file without a component is an error.
"""
import collections
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "packages/notices/components.toml"


class Unknown(Exception):
    """A message for the user: the build links something that has no entry, or its files do not match."""


@dataclasses.dataclass
class Component:
    key: str  # its entry in components.toml
    entry: dict
    version: str
    origin: str  # the distribution of the source package, such as "debian", or "zig"
    source: str  # the source package, or the part of Zig
    bundled: str = ""  # "Zig 0.17.1" for the parts of Zig
    directory: pathlib.Path | None = None  # the unpacked source, if it is on this machine
    copyright: pathlib.Path | None = None  # the distribution's copyright file
    files: dict = dataclasses.field(default_factory=dict)  # {linked file: number of its members that the linker took}
    headers: list = dataclasses.field(default_factory=list)  # the headers that the compiler read

    @property
    def name(self):
        return self.entry["name"]

    def licensed(self):
        """The entry's license. An entry can have several, each for the versions before a given one."""
        license = self.entry["license"]
        if isinstance(license, str):
            return license
        for rule in license:
            if "before" not in rule or numbers(self.version) < numbers(rule["before"]):
                return rule["is"]
        raise Unknown(f"components.toml: {self.key} has no license for version {self.version}")


def numbers(version):
    """1:1.2.13.dfsg-1 -> [1, 2, 13]"""
    upstream = version.partition(":")[2] or version
    return [int(part) for part in re.match(r"[\d.]*", upstream)[0].split(".") if part]


def table():
    return tomllib.loads(TABLE.read_text())


# --- the build's commands

def run(command, directory, failed):
    done = subprocess.run(command, cwd=directory, env={**os.environ, "LC_ALL": "C"}, text=True, capture_output=True)
    if done.returncode != 0:
        raise Unknown(f"{failed}: {done.stderr.strip()[-2000:] or done.stdout.strip()[-2000:]}")
    return done.stdout


def link_command(build, target):
    """The command that links `target`, without the commands that CMake runs before and after it."""
    # compdb replaces response files by their content.
    edges = json.loads(run(["ninja", "-C", str(build), "-t", "compdb", "-x"], build, f"{build} is not a build directory"))
    commands = [edge["command"] for edge in edges if edge["output"] == target]
    for part in commands[0].split(" && ") if commands else []:
        words = shlex.split(part)
        if "-o" in words and words[words.index("-o") + 1] == target:
            return words
    raise Unknown(f"{build}: no command links {target}")


def compiled_headers(build, target):
    """The headers of every object that is compiled for `target`, from the compiler's dependency files."""
    commands = run(["ninja", "-C", str(build), "-t", "commands", target], build, f"{build} does not build {target}")
    outputs = set(re.findall(r" -o (\S+)", commands))
    found, ours = set(), False
    for line in run(["ninja", "-C", str(build), "-t", "deps"], build, f"{build} has no dependencies").splitlines():
        if line.startswith("    "):
            if ours:
                found.add(line.strip())
        elif ": #deps" in line:
            ours = line.partition(": #deps")[0] in outputs
    if not found:
        raise Unknown(f"{build}: {target} has not been built here")
    # A source is Mayfly's own, and the headers in a precompiled header are listed for the precompiled header itself.
    return {path for path in found if not path.endswith((".cc", ".cxx", ".c", ".gch", ".pch"))}


# --- GNU ld

def taken_by_gnu_ld(build, target, command):
    """Links `target` again with a map, and returns {file: number of members}. Fails if the result differs from `target`."""
    with tempfile.TemporaryDirectory() as directory:
        map_file, again = f"{directory}/map", f"{directory}/again"
        command = list(command)
        command[command.index("-o") + 1] = again
        run([*command, f"-Wl,-Map={map_file}"], build, f"linking {target} again failed")
        if pathlib.Path(again).read_bytes() != (build / target).read_bytes():
            raise Unknown(f"{build / target} differs from what its link command produces: build it again")
        lines = pathlib.Path(map_file).read_text(errors="replace").splitlines()
    return files_of_gnu_map(lines)


def files_of_gnu_map(lines):
    """{file: number of members} from a linker map. An object file counts as one member. Shared libraries are left out."""
    taken = collections.Counter()
    members = False
    for line in lines:
        if line.startswith("Archive member included"):
            members = True
        elif line.startswith(("Merging program", "Discarded input", "Memory Config", "As-needed", "There are no discarded")):
            members = False
        elif members and (found := re.match(r"(\S.*?\.a)\([^()]+\)", line)):
            taken[found[1]] += 1
        elif line.startswith("LOAD ") and line.endswith(".o"):
            taken[line.removeprefix("LOAD ")] += 1
    return taken


# --- packages of the distribution

class Packages:
    """Debian packages that are installed below `root`, as dpkg's files list them. script/sysroot writes the same files."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        status = self.root / "var/lib/dpkg/status"
        self.known = {}
        for paragraph in status.read_text(errors="replace").split("\n\n") if status.exists() else []:
            fields = dict(re.findall(r"^([\w-]+): (.*)$", paragraph, re.MULTILINE))
            if "Package" in fields:
                self.known[fields["Package"]] = fields
        self.owners = None

    def owner(self, path):
        """The package that has installed `path`, or None."""
        if self.owners is None:
            self.owners = {}
            for listing in (self.root / "var/lib/dpkg/info").glob("*.list"):
                package = listing.stem.partition(":")[0]
                for line in listing.read_text(errors="replace").splitlines():
                    if line.endswith((".a", ".o")) or "include/" in line:
                        self.owners[line] = package
        below = "/" + str(path.relative_to(self.root))
        # A package can still list /lib where /usr/lib is meant.
        return self.owners.get(below) or self.owners.get(below.removeprefix("/usr"))

    def copyright(self, package):
        path = self.root / "usr/share/doc" / package / "copyright"
        return path.resolve() if path.exists() else None


def distribution():
    release = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', pathlib.Path("/etc/os-release").read_text(), re.MULTILINE))
    return release.get("ID", "debian")


def matches(patterns, text):
    return any(re.fullmatch(pattern, text) for pattern in patterns)


def of_package(entries, packages, package):
    """The component that a binary package belongs to."""
    fields = packages.known[package]
    source, _, version = fields.get("Source", package).partition(" ")
    version = version.strip("()") or fields["Version"]
    # A package for cross-compiling is built from another source package, which it names in Built-Using.
    used = dict(re.findall(r"(\S+) \(= (\S+)\)", fields.get("Built-Using", "")))
    for key, entry in entries.items():
        if matches(entry.get("packages", []), package):
            name = next((name for name in used if matches(entry["sources"], name)), None)
            if name is None:
                raise Unknown(f"package {package} does not say which version of {entry['name']} it contains")
            return Component(key, entry, used[name], distribution(), name, copyright=packages.copyright(package))
        if matches(entry.get("sources", []), source):
            return Component(key, entry, version, distribution(), source, copyright=packages.copyright(package))
    raise Unknown(f"package {package} (source {source}) has no entry in {TABLE.relative_to(ROOT)}")


# --- libraries that the scripts compile

def changelog_version(directory):
    """('zlib', '1:1.2.13.dfsg-1') from the first line of debian/changelog."""
    with open(directory / "debian/changelog", encoding="utf-8") as changelog:
        found = re.match(r"(\S+) \(([^)]+)\)", changelog.readline())
    return found[1], found[2]


def of_recipe(entries, prefix, key):
    """The component that script/dependencies has compiled into `prefix`."""
    entry = entries[key]
    recipe = prefix / "recipes" / entry["recipe"]
    if not recipe.exists():
        raise Unknown(f"{recipe} is missing: run script/build")
    directory = pathlib.Path(recipe.read_text().split(" ", 1)[0])
    if not directory.is_dir():
        raise Unknown(f"{recipe} names the source {directory}, which is missing: run script/dependencies")
    source, version = changelog_version(directory)
    return Component(key, entry, version, distribution(), source, directory=directory,
                     copyright=directory / "debian/copyright")


# --- attribution

class Owners:
    """Maps the files of a build to components."""

    def __init__(self, build, zig=None):
        self.entries = table()
        self.build = build.resolve()
        self.zig = zig
        self.installed = Packages("/")
        self.sysroot = ROOT / "build/arm64-sysroot"
        self.unpacked = Packages(self.sysroot)
        self.found = {}  # by package, recipe or part of Zig

    def once(self, name, function, *arguments):
        if name not in self.found:
            self.found[name] = function(*arguments)
        return self.found[name]

    def component(self, name):
        """The component of a file, or None for Mayfly's own files."""
        path = pathlib.Path(os.path.realpath(self.build / name))
        if path.is_relative_to(self.build):
            return None
        if self.zig and (part := self.zig.part(path)):
            return self.once(("zig", part), self.zig.component, self.entries, part)
        built = ROOT / "build"
        if path.is_relative_to(built / "platforms"):
            prefix = built / "platforms" / path.relative_to(built / "platforms").parts[0]
            key = self.recipe_of(str(path.relative_to(prefix)))
            return self.once((prefix, key), of_recipe, self.entries, prefix, key)
        if path.is_relative_to(ROOT) and not path.is_relative_to(built):
            return None
        packages = self.unpacked if path.is_relative_to(self.sysroot) else self.installed
        package = packages.owner(path)
        if package is None:
            raise Unknown(f"{path} belongs to no package, so its license is unknown")
        return self.once((packages.root, package), of_package, self.entries, packages, package)

    def recipe_of(self, below):
        for key, entry in self.entries.items():
            if any(fnmatch.fnmatchcase(below, pattern) for pattern in entry.get("built", [])):
                return key
        raise Unknown(f"{below}, which script/dependencies has built, has no entry in {TABLE.relative_to(ROOT)}")


def linked(build, target):
    """The components in `target`, a program or library that was linked in the directory `build`, by key.

    Raises Unknown if a file belongs to no component, or if `target` is older than its objects."""
    import zig

    build = pathlib.Path(build).resolve()
    if not (build / target).exists():
        raise Unknown(f"{build / target} not found: build it first")
    command = link_command(build, target)
    toolchain = zig.toolchain(command)
    owners = Owners(build, toolchain)
    taken = toolchain.taken(build, target, command) if toolchain else taken_by_gnu_ld(build, target, command)
    found = {}

    def part_of(component):
        known = found.setdefault(component.key, dataclasses.replace(component, files={}, headers=[]))
        if known.version != component.version:
            raise Unknown(f"{target} contains {component.name} in two versions: {known.version} and {component.version}")
        return known

    for name, members in sorted(taken.items()):
        if component := owners.component(name):
            part_of(component).files[name] = members
    for name in sorted(compiled_headers(build, target)):
        if component := owners.component(name):
            part_of(component).headers.append(os.path.realpath(build / name))
    # Headers that only declare what the system provides are not part of the program.
    return {key: component for key, component in sorted(found.items())
            if component.files or not component.entry.get("interface")}
