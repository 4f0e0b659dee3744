"""The tag, CMakeLists.txt and CHANGELOG.md agree on the version."""

import datetime
import re
import subprocess

from .files import ROOT, Failure

NEEDS = "a tag vVERSION on a commit of main, and a date instead of 'unreleased' in CHANGELOG.md"


def version_of(root=ROOT):
    """The version in CMakeLists.txt, which is the only place that has it."""
    found = re.search(r"^project\(mayfly VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE)
    if not found or not re.fullmatch(r"\d+\.\d+\.\d+", found[1]):
        raise Failure("CMakeLists.txt has no version of the form 1.2.3 in its line `project(mayfly VERSION ...)`.")
    return found[1]


def section_of(version, root=ROOT):
    """The section of CHANGELOG.md about a version: its date (a date, or None if the version is unreleased) and its text."""
    text = (root / "CHANGELOG.md").read_text()
    heading = re.compile(r"^## \[(\S+?)\] - (.+?)\s*$", re.MULTILINE)
    headings = list(heading.finditer(text))
    ours = [found for found in headings if found[1] == version]
    if len(ours) != 1:
        raise Failure(
            f"CHANGELOG.md must have one section for {version}: write `## [{version}] - unreleased` above its changes."
            if not ours
            else f"CHANGELOG.md has {len(ours)} sections for {version}: merge them."
        )
    if headings[0] is not ours[0]:
        raise Failure(f"CHANGELOG.md's first section is about {headings[0][1]}: move the section about {version} above it.")
    end = next((found.start() for found in headings if found.start() > ours[0].start()), len(text))
    section = text[ours[0].end() : end].strip()
    if not section:
        raise Failure(f"CHANGELOG.md's section about {version} is empty.")
    if ours[0][2] == "unreleased":
        return None, section
    try:
        return datetime.date.fromisoformat(ours[0][2]), section
    except ValueError as error:
        raise Failure(
            f"CHANGELOG.md must give the date of {version} as YYYY-MM-DD or 'unreleased', got '{ours[0][2]}'."
        ) from error


def git(root, *arguments):
    return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)


def check(release):
    if release.tag is not None and release.tag != f"v{release.version}":
        raise Failure(
            f"The tag {release.tag} does not match the version in CMakeLists.txt, which is {release.version}: the tag "
            f"must be v{release.version}."
        )
    date, section = section_of(release.version, release.root)
    facts = [
        f"CMakeLists.txt has version {release.version}; CHANGELOG.md has a section of {len(section.splitlines())} lines "
        "for it"
    ]
    if release.tag is None:
        if date is None:
            facts.append(
                f"before the tag, replace 'unreleased' with the date in CHANGELOG.md's section about {release.version}"
            )
        return facts
    if date is None:
        raise Failure(
            f"CHANGELOG.md's section about {release.version} says 'unreleased': replace this word with the date, and tag "
            "that commit."
        )
    tagged = git(release.root, "rev-parse", "--verify", "--quiet", f"refs/tags/{release.tag}^{{commit}}").stdout.strip()
    head = git(release.root, "rev-parse", "HEAD").stdout.strip()
    if not tagged or tagged != head:
        raise Failure(f"The checkout is not at the tag {release.tag}: run `git checkout {release.tag}`.")
    if git(release.root, "rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        facts.append(
            "not checked: whether main contains the tag, because this clone is shallow (the workflow's first job checks it)"
        )
    elif git(release.root, "merge-base", "--is-ancestor", head, "origin/main").returncode:
        raise Failure(f"The commit of {release.tag} is not on origin/main: tag a commit of main.")
    else:
        facts.append(f"{release.tag} is a commit of main")
    return facts
