use std::env::consts::{ARCH, OS};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::version::{UNRELEASED, VERSION};

// An operating system and an architecture, as Rust names them in `std::env::consts`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Platform {
    pub os: &'static str,
    pub arch: &'static str,
}

// The release archive with the program for a platform, and the program's path in that archive.
pub(crate) struct Archive {
    pub name: String,
    pub program: &'static str,
}

const PE_OFFSET_AT: usize = 0x3c; // where a program for Windows has the offset of its PE header

impl Platform {
    pub const HERE: Platform = Platform { os: OS, arch: ARCH };

    // Returns None if Mayfly has no program for the platform.
    pub fn archive(self) -> Option<Archive> {
        let version = if VERSION == UNRELEASED { "<version>" } else { VERSION };
        let released = match (self.os, self.arch) {
            ("linux", "x86_64") => "linux-x86_64.tar.gz",
            ("linux", "aarch64") => "linux-arm64.tar.gz",
            ("macos", "aarch64") => "macos-arm64.tar.gz",
            ("macos", "x86_64") => "macos-x86_64.tar.gz",
            ("windows", "x86_64") => "windows-x86_64.zip",
            _ => return None,
        };
        let program = if self.os == "windows" { "mayfly.exe" } else { "bin/mayfly" };
        Some(Archive { name: format!("mayfly-{version}-{released}"), program })
    }

    // Returns the name of the program's file.
    pub fn program_name(self) -> &'static str {
        if self.os == "windows" { "mayfly.exe" } else { "mayfly" }
    }

    // Returns the platform that a program was built for, according to its header. None: the file cannot be read, or it is
    // not a 64-bit program in the format of Linux, macOS or Windows.
    pub fn of(program: &Path) -> Option<Platform> {
        Platform::of_header(File::open(program).ok()?).ok().flatten()
    }

    fn of_header(mut file: impl Read + Seek) -> io::Result<Option<Platform>> {
        let mut begin = [0; 64];
        file.read_exact(&mut begin)?;
        let two = |from: &[u8], at: usize| u16::from_le_bytes([from[at], from[at + 1]]);
        let four = |at: usize| u32::from_le_bytes([begin[at], begin[at + 1], begin[at + 2], begin[at + 3]]);
        let (os, arch) = if begin.starts_with(b"\x7fELF\x02\x01") {
            let arch = match two(&begin, 18) {
                0x3e => "x86_64",
                0xb7 => "aarch64",
                0xf3 => "riscv64",
                _ => return Ok(None),
            };
            ("linux", arch)
        } else if four(0) == 0xfeedfacf {
            let arch = match four(4) {
                0x01000007 => "x86_64",
                0x0100000c => "aarch64",
                _ => return Ok(None),
            };
            ("macos", arch)
        } else if begin.starts_with(b"MZ") {
            let mut header = [0; 6];
            file.seek(SeekFrom::Start(four(PE_OFFSET_AT).into()))?;
            file.read_exact(&mut header)?;
            let arch = match two(&header, 4) {
                0x8664 => "x86_64",
                0xaa64 => "aarch64",
                _ => return Ok(None),
            };
            if !header.starts_with(b"PE\0\0") {
                return Ok(None);
            }
            ("windows", arch)
        } else {
            return Ok(None);
        };
        Ok(Some(Platform { os, arch }))
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}/{}", self.os, self.arch)
    }
}

// The beginnings of programs for each platform.
#[cfg(test)]
pub(crate) mod headers {
    use super::PE_OFFSET_AT;

    pub fn padded(header: &[u8]) -> Vec<u8> {
        let mut header = header.to_vec();
        header.resize(128, 0);
        header
    }

    pub fn elf(machine: u16) -> Vec<u8> {
        let mut header = padded(b"\x7fELF\x02\x01\x01");
        header[18..20].copy_from_slice(&machine.to_le_bytes());
        header
    }

    pub fn macho(machine: u32) -> Vec<u8> {
        let mut header = padded(b"\xcf\xfa\xed\xfe");
        header[4..8].copy_from_slice(&machine.to_le_bytes());
        header
    }

    pub fn pe(offset: u32, machine: u16) -> Vec<u8> {
        let mut header = padded(b"MZ");
        header[PE_OFFSET_AT..PE_OFFSET_AT + 4].copy_from_slice(&offset.to_le_bytes());
        header[80..84].copy_from_slice(b"PE\0\0");
        header[84..86].copy_from_slice(&machine.to_le_bytes());
        header
    }
}

#[cfg(test)]
mod tests {
    use super::Platform;
    use super::headers::{elf, macho, padded, pe};
    use std::io::Cursor;

    #[test]
    fn the_name_of_the_release_archive_depends_on_the_platform() {
        let version = env!("CARGO_PKG_VERSION").replace("0.0.0", "<version>");
        for (os, arch, ending, program) in [
            ("linux", "x86_64", "linux-x86_64.tar.gz", "bin/mayfly"),
            ("linux", "aarch64", "linux-arm64.tar.gz", "bin/mayfly"),
            ("macos", "aarch64", "macos-arm64.tar.gz", "bin/mayfly"),
            ("macos", "x86_64", "macos-x86_64.tar.gz", "bin/mayfly"),
            ("windows", "x86_64", "windows-x86_64.zip", "mayfly.exe"),
        ] {
            let archive = Platform { os, arch }.archive().unwrap();
            assert_eq!((archive.name, archive.program), (format!("mayfly-{version}-{ending}"), program));
        }
        for (os, arch) in [("linux", "riscv64"), ("windows", "aarch64"), ("freebsd", "x86_64")] {
            assert!(Platform { os, arch }.archive().is_none(), "{os} {arch}");
        }
    }

    #[test]
    fn a_programs_platform_is_read_from_its_header() {
        for (header, platform) in [
            (elf(0x3e), "linux/x86_64"),
            (elf(0xb7), "linux/aarch64"),
            (macho(0x0100000c), "macos/aarch64"),
            (macho(0x01000007), "macos/x86_64"),
            (pe(80, 0x8664), "windows/x86_64"),
        ] {
            assert_eq!(Platform::of_header(Cursor::new(header)).unwrap().unwrap().to_string(), platform);
        }
        assert_eq!(Platform::of(&std::env::current_exe().unwrap()), Some(Platform::HERE));
    }

    #[test]
    fn a_file_that_is_not_a_program_has_no_platform() {
        for content in [
            Vec::new(),
            b"#!/bin/sh\n".to_vec(),
            elf(0x3e)[..63].to_vec(),
            elf(0),
            macho(7),
            padded(b"MZ"),
            pe(1 << 31, 0x8664),
            pe(80, 0x14c),
            padded(b"a text"),
        ] {
            assert_eq!(Platform::of_header(Cursor::new(&content)).unwrap_or(None), None, "{content:?}");
        }
    }
}
