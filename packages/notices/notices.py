"""Writes the notices of a program: the licenses and copyright notices of the components in it."""
import fnmatch
import pathlib
import re
import textwrap
import urllib.parse

from linked import Unknown

TEXTS = pathlib.Path(__file__).resolve().parent / "texts"
COMMON = pathlib.Path("/usr/share/common-licenses")
# The notices of a component only refer to the text of these licenses, which is in /usr/share/common-licenses.
COMMON_TEXTS = {"Apache-2.0": "Apache-2.0", "LGPL-2.1-or-later": "LGPL-2.1", "GPL-3.0-or-later": "GPL-3",
                "GPL-2.0-only": "GPL-2", "CC0-1.0": "CC0-1.0"}
RULE = "=" * 100
REPOSITORY = "https://github.com/mayfly-dynamodb/mayfly"


def identifiers(expression):
    """The licenses and exceptions in an SPDX expression."""
    return [word for word in re.findall(r"[\w.+-]+", expression) if word not in ("AND", "OR", "WITH")]


# --- copyright files

def paragraphs(text):
    return [part for part in re.split(r"\n[ \t]*\n", text) if part.strip()]


def field(paragraph, name):
    """A field's value, over several lines, or None."""
    found = re.search(rf"^{name}:(.*(?:\n[ \t].*)*)", paragraph, re.MULTILINE | re.IGNORECASE)
    return found and found[1].strip()


def plain(paragraph):
    """Without the dots that mark empty lines."""
    return re.sub(r"^[ \t]+\.[ \t]*$", "", paragraph, flags=re.MULTILINE).strip("\n")


def machine_readable(component, text):
    """The part of a copyright file in Debian's format that is about linked files."""
    entry, kept, used = component.entry, [], set()
    for paragraph in paragraphs(text):
        files, license = field(paragraph, "Files"), field(paragraph, "License")
        if files is not None and not all(matching(entry.get("omit", []), name) for name in files.split()):
            kept.append(plain(re.sub(r"^Comment:.*(?:\n[ \t].*)*\n?", "", paragraph, flags=re.MULTILINE)))
            if "\n" not in license:
                used.update(re.split(r",? +(?:or|and) +|, *", license))
    for paragraph in paragraphs(text):
        license = field(paragraph, "License")
        if field(paragraph, "Files") is None and license and "\n" in license:
            name = license.split("\n")[0].strip()
            if name in used and name not in entry.get("unused", []):
                kept.append(plain(paragraph))
                used.discard(name)
    return "\n\n".join(kept)


