"""The release on GitHub: its notes, which are the section of CHANGELOG.md, and its files."""

import json
import pathlib
import re

from . import checksums, version
from .files import HOMEPAGE, REPOSITORY, Failure, command, megabytes, need, scratch

NEEDS = "the permission contents: write, which the workflow's own token has in the environment github-release"
notes_characters_max = 125_000  # GitHub rejects longer notes
asset_bytes_max = 2 * 1024 * 1024 * 1024  # GitHub rejects files of this size
assets_max = 1000


def notes(release):
    """The section of CHANGELOG.md. Links into the repository become links to the tagged files."""
    _, section = version.section_of(release.version, release.root)

    def link(match):
        target = match[2]
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            return match[0]
        if target.startswith("#"):
            return f"{match[1]}({HOMEPAGE}/blob/v{release.version}/CHANGELOG.md{target})"
        path = target.split("#")[0]
        if not (release.root / path).exists():
            raise Failure(f"CHANGELOG.md's section about {release.version} links to {path}, which does not exist.")
        kind = "tree" if (release.root / path).is_dir() else "blob"
        return f"{match[1]}({HOMEPAGE}/{kind}/v{release.version}/{target})"

    linked = re.sub(r"(\[[^\]]*\])\(([^()\s]+)\)", link, section)
    return f"""{linked}

## Verification

`SHA256SUMS` lists the hash of every file. `sha256sum --check --ignore-missing SHA256SUMS` checks the files that you have downloaded.
`mayfly-{release.version}.cdx.json` lists the components of the program. To check that a file was built by this repository's release
workflow:

    gh attestation verify FILE --repo {REPOSITORY}
"""


def assets(release):
    """The files of the release. The Maven repository is one of them, as a zip archive."""
    found = [path for name, path in checksums.files_of(release) if "/" not in name] + [
        release.file(checksums.NAME, checksums.COMMAND)
    ]
    if len(found) > assets_max:
        raise Failure(f"The release has {len(found)} files, and GitHub accepts {assets_max}.")
    for path in found:
        if not 0 < path.stat().st_size < asset_bytes_max:
            raise Failure(
                f"{path.name} has {path.stat().st_size} bytes; a file of a release must not be empty or larger than "
                f"{megabytes(asset_bytes_max)}."
            )
    return found


def check(release):
    checksums.verify(release)
    text, files = notes(release), assets(release)
    if len(text) > notes_characters_max:
        raise Failure(
            f"The notes have {len(text)} characters, and GitHub accepts {notes_characters_max}: shorten the section in "
            "CHANGELOG.md."
        )
    total = sum(path.stat().st_size for path in files)
    return [
        f"notes of {len(text)} characters from CHANGELOG.md (`script/release --notes` prints them)",
        f"{len(files)} files, {megabytes(total)}",
    ]


def state(tag):
    """None if there is no release for the tag, otherwise whether it is a draft."""
    told = json.loads(command(["gh", "release", "list", "--json", "tagName,isDraft", "--limit", "1000"]))
    drafts = [entry["isDraft"] for entry in told if entry["tagName"] == tag]
    return drafts[0] if drafts else None


def publish_draft(release):
    """Creates a draft with all files. The release becomes public only after all packages are published."""
    need("gh", "install GitHub's command line")
    tag = f"v{release.version}"
    draft = state(tag)
    if draft is False:
        return [f"the release {tag} is already public"]
    with scratch() as directory:
        file = pathlib.Path(directory) / "notes.md"
        file.write_text(notes(release))
        common = ["--title", f"Mayfly {release.version}", "--notes-file", file]
        if draft is None:
            command(["gh", "release", "create", tag, "--draft", "--verify-tag", *common])
        else:
            command(["gh", "release", "edit", tag, *common])
        command(["gh", "release", "upload", tag, "--clobber", *assets(release)])
    return [f"the draft of {tag} has {len(assets(release))} files"]


def publish(release):
    """Makes the draft public, if it has all files."""
    need("gh", "install GitHub's command line")
    tag = f"v{release.version}"
    draft = state(tag)
    if draft is None:
        raise Failure(f"There is no draft for {tag}: run the job that creates it.")
    there = {
        asset["name"]: asset["size"]
        for asset in json.loads(command(["gh", "release", "view", tag, "--json", "assets"]))["assets"]
    }
    for path in assets(release):
        if there.get(path.name) != path.stat().st_size:
            raise Failure(f"The release {tag} lacks {path.name} or has another file with this name.")
    if draft:
        command(["gh", "release", "edit", tag, "--draft=false", "--latest"])
    return [f"the release {tag} is public: {HOMEPAGE}/releases/tag/{tag}"]
