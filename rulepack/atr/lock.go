package atr

import (
	"bytes"
	"crypto/sha512"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

//go:embed pack.lock
var lockFile []byte

// Lock names one version of the package and what its bytes must hash to. The one in
// pack.lock is the only one that is ever used outside of tests: a new pack is a
// reviewed change of that file.
type Lock struct {
	Package   string `json:"package"`   // npm name
	Version   string `json:"version"`   // exact
	Integrity string `json:"integrity"` // sha512-<base64>, as npm writes it (W3C SRI)
}

// Pinned gives the lock that is part of this build.
func Pinned() Lock {
	lock, err := parseLock(lockFile)
	if err != nil {
		// A test reads the file; a binary cannot be built from another one.
		panic("atr: pack.lock: " + err.Error())
	}
	return lock
}

var (
	lockName    = regexp.MustCompile(`^(@[a-z0-9-]+/)?[a-z0-9][a-z0-9._-]*$`)
	lockVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
)

func parseLock(data []byte) (Lock, error) {
	var l Lock
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return Lock{}, err
	}
	if !lockName.MatchString(l.Package) || !lockVersion.MatchString(l.Version) {
		return Lock{}, fmt.Errorf("%q at %q is no npm package at an exact version", l.Package, l.Version)
	}
	if _, err := l.sum(); err != nil {
		return Lock{}, err
	}
	return l, nil
}

func (l Lock) sum() ([]byte, error) {
	text, ok := strings.CutPrefix(l.Integrity, "sha512-")
	if !ok {
		return nil, fmt.Errorf("integrity %q is not a SHA-512", l.Integrity)
	}
	sum, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sum) != sha512.Size {
		return nil, fmt.Errorf("integrity %q is not a SHA-512", l.Integrity)
	}
	return sum, nil
}

// verify holds the bytes of a package against the lock.
func (l Lock) verify(data []byte) error {
	want, err := l.sum()
	if err != nil {
		return err
	}
	if got := sha512.Sum512(data); subtle.ConstantTimeCompare(got[:], want) != 1 {
		return fmt.Errorf("%s %s: the %d bytes received have another SHA-512 than pack.lock says (sha512-%s)",
			l.Package, l.Version, len(data), base64.StdEncoding.EncodeToString(got[:]))
	}
	return nil
}

// folder is the name of the lock's folder in a cache: version and beginning of the hash.
func (l Lock) folder() string {
	sum, err := l.sum()
	if err != nil {
		return l.Version
	}
	return l.Version + "-" + hex.EncodeToString(sum[:6])
}
