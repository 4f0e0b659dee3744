package mayfly_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The code blocks of README.md are parts of the files in examples/, whose tests run.
func TestEveryExampleInTheREADMEIsRunAsATest(t *testing.T) {
	t.Parallel()
	checkExamples(t, "README.md", "examples/*.go", 5)
}

// The code blocks of docs/tutorial/go.md are parts of the files in examples/sessions/, whose tests run. The page is not
// part of the module, so `./package test` sets MAYFLY_TUTORIAL to the page's path.
func TestEveryExampleInTheTutorialIsRunAsATest(t *testing.T) {
	t.Parallel()
	page, named := os.LookupEnv("MAYFLY_TUTORIAL")
	if !named {
		t.Skip("MAYFLY_TUTORIAL does not name docs/tutorial/go.md")
	}
	checkExamples(t, page, "examples/sessions/*.go", 6)
}

func checkExamples(t *testing.T, page, sources string, least int) {
	t.Helper()
	text, err := os.ReadFile(page)
	noError(t, err)
	files, err := filepath.Glob(sources)
	noError(t, err)
	var examples strings.Builder
	for _, file := range files {
		source, err := os.ReadFile(file)
		noError(t, err)
		examples.Write(source)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < least {
		t.Errorf("%s has %d examples", page, len(blocks))
	}
	for _, block := range blocks {
		if !strings.Contains(examples.String(), block[1]) {
			t.Errorf("no file of %s contains\n%s", sources, block[1])
		}
	}
}
