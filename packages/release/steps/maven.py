"""The artifacts for Maven Central: their poms, their jars, and a signed bundle."""

import base64
import hashlib
import os
import pathlib
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import xml.etree.ElementTree as tree
import zipfile

from .files import PLATFORMS, Failure, command, json_of, megabytes, need, programs_in, read_archive, scratch, sha256

NEEDS = "the secrets CENTRAL_USERNAME, CENTRAL_PASSWORD, SIGNING_KEY and SIGNING_PASSPHRASE of the environment maven-central"
COMMAND = "script/package --platforms jvm"
GROUP = "io.github.mayfly-dynamodb"
CENTRAL = "https://central.sonatype.com/api/v1/publisher"
bundle_bytes_max = 1024 * 1024 * 1024  # Central rejects larger bundles
publish_seconds_max = 3600
REQUIRED = (
    "name",
    "description",
    "url",
    "licenses/license/name",
    "licenses/license/url",
    "developers/developer/name",
    "scm/connection",
    "scm/developerConnection",
    "scm/url",
)


def artifacts(release):
    """The directories of dist/maven with one version of one artifact."""
    base = release.dist / "maven" / GROUP.replace(".", "/")
    found = sorted(path for path in base.glob("*/*") if path.is_dir())
    if not found:
        raise Failure(f"{release.dist.name}/maven contains no artifact of {GROUP}: run `{COMMAND}`.")
    return found


def files_of(directory):
    """The files of an artifact that are published. Maven's metadata and checksums are left out: the bundle gets its own."""
    for path in sorted(directory.iterdir()):
        if path.is_symlink() or not path.is_file():
            raise Failure(f"{path} must be a file.")
        if not path.name.endswith((".md5", ".sha1", ".sha256", ".sha512", ".asc")):
            yield path


def check_pom(path, artifact, version):
    try:
        pom = tree.fromstring(path.read_bytes())
    except tree.ParseError as error:
        raise Failure(f"{path.name} is not XML: {error}.") from error
    space = {"": "http://maven.apache.org/POM/4.0.0"}

    def text(name, within=pom):
        return (within.findtext(name, "", space) or "").strip()

    if (text("groupId"), text("artifactId"), text("version")) != (GROUP, artifact, version):
        raise Failure(
            f"{path.name} describes {text('groupId')}:{text('artifactId')}:{text('version')}, not "
            f"{GROUP}:{artifact}:{version}."
        )
    lacking = [name for name in REQUIRED if not text(name)]
    if lacking:
        raise Failure(f"{path.name} lacks what Maven Central requires: {', '.join(lacking)}.")
    if "${" in path.read_text() or text("parent/artifactId"):
        raise Failure(f"{path.name} refers to a property or a parent: packages/jvm/pom.xml must flatten it.")
    for dependency in pom.iterfind("dependencies/dependency", space):
        needed = text("version", dependency)
        if not re.fullmatch(r"[0-9][\w.-]*", needed) or needed.endswith("SNAPSHOT"):
            raise Failure(
                f"{path.name} needs {text('artifactId', dependency)} in version '{needed}', which is not a released version."
            )
        if text("groupId", dependency) == GROUP and needed != version:
            raise Failure(f"{path.name} needs {text('artifactId', dependency)} {needed}, not {version}.")
    return text("packaging") or "jar"


def check_checksums(directory):
    for path in files_of(directory):
        for kind in ("md5", "sha1"):
            beside = path.with_name(f"{path.name}.{kind}")
            if not beside.is_file() or beside.read_text().strip() != hashlib.new(kind, path.read_bytes()).hexdigest():
                raise Failure(f"{beside.name} is missing or does not match {path.name}: run `{COMMAND}`.")


