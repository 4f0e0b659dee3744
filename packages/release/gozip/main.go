// Gozip checks the zip archive of a Go module, as the module proxy serves it: gozip MODULE VERSION ARCHIVE
//
// It fails if Go would reject the archive: a wrong name, a file name that some system cannot have, or a file or a module that is
// too large. It prints, as JSON, the module's hash in the form of go.sum, the size of the archive, the number of files and the limit.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/module"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

type facts struct {
	Hash  string `json:"hash"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"`
	Max   int64  `json:"max"`
}

func check(version module.Version, path string) (facts, error) {
	if err := module.Check(version.Path, version.Version); err != nil {
		return facts{}, err
	}
	checked, err := zip.CheckZip(version, path)
	if err == nil {
		err = checked.Err()
	}
	if err != nil {
		return facts{}, err
	}
	hash, err := dirhash.HashZip(path, dirhash.DefaultHash)
	if err != nil {
		return facts{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return facts{}, err
	}
	return facts{Hash: hash, Bytes: info.Size(), Files: len(checked.Valid), Max: zip.MaxZipFile}, nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: gozip MODULE VERSION ARCHIVE")
		os.Exit(2)
	}
	told, err := check(module.Version{Path: os.Args[1], Version: os.Args[2]}, os.Args[3])
	if err != nil {
		fmt.Fprintf(os.Stderr, "gozip: %s: %s\n", os.Args[1], err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(told); err != nil {
		os.Exit(1)
	}
}
