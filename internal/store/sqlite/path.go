package sqlite

import (
	"errors"
	"path/filepath"
	"runtime"
)

// DefaultPath gives the file that is used where none is named: toolmark/toolmark.db in
// the user's data directory. That is $XDG_DATA_HOME if it is an absolute path, else
// ~/.local/share (XDG Base Directory Specification 0.8), ~/Library/Application Support
// on macOS, %LocalAppData% on Windows.
func DefaultPath(getenv func(string) string) (string, error) {
	return defaultPath(runtime.GOOS, getenv)
}

func defaultPath(system string, getenv func(string) string) (string, error) {
	var dir string
	home := getenv("HOME")
	switch xdg := getenv("XDG_DATA_HOME"); {
	case filepath.IsAbs(xdg): // a relative one is to be ignored, says the specification
		dir = xdg
	case system == "windows":
		dir = getenv("LocalAppData")
	case home == "":
	case system == "darwin":
		dir = filepath.Join(home, "Library", "Application Support")
	default:
		dir = filepath.Join(home, ".local", "share")
	}
	if dir == "" {
		return "", errors.New("no data directory is known (HOME is not set): name a database with --database sqlite:PATH")
	}
	return filepath.Join(dir, "toolmark", "toolmark.db"), nil
}
