package sqlite

import (
	"path/filepath"
	"testing"
)

func TestDefaultPath(t *testing.T) {
	for _, c := range []struct {
		system string
		env    map[string]string
		want   string
	}{
		{"linux", map[string]string{"HOME": "/home/ann"}, "/home/ann/.local/share/toolmark/toolmark.db"},
		{"linux", map[string]string{"HOME": "/home/ann", "XDG_DATA_HOME": "/data"}, "/data/toolmark/toolmark.db"},
		{"linux", map[string]string{"HOME": "/home/ann", "XDG_DATA_HOME": "data"}, "/home/ann/.local/share/toolmark/toolmark.db"},
		{"linux", map[string]string{"XDG_DATA_HOME": "/data"}, "/data/toolmark/toolmark.db"},
		{"darwin", map[string]string{"HOME": "/Users/ann"}, "/Users/ann/Library/Application Support/toolmark/toolmark.db"},
		{"windows", map[string]string{"LocalAppData": "/profile/Local"}, "/profile/Local/toolmark/toolmark.db"},
		{"linux", nil, ""},
		{"windows", map[string]string{"HOME": "/home/ann"}, ""},
	} {
		got, err := defaultPath(c.system, func(name string) string { return c.env[name] })
		if filepath.ToSlash(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %v: %q (%v), want %q", c.system, c.env, got, err, c.want)
		}
	}
}
