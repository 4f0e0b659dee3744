"""Runs the documentation's examples page by page against one server, as a reader would paste them.

One server runs with all the options that the pages pass to `mayfly serve`. Each page has its own shell for its `sh` blocks
and its own Python session for its `python` blocks, so that each page can also be read alone. The blocks run in the page's
order. No block may fail. Each page of docs/how-to has a fresh server instead, which starts at the page's server block or,
if the page has none, before the page's first block.

A comment before a block describes it:

    <!-- server -->              the block starts the server; the test uses the block's options
    <!-- not run: a reason -->   the block needs something that a test does not have
    <!-- setup: NAME -->         other pages also use the block; it runs first on pages with <!-- uses: NAME -->
    <!-- output -->              in docs/how-to: the block is the output of the block before it; … stands for any text

The test replaces the reader's `/tmp/mayfly` and port 8000 with its own.
"""

import os
import pathlib
import queue
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from mayfly_server import MayflyServer, binary, is_instrumented

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [
    "docs/control.md",
    "docs/triggers.md",
    "docs/backups.md",
    "docs/exports.md",
    "docs/imports.md",
    "docs/global_tables.md",
    "docs/transfer.md",
    "docs/sweep.md",
    "docs/moving.md",
]
HOW_TOS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "how-to").glob("*.md"))
# Blocks in other languages, such as responses in JSON, are not executed.
RUN = ("sh", "python")
FENCE = re.compile(r"^(?:<!-- ([^\n]*?) -->\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
USES = re.compile(r"^<!-- uses: (.*?) -->$", re.MULTILINE)
BLOCK_SECONDS_MAX = 300 if is_instrumented() else 60


class Block:
    def __init__(self, page, note, language, text):
        self.page, self.note, self.language, self.text = page, note or "", language, text

    def __str__(self):
        return f"{self.page}:\n{self.text}"


def blocks_of(page):
    text = (ROOT / page).read_text()
    return [Block(page, *found) for found in FENCE.findall(text) if found[1] in RUN or found[0] == "output"]


def serve_arguments(text):
    """Returns the words after `mayfly serve` in a block, without a port."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:2] != ["mayfly", "serve"]:
            continue
        words = [word for word in words[2:] if word != "&"]
        if "--port" in words:
            at = words.index("--port")
            del words[at : at + 2]
        return words
    raise AssertionError(f"no mayfly serve in:\n{text}")


def is_printed(expected, printed):
    pattern = re.escape(expected.strip()).replace("…", ".*")
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def used_by(page):
    return USES.findall((ROOT / page).read_text())


class Session:
    """An interpreter that runs blocks and reports each block's output and failure."""

    END = "--- end of a block ---"

    def __init__(self, command, environment, directory, encode):
        self._encode = encode
        self._file = directory / f".block.{os.path.basename(command[0])}"
        self._process = subprocess.Popen(
            command,
            env=environment,
            cwd=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            bufsize=1,
            start_new_session=True,
        )
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def run(self, text):
        """Runs a block. Returns (output, None), or (output, problem) if the block fails."""
        self._file.write_text(text)
        self._process.stdin.write(self._encode(str(self._file), self.END))
        self._process.stdin.flush()
        printed = []
        while True:
            try:
                line = self._lines.get(timeout=BLOCK_SECONDS_MAX)
            except queue.Empty:
                return "".join(printed), f"the block did not end within {BLOCK_SECONDS_MAX} s"
            if line is None:
                return "".join(printed), "the block failed"
            if line.startswith(self.END):
                status = line[len(self.END) :].strip()
                return "".join(printed), None if status == "0" else f"the block failed with status {status}"
            printed.append(line)

    def close(self):
        """Kills the interpreter and the processes that its blocks left running."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        self._process.stdin.close()
        self._reader.join()
        self._process.stdout.close()


# Each interpreter reads the name of the file to run from standard input, so a shell block's own standard input is /dev/null.
# A shell exits at the first command that fails.
def encode_shell(path, end):
    return f"source {path} </dev/null; printf '\\n%s %s\\n' '{end}' 0\n"


def encode_python(path, end):
    return repr((path, end)) + "\n"


PYTHON_SESSION = """
import ast, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    path, end = ast.literal_eval(line)
    status = 0
    try:
        exec(compile(open(path).read(), path, "exec"), names)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    print(end, status, flush=True)
"""


class Pages(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="mayfly-pages-")
        cls.addClassCleanup(cls.directory.cleanup)
        cls.home = pathlib.Path(cls.directory.name)
        (cls.home / "bin").mkdir()
        os.symlink(os.path.abspath(binary()), cls.home / "bin" / "mayfly")
        cls.blocks = {page: blocks_of(page) for page in PAGES}
        cls.setups = {
            (block.note[len("setup: ") :], block.language): block
            for blocks in cls.blocks.values()
            for block in blocks
            if block.note.startswith("setup: ")
        }
        cls.server = MayflyServer(*cls.server_options())
        cls.addClassCleanup(cls.server.stop)
        cls.environment = {
            "PATH": f"{cls.home / 'bin'}:{os.environ['PATH']}",
            "HOME": str(cls.home),
            "LANG": "C.UTF-8",
            "MAYFLY_URL": cls.server.url,
            "AWS_PAGER": "",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    @classmethod
    def server_options(cls):
        """Collects the options of all blocks that start a server, without duplicates."""
        options = {}
        for blocks in cls.blocks.values():
            for block in blocks:
                if block.note != "server":
                    continue
                for line in cls.here(block.text).replace("\\\n", " ").splitlines():
                    words = shlex.split(line, comments=True)
                    if words[:1] == ["mkdir"]:
                        subprocess.run(words, check=True)
                    if words[:2] != ["mayfly", "serve"]:
                        continue
                    given = [word for word in words[2:] if word != "&"]
                    for name, value in zip(given[::2], given[1::2]):
                        if name != "--port":
                            options[name, value] = None
        return [word for option in options for word in option]

    @classmethod
    def here(cls, text):
        text = text.replace("/tmp/mayfly", f"{cls.home}/files")
        return text.replace("http://127.0.0.1:8000", cls.server.url) if hasattr(cls, "server") else text

    def test_the_code_blocks_of_each_page_run_in_order(self):
        for page in PAGES:
            with self.subTest(page):
                self.paste(page)

    def paste(self, page):
        directory = self.home / pathlib.Path(page).stem
        directory.mkdir()
        shell = Session(["bash", "-eu"], self.environment, directory, encode_shell)
        python = Session([sys.executable, "-c", PYTHON_SESSION], self.environment, directory, encode_python)
        sessions = {"sh": shell, "python": python}
        try:
            wanted = [block for name in used_by(page) for (setup, _), block in self.setups.items() if setup == name]
            ran = 0
            for block in wanted + self.blocks[page]:
                if block.note == "server" or block.note.startswith("not run: "):
                    continue
                printed, wrong = sessions[block.language].run(self.here(block.text))
                self.assertIsNone(wrong, f"{wrong}\n{block}\nprinted:\n{printed}")
                ran += 1
            self.assertGreater(ran, 0, "no block of the page was run")
        finally:
            shell.close()
            python.close()

    def test_the_code_blocks_of_each_how_to_guide_run_in_order_on_a_fresh_server(self):
        for page in HOW_TOS:
            with self.subTest(page):
                self.paste_how_to(page)

    def paste_how_to(self, page):
        directory = self.home / "how-to" / pathlib.Path(page).stem
        directory.mkdir(parents=True)
        blocks = [block for block in blocks_of(page) if not block.note.startswith("not run: ")]
        shell = Session(["bash", "-eu"], self.environment, directory, encode_shell)
        python = Session([sys.executable, "-c", PYTHON_SESSION], self.environment, directory, encode_python)
        sessions = {"sh": shell, "python": python}
        server = None

        def start(*arguments):
            started = MayflyServer(*arguments, preexec=lambda: os.chdir(directory))
            shell.run(f"export MAYFLY_URL={started.url}")
            return started

        try:
            if all(block.note != "server" for block in blocks):
                server = start()
            printed = None
            for block in blocks:
                if block.note == "server":
                    self.assertIsNone(server, f"a page has one server\n{block}")
                    server = start(*serve_arguments(block.text))
                elif block.note == "output":
                    self.assertTrue(is_printed(block.text, printed), f"{block}\nprinted:\n{printed}")
                else:
                    text = block.text.replace("http://127.0.0.1:8000", server.url) if server else block.text
                    printed, wrong = sessions[block.language].run(text)
                    self.assertIsNone(wrong, f"{wrong}\n{block}\nprinted:\n{printed}")
        finally:
            shell.close()
            python.close()
            if server:
                server.stop()

    def test_no_page_defines_a_shell_function_named_mayfly(self):
        for page in PAGES:
            for block in self.blocks[page]:
                self.assertNotRegex(block.text, r"(?m)^\s*(function )?mayfly\s*\(\)", str(block))

    def test_no_two_pages_use_the_same_table_name(self):
        created = {}
        for page in PAGES:
            for block in self.blocks[page]:
                for name in re.findall(r"""(?:TableName"?[=:]\s*"|--table-name |mayfly table create )([\w.-]+)""", block.text):
                    created.setdefault(name, set()).add(page)
        self.assertEqual({name: pages for name, pages in created.items() if len(pages) > 1}, {})


if __name__ == "__main__":
    unittest.main()
