#!/usr/bin/env python3
"""Tests script/notices: the notices and the bill of materials name what the build links, and nothing else.

MAYFLY_BUILD names a build directory with the program. The expected components come from other evidence than script/notices uses:
the symbols of the program, the #include lines of the sources, and dpkg-query.
"""
import collections
import functools
import io
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packages/notices"))

import linked  # noqa: E402
import notices  # noqa: E402
import sbom  # noqa: E402
import zig  # noqa: E402

BUILD = pathlib.Path(os.environ["MAYFLY_BUILD"]).resolve()
PLATFORM = f"linux-{'arm64' if platform.machine() == 'aarch64' else platform.machine()}"
CARRY = ROOT / "packages/notices/carry"

# Which component a library's file name stands for.
OF_ARCHIVES = {
    "librocksdb.a": "RocksDB", "libssl.a": "OpenSSL", "libcrypto.a": "OpenSSL", "libz.a": "zlib", "libzstd.a": "Zstandard",
    "libdeflate.a": "libdeflate", "libexpat.a": "Expat", "libcares.a": "c-ares", "libcares_static.a": "c-ares",
    "libyaml.a": "libyaml", "libsnappy.a": "Snappy", "liblz4.a": "LZ4", "libbz2.a": "bzip2", "libc.a": "GNU C Library",
    "libstdc++.a": "GCC runtime libraries (libstdc++, libgcc)",
}
OF_INCLUDES = {"boost/": "Boost", "nlohmann/": "JSON for Modern C++", "CLI/": "CLI11"}
# Debian's packages with these libraries.
PACKAGES = {
    "OpenSSL": "libssl-dev", "zlib": "zlib1g-dev", "Zstandard": "libzstd-dev", "libdeflate": "libdeflate-dev",
    "Expat": "libexpat1-dev", "c-ares": "libc-ares-dev", "libyaml": "libyaml-dev", "GNU C Library": "libc6-dev",
    "JSON for Modern C++": "nlohmann-json3-dev", "CLI11": "libcli11-dev", "RocksDB": "librocksdb-dev",
}


def output(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **options).stdout


def version_of(name):
    """The version of the package with a library's source."""
    compiled = ROOT / "build/platforms/native/recipes" / name.lower()
    if compiled.exists():  # it can be newer than the installed package
        return re.fullmatch(r"\w+-(.+)-patched", pathlib.Path(compiled.read_text().split()[0]).name)[1]
    return output("dpkg-query", "-W", "-f", "${source:Version}", PACKAGES[name])


def functions_of(path):
    """The names of the global functions and variables that a program or an archive defines."""
    symbols = [line.split() for line in output("nm", "--defined-only", "--extern-only", path).splitlines()]
    # Weak symbols, such as those of inline functions, can come from any file.
    return {words[2] for words in symbols if len(words) == 3 and words[1] in "TDBR"}


def sections_of(text):
    """{"zlib 1:1.2.13": its section} from the notices."""
    parts = re.split(rf"^{notices.RULE}\n", text, flags=re.MULTILINE)
    headings = [part.split("\n")[0] for part in parts[1::2]]
    return {heading: body for heading, head, body in zip(headings, parts[1::2], parts[2::2], strict=True) if "\nLicense: " in head}


@functools.cache
def written():
    """The notices of BUILD's program, and the bill of materials, as script/package has them written."""
    directory = pathlib.Path(tempfile.mkdtemp())
    unittest.addModuleCleanup(shutil.rmtree, directory)
    program = directory / "mayfly"
    shutil.copyfile(BUILD / "mayfly", program)
    output(ROOT / "script/notices", "--build", BUILD, PLATFORM, program)
    bill = pathlib.Path(output(ROOT / "script/notices", "--sbom", directory, program).strip())
    return (directory / "mayfly.notices").read_text(), json.loads(bill.read_text()), program


