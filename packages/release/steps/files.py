"""What the steps of a release share: platforms, failures, archives, hashes and commands."""

import dataclasses
import hashlib
import json
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tarfile
import tempfile
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
REPOSITORY = "mayfly-dynamodb/mayfly"
HOMEPAGE = f"https://github.com/{REPOSITORY}"
LICENSE = "Apache-2.0"
PLATFORMS = ("linux-x86_64", "linux-arm64", "macos-arm64", "macos-x86_64", "windows-x86_64")

# Limits on archives. They are far above the packages' sizes, and a damaged archive cannot fill the memory.
members_max = 20_000
unpacked_bytes_max = 512 * 1024 * 1024
command_seconds_max = 1800


class Failure(Exception):
    """A step failed. The text says what is wrong and what to do."""


@dataclasses.dataclass(frozen=True)
class Release:
    """The version that is released, and the directory with its packages. `tag` is None if there is no tag yet."""

    version: str
    dist: pathlib.Path
    tag: str | None = None
    root: pathlib.Path = ROOT

    @property
    def download(self):
        return f"{HOMEPAGE}/releases/download/v{self.version}"

    def archive(self, platform):
        """The release archive of a platform."""
        ending = "zip" if platform.startswith("windows") else "tar.gz"
        return self.dist / f"mayfly-{self.version}-{platform}.{ending}"

    def file(self, name, command):
        """A file of dist/. `command` creates it."""
        path = self.dist / name
        if path.is_symlink() or not path.is_file():
            raise Failure(f"{self.dist.name}/{name} is missing: run `{command}`.")
        return path

    def files(self, pattern, command):
        """The files of dist/ that match `pattern`, at least one."""
        found = sorted(path for path in self.dist.glob(pattern) if path.is_file() and not path.is_symlink())
        if not found:
            raise Failure(f"{self.dist.name}/{pattern} matches no file: run `{command}`.")
        return found


def sha256(data):
    """The hash of bytes or of a file."""
    if isinstance(data, bytes):
        return hashlib.sha256(data).hexdigest()
    digest = hashlib.sha256()
    with open(data, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


# --- programs


def platform_of(program):
    """The platform of a program, from its header, or None if the bytes are not a program for a known platform."""
    if program[:6] == b"\x7fELF\x02\x01" and len(program) >= 20:
        return {62: "linux-x86_64", 183: "linux-arm64"}.get(struct.unpack_from("<H", program, 18)[0])
    if program[:4] == b"\xcf\xfa\xed\xfe" and len(program) >= 8:
        return {0x01000007: "macos-x86_64", 0x0100000C: "macos-arm64"}.get(struct.unpack_from("<I", program, 4)[0])
    if program[:2] == b"MZ" and len(program) >= 64:
        (offset,) = struct.unpack_from("<I", program, 60)
        if program[offset : offset + 4] == b"PE\0\0" and len(program) >= offset + 6:
            return {0x8664: "windows-x86_64"}.get(struct.unpack_from("<H", program, offset + 4)[0])
    return None


def unpacked(name, data):
    """The bytes of an archive's member. Members that are compressed with gzip, xz or Zstandard are decompressed."""
    try:
        if data[:3] == b"\x1f\x8b\x08":
            inflate = zlib.decompressobj(wbits=31)
            plain = inflate.decompress(data, unpacked_bytes_max)
            return plain if inflate.eof else data
        if data[:6] == b"\xfd7zXZ\0":
            expand = lzma.LZMADecompressor()
            plain = expand.decompress(data, unpacked_bytes_max)
            return plain if expand.eof else data
    except (zlib.error, lzma.LZMAError) as error:
        raise Failure(f"{name} is damaged: {error}.") from error
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return command(["zstd", "--decompress", "--stdout", "--memory=128MB"], input=data, text=False)
    return data


def programs_in(files):
    """The programs in the files of an archive: platform -> (name, bytes). Libraries are not programs."""
    found = {}
    for name, file in files.items():
        data = unpacked(name, file.data)
        platform = platform_of(data)
        if platform and name.rsplit("/", 1)[-1].startswith("mayfly"):
            if platform in found:
                raise Failure(f"{name} and {found[platform][0]} are both programs for {platform}.")
            found[platform] = (name, data)
    return found


# --- archives


@dataclasses.dataclass(frozen=True)
class File:
    data: bytes
    mode: int  # the permissions; 0 if the archive has none


def check_name(archive, name):
    parts = name.split("/")
    if not name or name.startswith("/") or "\\" in name or ":" in parts[0] or ".." in parts or "\0" in name:
        raise Failure(f"{archive.name} contains a file with the unsafe name {name!r}.")


def read_archive(path):
    """The regular files of a tar archive or a zip archive: name -> File.

    A name that leads out of the archive, a link out of it, a device, or more content than the limits is a Failure.
    """
    files, total = {}, 0

    def add(name, size, mode, read):
        nonlocal total
        total += size
        if total > unpacked_bytes_max or len(files) >= members_max:
            raise Failure(f"{path.name} has more than {members_max} files or {megabytes(unpacked_bytes_max)} of content.")
        if name in files:
            raise Failure(f"{path.name} contains {name} twice.")
        files[name] = File(read(), mode)

    try:
        if path.suffix in (".zip", ".whl", ".jar"):
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    check_name(path, info.filename)
                    mode = info.external_attr >> 16
                    if mode & 0o170000 == 0o120000:
                        raise Failure(f"{path.name} contains the link {info.filename}.")
                    if not info.is_dir():
                        add(info.filename, info.file_size, mode & 0o7777, lambda info=info: archive.read(info))
        else:
            with tarfile.open(path, "r:*") as archive:
                for info in archive:
                    name = re.sub(r"^(\./)+", "", info.name)
                    if info.isdir() and name in ("", "."):
                        continue
                    check_name(path, name)
                    if info.issym() or info.islnk():
                        base = "" if info.islnk() else name.rpartition("/")[0]
                        if info.linkname.startswith("/") or os.path.normpath(
                            f"{base}/{info.linkname}".lstrip("/")
                        ).startswith(".."):
                            raise Failure(f"{path.name} contains the link {name}, which leads out of the archive.")
                    elif info.isreg():
                        add(name, info.size, info.mode, lambda info=info: archive.extractfile(info).read())
                    elif not info.isdir():
                        raise Failure(f"{path.name} contains {name}, which is neither a file nor a directory.")
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        OSError,
        zlib.error,
        lzma.LZMAError,
        NotImplementedError,
    ) as error:
        raise Failure(f"{path.name} cannot be read: {error}.") from error
    return files


