"""The parts of a program that Zig brings: LLVM's C++ library, Zig's own run-time library, and musl or mingw-w64."""
import pathlib
import re
import shlex
import subprocess
import tempfile

from linked import Component, Unknown, run

# What Zig compiles when it first links a program. Every other file in its cache is part of the C library.
LIBRARIES = {"c++": "llvm", "c++abi": "llvm", "unwind": "llvm", "compiler_rt": "zig", "ubsan_rt": "zig", "zigc": "zig"}
C_LIBRARIES = {"musl": "musl", "windows": "mingw-w64"}
# The directories of Zig's library that contain headers.
HEADERS = {
    "libcxx": "llvm", "libcxxabi": "llvm", "libunwind": "llvm",
    "include": "llvm",  # Clang's own headers
    "libc/musl": "musl", "libc/include/generic-musl": "musl",
    "libc/mingw": "mingw-w64", "libc/include/any-windows-any": "mingw-w64",
    "libc/include/any-darwin-any": "macos-sdk", "libc/darwin": "macos-sdk", "libc/include/any-linux-any": "linux",
}
# Where the versions are: a file below Zig's library directory, and an expression for the version's numbers in it.
VERSIONS = {
    "llvm": ("libcxx/include/__config", r"_LIBCPP_VERSION +(\d+)(\d\d)(\d\d)$"),
    "musl": ("libc/musl/src/internal/version.h", r'VERSION "(\d+)\.(\d+)\.(\d+)"'),
    "mingw-w64": ("libc/include/any-windows-any/_mingw_mac.h",
                  r"VERSION_MAJOR (\d+)\n#define __MINGW64_VERSION_MINOR (\d+)\n#define __MINGW64_VERSION_BUGFIX (\d+)"),
}


def toolchain(command):
    """The Zig that a link command uses, or None."""
    try:
        wrapper = pathlib.Path(command[0]).read_text()
    except (OSError, UnicodeDecodeError):
        return None
    found = re.search(r"exec '(.*/zig)' \S+ -target (\S+)", wrapper)
    caches = ["".join(parts) for parts in re.findall(r"_CACHE_DIR='([^']+)'(\S*)", wrapper)]
    return Toolchain(pathlib.Path(found[1]), found[2], caches) if found else None


class Toolchain:
    def __init__(self, zig, target, caches):
        self.zig, self.target = zig.resolve(), target
        self.library = self.zig.parent / "lib"
        self.caches = [pathlib.Path(cache).resolve() for cache in caches]
        self.version = run([str(self.zig), "version"], None, "zig version failed").strip()

    def part(self, path):
        """The part of Zig that a linked file or a header belongs to, or None."""
        if any(path.is_relative_to(cache) for cache in self.caches):
            if part := LIBRARIES.get(path.stem.removeprefix("lib")):
                return part
            for name, part in C_LIBRARIES.items():
                if name in self.target:
                    return part
            raise Unknown(f"Zig has compiled {path} for {self.target}, and packages/notices/zig.py does not know what it is")
        if not path.is_relative_to(self.library):
            return None
        below = path.relative_to(self.library).as_posix()
        for directory, part in HEADERS.items():
            if below.startswith(directory + "/"):
                return part
        # The headers for one architecture.
        if found := re.match(r"libc/include/[^/-]+-(linux|windows|darwin)-", below):
            return {"linux": "musl", "windows": "mingw-w64", "darwin": "macos-sdk"}[found[1]]
        raise Unknown(f"packages/notices/zig.py does not know what {path} is")

    def component(self, entries, part):
        key = next(key for key, entry in entries.items() if entry.get("zig") == part or key == part)
        version = self.version
        if part in VERSIONS:
            name, expression = VERSIONS[part]
            found = re.search(expression, (self.library / name).read_text(), re.MULTILINE)
            if found is None:
                raise Unknown(f"{self.library / name} has no version of {entries[key]['name']}")
            version = ".".join(str(int(number)) for number in found.groups())
        return Component(key, entries[key], version, "zig", part, bundled=f"Zig {self.version}", directory=self.library)

    def taken(self, build, target, command):
        """{file: number of members} as linked.py's functions return it.

        Zig has no linker map for all systems. An archive counts if the program cannot be linked without it."""
        archives = {word for word in command if word.endswith(".a") and not (build / word).resolve().is_relative_to(build)}
        with tempfile.TemporaryDirectory() as directory:
            again = pathlib.Path(directory) / target
            output = self.link(build, command, again, ["-v"])
            if output.returncode != 0:
                raise Unknown(f"linking {target} again failed: {output.stdout[-2000:]}")
            if linked_content(again.read_bytes()) != linked_content((build / target).read_bytes()):
                raise Unknown(f"{build / target} differs from what its link command produces: build it again")
            taken = {word: 1 for word in self.own_files(output.stdout)}
            for archive in sorted(archives):
                output = self.link(build, [word for word in command if word != archive], again)
                if output.returncode != 0 and "undefined symbol" not in output.stdout:
                    raise Unknown(f"linking {target} without {archive} failed for an unknown reason: {output.stdout[-2000:]}")
                if output.returncode != 0:
                    taken[archive] = 1
        return taken

    def link(self, build, command, out, options=()):
        command = list(command)
        command[command.index("-o") + 1] = str(out)
        return subprocess.run([*command, *options], cwd=build, text=True, errors="replace", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    def own_files(self, output):
        """The files in Zig's cache that the linker gets, from the output of -v."""
        lines = [line for line in output.splitlines() if re.match(r"(ld\.lld|lld-link|zig ld) ", line)]
        words = shlex.split(lines[-1]) if lines else []
        files = [word for word in words if any(word.startswith(f"{cache}/") for cache in self.caches)]
        if not files:
            raise Unknown(f"Zig {self.version} does not say what it links:\n{output[-2000:]}")
        return files


def linked_content(content):
    """The part of a program that depends only on what was linked: all of it, except on Windows and macOS.

    A program for Windows contains the time of its link. A program for macOS is signed after it has been linked, but keeps the
    UUID that the linker has computed from its content."""
    if content[:2] == b"MZ":
        header = int.from_bytes(content[60:64], "little")
        return content[:header + 8] + content[header + 12:]
    if content[:4] == b"\xcf\xfa\xed\xfe":
        commands, offset = int.from_bytes(content[16:20], "little"), 32
        for _ in range(commands):
            kind, size = (int.from_bytes(content[place:place + 4], "little") for place in (offset, offset + 4))
            if kind == 0x1B:  # LC_UUID
                return content[offset + 8:offset + 24]
            offset += size
    return content