class TheProgram(unittest.TestCase):
    """The program in MAYFLY_BUILD."""

    def libraries(self):
        return {part["name"]: part for part in written()[1]["components"] if part["type"] == "library"}

    def test_an_archive_is_listed_exactly_if_its_functions_are_in_the_program(self):
        command = output("ninja", "-C", BUILD, "-t", "commands", "-s", "mayfly").split()
        archives = [BUILD / word for word in command if word.endswith(".a") and not word.startswith("libmayfly")]
        archives += [pathlib.Path(output("c++", f"-print-file-name={name}").strip()) for name in ("libc.a", "libstdc++.a")]
        program = functions_of(BUILD / "mayfly")
        taken = collections.Counter()
        for archive in archives:
            taken[OF_ARCHIVES[archive.name]] += len(functions_of(archive) & program)
        self.assertEqual({name for name, functions in taken.items() if functions > 0},
                         self.libraries().keys() - OF_INCLUDES.values())

    def test_a_library_of_headers_is_listed_exactly_if_sources_include_it(self):
        included = set()
        for room in ("engine", "compat", "http", "cli", "embed", "os"):
            for path in (ROOT / room).rglob("*.*"):
                included.update(re.findall(r'^\s*#\s*include\s*["<]([^">]+)', path.read_text(), re.MULTILINE))
        expected = {name for prefix, name in OF_INCLUDES.items() if any(path.startswith(prefix) for path in included)}
        self.assertEqual(expected, self.libraries().keys() & set(OF_INCLUDES.values()))

    def test_the_notices_and_the_bill_of_materials_list_the_same_versions_and_licenses(self):
        text, bill, _ = written()
        overview = re.findall(r"^  (\S.*)\n      (\S.*)$", text, re.MULTILINE)
        listed = [(f"{part['name']} {part['version']}", part["licenses"][0]["expression"]) for part in self.libraries().values()]
        self.assertEqual(sorted(overview), sorted(listed))
        self.assertEqual({name for name, _ in overview}, sections_of(text).keys())

    def test_the_versions_are_those_of_the_distributions_packages(self):
        for name, part in self.libraries().items():
            if name in PACKAGES:
                self.assertEqual(version_of(name), part["version"], name)

    def test_each_section_names_a_copyright_holder_and_a_license(self):
        for heading, body in sections_of(written()[0]).items():
            self.assertRegex(body, "(?i)copyright", heading)
            self.assertRegex(body, "(?i)permi(t|ssion)|redistribution|license", heading)

    def test_the_notices_contain_the_texts_of_all_licenses_that_they_only_name(self):
        text = written()[0]
        for part in self.libraries().values():
            for name in notices.identifiers(part["licenses"][0]["expression"]):
                if name in notices.COMMON_TEXTS:
                    full = (notices.COMMON / notices.COMMON_TEXTS[name]).read_text().strip()
                    self.assertIn("".join(full.split()), "".join(text.split()), name)

    def test_a_static_program_explains_how_to_replace_glibc(self):
        self.assertIn("\n    script/build", written()[0])
        self.assertIn("section 6 of the license", " ".join(written()[0].split()))

    def test_the_bill_of_materials_has_the_hash_of_the_program_and_its_dependencies(self):
        _, bill, program = written()
        own = next(part for part in bill["components"] if part["type"] == "application")
        self.assertEqual(output("sha256sum", program).split()[0], own["hashes"][0]["content"])
        graph = {entry["ref"]: entry["dependsOn"] for entry in bill["dependencies"]}
        self.assertEqual([own["bom-ref"]], graph[bill["metadata"]["component"]["bom-ref"]])
        self.assertEqual({part["bom-ref"] for part in self.libraries().values()}, set(graph[own["bom-ref"]]))

    def test_the_same_program_gives_the_same_bill_of_materials(self):
        _, bill, program = written()
        again = pathlib.Path(output(ROOT / "script/notices", "--sbom", program.parent, program).strip()).read_text()
        self.assertEqual(json.dumps(bill, indent=2, ensure_ascii=False) + "\n", again)


NINJA = """
rule cxx
  command = c++ -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = c++ -static $in -o $out $libraries
build main.o: cxx main.cc
build program: link main.o
  libraries = {libraries}
"""


