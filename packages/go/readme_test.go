package mayfly_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The code blocks of README.md are parts of the files in examples/, whose tests run.
func TestEveryExampleOfTheREADMEIsRunAsATest(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	noError(t, err)
	files, err := filepath.Glob("examples/*.go")
	noError(t, err)
	var examples strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		noError(t, err)
		examples.Write(text)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) < 5 {
		t.Errorf("README.md has %d examples", len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(examples.String(), block[1]) {
			t.Errorf("no file in examples/ contains\n%s", block[1])
		}
	}
}
