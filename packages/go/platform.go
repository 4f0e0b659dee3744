package mayfly

import (
	"encoding/binary"
	"io"
	"os"
	"runtime"
)

// platform is an operating system and an architecture, as GOOS and GOARCH name them.
type platform struct{ os, arch string }

var thisPlatform = platform{runtime.GOOS, runtime.GOARCH}

func (p platform) String() string { return p.os + "/" + p.arch }

// released is the name that the archives of a release have for each platform that Mayfly has a program for.
var released = map[platform]string{
	{"linux", "amd64"}:   "linux-x86_64",
	{"linux", "arm64"}:   "linux-arm64",
	{"darwin", "arm64"}:  "macos-arm64",
	{"darwin", "amd64"}:  "macos-x86_64",
	{"windows", "amd64"}: "windows-x86_64",
}

// archive returns the name of the release archive that contains the program for a platform, and the program's path in that
// archive. Both are empty if Mayfly has no program for the platform.
func (p platform) archive() (name, program string) {
	suffix, exists := released[p]
	if !exists {
		return "", ""
	}
	version := Version
	if version == unreleased {
		version = "<version>"
	}
	name = "mayfly-" + version + "-" + suffix
	if p.os == "windows" {
		return name + ".zip", "mayfly.exe"
	}
	return name + ".tar.gz", "bin/mayfly"
}

// programName returns the name of the program's file.
func (p platform) programName() string {
	if p.os == "windows" {
		return "mayfly.exe"
	}
	return "mayfly"
}

// platformOf returns the platform that a program was built for, according to its header. ok is false if the file cannot be
// read, or if it is not a 64-bit program in the format of Linux, macOS or Windows.
func platformOf(path string) (p platform, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return p, false
	}
	defer file.Close()
	return platformOfHeader(file)
}

const peOffsetAt = 0x3c // where a Windows program has the offset of its PE header

func platformOfHeader(file io.ReaderAt) (p platform, ok bool) {
	var begin [64]byte
	if _, err := file.ReadAt(begin[:], 0); err != nil {
		return p, false
	}
	little := binary.LittleEndian
	switch {
	case string(begin[:6]) == "\x7fELF\x02\x01": // 64-bit, little-endian
		p = platform{"linux", map[uint16]string{0x3e: "amd64", 0xb7: "arm64", 0xf3: "riscv64"}[little.Uint16(begin[18:])]}
	case little.Uint32(begin[:]) == 0xfeedfacf:
		p = platform{"darwin", map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}[little.Uint32(begin[4:])]}
	case string(begin[:2]) == "MZ":
		var header [6]byte
		if _, err := file.ReadAt(header[:], int64(little.Uint32(begin[peOffsetAt:]))); err != nil ||
			string(header[:4]) != "PE\x00\x00" {
			return p, false
		}
		p = platform{"windows", map[uint16]string{0x8664: "amd64", 0xaa64: "arm64"}[little.Uint16(header[4:])]}
	}
	return p, p.arch != ""
}
