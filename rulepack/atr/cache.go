package atr

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrMissing is that the pack is not in the cache, or not whole: every error of [Open]
// is one. Errors with it say what to type.
var ErrMissing = errors.New("community rules are off")

// MissingError is the ErrMissing of one cache.
type MissingError struct {
	Dir     string // the folder looked in
	Version string // the version wanted
	Err     error  // why: fs.ErrNotExist, or what is wrong with what is there
}

// Error says which version is missing, why, and what to do.
func (e *MissingError) Error() string {
	why := "not fetched yet"
	if !errors.Is(e.Err, os.ErrNotExist) {
		why = e.Err.Error()
	}
	return fmt.Sprintf("%v: ATR pack %s is not in %s (%s): run `toolmark rules update`", ErrMissing, e.Version, e.Dir, why)
}

// Unwrap gives ErrMissing and the reason.
func (e *MissingError) Unwrap() []error { return []error{ErrMissing, e.Err} }

// DefaultCacheDir is the folder toolmark/atr in the user's cache directory
// (os.UserCacheDir).
func DefaultCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache directory: %w", err)
	}
	return filepath.Join(dir, "toolmark", "atr"), nil
}

// maxIndex bounds what is read of an index.
const maxIndex = 32 << 20

func packagePath(dir string, lock Lock) string {
	return filepath.Join(dir, lock.folder(), "package.tgz")
}

// indexPath is another for each format, so that builds of two of them do not take turns
// in making it.
func indexPath(dir string, lock Lock) string {
	return filepath.Join(dir, lock.folder(), strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(indexHead), "toolmark atr "), " ", "-"))
}

// Open reads the pinned pack from a cache directory; "" is DefaultCacheDir. It touches
// no network. Where the pack is not there or damaged, the error is a *MissingError.
func Open(cacheDir string) (*Pack, error) {
	if cacheDir == "" {
		dir, err := DefaultCacheDir()
		if err != nil {
			return nil, &MissingError{Dir: "no cache directory", Version: Pinned().Version, Err: err}
		}
		cacheDir = dir
	}
	return open(cacheDir, Pinned())
}

func open(cacheDir string, lock Lock) (*Pack, error) {
	name := indexPath(cacheDir, lock)
	data, err := readCapped(name, maxIndex)
	if err == nil {
		var p *Pack
		if p, err = decodePack(data); err == nil && p.version != lock.Version {
			err = errDamaged
		}
		if err == nil {
			return p, nil
		}
	}
	return nil, &MissingError{Dir: filepath.Dir(name), Version: lock.Version, Err: err}
}

// write puts a file in place as a whole: another process sees the old one, none, or
// all of this one.
func write(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(name)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no file any more where all went well
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return os.Rename(f.Name(), name)
}
