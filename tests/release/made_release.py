"""Makes the files of a release without a build: small packages of every kind and for every platform, in the layout of dist/.

The programs for Linux print the version, as the real program does. The programs for other platforms consist of a header only.
"""

import base64
import gzip
import hashlib
import io
import json
import pathlib
import re
import struct
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"^project\(mayfly VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
PLATFORMS = ("linux-x86_64", "linux-arm64", "macos-arm64", "macos-x86_64", "windows-x86_64")
HOMEPAGE = "https://github.com/mayfly-dynamodb/mayfly"
NPM = {
    "linux-x86_64": ("linux", "x64"),
    "linux-arm64": ("linux", "arm64"),
    "macos-arm64": ("darwin", "arm64"),
    "macos-x86_64": ("darwin", "x64"),
    "windows-x86_64": ("win32", "x64"),
}
WHEELS = {
    "linux-x86_64": "manylinux2014_x86_64.musllinux_1_2_x86_64",
    "linux-arm64": "manylinux2014_aarch64.musllinux_1_2_aarch64",
    "macos-arm64": "macosx_12_0_arm64",
    "macos-x86_64": "macosx_12_0_x86_64",
    "windows-x86_64": "win_amd64",
}
GO = {
    "linux-x86_64": "linux-amd64",
    "linux-arm64": "linux-arm64",
    "macos-arm64": "darwin-arm64",
    "macos-x86_64": "darwin-amd64",
    "windows-x86_64": "windows-amd64",
}


def elf(machine, code):
    """A static program for Linux that consists of `code`."""
    base, headers = 0x400000, 64 + 56
    size = headers + len(code)
    header = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, base + headers, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    )
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, size, size, 0x1000) + code


def program(platform, version=VERSION):
    """The program for a platform. On Linux it prints the version and exits."""
    text = f"mayfly {version}\n".encode()
    if platform == "linux-x86_64":  # write(1, text, size); exit(0)
        code = (
            b"\xb8\1\0\0\0\xbf\1\0\0\0\x48\x8d\x35\x10\0\0\0\xba"
            + struct.pack("<I", len(text))
            + b"\x0f\x05\xb8\x3c\0\0\0\x31\xff\x0f\x05"
        )
        return elf(62, code + text)
    if platform == "linux-arm64":
        move = lambda register, value: struct.pack("<I", 0xD2800000 | value << 5 | register)  # noqa: E731
        code = (
            move(0, 1)
            + struct.pack("<I", 0x100000E1)
            + move(2, len(text))
            + move(8, 64)
            + b"\1\0\0\xd4"
            + move(0, 0)
            + move(8, 93)
            + b"\1\0\0\xd4"
        )
        return elf(183, code + text)
    if platform.startswith("macos"):
        return (
            b"\xcf\xfa\xed\xfe"
            + struct.pack("<I", 0x0100000C if platform.endswith("arm64") else 0x01000007)
            + bytes(200)
            + text
        )
    return b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0\x64\x86" + bytes(200) + text


def program_name(platform):
    return "mayfly.exe" if platform.startswith("windows") else "mayfly"


def tar(path, files):
    """Writes a compressed tar archive. `files` has a value of bytes, or of bytes and a mode, for each name."""
    with tarfile.open(path, "w:gz") as archive:
        for name, value in files.items():
            data, mode = value if isinstance(value, tuple) else (value, 0o644)
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), mode
            archive.addfile(info, io.BytesIO(data))


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            data, mode = value if isinstance(value, tuple) else (value, 0o644)
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            info.external_attr = (0o100000 | mode) << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)


