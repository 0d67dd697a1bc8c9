package atr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"
)

// DefaultRegistry is where npm packages come from if nothing else is said.
const DefaultRegistry = "https://registry.npmjs.org"

// Options say how to fetch the package. The zero value fetches the pinned one from the
// default registry into the user's cache directory.
type Options struct {
	// Client makes the requests; nil is one that takes a proxy from the environment
	// and gives up after two minutes.
	Client *http.Client
	// Registry is the base URL of an npm registry; empty is DefaultRegistry. See
	// RegistryFrom. It need not be trusted: what it sends must hash to what the lock says.
	Registry string
	// CacheDir is where packs are kept, one folder for each; empty is DefaultCacheDir.
	CacheDir string
	// Progress, where not nil, is told how many bytes have come of how many (-1: not
	// known). It is called from the goroutine of Fetch.
	Progress func(done, total int64)
	// Lock, where not the zero value, names another package than the pinned one (tests).
	Lock Lock
}

func (o *Options) fill() error {
	if o.Lock == (Lock{}) {
		o.Lock = Pinned()
	}
	if o.Client == nil {
		o.Client = &http.Client{Timeout: 2 * time.Minute}
	}
	if o.Registry == "" {
		o.Registry = DefaultRegistry
	}
	if o.CacheDir == "" {
		dir, err := DefaultCacheDir()
		if err != nil {
			return err
		}
		o.CacheDir = dir
	}
	return nil
}

// RegistryFrom gives the registry that npm would use: that of the environment
// (npm_config_registry, NPM_CONFIG_REGISTRY), else that of the npmrc text, which is
// the contents of the user's .npmrc, else DefaultRegistry.
func RegistryFrom(getenv func(string) string, npmrc string) string {
	for _, name := range []string{"npm_config_registry", "NPM_CONFIG_REGISTRY"} {
		if v := strings.TrimSpace(getenv(name)); v != "" {
			return v
		}
	}
	registry := DefaultRegistry
	for line := range strings.Lines(npmrc) {
		key, value, ok := strings.Cut(line, "=")
		if value = strings.Trim(strings.TrimSpace(value), `"'`); ok && strings.TrimSpace(key) == "registry" && value != "" {
			registry = value // the last one counts
		}
	}
	return registry
}

// Fetch makes sure that the package and its index are in the cache, and opens the
// pack. What is there and whole is not fetched again; what is damaged is. It may run
// in several processes at once: files come into being whole, by renaming.
//
// A package that is too large, cut off, or hashes to something else than the lock says
// is an error, and nothing of it is read or kept.
func Fetch(ctx context.Context, o Options) (*Pack, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if p, err := open(o.CacheDir, o.Lock); err == nil {
		return p, nil
	}
	data, err := cachedPackage(o.CacheDir, o.Lock)
	if err != nil {
		if data, err = download(ctx, &o); err != nil {
			return nil, fmt.Errorf("fetch community rules: %w", err)
		}
		if err := write(packagePath(o.CacheDir, o.Lock), data); err != nil {
			return nil, fmt.Errorf("fetch community rules: %w", err)
		}
	}
	p, err := compilePackage(o.Lock.Version, data, fieldsRead...)
	if err != nil {
		return nil, fmt.Errorf("read community rules: %w", err)
	}
	if err := write(indexPath(o.CacheDir, o.Lock), p.encode()); err != nil {
		return nil, fmt.Errorf("fetch community rules: %w", err)
	}
	return p, nil
}

// attempts is how often a download is tried where the registry fails, not where it
// answers.
const attempts = 3

func download(ctx context.Context, o *Options) ([]byte, error) {
	base, err := url.Parse(o.Registry)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, fmt.Errorf("registry %q is not an http or https URL", o.Registry)
	}
	plainName := path.Base(o.Lock.Package) // without a scope
	tarball := base.JoinPath(o.Lock.Package, "-", plainName+"-"+o.Lock.Version+".tgz").String()
	data, err := tryGet(ctx, o, tarball, maxPackage)
	if status := (*statusError)(nil); errors.As(err, &status) && status.code == http.StatusNotFound {
		// A registry that keeps its files elsewhere says where.
		if tarball, err = ask(ctx, o, base); err == nil {
			data, err = tryGet(ctx, o, tarball, maxPackage)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := o.Lock.verify(data); err != nil {
		return nil, err
	}
	return data, nil
}

// ask reads the package's own document for the address of its file.
func ask(ctx context.Context, o *Options, base *url.URL) (string, error) {
	address := base.JoinPath(o.Lock.Package, o.Lock.Version)
	data, err := tryGet(ctx, o, address.String(), 4<<20)
	if err != nil {
		return "", err
	}
	var document struct {
		Dist struct {
			Tarball string `json:"tarball"`
		} `json:"dist"`
	}
	if err := json.Unmarshal(data, &document); err != nil || document.Dist.Tarball == "" {
		return "", fmt.Errorf("%s names no file for %s %s", address.Redacted(), o.Lock.Package, o.Lock.Version)
	}
	target, err := address.Parse(document.Dist.Tarball)
	if err != nil || target.Scheme != "https" && target.Scheme != "http" {
		return "", fmt.Errorf("%s names a file that is not at an http or https URL", address.Redacted())
	}
	return target.String(), nil
}

type statusError struct {
	code   int
	status string
}

func (e *statusError) Error() string { return "the registry answered " + e.status }

func tryGet(ctx context.Context, o *Options, address string, limit int64) (data []byte, err error) {
	for attempt := range attempts {
		if attempt > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Duration(attempt) * 400 * time.Millisecond):
			}
		}
		var again bool
		if data, again, err = get(ctx, o, address, limit); err == nil || !again || ctx.Err() != nil {
			break
		}
	}
	return data, err
}

func get(ctx context.Context, o *Options, address string, limit int64) (data []byte, again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, false, err
	}
	// As it is stored: no transparent decompression, whose length nothing bounds.
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", "toolmark")
	response, err := o.Client.Do(request)
	if err != nil {
		return nil, true, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		again = response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests
		return nil, again, fmt.Errorf("get %s: %w", request.URL.Redacted(), &statusError{response.StatusCode, response.Status})
	}
	if response.ContentLength > limit {
		return nil, false, fmt.Errorf("get %s: %d bytes: the limit is %d", request.URL.Redacted(), response.ContentLength, limit)
	}
	body := &counter{r: io.LimitReader(response.Body, limit+1), total: response.ContentLength, progress: o.Progress}
	if data, err = io.ReadAll(body); err != nil {
		return nil, true, fmt.Errorf("get %s: after %d bytes: %w", request.URL.Redacted(), len(data), err)
	}
	if int64(len(data)) > limit {
		return nil, false, fmt.Errorf("get %s: more than %d bytes", request.URL.Redacted(), limit)
	}
	return data, false, nil
}

type counter struct {
	r           io.Reader
	done, total int64
	progress    func(done, total int64)
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.done += int64(n)
	if c.progress != nil && n > 0 {
		c.progress(c.done, c.total)
	}
	return n, err
}

func cachedPackage(cacheDir string, lock Lock) ([]byte, error) {
	data, err := readCapped(packagePath(cacheDir, lock), maxPackage)
	if err != nil {
		return nil, err
	}
	return data, lock.verify(data)
}

func readCapped(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s: %w", name, errDamaged)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}