def matching(patterns, name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def sections(text, begins, ends):
    """The sections that begin and end with lines that match, or the whole text if one of them is missing."""
    found = []
    for begin, end in zip(begins, ends, strict=True):
        section = re.search(rf"^{begin}.*?(?=^{end})", text, re.MULTILINE | re.DOTALL)
        if section is None:
            return text
        found.append(section[0].strip())
    return "\n\n".join(found)


def copyright_lines(paths):
    """The lines of these files that name a copyright holder, sorted, without repetition."""
    lines = set()
    for path in paths:
        for line in pathlib.Path(path).read_text(errors="replace").splitlines():
            if found := re.match(r"\W*((?:\(c\) )?Copyright\b.*)", line, re.IGNORECASE):
                holder = re.sub(r" +", " ", found[1])
                holder = re.sub(r"(?<!Inc)\.?( Distributed under.*| Use, modification.*)?[ */]*$", "", holder)
                name = re.sub(r"copyright", "", holder, flags=re.IGNORECASE)
                if re.search(r"\d{4}", holder) and re.search(r"[a-z]{3}", name):
                    lines.add(holder)
    return "\n".join(sorted(lines, key=str.lower))


def first_comments(path):
    """The comments before the code of a file, without those for the documentation."""
    lines, inside = [], False
    for line in path.read_text(errors="replace").splitlines():
        text = line.strip()
        if text.startswith("/**"):
            break
        if inside or text.startswith(("/*", "//")) or not text:
            inside = (inside or text.startswith("/*")) and "*/" not in text
            lines.append(re.sub(r"^\s*(?:/\*+|\*+/|\*|//+) ?|\s*\*+/$", "", line).rstrip())
        elif not re.match(r"#\s*(ifndef|define|ident|pragma)", text):
            break
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def own_notices(component):
    """The component's notices, as one text."""
    entry, parts = component.entry, []
    if entry.get("headers"):
        parts.append(copyright_lines(component.headers))
    elif component.copyright is not None:
        text = component.copyright.read_text(errors="replace")
        if text.startswith("Format:"):
            parts.append(machine_readable(component, text))
        else:
            parts.append(sections(text, entry["from"], entry["until"]) if "from" in entry else text)
    elif not component.bundled:
        raise Unknown(f"{component.name} has no copyright file: install the package's documentation")
    for name in entry.get("files", []):
        parts.append((component.directory / name).read_text(errors="replace"))
    for name in entry.get("texts", []):
        parts.append((TEXTS / name).read_text())
    for name in entry.get("comments", []):
        places = [component.directory / name] if component.bundled else \
            [pathlib.Path(path) for path in component.headers if path.endswith("/" + name)]
        if not places:
            raise Unknown(f"components.toml: {component.key} names {name}, which the compiler has not read")
        parts.append(first_comments(places[0]))
    if not all(part.strip() for part in parts) or not parts:
        raise Unknown(f"{component.name} has an empty notice: check its entry in components.toml")
    return "\n\n".join(part.strip("\n") for part in parts)


# --- the file

def source_of(component):
    """A sentence about where the source can be found."""
    if component.bundled:
        return f"as {component.bundled} contains it: https://ziglang.org/download/"
    where = {"debian": "https://snapshot.debian.org/package/{}/{}/", "ubuntu": "https://launchpad.net/ubuntu/+source/{}/{}"}
    place = where.get(component.origin, "").format(component.source, urllib.parse.quote(component.version, safe=""))
    return f"source package {component.source} {component.version} of {component.origin.capitalize()}: {place}"


def filled(text):
    return textwrap.fill(" ".join(text.split()), len(RULE), break_on_hyphens=False, break_long_words=False)


def replacing_glibc(version, platform, library):
    """How the duties of glibc's license are met."""
    if library:
        return filled("""This library uses the system's glibc, so you can replace glibc without linking the library again.
            Only the startup files of glibc, and a few functions that glibc provides for this purpose (libc_nonshared.a), are
            part of the library.""")
    option, preset = (" --arm64", "arm64") if platform.endswith("-arm64") else ("", "release")
    return "\n\n".join([
        filled("""This program contains the GNU C Library, which is under the GNU Lesser General Public License 2.1. You may
            replace the library with a modified one: section 6 of the license gives you this right. You may also modify
            Mayfly, and reverse engineer it to debug such modifications. The complete source of Mayfly is available under the
            Apache License 2.0, and these commands build the program again on Debian or Ubuntu:"""),
        textwrap.indent(f"git clone --branch v{version} {REPOSITORY}\ncd mayfly\nscript/bootstrap\n"
                        f"script/build{option}", "    "),
        filled(f"""script/build{option} links with the glibc that is installed. To link with another one, build that glibc,
            name the directory of its libc.a and crt1.o, and build again:"""),
        textwrap.indent(f"cmake --preset {preset} -DCMAKE_EXE_LINKER_FLAGS=-B/path/to/glibc/lib\n"
                        f"script/build{option}", "    "),
        "The source of the glibc in this program is named below."])


def notices(components, platform, version, library=False):
    """The text for a program (or the shared library) and its {key: component}."""
    out = [f"Notices for Mayfly {version} ({platform})", "",
           filled(f"""Mayfly is under the Apache License 2.0: see the file LICENSE, or the end of this file. The
               {"library libmayfly" if library else "program mayfly"} for {platform} also contains these components:"""), ""]
    for component in ordered(components):
        out.append(f"  {component.name} {component.version}")
        out.append(f"      {component.licensed()}")
    if "glibc" in components:
        out += ["", RULE, "Replacing the GNU C Library", RULE, "", replacing_glibc(version, platform, library)]
    for component in ordered(components):
        out += ["", RULE, f"{component.name} {component.version}", f"License: {component.licensed()}",
                f"Page: {component.entry['url']}", f"Source: {source_of(component)}", RULE, ""]
        if "note" in component.entry:
            out += [filled(component.entry["note"]), ""]
        out.append(own_notices(component))
    names = {COMMON_TEXTS[name] for component in components.values() for name in identifiers(component.licensed())
             if name in COMMON_TEXTS} | {"Apache-2.0"}
    for name in sorted(names):
        path = COMMON / name
        if not path.exists():
            raise Unknown(f"{path} is missing: install base-files")
        out += ["", RULE, f"The text that the notices above call /usr/share/common-licenses/{name}", RULE, "",
                path.read_text().strip("\n")]
    return "\n".join(line.rstrip() for line in "\n".join(out).splitlines()) + "\n"


def ordered(components):
    return sorted(components.values(), key=lambda component: component.name.lower())