def archives(dist):
    for platform in PLATFORMS:
        top = f"mayfly-{VERSION}-{platform}"
        if platform.startswith("windows"):
            path = dist / f"{top}.zip"
            zipped(
                path,
                {
                    f"{top}/mayfly.exe": (program(platform), 0o755),
                    f"{top}/LICENSE.txt": b"Apache-2.0\r\n",
                    f"{top}/NOTICES": b"zlib\n",
                },
            )
        else:
            path = dist / f"{top}.tar.gz"
            tar(
                path,
                {
                    f"{top}/bin/mayfly": (program(platform), 0o755),
                    f"{top}/share/man/man1/mayfly.1.gz": gzip.compress(b".TH mayfly 1\n"),
                    f"{top}/share/doc/mayfly/LICENSE": b"Apache-2.0\n",
                    f"{top}/share/doc/mayfly/NOTICES": b"zlib\n",
                },
            )
        path.with_name(path.name + ".sha256").write_text(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")


def components(dist):
    def hashes(platform):
        return [{"alg": "SHA-256", "content": hashlib.sha256(program(platform)).hexdigest()}]

    licenses = [{"expression": "Apache-2.0"}]
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "mayfly", "version": VERSION}},
        "components": [
            {
                "type": "application",
                "bom-ref": platform,
                "name": program_name(platform),
                "version": VERSION,
                "licenses": licenses,
                "hashes": hashes(platform),
                "properties": [{"name": "mayfly:platform", "value": platform}],
            }
            for platform in PLATFORMS
        ]
        + [{"type": "library", "bom-ref": "zlib", "name": "zlib", "version": "1.2.13", "licenses": [{"expression": "Zlib"}]}],
    }
    (dist / f"mayfly-{VERSION}.cdx.json").write_text(json.dumps(bom))


def wheels(dist):
    for platform, tags in WHEELS.items():
        info = f"mayfly_dynamodb-{VERSION}.dist-info"
        files = {
            "mayfly/__init__.py": b"",
            f"mayfly/bin/{program_name(platform)}": (program(platform), 0o755),
            f"{info}/METADATA": (
                f"Metadata-Version: 2.4\nName: mayfly-dynamodb\nVersion: {VERSION}\nSummary: DynamoDB for tests\nLicense-Expression: Apache-2.0\n"
                "Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n# Mayfly\n\nDynamoDB for tests.\n"
            ).encode(),
            f"{info}/WHEEL": (
                "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\n"
                + "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
            ).encode(),
        }
        record = ""
        for name, value in files.items():
            data = value[0] if isinstance(value, tuple) else value
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(data)}\n"
        files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
        zipped(dist / f"mayfly_dynamodb-{VERSION}-py3-none-{tags}.whl", files)


def npm_packages(dist):
    common = {
        "version": VERSION,
        "license": "Apache-2.0",
        "description": "DynamoDB for tests",
        "repository": {"type": "git", "url": f"git+{HOMEPAGE}.git"},
    }
    for platform, (system, processor) in NPM.items():
        described = {"name": f"@mayfly-dynamodb/{system}-{processor}", **common, "os": [system], "cpu": [processor]}
        tar(
            dist / f"mayfly-dynamodb-{system}-{processor}-{VERSION}.tgz",
            {
                "package/package.json": json.dumps(described).encode(),
                f"package/bin/{program_name(platform)}": (program(platform), 0o755),
            },
        )
    main = {
        "name": "mayfly-dynamodb",
        **common,
        "optionalDependencies": {f"@mayfly-dynamodb/{'-'.join(names)}": VERSION for names in NPM.values()},
    }
    tar(dist / f"mayfly-dynamodb-{VERSION}.tgz", {"package/package.json": json.dumps(main).encode(), "package/index.js": b""})


POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>io.github.mayfly-dynamodb</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <packaging>{packaging}</packaging>
  <name>Mayfly</name>
  <description>DynamoDB for tests</description>
  <url>{homepage}</url>
  <licenses><license><name>Apache-2.0</name><url>https://www.apache.org/licenses/LICENSE-2.0.txt</url></license></licenses>
  <developers><developer><name>The Mayfly maintainers</name></developer></developers>
  <scm><connection>scm:git:{homepage}.git</connection><developerConnection>scm:git:{homepage}.git</developerConnection><url>{homepage}</url></scm>
  <dependencies>{dependencies}</dependencies>
