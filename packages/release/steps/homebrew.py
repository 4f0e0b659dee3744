"""The Homebrew formula, with the hashes of the release archives."""

import pathlib
import shutil

from . import archives, repository
from .files import HOMEPAGE, LICENSE, Failure, command, need, scratch, sha256

NEEDS = "the repository mayfly-dynamodb/homebrew-tap, and its deploy key as the secret DEPLOY_KEY of the environment homebrew"
REPOSITORY = "mayfly-dynamodb/homebrew-tap"
DESCRIPTION = "DynamoDB for tests, with exact TTL, streams and a clock that tests control"
PLATFORMS = {
    ("macos", "arm"): "macos-arm64",
    ("macos", "intel"): "macos-x86_64",
    ("linux", "arm"): "linux-arm64",
    ("linux", "intel"): "linux-x86_64",
}
# The files that the formula installs, if the archives have them.
INSTALLED = {
    "share/man/man1/mayfly.1.gz": 'man1.install "share/man/man1/mayfly.1.gz"',
    "share/bash-completion/completions/mayfly": 'bash_completion.install "share/bash-completion/completions/mayfly"',
    "share/zsh/site-functions/_mayfly": 'zsh_completion.install "share/zsh/site-functions/_mayfly"',
    "share/fish/vendor_completions.d/mayfly.fish": 'fish_completion.install "share/fish/vendor_completions.d/mayfly.fish"',
}


def formula(release):
    trees = {platform: archives.tree_of(release, platform) for platform in PLATFORMS.values()}
    lines = ['bin.install "bin/mayfly"']
    for name, line in INSTALLED.items():
        having = [platform for platform, tree in trees.items() if name in tree]
        if len(having) == len(trees):
            lines.append(line)
        elif having:
            raise Failure(f"Only the archives for {', '.join(having)} contain {name}: run `{archives.COMMAND}`.")
    for platform in trees:
        archives.program_of(release, platform)
    systems = "\n\n".join(
        f"  on_{system} do\n"
        + "\n".join(
            f'    on_{processor} do\n      url "{release.download}/{archive.name}"\n      sha256 "{sha256(archive)}"\n    end'
            for (its_system, processor), platform in PLATFORMS.items()
            if its_system == system
            for archive in [release.archive(platform)]
        )
        + "\n  end"
        for system in ("macos", "linux")
    )
    install = "\n".join(f"    {line}" for line in lines)
    # Homebrew reads the version from the URLs.
    return f'''class Mayfly < Formula
  desc "{DESCRIPTION}"
  homepage "{HOMEPAGE}"
  license "{LICENSE}"

{systems}

  def install
{install}
    doc.install Dir["share/doc/mayfly/*"]
  end

  test do
    assert_equal "mayfly #{{version}}", shell_output("#{{bin}}/mayfly --version").strip
    pid = spawn bin/"mayfly", "serve", "--port", "0", "--port-file", (testpath/"port").to_s
    begin
      50.times do
        break if (testpath/"port").size?

        sleep 0.1
      end
      port = (testpath/"port").read.strip
      assert_match "ok", shell_output("#{{bin}}/mayfly health --url http://127.0.0.1:#{{port}}")
    ensure
      Process.kill "TERM", pid
      Process.wait pid
    end
  end
end
'''


# Runs the formula as Homebrew would on one platform, without downloading: prints the URL and the hash that it chooses, and
# installs the files of an unpacked archive.
STAND_IN = """
require "fileutils"
require "pathname"
class Room
  def initialize(path) = @path = path
  def install(*names)
    FileUtils.mkdir_p @path
    names.flatten.each { |name| FileUtils.cp_r name, @path }
  end
end
class Formula
  class << self
    attr_reader :chosen
    %i[desc homepage license].each { |name| define_method(name) { |text| raise "#{name} is empty" if text.empty? } }
    def test; end
    %i[macos linux].each { |system| define_method("on_#{system}") { |&block| block.call if ARGV[1] == system.to_s } }
    %i[arm intel].each { |processor| define_method("on_#{processor}") { |&block| block.call if ARGV[2] == processor.to_s } }
    def url(text) = @chosen = [text]
    def sha256(text) = @chosen << text
  end
  %i[bin doc man1 bash_completion zsh_completion fish_completion].each do |name|
    define_method(name) { Room.new(File.join(ARGV[3], name.to_s)) }
  end
end
load ARGV[0]
puts Mayfly.chosen
Mayfly.new.install
"""


def check(release):
    text = formula(release)
    target = release.dist / "mayfly.rb"
    target.write_text(text)
    need("ruby", "apt-get install ruby")
    command(["ruby", "-wc", target])
    with scratch() as directory:
        work = pathlib.Path(directory)
        (work / "stand_in.rb").write_text(STAND_IN)
        for (system, processor), platform in PLATFORMS.items():
            source, prefix = work / platform / "source", work / platform / "prefix"
            for name, file in archives.tree_of(release, platform).items():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_bytes(file.data)
            url, hash_ = command(
                ["ruby", work / "stand_in.rb", target.resolve(), system, processor, prefix], cwd=source
            ).split()
            archive = release.archive(platform)
            if url != f"{release.download}/{archive.name}" or hash_ != sha256(archive):
                raise Failure(f"On {platform}, the formula would download {url} with the hash {hash_}.")
            if (prefix / "bin/mayfly").read_bytes() != archives.program_of(release, platform).data:
                raise Failure(f"On {platform}, the formula would not install the program.")
        remote = repository.trial(work)
        write = writer(text)
        repository.commit(remote, write, message(release))
        if "nothing" not in repository.commit(remote, write, message(release)):
            raise Failure("A second commit of the same formula must change nothing.")
    facts = [
        f"wrote {release.dist.name}/mayfly.rb; on four platforms it chooses the archive and its hash, and installs the "
        "program"
    ]
    if shutil.which("brew"):
        command(["brew", "style", "--formula", target], environment={"HOMEBREW_NO_AUTO_UPDATE": "1"})
        return [*facts, "brew style reports nothing"]
    return [*facts, "not checked: brew style, because Homebrew is not installed (the workflow runs it)"]


def writer(text):
    def write(clone):
        (clone / "Formula").mkdir(exist_ok=True)
        (clone / "Formula/mayfly.rb").write_text(text)

    return write


def message(release):
    return f"mayfly {release.version}"


def publish(release):
    text = release.file("mayfly.rb", "script/release --dry-run homebrew").read_text()
    if text != formula(release):
        raise Failure("dist/mayfly.rb does not match the archives: run `script/release --dry-run homebrew`.")
    return [repository.commit(repository.address(REPOSITORY), writer(text), message(release), key=repository.deploy_key())]