class SmallBuilds(unittest.TestCase):
    """Programs that these tests build."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)

    def built(self, source, libraries=""):
        (self.directory / "main.cc").write_text(source)
        (self.directory / "build.ninja").write_text(NINJA.format(libraries=libraries))
        output("ninja", "-C", self.directory)
        return linked.linked(self.directory, "program")

    def test_an_archive_from_which_nothing_is_taken_is_not_listed(self):
        source = "#include <zlib.h>\nint main() { return crc32(0, nullptr, 0); }\n"
        self.assertEqual({"gcc", "glibc", "zlib"}, self.built(source, "-l:libz.a").keys())
        self.assertEqual({"gcc", "glibc"}, self.built("int main() {}\n", "-l:libz.a").keys())

    def test_a_library_of_headers_is_listed_with_the_headers_that_were_compiled(self):
        found = self.built("#include <boost/version.hpp>\nint main() { return BOOST_VERSION == 0; }\n")
        self.assertEqual({"boost", "gcc", "glibc"}, found.keys())
        self.assertEqual(["version.hpp"], [pathlib.Path(path).name for path in found["boost"].headers])
        self.assertIn("Copyright John maddock 1999", notices.own_notices(found["boost"]))

    def test_headers_of_the_kernel_are_not_part_of_a_program(self):
        self.assertEqual({"gcc", "glibc"}, self.built("#include <linux/types.h>\nint main() {}\n").keys())

    def test_a_component_without_an_entry_is_an_error(self):
        table = linked.TABLE
        self.addCleanup(setattr, linked, "TABLE", table)
        linked.TABLE = ROOT / "build" / f"{self.directory.name}.toml"
        linked.TABLE.parent.mkdir(exist_ok=True)
        self.addCleanup(linked.TABLE.unlink)
        linked.TABLE.write_text(table.read_text().replace('sources = ["zlib"]', 'sources = ["another"]'))
        with self.assertRaisesRegex(linked.Unknown, r"package zlib1g-dev \(source zlib\) has no entry"):
            self.built("#include <zlib.h>\nint main() { return crc32(0, nullptr, 0); }\n", "-l:libz.a")

    def test_a_file_that_belongs_to_no_package_is_an_error(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            header = pathlib.Path(elsewhere).resolve() / "copied.h"
            header.write_text("inline int copied() { return 0; }\n")
            with self.assertRaisesRegex(linked.Unknown, f"{header} belongs to no package"):
                self.built(f'#include "{header}"\nint main() {{ return copied(); }}\n')

    def test_a_program_that_its_link_command_does_not_produce_is_an_error(self):
        self.built("int main() {}\n")
        with open(self.directory / "program", "ab") as program:
            program.write(b"changed")
        with self.assertRaisesRegex(linked.Unknown, "differs from what its link command produces: build it again"):
            linked.linked(self.directory, "program")

    def test_a_program_that_was_not_built_is_an_error(self):
        with self.assertRaisesRegex(linked.Unknown, "program not found: build it first"):
            linked.linked(self.directory, "program")


# Acts like Zig's compiler, with GCC.
ZIG = """#!/bin/bash
set -o pipefail
[ "$1" != version ] || { echo 0.99.0; exit; }
shift 3
for word in "$@"; do
  shift
  if [ "$word" = -v ]; then echo "$linker"; else set -- "$@" "$word"; fi
done
g++ "$@" 2>&1 | sed "s/undefined reference/undefined symbol/"
"""


class BuildsWithZig(unittest.TestCase):
    """Programs that are linked with libraries of script/dependencies and with what Zig brings."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        self.addCleanup(setattr, linked, "ROOT", linked.ROOT)
        linked.ROOT = self.root
        self.build, prefix, cache = (self.root / "build" / name for name in ("musl-x86_64", "platforms/musl-x86_64", "zig/cache"))
        self.write("zig/zig", ZIG).chmod(0o755)
        self.write("zig/lib/libcxx/include/__config", "#  define _LIBCPP_VERSION 220108\n")
        self.write("zig/lib/libc/musl/src/internal/version.h", '#define VERSION "1.2.5"\n')
        self.compiler = self.write("build/zig/musl-x86_64/c++", f"#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR='{cache}'\n"
                                   f"export linker='ld.lld -o x {cache}/1/libc++.a {cache}/2/libzigc.a {cache}/3/libc.a'\n"
                                   f"exec '{self.root}/zig/zig' c++ -target x86_64-linux-musl \"$@\"\n")
        self.compiler.chmod(0o755)
        for recipe, archive, function in (("zlib", "libz.a", "crc32"), ("libyaml", "libyaml.a", "yaml_parser_parse")):
            source = self.write(f"build/sources/{recipe}/x.c", f"int {function}(void) {{ return 0; }}\n")
            self.write(f"build/sources/{recipe}/debian/changelog", f"{recipe} (1:2.0-3) unstable; urgency=low\n")
            self.write(f"build/sources/{recipe}/debian/copyright", "Copyright 2000 Ann\n")
            self.write(f"{prefix}/recipes/{recipe}", f"{source.parent} -O2\n")
            output("gcc", "-c", source, "-o", source.with_suffix(".o"))
            (prefix / "lib").mkdir(exist_ok=True)
            output("ar", "rcs", prefix / "lib" / archive, source.with_suffix(".o"))
        self.write("build/musl-x86_64/build.ninja", f"""
rule cxx
  command = {self.compiler} -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = : && {self.compiler} $in -o $out {prefix}/lib/libz.a {prefix}/lib/libyaml.a && :
build main.o: cxx main.cc
build mayfly: link main.o
""")
        self.write("build/musl-x86_64/main.cc", 'extern "C" int crc32();\nint main() { return crc32(); }\n')
        output("ninja", "-C", self.build)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def test_an_archive_is_listed_exactly_if_the_program_cannot_be_linked_without_it(self):
        found = linked.linked(self.build, "mayfly")
        self.assertEqual({"llvm", "musl", "zig", "zlib"}, found.keys())
        self.assertEqual(["22.1.8", "1.2.5", "0.99.0", "1:2.0-3"], [found[key].version for key in ("llvm", "musl", "zig", "zlib")])
        self.assertEqual("pkg:github/llvm/llvm-project@llvmorg-22.1.8", sbom.purl(found["llvm"]))
        self.assertEqual("Copyright 2000 Ann", notices.own_notices(found["zlib"]))

    def test_a_zig_that_does_not_say_what_it_links_is_an_error(self):
        self.compiler.write_text(self.compiler.read_text().replace("ld.lld", "another"))
        with self.assertRaisesRegex(linked.Unknown, "Zig 0.99.0 does not say what it links"):
            linked.linked(self.build, "mayfly")

    def test_programs_are_compared_without_the_time_of_the_link_and_the_signature(self):
        windows = b"MZ" + bytes(58) + (64).to_bytes(4, "little") + b"PE\0\0" + bytes(4)
        self.assertEqual(zig.linked_content(windows + b"1234code"), zig.linked_content(windows + b"5678code"))
        self.assertNotEqual(zig.linked_content(windows + b"1234code"), zig.linked_content(windows + b"1234other"))
        command = [number.to_bytes(4, "little") for number in (0x19, 8, 0x1B, 24)]
        macos = b"\xcf\xfa\xed\xfe" + bytes(12) + (2).to_bytes(4, "little") + bytes(12) + b"".join(command)
        self.assertEqual(zig.linked_content(macos + b"0123456789abcdef signed"), b"0123456789abcdef")

    def test_a_missing_source_is_an_error(self):
        shutil.rmtree(self.root / "build/sources/zlib")
        with self.assertRaisesRegex(linked.Unknown, "names the source .*/build/sources/zlib, which is missing"):
            linked.linked(self.build, "mayfly")