</project>
"""
DEPENDENCY = "<dependency><groupId>io.github.mayfly-dynamodb</groupId><artifactId>mayfly-binary</artifactId><version>{version}</version></dependency>"


def maven(dist):
    def artifact(name, packaging, jars, dependencies=""):
        directory = dist / "maven/io/github/mayfly-dynamodb" / name / VERSION
        directory.mkdir(parents=True)
        pom = POM.format(artifact=name, version=VERSION, packaging=packaging, homepage=HOMEPAGE, dependencies=dependencies)
        (directory / f"{name}-{VERSION}.pom").write_text(pom)
        for ending, files in jars.items():
            zipped(directory / f"{name}-{VERSION}{ending}.jar", files)
        for path in list(directory.iterdir()):
            for kind in ("md5", "sha1"):
                path.with_name(f"{path.name}.{kind}").write_text(hashlib.new(kind, path.read_bytes()).hexdigest())

    artifact(
        "mayfly-core",
        "jar",
        {"": {"Mayfly.class": b"0"}, "-sources": {"Mayfly.java": b"0"}, "-javadoc": {"index.html": b"0"}},
        DEPENDENCY.format(version=VERSION),
    )
    artifact(
        "mayfly-binary",
        "pom",
        {f"-{platform}": {f"binary/{platform}/{program_name(platform)}": program(platform)} for platform in PLATFORMS},
    )
    zipped(
        dist / f"mayfly-maven-{VERSION}.zip",
        {path.relative_to(dist).as_posix(): path.read_bytes() for path in sorted(dist.glob("maven/**/*")) if path.is_file()},
    )


def crates(dist):
    def crate(name, files, dependencies=""):
        top = f"{name}-{VERSION}"
        manifest = (
            f'[package]\nname = "{name}"\nversion = "{VERSION}"\nedition = "2021"\nlicense = "Apache-2.0"\ndescription = "DynamoDB for tests"\n'
            f'repository = "{HOMEPAGE}"\n{dependencies}'
        )
        tar(
            dist / f"{top}.crate",
            {
                f"{top}/Cargo.toml": manifest.encode(),
                f"{top}/src/lib.rs": b"",
                **{f"{top}/{inside}": data for inside, data in files.items()},
            },
        )

    names = [f"mayfly-dynamodb-{platform}" for platform in PLATFORMS]
    for platform, name in zip(PLATFORMS, names):
        crate(name, {program_name(platform): program(platform)})
    crate(
        "mayfly-dynamodb",
        {},
        "[dependencies]\n"
        + "".join(f'{name} = {{ version = "={VERSION}", path = "../{name}-{VERSION}" }}\n' for name in names),
    )


def go_modules(dist):
    main = "github.com/mayfly-dynamodb/mayfly-go"

    def module(name, files):
        directory = dist / "go" / name / "@v"
        directory.mkdir(parents=True)
        files = {"go.mod": f"module {name}\n\ngo 1.24\n".encode(), "LICENSE": b"Apache-2.0\n", **files}
        zipped(directory / f"v{VERSION}.zip", {f"{name}@v{VERSION}/{inside}": data for inside, data in files.items()})
        (directory / f"v{VERSION}.mod").write_bytes(files["go.mod"])
        (directory / f"v{VERSION}.info").write_text(json.dumps({"Version": f"v{VERSION}"}))
        (directory / "list").write_text(f"v{VERSION}\n")

    module(main, {"mayfly.go": b"package mayfly\n"})
    for platform, name in GO.items():
        module(f"{main}/program/{name}", {"program.go": b"package program\n", "mayfly.gz": gzip.compress(program(platform))})


def images(dist):
    for platform, (architecture, name) in {"linux-x86_64": ("amd64", "x86_64"), "linux-arm64": ("arm64", "arm64")}.items():
        layer = io.BytesIO()
        with tarfile.open(fileobj=layer, mode="w") as archive:
            info = tarfile.TarInfo("usr/bin/mayfly")
            info.size, info.mode = len(program(platform)), 0o755
            archive.addfile(info, io.BytesIO(program(platform)))
        config = {
            "architecture": architecture,
            "os": "linux",
            "created": "2026-01-01T00:00:00Z",
            "config": {
                "User": "65532:65532",
                "Entrypoint": ["/usr/bin/mayfly"],
                "Cmd": ["serve"],
                "Healthcheck": {"Test": ["CMD", "/usr/bin/mayfly", "health"]},
                "Labels": {"org.opencontainers.image.version": VERSION},
            },
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer.getvalue()).hexdigest()}"]},
            "history": [{"created": "2026-01-01T00:00:00Z"}],
        }
        manifest = [{"Config": "config.json", "RepoTags": [f"mayfly:{VERSION}"], "Layers": ["layer.tar"]}]
        tar(
            dist / f"mayfly-{VERSION}-image-{name}.tar.gz",
            {
                "layer.tar": layer.getvalue(),
                "config.json": json.dumps(config).encode(),
                "manifest.json": json.dumps(manifest).encode(),
            },
        )


def make(dist):
    """Writes all files of a release into the directory `dist`, which must not exist."""
    dist = pathlib.Path(dist)
    dist.mkdir(parents=True)
    for part in (archives, components, wheels, npm_packages, maven, crates, go_modules, images):
        part(dist)
    return dist


if __name__ == "__main__":
    import sys

    make(sys.argv[1])