def check_artifacts(release):
    """Checks all artifacts. Returns their names."""
    names, missing = [], dict.fromkeys(PLATFORMS)
    for directory in artifacts(release):
        artifact = directory.parent.name
        if directory.name != release.version:
            raise Failure(
                f"{release.dist.name}/maven has {artifact} in version {directory.name}: run `rm -rf "
                f"{release.dist.name}/maven`, then `{COMMAND}`."
            )
        stem = f"{artifact}-{release.version}"
        ours = {path.name: path for path in files_of(directory)}
        if f"{stem}.pom" not in ours:
            raise Failure(f"{artifact} has no {stem}.pom.")
        if check_pom(ours[f"{stem}.pom"], artifact, release.version) == "jar":
            for ending in (".jar", "-sources.jar", "-javadoc.jar"):
                if f"{stem}{ending}" not in ours:
                    raise Failure(f"{artifact} has no {stem}{ending}, which Maven Central requires.")
        check_checksums(directory)
        for name, path in ours.items():
            if name.endswith(".jar"):
                files = read_archive(path)
                if not files:
                    raise Failure(f"{name} is empty.")
                for platform in programs_in(files):
                    missing.pop(platform, None)
        names.append(artifact)
    if missing:
        raise Failure(f"No jar has the program for {', '.join(missing)}: run `{COMMAND}`.")
    return names


# --- the bundle


class Signer:
    """Signs files with a key that is only in a temporary directory of GnuPG."""

    def __init__(self, home, passphrase):
        self.home, self.passphrase = str(home), passphrase
        pathlib.Path(home).mkdir(mode=0o700)
        # By default, GnuPG takes 100 ms to derive a key from the passphrase, for each file.
        pathlib.Path(home, "gpg-agent.conf").write_text("s2k-count 65536\n")

    def gpg(self, *arguments, input=None):
        return command(
            ["gpg", "--batch", "--quiet", "--homedir", self.home, *arguments], input=input, hidden=[self.passphrase]
        )

    def unlocked(self, *arguments):
        """Runs gpg with the passphrase, which it reads from standard input."""
        self.gpg("--pinentry-mode", "loopback", "--passphrase-fd", "0", *arguments, input=self.passphrase)

    def create(self):
        """Creates a key for a trial."""
        self.unlocked("--quick-generate-key", "Trial <trial@example.invalid>", "ed25519", "sign", "1d")

    def load(self, key):
        self.gpg("--import", input=key)

    def sign(self, path):
        self.unlocked("--yes", "--armor", "--detach-sign", "--output", f"{path}.asc", path)
        self.gpg("--verify", f"{path}.asc", path)

    def close(self):
        command(["gpgconf", "--homedir", self.home, "--kill", "all"])


def bundle(release, signer, target):
    """Writes the zip archive that Maven Central accepts: each file with its signature and its checksums. Returns its files."""
    names = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive, scratch() as work:
        for directory in artifacts(release):
            for path in files_of(directory):
                copy = pathlib.Path(work) / path.name
                copy.write_bytes(path.read_bytes())
                signer.sign(copy)
                inside = path.relative_to(release.dist / "maven").as_posix()
                for name, data in (
                    (inside, copy.read_bytes()),
                    (f"{inside}.asc", copy.with_name(f"{copy.name}.asc").read_bytes()),
                    (f"{inside}.md5", hashlib.md5(copy.read_bytes()).hexdigest().encode()),
                    (f"{inside}.sha1", hashlib.sha1(copy.read_bytes()).hexdigest().encode()),
                    (f"{inside}.sha256", sha256(copy).encode()),
                ):
                    archive.writestr(name, data)
                    names.append(name)
    if target.stat().st_size > bundle_bytes_max:
        raise Failure(
            f"The bundle has {megabytes(target.stat().st_size)}, and Maven Central accepts {megabytes(bundle_bytes_max)}."
        )
    return names


def check(release):
    names = check_artifacts(release)
    need("gpg", "apt-get install gnupg")
    with scratch() as work:
        signer = Signer(f"{work}/gnupg", uuid.uuid4().hex)
        try:
            signer.create()
            target = pathlib.Path(work) / "bundle.zip"
            inside = bundle(release, signer, target)
            size = target.stat().st_size
        finally:
            signer.close()
    return [
        f"{len(names)} artifacts: {', '.join(names)}; poms and jars have what Maven Central requires",
        f"a bundle of {len(inside)} files, {megabytes(size)}, was signed with a key made for this trial, and its "
        "signatures verify",
    ]


# --- Maven Central


def secret(name):
    value = os.environ.get(name, "")
    if not value:
        raise Failure(f"The environment variable {name} is not set: add the secret to the environment maven-central.")
    return value