class CopyrightFiles(unittest.TestCase):
    TEXT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2011 Ann
License: GPL-2 or Apache-2.0
Comment: about the packaging

Files: java/* tools/x.c
Copyright: 2012 Bob
License: MIT

Files: debian/*
Copyright: 2013 Carl
License: GPL-3+

License: Apache-2.0
 Licensed under
 .
 the Apache License

License: GPL-2
 the GPL

License: GPL-3+
 a later GPL

License: MIT
 Permission is hereby granted
"""

    def kept(self, **entry):
        component = linked.Component("x", entry, "1", "debian", "x")
        text = notices.machine_readable(component, self.TEXT)
        return re.findall(r"^(?:Copyright: \d+ (\w+)|License: (\S+)\n .*)", text, re.MULTILINE)

    def test_parts_that_are_not_linked_and_unused_licenses_are_left_out(self):
        ann, bob, apache, gpl, mit = ("Ann", ""), ("Bob", ""), ("", "Apache-2.0"), ("", "GPL-2"), ("", "MIT")
        self.assertEqual([ann, bob, apache, mit], self.kept(omit=["debian/*"], unused=["GPL-2"]))
        self.assertEqual([ann, apache, gpl], self.kept(omit=["debian/*", "java/*", "tools/*"]))

    def test_a_stanza_stays_if_one_of_its_files_can_be_linked(self):
        self.assertIn(("Bob", ""), self.kept(omit=["debian/*", "java/*"]))

    def test_dots_and_comments_of_the_format_are_removed(self):
        component = linked.Component("x", {"omit": ["debian/*", "java/*"]}, "1", "debian", "x")
        text = notices.machine_readable(component, self.TEXT)
        self.assertIn(" Licensed under\n\n the Apache License", text)
        self.assertNotIn("packaging", text)

    def test_the_license_of_c_ares_depends_on_its_version(self):
        entry = linked.table()["c-ares"]
        old, new = (linked.Component("c-ares", entry, version, "debian", "c-ares").licensed()
                    for version in ("1.18.1-3", "1.34.5-1"))
        self.assertIn("HPND", old)
        self.assertNotIn("HPND", new)

    def test_the_first_comments_of_a_file_end_at_its_code(self):
        with tempfile.NamedTemporaryFile("w", suffix=".h") as file:
            file.write("#ifndef X\n#define X\n/* Copyright 1998 by Ann.\n *\n * Permission\n */\n\n// Copyright Bob\n"
                       "int x; // no\n/* no */\n")
            file.flush()
            self.assertEqual("Copyright 1998 by Ann.\n\nPermission\n\nCopyright Bob", notices.first_comments(pathlib.Path(file.name)))


