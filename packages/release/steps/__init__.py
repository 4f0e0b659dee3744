"""The steps of a release, in the order in which a dry run checks them."""

from . import (
    archives,
    checksums,
    crates,
    github,
    gomodule,
    homebrew,
    image,
    maven,
    npm,
    programs,
    sbom,
    scoop,
    version,
    wheels,
)

STEPS = {
    "version": version,
    "archives": archives,
    "sbom": sbom,
    "pypi": wheels,
    "npm": npm,
    "maven": maven,
    "crates": crates,
    "go": gomodule,
    "image": image,
    "programs": programs,
    "homebrew": homebrew,
    "scoop": scoop,
    "checksums": checksums,
    "github": github,
}

# The steps that the workflow publishes with `script/release --publish NAME`. For PyPI, an action publishes the wheels.
PUBLISHERS = {
    "github-draft": github.publish_draft,
    "npm": npm.publish,
    "maven": maven.publish,
    "crates": crates.publish,
    "go": gomodule.publish,
    "image": image.publish,
    "github": github.publish,
    "homebrew": homebrew.publish,
    "scoop": scoop.publish,
}
