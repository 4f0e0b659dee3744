#!/usr/bin/env python3
"""Tests the steps of script/release on made packages, without a network: servers and repositories are on this machine.

The step `image` and the tools of the registries (twine, npm, cargo, go, skopeo) are tested by dry_run_test.py, which needs them.
"""

import base64
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import zipfile
from unittest import mock

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "packages/release")]

import made_release  # noqa: E402
from steps import (  # noqa: E402
    archives,
    checksums,
    crates,
    files,
    github,
    gomodule,
    homebrew,
    maven,
    npm,
    programs,
    repository,
    sbom,
    scoop,
    version,
    wheels,
)
from steps.files import Failure, Release  # noqa: E402

VERSION = made_release.VERSION


class Case(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="mayfly-release-test-", ignore_cleanup_errors=True)
        self.addCleanup(directory.cleanup)
        self.work = pathlib.Path(directory.name)
        self.dist = self.work / "dist"
        self.release = Release(VERSION, self.dist)

    def make(self, *parts):
        if not parts:
            return made_release.make(self.dist)
        self.dist.mkdir()
        for part in parts:
            part(self.dist)
        return self.dist

    def fails(self, message, function, *arguments, **named):
        """`function` fails, and its Failure contains `message`."""
        with self.assertRaises(Failure) as raised:
            function(*arguments, **named)
        self.assertIn(message, str(raised.exception))

    def rewrite(self, name, change, write=made_release.tar):
        """Changes the files of an archive in dist/."""
        path = self.dist / name
        inside = {name: (file.data, file.mode) for name, file in files.read_archive(path).items()}
        change(inside)
        write(path, inside)
        beside = path.with_name(path.name + ".sha256")
        if beside.is_file():
            beside.write_text(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n")


def git(directory, *arguments):
    environment = {**os.environ, **repository.ALONE, **repository.AUTHOR}
    return subprocess.run(
        ["git", "-C", str(directory), *arguments], check=True, capture_output=True, text=True, env=environment
    ).stdout.strip()


class VersionTest(Case):
    CHANGES = "# Changelog\n\n## [0.1.0] - 2026-12-01\n\n### Added\n\n- A [thing](docs/thing.md#part), a [page](https://example.com).\n\n## [0.0.9] - 2026-11-01\n\n- Old.\n"

    def tree(self, cmake="project(mayfly VERSION 0.1.0 LANGUAGES CXX)\n", changes=CHANGES):
        root = self.work / "tree"
        (root / "docs").mkdir(parents=True, exist_ok=True)
        (root / "docs/thing.md").write_text("# Part\n")
        (root / "CMakeLists.txt").write_text(cmake)
        (root / "CHANGELOG.md").write_text(changes)
        return root

    def test_this_checkout_has_a_version_and_a_section_about_it(self):
        release = Release(version.version_of(), ROOT / "dist")
        self.assertIn(release.version, version.check(release)[0])
        self.assertIn("## Verification", github.notes(release))

    def test_the_section_ends_at_the_next_version(self):
        date, section = version.section_of("0.1.0", self.tree())
        self.assertEqual(str(date), "2026-12-01")
        self.assertTrue(section.startswith("### Added"))
        self.assertNotIn("Old", section)

    def test_a_missing_double_late_or_empty_section_is_rejected(self):
        for changes, message in (
            (self.CHANGES.replace("[0.1.0]", "[0.2.0]"), "must have one section for 0.1.0"),
            (self.CHANGES + "\n## [0.1.0] - 2026-12-01\n\n- Again.\n", "has 2 sections for 0.1.0"),
            (
                "# Changelog\n\n## [0.2.0] - unreleased\n\n- New.\n\n## [0.1.0] - 2026-12-01\n\n- Old.\n",
                "first section is about 0.2.0",
            ),
            ("# Changelog\n\n## [0.1.0] - 2026-12-01\n\n## [0.0.9] - 2026-11-01\n\n- Old.\n", "is empty"),
            (self.CHANGES.replace("2026-12-01", "soon"), "must give the date of 0.1.0 as YYYY-MM-DD"),
            (self.CHANGES.replace("2026-12-01", "2026-13-01"), "must give the date of 0.1.0 as YYYY-MM-DD"),
        ):
            with self.subTest(message):
                self.fails(message, version.section_of, "0.1.0", self.tree(changes=changes))

    def test_a_version_that_is_not_three_numbers_is_rejected(self):
        self.fails(
            "no version of the form 1.2.3", version.version_of, self.tree("project(mayfly VERSION 0.1 LANGUAGES CXX)\n")
        )

    def test_the_tag_must_match_the_version_and_its_commit_must_be_on_main(self):
        root = self.tree()
        self.fails("must be v0.1.0", version.check, Release("0.1.0", self.dist, "v0.2.0", root))
        git(root, "init", "--quiet", "--initial-branch", "main")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", "one")
        tagged = Release("0.1.0", self.dist, "v0.1.0", root)
        self.fails("The checkout is not at the tag v0.1.0", version.check, tagged)
        git(root, "tag", "v0.1.0")
        self.fails("is not on origin/main", version.check, tagged)
        git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
        self.assertIn("v0.1.0 is a commit of main", version.check(tagged))
        git(root, "commit", "--quiet", "--allow-empty", "--message", "two")
        self.fails("The checkout is not at the tag v0.1.0", version.check, tagged)

    def test_an_unreleased_section_passes_only_without_a_tag(self):
        root = self.tree(changes=self.CHANGES.replace("2026-12-01", "unreleased"))
        self.assertIn("before the tag", version.check(Release("0.1.0", self.dist, None, root))[1])
        self.fails("says 'unreleased'", version.check, Release("0.1.0", self.dist, "v0.1.0", root))

    def test_links_in_the_notes_lead_to_the_tagged_files(self):
        notes = github.notes(Release("0.1.0", self.dist, None, self.tree()))
        self.assertIn("[thing](https://github.com/mayfly-dynamodb/mayfly/blob/v0.1.0/docs/thing.md#part)", notes)
        self.assertIn("[page](https://example.com)", notes)
        broken = self.tree(changes=self.CHANGES.replace("docs/thing.md", "docs/nothing.md"))
        self.fails("docs/nothing.md, which does not exist", github.notes, Release("0.1.0", self.dist, None, broken))


class ArchivesTest(Case):
    NAME = f"mayfly-{VERSION}-macos-arm64.tar.gz"
    TOP = f"mayfly-{VERSION}-macos-arm64"

    def setUp(self):
        super().setUp()
        self.make(made_release.archives, made_release.components)

    def test_the_archives_of_all_platforms_pass(self):
        self.assertEqual(len(archives.check(self.release)), 5)

    def test_a_missing_archive_names_the_command_that_makes_it(self):
        (self.dist / self.NAME).unlink()
        self.fails("is missing: run `script/package --platforms binary`", archives.check, self.release)

    def test_a_changed_archive_does_not_match_its_checksum(self):
        path = self.dist / self.NAME
        path.write_bytes(path.read_bytes() + b"\0")
        self.fails("does not have the hash", archives.check, self.release)

    def test_a_program_for_another_platform_is_rejected(self):
        self.rewrite(
            self.NAME, lambda inside: inside.update({f"{self.TOP}/bin/mayfly": (made_release.program("macos-x86_64"), 0o755)})
        )
        self.fails(f"The program in mayfly-{VERSION}-macos-arm64.tar.gz is for macos-x86_64", archives.check, self.release)

    def test_a_program_that_is_not_executable_is_rejected(self):
        self.rewrite(
            self.NAME, lambda inside: inside.update({f"{self.TOP}/bin/mayfly": (made_release.program("macos-arm64"), 0o644)})
        )
        self.fails("is not executable", archives.check, self.release)

    def test_an_archive_without_the_licenses_is_rejected(self):
        for text in ("LICENSE", "NOTICES"):
            with self.subTest(text):
                self.rewrite(self.NAME, lambda inside: inside.pop(f"{self.TOP}/share/doc/mayfly/{text}"))
                self.fails(f"does not contain {text}", archives.check, self.release)
                self.rewrite(
                    self.NAME, lambda inside: inside.update({f"{self.TOP}/share/doc/mayfly/{text}": (b"", 0o644)})
                )

    @unittest.skipUnless(archives.this_machine().startswith("linux-"), "needs Linux")
    def test_a_program_that_prints_another_version_is_rejected(self):
        platform = archives.this_machine()
        name = f"mayfly-{VERSION}-{platform}"
        self.rewrite(
            f"{name}.tar.gz",
            lambda inside: inside.update({f"{name}/bin/mayfly": (made_release.program(platform, "0.0.9"), 0o755)}),
        )
        self.fails("prints 'mayfly 0.0.9'", archives.check, self.release)

    def test_unsafe_names_and_links_are_rejected(self):
        for name in ("../outside", "/etc/passwd", "a/../../b", "c:/windows", "a\\b"):
            with self.subTest(name):
                path = self.work / "unsafe.tar.gz"
                made_release.tar(path, {name: b""})
                self.fails("unsafe name", files.read_archive, path)
                made_release.zipped(self.work / "unsafe.zip", {name.replace("\\", "/x/../../"): b""})
                self.fails("unsafe name", files.read_archive, self.work / "unsafe.zip")

    def test_an_archive_with_too_much_content_is_not_unpacked(self):
        path = self.work / "large.tar.gz"
        made_release.tar(path, {"a": bytes(1000), "b": bytes(1000)})
        with mock.patch.object(files, "unpacked_bytes_max", 1500):
            self.fails("more than", files.read_archive, path)

    def test_the_components_must_list_the_released_programs(self):
        bom = json.loads((self.dist / f"mayfly-{VERSION}.cdx.json").read_text())
        sbom.check_programs(self.release, self.dist / f"mayfly-{VERSION}.cdx.json", bom["components"])
        self.fails(
            "does not list the program for linux-x86_64", sbom.check_programs, self.release, self.dist, bom["components"][1:]
        )
        bom["components"][0]["hashes"][0]["content"] = "0" * 64
        self.fails("lists another program for linux-x86_64", sbom.check_programs, self.release, self.dist, bom["components"])
        (self.dist / f"mayfly-{VERSION}.cdx.json").unlink()
        self.fails(".cdx.json is missing: run `script/package --platforms`", sbom.check, self.release)


class PackagesTest(Case):
    """The parts of the steps that need no tool of a registry."""

    def setUp(self):
        super().setUp()
        self.make()
        # Tools of registries accept everything here.
        accepts = mock.patch.multiple(wheels, command=lambda *_, **__: "", tool=lambda name: name)
        accepts.start()
        self.addCleanup(accepts.stop)

    def test_the_wheels_cover_all_platforms(self):
        self.assertIn("5 wheels", wheels.check(self.release)[0])
        next(self.dist.glob("*macosx_12_0_arm64.whl")).unlink()
        self.fails("No wheel has the program for macos-arm64", wheels.check, self.release)

    def test_a_wheel_with_the_tags_of_another_platform_is_rejected(self):
        wheel = next(self.dist.glob("*win_amd64.whl"))
        wheel.rename(self.dist / wheel.name.replace("win_amd64", "win32"))
        self.fails("no tag of the form win_amd64", wheels.check, self.release)

    def test_a_wheel_with_a_changed_file_does_not_match_its_record(self):
        name = next(self.dist.glob("*win_amd64.whl")).name
        self.rewrite(name, lambda inside: inside.update({"mayfly/__init__.py": (b"changed", 0o644)}), made_release.zipped)
        self.fails("RECORD has no hash or another hash for mayfly/__init__.py", wheels.check, self.release)

    def test_a_wheel_over_the_limit_is_rejected(self):
        with mock.patch.object(wheels, "wheel_bytes_max", 100):
            self.fails("the limit is", wheels.check, self.release)

    def test_the_main_package_of_npm_is_published_last(self):
        self.assertEqual([described["name"] for _, described, _ in npm.packages(self.release)][-1], "mayfly-dynamodb")

    def test_an_npm_package_without_the_repository_or_with_an_install_script_is_rejected(self):
        name = f"mayfly-dynamodb-win32-x64-{VERSION}.tgz"

        def changed(**members):
            def change(inside):
                inside["package/package.json"] = (
                    json.dumps({**json.loads(inside["package/package.json"][0]), **members}).encode(),
                    0o644,
                )

            return change

        with mock.patch.multiple(npm, need=lambda *_: None, publish_one=lambda *_: "{}"):
            self.rewrite(name, changed(repository=None))
            self.fails("must name the repository", npm.check, self.release)
            self.rewrite(
                name, changed(repository="https://github.com/mayfly-dynamodb/mayfly", scripts={"postinstall": "true"})
            )
            self.fails("runs a script when it is installed: postinstall", npm.check, self.release)
            self.rewrite(name, changed(scripts={}, cpu=["arm64"]))
            self.fails("its os and cpu are win32 and arm64", npm.check, self.release)
            (self.dist / name).unlink()
            self.fails("No npm package has the program for windows-x86_64", npm.check, self.release)

    def test_npm_skips_what_is_published_and_rejects_other_content(self):
        found, called = npm.packages(self.release), []
        with (
            mock.patch.multiple(
                npm,
                need=lambda *_: None,
                publish_one=lambda *given: called.append(given),
                published=lambda name, _: there.get(name),
            ),
            mock.patch.dict(os.environ, ACTIONS_ID_TOKEN_REQUEST_URL="https://example.invalid"),
        ):
            there = {found[0][1]["name"]: npm.integrity(found[0][0])}
            said = npm.publish(self.release)
            self.assertIn("is already published with the same content", said[0])
            self.assertEqual(
                [(path.name, *options) for path, *options in called],
                [(path.name, "--provenance") for path, _, _ in found[1:]],
            )
            there[found[-1][1]["name"]] = "sha512-other"
            self.fails("already published with other content", npm.publish, self.release)

    def test_npm_publishes_only_with_an_identity_of_github(self):
        with mock.patch.multiple(npm, need=lambda *_: None), mock.patch.dict(os.environ):
            os.environ.pop("ACTIONS_ID_TOKEN_REQUEST_URL", None)
            self.fails("permission id-token: write", npm.publish, self.release)

    def test_a_crate_that_crates_io_would_reject_is_rejected(self):
        path, manifest, _ = crates.crates(self.release)[0]
        for member, value, message in (
            ("publish", False, "forbids publishing"),
            ("repository", None, "must name the repository"),
            ("license", "MIT", "needs a description and the license"),
            ("version", "0.0.0", "has version 0.0.0"),
        ):
            with self.subTest(member):
                self.fails(
                    message, crates.check_manifest, self.release, path, {"package": {**manifest["package"], member: value}}
                )

    def test_a_go_module_of_another_repository_is_rejected(self):
        self.assertEqual(
            [subdirectory for _, _, subdirectory, _ in gomodule.modules(self.release)],
            ["", *(f"program/{name}" for name in sorted(made_release.GO.values()))],
        )
        name = f"{gomodule.MAIN}/program/linux-amd64"
        other = {f"{name}@v{VERSION}/go.mod": (b"module github.com/other/thing\n", 0o644)}
        self.rewrite(f"go/{name}/@v/v{VERSION}.zip", lambda inside: inside.update(other), made_release.zipped)
        self.fails("has no go.mod for this module", gomodule.modules, self.release)
        (self.dist / "go/github.com/mayfly-dynamodb").rename(self.dist / "go/github.com/other")
        self.fails("not in the repository mayfly-dynamodb/mayfly-go", gomodule.modules, self.release)
        shutil.rmtree(self.dist / "go")
        self.fails(f"does not contain github.com/mayfly-dynamodb/mayfly-go v{VERSION}", gomodule.modules, self.release)

    def test_go_mod_and_go_sum_must_name_the_published_modules(self):
        module = f"{gomodule.MAIN}/program/linux-amd64"
        for described, sums, message in (
            (f"require {module} v{VERSION}\n", f"{module} v{VERSION} h1:right=\n", None),
            (f"require (\n\t{module} v{VERSION}\n)\n", f"{module} v{VERSION} h1:wrong=\n", "with the hash h1:wrong="),
            (f"require {module} v0.0.9\n", "", "is not a part of this release"),
            (f"replace {module} => ../linux-amd64\n", "", "replaces a module"),
            (f"replace {module} v{VERSION} => ../linux-amd64\n", "", "replaces a module"),
        ):
            inside = {"go.mod": f"module {gomodule.MAIN}\n\n{described}", "go.sum": sums}
            inside = {name: files.File(text.encode(), 0o644) for name, text in inside.items()}
            with self.subTest(described):
                if message is None:
                    gomodule.check_sums(self.release, inside, {module: "h1:right="})
                else:
                    self.fails(message, gomodule.check_sums, self.release, inside, {module: "h1:right="})

    def test_all_packages_contain_the_same_program(self):
        self.assertEqual(len(programs.check(self.release)), 6)
        name = f"mayfly-dynamodb-windows-x86_64-{VERSION}"
        other = made_release.program("windows-x86_64") + b"0"
        self.rewrite(f"{name}.crate", lambda inside: inside.update({f"{name}/mayfly.exe": (other, 0o755)}))
        self.fails(f"{name}.crate contains another program for windows-x86_64", programs.check, self.release)
        (self.dist / f"{name}.crate").unlink()
        self.fails("No crate contains the program for windows-x86_64", programs.check, self.release)


class ChecksumsTest(Case):
    def setUp(self):
        super().setUp()
        self.make(made_release.archives, made_release.maven)
        checksums.check(self.release)

    def test_every_file_is_listed_as_sha256sum_lists_it(self):
        done = subprocess.run(
            ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"],
            cwd=self.dist,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        listed = {line.split("  ")[1] for line in (self.dist / "SHA256SUMS").read_text().splitlines()}
        self.assertEqual(
            listed,
            {path.relative_to(self.dist).as_posix() for path in self.dist.rglob("*") if path.is_file()} - {"SHA256SUMS"},
        )

    def test_a_changed_added_or_removed_file_is_found(self):
        checksums.verify(self.release, files.sha256(self.dist / "SHA256SUMS"))
        archive = self.dist / f"mayfly-{VERSION}-linux-arm64.tar.gz"
        content = archive.read_bytes()
        archive.write_bytes(content + b"0")
        self.fails("was changed after SHA256SUMS was written", checksums.verify, self.release)
        archive.unlink()
        self.fails("linux-arm64.tar.gz is missing", checksums.verify, self.release)
        archive.write_bytes(content)
        (self.dist / "added").write_text("")
        self.fails("added is not listed", checksums.verify, self.release)

    def test_another_sha256sums_than_that_of_the_dry_run_is_rejected(self):
        self.fails("was changed after the dry run", checksums.verify, self.release, "0" * 64)

    def test_a_file_of_another_version_is_rejected(self):
        (self.dist / "mayfly-dynamodb-0.0.9.tgz").write_bytes(b"")
        self.fails("is a file of another version", checksums.check, self.release)

    def test_a_link_and_an_odd_name_are_rejected(self):
        (self.dist / "link").symlink_to("/etc/passwd")
        self.fails("is a link", checksums.check, self.release)
        (self.dist / "link").unlink()
        (self.dist / "a b").write_text("")
        self.fails("has a name that a release cannot have", checksums.check, self.release)


class RepositoryTest(Case):
    """Commits to another repository, which is on this machine."""

    def setUp(self):
        super().setUp()
        self.make(made_release.archives, made_release.go_modules)
        self.remote = repository.trial(self.work)

    def publish(self, module, key="key"):
        with mock.patch.object(repository, "address", lambda _: self.remote), mock.patch.dict(os.environ, DEPLOY_KEY=key):
            return module.publish(self.release)[0]

    def test_the_go_modules_are_tagged_once(self):
        self.assertIn(f"pushed 'Mayfly {VERSION}' with the tags", self.publish(gomodule))
        self.assertEqual(
            git(self.remote, "show", f"v{VERSION}:program/linux-amd64/go.mod").splitlines()[0],
            "module github.com/mayfly-dynamodb/mayfly-go/program/linux-amd64",
        )
        self.assertEqual(
            git(self.remote, "tag").splitlines(),
            sorted([f"v{VERSION}", *(f"program/{name}/v{VERSION}" for name in made_release.GO.values())]),
        )
        self.assertIn("already exist with the same files", self.publish(gomodule))
        self.assertEqual(git(self.remote, "rev-list", "--count", "main"), "1")
        other = {f"{gomodule.MAIN}@v{VERSION}/mayfly.go": (b"package other\n", 0o644)}
        self.rewrite(f"go/{gomodule.MAIN}/@v/v{VERSION}.zip", lambda inside: inside.update(other), made_release.zipped)
        self.fails("already exists with other files", self.publish, gomodule)

    def test_the_next_version_replaces_all_files(self):
        self.publish(gomodule)
        repository.commit(
            self.remote,
            lambda clone: (repository.empty(clone), (clone / "go.mod").write_text("module m\n")),
            "Mayfly 999.0.0",
            ["v999.0.0"],
        )
        self.assertEqual(git(self.remote, "ls-tree", "-r", "--name-only", "v999.0.0"), "go.mod")
        self.assertEqual(git(self.remote, "rev-list", "--count", "main"), "2")
        self.assertIn("mayfly.go", git(self.remote, "ls-tree", "-r", "--name-only", f"v{VERSION}"))

    def test_the_manifest_for_scoop_names_the_archive_and_its_hash(self):
        said = scoop.check(self.release)
        self.assertIn("wrote dist/mayfly.json", said[0])
        self.assertIn("pushed", self.publish(scoop))
        self.assertEqual(self.publish(scoop), "nothing has changed")
        entry = json.loads(git(self.remote, "show", "main:bucket/mayfly.json"))["architecture"]["64bit"]
        archive = self.dist / f"mayfly-{VERSION}-windows-x86_64.zip"
        self.assertEqual(entry["hash"], hashlib.sha256(archive.read_bytes()).hexdigest())
        self.assertTrue(entry["url"].endswith(f"/releases/download/v{VERSION}/{archive.name}"))
        (self.dist / "mayfly.json").write_text("{}")
        self.fails("does not match the archive", self.publish, scoop)

    @unittest.skipUnless(shutil.which("ruby"), "needs ruby")
    def test_the_formula_installs_the_program_of_each_platform(self):
        said = homebrew.check(self.release)
        self.assertIn("on four platforms it chooses the archive and its hash", said[0])
        self.assertIn("man1.install", (self.dist / "mayfly.rb").read_text())
        self.publish(homebrew)
        self.assertEqual(git(self.remote, "show", "main:Formula/mayfly.rb") + "\n", (self.dist / "mayfly.rb").read_text())

    def test_a_manual_that_only_some_archives_have_is_rejected(self):
        name = f"mayfly-{VERSION}-macos-x86_64"
        self.rewrite(f"{name}.tar.gz", lambda inside: inside.pop(f"{name}/share/man/man1/mayfly.1.gz"))
        self.fails("contain share/man/man1/mayfly.1.gz", homebrew.formula, self.release)

    def test_without_a_deploy_key_nothing_is_pushed(self):
        self.fails("DEPLOY_KEY is not set", self.publish, gomodule, key="")
        self.assertEqual(git(self.remote, "tag"), "")

    def test_the_deploy_key_is_only_in_a_private_file(self):
        seen = []

        def command(arguments, environment=None, **_):
            if environment and "GIT_SSH_COMMAND" in environment and not seen:
                identity = pathlib.Path(environment["GIT_SSH_COMMAND"].split("'")[1])
                seen.append((identity.read_text(), identity.stat().st_mode & 0o777, environment["GIT_SSH_COMMAND"]))
            raise Failure("stopped")

        with mock.patch.object(repository, "command", command):
            self.fails("stopped", repository.commit, "git@github.com:a/b.git", lambda _: None, "m", key="SECRET\n")
        self.assertEqual(seen[0][:2], ("SECRET\n", 0o600))
        self.assertIn("StrictHostKeyChecking=yes", seen[0][2])
        self.assertNotIn("SECRET", seen[0][2])


class Central(http.server.BaseHTTPRequestHandler):
    """A stand-in for Maven Central: its API, and its repository."""

    states, poms, bundles, tokens, answer = [], {}, [], [], None

    def log_message(self, *_):
        pass

    def respond(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        pom = self.poms.get(self.path.removeprefix("/repository/"))
        self.respond(200 if pom is not None else 404, pom or b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Central.tokens.append(self.headers["Authorization"])
        if self.answer is not None:
            self.respond(*self.answer)
        elif self.path.startswith("/api/upload?"):
            Central.bundles.append((self.path, self.headers["Content-Type"], body))
            self.respond(201, b"28570f16-da32-4c14-bd2e-c1acc0782365")
        elif self.path == "/api/status?id=28570f16-da32-4c14-bd2e-c1acc0782365":
            self.respond(
                200, json.dumps({"deploymentState": Central.states.pop(0), "errors": {"common": ["bad pom"]}}).encode()
            )
        else:
            self.respond(404, b"")


@unittest.skipUnless(shutil.which("gpg"), "needs gpg")
class MavenTest(Case):
    PASSPHRASE = "a passphrase with spaces"

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="mayfly-key-")
        cls.addClassCleanup(directory.cleanup)
        signer = maven.Signer(f"{directory.name}/home", cls.PASSPHRASE)
        signer.create()
        cls.key = signer.gpg(
            "--armor", "--pinentry-mode", "loopback", "--passphrase-fd", "0", "--export-secret-keys", input=cls.PASSPHRASE
        )
        signer.close()

    def setUp(self):
        super().setUp()
        self.make(made_release.maven)
        Central.states, Central.poms, Central.bundles, Central.tokens, Central.answer = [], {}, [], [], None
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Central)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}"

    def publish(self, **changed):
        secrets = {
            "CENTRAL_USERNAME": "someone",
            "CENTRAL_PASSWORD": "s3cret",
            "SIGNING_KEY": self.key,
            "SIGNING_PASSPHRASE": self.PASSPHRASE,
            **changed,
        }
        with mock.patch.dict(os.environ, secrets):
            return maven.publish(self.release, f"{self.url}/api", f"{self.url}/repository", pause=0)

    def test_the_bundle_is_signed_uploaded_and_published(self):
        Central.states = ["PENDING", "VALIDATING", "VALIDATED", "PUBLISHING", "PUBLISHED"]
        self.assertIn("Maven Central has published", self.publish()[0])
        self.assertEqual(set(Central.tokens), {"Bearer " + base64.b64encode(b"someone:s3cret").decode()})
        path, content_type, body = Central.bundles[0]
        self.assertEqual(path, f"/api/upload?name=mayfly+{VERSION}&publishingType=AUTOMATIC")
        boundary = content_type.split("boundary=")[1].encode()
        part = body.split(b"--" + boundary)[1].split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")
        (self.work / "bundle.zip").write_bytes(part)
        names = zipfile.ZipFile(self.work / "bundle.zip").namelist()
        core = f"io/github/mayfly-dynamodb/mayfly-core/{VERSION}/mayfly-core-{VERSION}"
        for ending in (".pom", ".jar", "-sources.jar", "-javadoc.jar"):
            for beside in ("", ".asc", ".md5", ".sha1"):
                self.assertIn(f"{core}{ending}{beside}", names)
        self.assertEqual(len(names), len(set(names)))
        self.assertFalse(
            [name for name in names if "maven-metadata" in name or not name.startswith("io/github/mayfly-dynamodb/")]
        )

    def test_a_deployment_that_central_rejects_fails_with_its_errors(self):
        Central.states = ["VALIDATING", "FAILED"]
        self.fails("bad pom", self.publish)
        Central.states = ["LOST"]
        self.fails("unknown state 'LOST'", self.publish)

    def test_an_error_of_central_shows_no_secret(self):
        token = base64.b64encode(b"someone:s3cret").decode()
        Central.answer = (401, f"invalid token {token}".encode())
        with self.assertRaises(Failure) as raised:
            self.publish()
        self.assertIn("answered 401", str(raised.exception))
        self.assertNotIn(token, str(raised.exception))
        Central.answer = (201, b"<html>welcome</html>")
        self.fails("did not answer with the id of a deployment", self.publish)

    def test_a_wrong_passphrase_fails_before_the_upload_and_is_not_shown(self):
        with self.assertRaises(Failure) as raised:
            self.publish(SIGNING_PASSPHRASE="another passphrase")
        self.assertNotIn("another passphrase", str(raised.exception))
        self.assertEqual(Central.bundles, [])

    def test_a_missing_secret_is_named(self):
        self.fails("CENTRAL_PASSWORD is not set", self.publish, CENTRAL_PASSWORD="")

    def test_artifacts_that_are_published_are_not_uploaded_again(self):
        for pom in self.dist.glob("maven/**/*.pom"):
            Central.poms[pom.relative_to(self.dist / "maven").as_posix()] = pom.read_bytes()
        self.assertIn("already published with the same content", self.publish()[0])
        Central.poms.popitem()
        self.fails("has 1 of 2 artifacts", self.publish)
        Central.poms = dict.fromkeys(Central.poms, b"other")
        self.fails("already published with other content", self.publish)
        self.assertEqual(Central.bundles, [])

    def test_what_central_requires_is_checked(self):
        directory = self.dist / f"maven/io/github/mayfly-dynamodb/mayfly-core/{VERSION}"
        pom = directory / f"mayfly-core-{VERSION}.pom"
        text = pom.read_text()
        for old, new, message in (
            ("<scm>", "<other>", "is not XML"),
            (
                "<url>https://github.com/mayfly-dynamodb/mayfly</url>\n  <licenses>",
                "<licenses>",
                "lacks what Maven Central requires: url",
            ),
            (
                f"<version>{VERSION}</version></dependency>",
                "<version>${revision}</version></dependency>",
                "refers to a property or a parent",
            ),
            (
                f"<version>{VERSION}</version></dependency>",
                "<version>0.0.9</version></dependency>",
                f"needs mayfly-binary 0.0.9, not {VERSION}",
            ),
            (
                f"<version>{VERSION}</version></dependency>",
                "<version>1-SNAPSHOT</version></dependency>",
                "not a released version",
            ),
            ("<artifactId>mayfly-core", "<artifactId>other", "describes io.github.mayfly-dynamodb:other"),
        ):
            with self.subTest(message):
                pom.write_text(text.replace(old, new, 1))
                self.fails(message, maven.check_artifacts, self.release)
        pom.write_text(text)
        maven.check_artifacts(self.release)
        pom.write_text(text + "\n")
        self.fails("does not match", maven.check_artifacts, self.release)
        pom.write_text(text)
        (directory / f"mayfly-core-{VERSION}-javadoc.jar").unlink()
        self.fails("-javadoc.jar, which Maven Central requires", maven.check_artifacts, self.release)


class GitHubTest(Case):
    """Calls a program `gh` that keeps releases in a file."""

    GH = """#!/usr/bin/env python3
import json, os, pathlib, sys
kept = pathlib.Path(os.environ["GH_TRIAL"])
state = json.loads(kept.read_text()) if kept.exists() else {}
verb, tag, rest = sys.argv[2], sys.argv[3], sys.argv[4:]
if verb == "list":
    print(json.dumps([{"tagName": name, "isDraft": one["draft"]} for name, one in state.items()]))
elif verb == "view":
    print(json.dumps({"assets": [{"name": name, "size": size} for name, size in state[tag]["assets"].items()]}))
elif verb == "create":
    assert tag not in state and "--draft" in rest and "--verify-tag" in rest
    state[tag] = {"draft": True, "assets": {}, "notes": pathlib.Path(rest[rest.index("--notes-file") + 1]).read_text()}
elif verb == "edit":
    if "--draft=false" in rest:
        state[tag]["draft"] = False
elif verb == "upload":
    for path in map(pathlib.Path, rest):
        if path.is_file():
            state[tag]["assets"][path.name] = path.stat().st_size
kept.write_text(json.dumps(state))
"""

    def setUp(self):
        super().setUp()
        self.make(made_release.archives, made_release.maven)
        checksums.check(self.release)
        (self.work / "bin").mkdir()
        (self.work / "bin/gh").write_text(self.GH)
        (self.work / "bin/gh").chmod(0o755)
        self.kept = self.work / "releases"
        changed = mock.patch.dict(os.environ, PATH=f"{self.work}/bin:{os.environ['PATH']}", GH_TRIAL=str(self.kept))
        changed.start()
        self.addCleanup(changed.stop)

    def test_a_release_is_a_draft_until_all_files_are_there(self):
        self.fails(f"There is no draft for v{VERSION}", github.publish, self.release)
        github.publish_draft(self.release)
        state = json.loads(self.kept.read_text())[f"v{VERSION}"]
        self.assertTrue(state["draft"])
        self.assertEqual(set(state["assets"]), {path.name for path in self.dist.iterdir() if path.is_file()})
        self.assertIn("gh attestation verify", state["notes"])
        github.publish_draft(self.release)  # a failed job can be run again
        github.publish(self.release)
        self.assertFalse(json.loads(self.kept.read_text())[f"v{VERSION}"]["draft"])
        self.assertIn("already public", github.publish_draft(self.release)[0])

    def test_a_draft_without_a_file_does_not_become_public(self):
        github.publish_draft(self.release)
        state = json.loads(self.kept.read_text())
        state[f"v{VERSION}"]["assets"].pop("SHA256SUMS")
        self.kept.write_text(json.dumps(state))
        self.fails("lacks SHA256SUMS", github.publish, self.release)
        self.assertTrue(json.loads(self.kept.read_text())[f"v{VERSION}"]["draft"])


class CommandLineTest(Case):
    def run_release(self, *arguments):
        return subprocess.run(
            [sys.executable, "-B", ROOT / "script/release", *map(str, arguments)], capture_output=True, text=True, check=False
        )

    def test_a_dry_run_without_packages_fails_and_names_the_commands(self):
        self.dist.mkdir()
        done = self.run_release("--dry-run", "--dist", self.dist, "archives", "sbom", "go", "checksums")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("failed: archives sbom go checksums", done.stderr)
        self.assertEqual(done.stdout.count("run `script/package --platforms"), 4)
        self.assertNotIn("passed  ", done.stdout)

    def test_publishing_needs_a_tag_and_the_hash_of_the_dry_run(self):
        self.make(made_release.archives)
        done = self.run_release("--publish", "go", "--dist", self.dist)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("--publish needs --tag and --checksums", done.stderr)
        done = self.run_release("--publish", "go", "--dist", self.dist, "--tag", "v9.9.9", "--checksums", "0" * 64)
        self.assertIn("The tag v9.9.9 does not match", done.stderr)

    def test_invalid_arguments_are_rejected(self):
        for arguments in (["--dry-run", "nothing"], ["--publish", "pypi"], ["--verify", "archives"], []):
            done = self.run_release(*arguments)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("script/release: ", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
