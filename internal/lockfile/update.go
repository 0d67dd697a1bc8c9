package lockfile

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/robustio"

	"github.com/toolmark/toolmark"
)

// Read reads the lockfile at a path. Where there is none the error has ErrNotFound and
// is fs.ErrNotExist. It does not wait for writers: what it reads is whole, because they
// rename.
func Read(path string) (*File, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	return Parse(data, path)
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, failure(path, "cannot be read", err)
	}
	if !info.Mode().IsRegular() {
		return nil, failure(path, "is no regular file", nil)
	}
	if info.Size() > MaxBytes {
		return nil, &toolmark.Error{Code: toolmark.ErrTooLarge, Message: fmt.Sprintf("%s: more than %d MiB", path, MaxBytes>>20)}
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, failure(path, "cannot be read", err)
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, failure(path, "cannot be read", err)
	}
	return data, nil
}

// Update reads the lockfile at a path, lets change work on it and writes what came of it,
// while no other Update works on that file. Where there is no file change gets one without
// entries. Where change fails, or the bytes would be the same, nothing is written; wrote
// says whether something was.
//
// A symbolic link is followed, and stays one. The file keeps its permissions; a new one
// has 0666 less the umask. A file without write permission is refused, because a rename
// would not ask. Ctx ends the wait for other writers.
func Update(ctx context.Context, path string, change func(*File) error) (wrote bool, err error) {
	target, err := resolve(path)
	if err != nil {
		return false, err
	}
	unlock, err := lock(ctx, target)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	f := &File{name: path}
	mode := fs.FileMode(0)
	data, err := read(target)
	switch {
	case err == nil:
		if f, err = Parse(data, path); err != nil {
			return false, err
		}
		info, err := os.Stat(target)
		if err != nil {
			return false, failure(path, "cannot be read", err)
		}
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := change(f); err != nil {
		return false, err
	}
	out := f.Bytes()
	if bytes.Equal(out, data) {
		return false, nil
	}
	if len(out) > MaxBytes {
		return false, &toolmark.Error{Code: toolmark.ErrTooLarge, Message: fmt.Sprintf("%s would have more than %d MiB; lock some servers in another file (--lockfile)", path, MaxBytes>>20)}
	}
	if mode != 0 && mode&0o200 == 0 {
		return false, failure(path, "is read-only; nothing was written", nil)
	}
	if err := replace(target, out, mode); err != nil {
		return false, failure(path, "cannot be written, and is as it was", err)
	}
	return true, nil
}

// resolve follows symbolic links, so that the file is replaced and not the link.
func resolve(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		return target, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", failure(path, "cannot be opened", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return "", failure(path, "is a link to a file that does not exist", nil)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", failure(path, "its folder cannot be opened", err)
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// poll is how often the lock is tried. It is short beside the time a write takes.
const poll = 3 * time.Millisecond

// lock waits until nobody else has the lock of a file. The lock is a file beside it that
// goes when it is released; so whoever gets a lock looks whether the file that it locked
// is still the one of that name, and otherwise tries again.
func lock(ctx context.Context, target string) (unlock func() error, err error) {
	path := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".lock")
	for {
		l := flock.New(path, flock.SetPermissions(0o644))
		ok, err := l.TryLockContext(ctx, poll)
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("wait for the lock of %s: %w", target, ctx.Err())
		case err != nil && runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission):
			time.Sleep(poll) // the file is being removed by who had it before
			continue
		case err != nil || !ok:
			return nil, failure(target, "cannot be locked with "+path, err)
		}
		held, err := l.Stat()
		if err != nil {
			return nil, errors.Join(failure(path, "cannot be examined", err), l.Close())
		}
		if now, err := os.Lstat(path); err == nil && os.SameFile(held, now) {
			return func() error { return release(l, path) }, nil
		}
		if err := l.Close(); err != nil {
			return nil, failure(path, "cannot be closed", err)
		}
	}
}

// release removes the file of a lock and lets go of it: in this order where a file that is
// open can be removed, so that nobody locks one that is about to go unseen; otherwise in
// the other, where removing fails once somebody else has it open, and is then left to them.
func release(l *flock.Flock, path string) error {
	if runtime.GOOS == "windows" {
		err := l.Close()
		_ = os.Remove(path)
		return err
	}
	return errors.Join(os.Remove(path), l.Close())
}

// replace puts new contents into the place of a file, or makes it, in one step. Mode 0 is
// that of any new file.
func replace(target string, data []byte, mode fs.FileMode) (err error) {
	tmp, err := temporary(target)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if mode != 0 && runtime.GOOS != "windows" {
		if err := tmp.Chmod(mode); err != nil {
			return err
		}
	}
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := robustio.Rename(tmp.Name(), target); err != nil {
		return err
	}
	syncDir(filepath.Dir(target))
	return nil
}

// temporary makes a file beside the target that nobody else has. It is os.CreateTemp but
// for the permissions, which are those of any new file and not the user's alone.
func temporary(target string) (*os.File, error) {
	dir, base := filepath.Split(target)
	for {
		name := filepath.Join(dir, "."+base+"."+rand.Text()+".tmp")
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// syncDir makes a rename last. Not every system can, and the file is whole either way.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

func failure(path, what string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": no such file", Err: err}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &toolmark.Error{Code: toolmark.ErrNotFound, Message: path + ": " + what, Err: err}
}
