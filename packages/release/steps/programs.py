"""All packages of a platform contain the same program as its release archive."""

import io
import tarfile

from . import archives, image
from .files import PLATFORMS, Failure, File, programs_in, read_archive, sha256, unpacked


def packages(release):
    """Each package with a program: (kind, file name, platform, hash)."""
    kinds = [
        ("wheel", "mayfly_dynamodb-*.whl"),
        ("npm package", "*.tgz"),
        ("jar", "maven/**/*.jar"),
        ("crate", "*.crate"),
        ("Go module", "go/**/@v/*.zip"),
    ]
    for kind, pattern in kinds:
        for path in sorted(release.dist.glob(pattern)):
            for platform, (_, data) in programs_in(read_archive(path)).items():
                yield kind, path.relative_to(release.dist).as_posix(), platform, sha256(data)
    for path in sorted(release.dist.glob(f"mayfly-{release.version}-image-*.tar.gz")):
        for name, file in read_archive(path).items():
            layer = unpacked(name, file.data)
            if layer[257:262] != b"ustar":
                continue
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                for info in archive:
                    if info.isreg() and info.name.lstrip("./") == "usr/bin/mayfly":
                        member = File(archive.extractfile(info).read(), info.mode)
                        for platform, (_, data) in programs_in({info.name: member}).items():
                            yield "image", path.name, platform, sha256(data)


def check(release):
    expected = {platform: sha256(archives.program_of(release, platform).data) for platform in PLATFORMS}
    seen = {}
    for kind, name, platform, digest in packages(release):
        if digest != expected[platform]:
            raise Failure(
                f"{name} contains another program for {platform} than {release.archive(platform).name}: build both anew "
                "with `script/package --platforms`."
            )
        seen.setdefault(kind, {})[platform] = name
    facts = []
    for kind, platforms in (
        ("wheel", PLATFORMS),
        ("npm package", PLATFORMS),
        ("jar", PLATFORMS),
        ("crate", PLATFORMS),
        ("Go module", PLATFORMS),
        ("image", tuple(image.PLATFORMS.values())),
    ):
        missing = [platform for platform in platforms if platform not in seen.get(kind, {})]
        if missing:
            raise Failure(f"No {kind} contains the program for {', '.join(missing)}: run `script/package --platforms`.")
        facts.append(f"{kind}: the same program on {len(platforms)} platforms")
    return facts