def call(url, token, body=None, content_type=None):
    """POSTs to Central's API and returns the body of its response."""
    request = urllib.request.Request(url, data=body or b"", method="POST", headers={"Authorization": f"Bearer {token}"})
    if content_type:
        request.add_header("Content-Type", content_type)
    try:
        # No redirect is followed, so the token reaches only this address.
        with urllib.request.build_opener(NoRedirects).open(request, timeout=300) as response:
            return response.read(1 << 20)
    except urllib.error.HTTPError as error:
        said = error.read(2000).decode(errors="replace").replace(token, "***")
        raise Failure(f"Maven Central answered {error.code} to {urllib.parse.urlsplit(url).path}: {said}") from None
    except OSError as error:
        raise Failure(f"Maven Central cannot be reached at {url.split('?')[0]}: {error}.") from None


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def upload(path, name, token, central):
    """Uploads the bundle and returns the id of its deployment."""
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="bundle"; filename="{path.name}"\r\nContent-Type: application/octet-stream\r\n\r\n'
    body = head.encode() + path.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
    query = urllib.parse.urlencode({"name": name, "publishingType": "AUTOMATIC"})
    answer = (
        call(f"{central}/upload?{query}", token, body, f"multipart/form-data; boundary={boundary}")
        .decode(errors="replace")
        .strip()
    )
    if not re.fullmatch(r"[0-9a-fA-F-]{36}", answer):
        raise Failure(f"Maven Central did not answer with the id of a deployment, but with: {answer[:200]}")
    return answer


def await_published(deployment, token, central, pause):
    """Waits until Central has published the deployment. Fails if Central rejects it."""
    deadline = time.monotonic() + publish_seconds_max
    while time.monotonic() < deadline:
        answer = json_of(
            "Maven Central's response", call(f"{central}/status?{urllib.parse.urlencode({'id': deployment})}", token)
        )
        state = answer.get("deploymentState")
        if state == "PUBLISHED":
            return
        if state == "FAILED":
            raise Failure(f"Maven Central rejected the deployment {deployment}: {str(answer.get('errors'))[:4000]}")
        if state not in ("PENDING", "VALIDATING", "VALIDATED", "PUBLISHING"):
            raise Failure(f"Maven Central reports the unknown state '{state}' for the deployment {deployment}.")
        time.sleep(pause)
    raise Failure(
        f"Maven Central has not published the deployment {deployment} within {publish_seconds_max} seconds: "
        "look at it on central.sonatype.com before you run this job again."
    )


def published(release, repository):
    """Whether Maven Central already has all artifacts with this content."""
    there = 0
    poms = [path for directory in artifacts(release) for path in files_of(directory) if path.suffix == ".pom"]
    for pom in poms:
        address = f"{repository}/{pom.relative_to(release.dist / 'maven').as_posix()}"
        try:
            with urllib.request.urlopen(address, timeout=60) as response:
                if response.read(1 << 20) != pom.read_bytes():
                    raise Failure(f"{pom.name} is already published with other content: release a new version.")
                there += 1
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise Failure(f"Maven Central answered {error.code} to {address}.") from None
        except OSError as error:
            raise Failure(f"Maven Central cannot be reached at {address}: {error}.") from None
    if 0 < there < len(poms):
        raise Failure(
            f"Maven Central has {there} of {len(poms)} artifacts of this version: look at the deployments on "
            "central.sonatype.com."
        )
    return there == len(poms)


def publish(release, central=CENTRAL, repository="https://repo1.maven.org/maven2", pause=15):
    check_artifacts(release)
    user, password = secret("CENTRAL_USERNAME"), secret("CENTRAL_PASSWORD")
    if published(release, repository):
        return ["all artifacts are already published with the same content"]
    token = base64.b64encode(f"{user}:{password}".encode()).decode()
    need("gpg", "apt-get install gnupg")
    with scratch() as work:
        signer = Signer(f"{work}/gnupg", secret("SIGNING_PASSPHRASE"))
        try:
            signer.load(secret("SIGNING_KEY"))
            target = pathlib.Path(work) / f"mayfly-{release.version}.zip"
            bundle(release, signer, target)
            deployment = upload(target, f"mayfly {release.version}", token, central)
            print(f"Maven Central has accepted the upload as deployment {deployment}.", flush=True)
        finally:
            signer.close()
    await_published(deployment, token, central, pause)
    return [f"Maven Central has published deployment {deployment}"]