def unpack(path, directory):
    """Unpacks an archive whose names read_archive has checked."""
    for name, file in read_archive(path).items():
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.data)
        target.chmod(0o755 if file.mode & 0o111 else 0o644)


def only_directory(path, files):
    """The one directory at the top of an archive."""
    tops = {name.split("/")[0] for name in files}
    if len(tops) != 1 or any("/" not in name for name in files):
        raise Failure(f"{path.name} must contain one directory, but it contains {', '.join(sorted(tops)[:5]) or 'nothing'}.")
    return tops.pop()


def json_of(name, data):
    try:
        return json.loads(data)
    except ValueError as error:
        raise Failure(f"{name} is not JSON: {error}.") from error


# --- commands


def need(program, how):
    """Fails unless a program is installed."""
    if shutil.which(program) is None:
        raise Failure(f"This step needs {program}, which is not installed: {how}.")


def command(arguments, cwd=None, environment=None, input=None, text=True, hidden=()):
    """Runs a command and returns its output. If it fails, the Failure has the end of its output without the words in `hidden`."""
    shown = " ".join(map(str, arguments[:3]))
    try:
        done = subprocess.run(
            list(map(str, arguments)),
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=command_seconds_max,
            **({"stdin": subprocess.DEVNULL} if input is None else {"input": input}),
            **({"encoding": "utf-8", "errors": "replace"} if text else {}),
        )
    except FileNotFoundError as error:
        raise Failure(f"This step needs {arguments[0]}, which is not installed.") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"`{shown}` did not end within {command_seconds_max} seconds.") from error
    if done.returncode:
        said = done.stdout + done.stderr if text else done.stderr.decode(errors="replace")
        for word in filter(None, hidden):
            said = said.replace(word, "***")
        raise Failure(f"`{shown}` failed with status {done.returncode}:\n" + "\n".join(said.strip().splitlines()[-15:]))
    return done.stdout


def scratch():
    """A temporary directory that is deleted afterward."""
    return tempfile.TemporaryDirectory(prefix="mayfly-release-", ignore_cleanup_errors=True)