class Packages(unittest.TestCase):
    def test_a_package_for_cross_compiling_names_its_source_in_built_using(self):
        with tempfile.TemporaryDirectory() as root:
            info = pathlib.Path(root) / "var/lib/dpkg/info"
            info.mkdir(parents=True)
            (info / "libc6-dev-arm64-cross.list").write_text("/usr/aarch64-linux-gnu/lib/libc.a\n")
            (info.parent / "status").write_text("Package: libc6-dev-arm64-cross\nSource: cross-toolchain-base (66)\n"
                                                "Version: 2.36-8cross1\nBuilt-Using: linux (= 6.1.4-1), glibc (= 2.36-8)\n\n")
            packages = linked.Packages(root)
            package = packages.owner(pathlib.Path(root) / "usr/aarch64-linux-gnu/lib/libc.a")
            found = linked.of_package(linked.table(), packages, package)
            self.assertEqual(("glibc", "2.36-8"), (found.key, found.version))

    def test_a_plus_sign_in_a_version_is_quoted_in_package_urls(self):
        component = linked.Component("zlib", {}, "1:1.2.13.dfsg-1+b1", "debian", "zlib")
        self.assertEqual("pkg:deb/debian/zlib@1:1.2.13.dfsg-1%2Bb1?arch=source", sbom.purl(component))


class Carrying(unittest.TestCase):
    """packages/notices/carry."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        self.program = self.directory / "mayfly"
        self.program.write_bytes(b"\x7fELF program")
        (self.directory / "mayfly.notices").write_text("notices\n")

    def zip(self, name, **files):
        with zipfile.ZipFile(self.directory / name, "w") as archive:
            for path, content in files.items():
                archive.writestr(path.replace("__", "/"), content)
        return self.directory / name

    def tar(self, name, **files):
        with tarfile.open(self.directory / name, "w:gz") as archive:
            for path, content in files.items():
                member = tarfile.TarInfo(path.replace("__", "/").replace("_tar", ".tar"))
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        return self.directory / name

    def carry(self, *arguments):
        return subprocess.run([str(word) for word in (CARRY, *arguments)], capture_output=True, text=True)

    def test_the_notices_are_copied_next_to_the_program(self):
        self.assertEqual(0, self.carry(self.program, self.directory / "new/package").returncode)
        self.assertEqual("notices\n", (self.directory / "new/package/NOTICES").read_text())

    def test_a_program_without_notices_is_an_error(self):
        (self.directory / "mayfly.notices").unlink()
        self.assertIn("mayfly.notices not found: run script/notices", self.carry(self.program, self.directory).stderr)

    def test_wheels_archives_and_layers_of_images_are_checked(self):
        good = {"bin__mayfly": b"\x7fELF", "NOTICES": b"notices\n"}
        layer = self.tar("layer.tar.gz", **good).read_bytes()
        for package in (self.zip("a.whl", **good), self.tar("a.tgz", **good), self.tar("image.tar.gz", layer_tar=layer)):
            self.assertEqual("", self.carry("--check", self.program, package).stderr)
        for bad, message in (({"bin__mayfly": b"\x7fELF"}, "it contains no file of this name"),
                             ({"bin__mayfly": b"\x7fELF", "NOTICES": b"older"}, "it contains other notices"),
                             ({"completions__mayfly": b"complete", "NOTICES": b"notices\n"}, "contains no program")):
            layer = self.tar("layer.tar.gz", **bad).read_bytes()
            for package in (self.zip("a.whl", **bad), self.tar("a.tgz", **bad), self.tar("image.tar.gz", layer_tar=layer)):
                done = self.carry("--check", self.program, package)
                self.assertEqual((1, True), (done.returncode, message in done.stderr), (package, done.stderr))

    def test_a_directory_of_packages_is_checked(self):
        self.zip("maven.zip", a__mayfly=b"\x7fELF", b__mayfly=b"\x7fELF", NOTICES=b"notices\n")
        self.assertIn("maven.zip contains a/mayfly but no NOTICES", self.carry("--check-all", self.directory).stderr)
        self.zip("maven.zip", a__mayfly=b"\x7fELF", NOTICES=b"notices\n")
        self.zip("plain.whl", README=b"no program")
        self.assertEqual("1 packages contain a program and its notices\n", self.carry("--check-all", self.directory).stdout)


if __name__ == "__main__":
    unittest.main()
