"""Commits files to another repository, with a deploy key that only this step has."""

import os
import pathlib
import shutil

from .files import Failure, command, scratch

KNOWN_HOSTS = pathlib.Path(__file__).resolve().parent.parent / "github_known_hosts"
AUTHOR = {
    "GIT_AUTHOR_NAME": "github-actions[bot]",
    "GIT_AUTHOR_EMAIL": "41898282+github-actions[bot]@users.noreply.github.com",
    "GIT_COMMITTER_NAME": "github-actions[bot]",
    "GIT_COMMITTER_EMAIL": "41898282+github-actions[bot]@users.noreply.github.com",
}
# Git ignores the user's and the system's configuration, and asks for nothing.
ALONE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_TERMINAL_PROMPT": "0"}


def address(repository):
    return f"git@github.com:{repository}.git"


def deploy_key():
    key = os.environ.get("DEPLOY_KEY", "")
    if not key:
        raise Failure(
            "The environment variable DEPLOY_KEY is not set: add the private half of the repository's deploy key as a secret."
        )
    return key.rstrip("\n") + "\n"


def commit(remote, write, message, tags=(), key=None):
    """Replaces files in the repository `remote`, and pushes one commit to main, with tags. Returns what was done.

    `write` gets the directory of a clone and changes its files. If the tags already exist, nothing is pushed; the tagged files must
    then be the same. If nothing changes and no tag is new, nothing is pushed.
    """
    with scratch() as work:
        environment = {**ALONE, **AUTHOR}
        if key is not None:
            identity = pathlib.Path(work) / "key"
            identity.touch(mode=0o600)
            identity.write_text(key)
            environment["GIT_SSH_COMMAND"] = (
                f"ssh -F /dev/null -i '{identity}' -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=yes "
                f"-o UserKnownHostsFile='{KNOWN_HOSTS}'"
            )

        def git(*arguments, cwd=None):
            return command(["git", *arguments], cwd=cwd, environment=environment)

        clone = pathlib.Path(work) / "clone"
        git("clone", "--quiet", "--depth", "1", "--no-tags", "--", remote, clone)
        # A new repository has no branch yet.
        git("symbolic-ref", "HEAD", "refs/heads/main", cwd=clone)
        write(clone)
        git("add", "--all", "--force", cwd=clone)  # also files that a .gitignore names
        tree = git("write-tree", cwd=clone).strip()
        there = (
            {
                line.split("\t")[1].removeprefix("refs/tags/").removesuffix("^{}")
                for line in git(
                    "ls-remote", "--tags", "origin", *[f"refs/tags/{tag}" for tag in tags], cwd=clone
                ).splitlines()
            }
            if tags
            else set()
        )
        for tag in sorted(there):
            git("fetch", "--quiet", "--depth", "1", "origin", f"refs/tags/{tag}:refs/tags/{tag}", cwd=clone)
            if git("rev-parse", f"{tag}^{{tree}}", cwd=clone).strip() != tree:
                raise Failure(f"The tag {tag} already exists with other files: release a new version.")
        if there and there == set(tags):
            return f"{', '.join(sorted(there))} already exist with the same files"
        changed = bool(git("status", "--porcelain", cwd=clone).strip())
        if not changed and not tags:
            return "nothing has changed"
        if changed:
            git("commit", "--quiet", "--message", message, cwd=clone)
        for tag in set(tags) - there:
            git("tag", "--annotate", "--message", message, tag, cwd=clone)
        git(
            "push",
            "--quiet",
            "--atomic",
            "origin",
            "HEAD:refs/heads/main",
            *[f"refs/tags/{tag}" for tag in sorted(set(tags) - there)],
            cwd=clone,
        )
        return f"pushed '{message}'" + (f" with the tags {', '.join(sorted(tags))}" if tags else "")


def empty(directory):
    """Deletes all files of a clone, except git's own."""
    for path in directory.iterdir():
        if path.name != ".git":
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def trial(directory):
    """A new, empty repository on this machine, for a dry run."""
    remote = pathlib.Path(directory) / "remote.git"
    command(["git", "init", "--quiet", "--bare", "--initial-branch", "main", remote], environment=ALONE)
    return str(remote)
