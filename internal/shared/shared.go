// Package shared finds the test data that lies beside the checkout in ../shared:
// vectors, oracles, corpora and cases that are other people's text and stay out of
// the repository.
//
// A test that needs a file asks for it here and is skipped, with a message that
// says what is missing, where a clone stands alone. The package is for tests only.
package shared

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Env names the variable that points to another folder than ../shared.
const Env = "TOOLMARK_SHARED"

// Path gives the path of a file or folder below shared. It skips the test where
// there is none.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	dir := os.Getenv(Env)
	if dir == "" {
		_, file, _, _ := runtime.Caller(0)
		dir = filepath.Join(filepath.Dir(file), "..", "..", "..", "shared")
	}
	path := filepath.Join(append([]string{dir}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("needs %s, which a clone alone does not have (set %s or put shared beside the checkout): %v", filepath.Join(elem...), Env, err)
	}
	return path
}

// Read gives the contents of a file below shared, or skips the test.
func Read(tb testing.TB, elem ...string) []byte {
	tb.Helper()
	data, err := os.ReadFile(Path(tb, elem...))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}
