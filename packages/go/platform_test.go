package mayfly

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func TestTheNameOfTheReleaseArchiveDependsOnThePlatform(t *testing.T) {
	t.Parallel()
	for p, wanted := range map[platform][2]string{
		{"linux", "amd64"}:   {"mayfly-" + shownVersion() + "-linux-x86_64.tar.gz", "bin/mayfly"},
		{"linux", "arm64"}:   {"mayfly-" + shownVersion() + "-linux-arm64.tar.gz", "bin/mayfly"},
		{"darwin", "arm64"}:  {"mayfly-" + shownVersion() + "-macos-arm64.tar.gz", "bin/mayfly"},
		{"darwin", "amd64"}:  {"mayfly-" + shownVersion() + "-macos-x86_64.tar.gz", "bin/mayfly"},
		{"windows", "amd64"}: {"mayfly-" + shownVersion() + "-windows-x86_64.zip", "mayfly.exe"},
		{"windows", "arm64"}: {}, {"linux", "riscv64"}: {},
	} {
		if archive, program := p.archive(); archive != wanted[0] || program != wanted[1] {
			t.Errorf("the archive for %v is %q with %q", p, archive, program)
		}
	}
}

// padded returns a header that is long enough to be a program's.
func padded(header string) []byte { return append([]byte(header), make([]byte, 128-len(header))...) }

func elf(machine uint16) []byte {
	header := padded("\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(header[18:], machine)
	return header
}

func portableExecutable(machine uint16) []byte {
	header := padded("MZ")
	binary.LittleEndian.PutUint32(header[peOffsetAt:], 80)
	copy(header[80:], "PE\x00\x00")
	binary.LittleEndian.PutUint16(header[84:], machine)
	return header
}

// headers are the beginnings of programs for each platform.
var headers = map[string][]byte{
	"linux/amd64":   elf(0x3e),
	"linux/arm64":   elf(0xb7),
	"darwin/arm64":  padded("\xcf\xfa\xed\xfe\x0c\x00\x00\x01"),
	"darwin/amd64":  padded("\xcf\xfa\xed\xfe\x07\x00\x00\x01"),
	"windows/amd64": portableExecutable(0x8664),
}

func TestAProgramsPlatformIsReadFromItsHeader(t *testing.T) {
	t.Parallel()
	for wanted, header := range headers {
		if p, ok := platformOfHeader(bytes.NewReader(header)); !ok || p.String() != wanted {
			t.Errorf("the header for %s is recognized as %v", wanted, p)
		}
	}
	if p, ok := platformOf(thisProgram()); !ok || p != thisPlatform {
		t.Errorf("the test binary is recognized as a program for %v", p)
	}
}

func TestAFileThatIsNotAProgramHasNoPlatform(t *testing.T) {
	t.Parallel()
	outside := portableExecutable(0x8664)
	binary.LittleEndian.PutUint32(outside[peOffsetAt:], 1<<31)
	for _, content := range [][]byte{nil, []byte("#!/bin/sh\n"), headers["linux/amd64"][:63], padded("MZ"), outside,
		padded("a text"), elf(0)} {
		if p, ok := platformOfHeader(bytes.NewReader(content)); ok {
			t.Errorf("%q is recognized as a program for %v", content, p)
		}
	}
}
