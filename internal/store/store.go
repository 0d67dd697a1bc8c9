// Package store opens the database that an operator names.
package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/postgres"
	"github.com/toolmark/toolmark/internal/store/sqlite"
)

// Open opens a database and brings its schema up to date. name is sqlite:PATH,
// postgres://… (or postgresql://…, as libpq reads it), or "" for the SQLite file in
// the user's data directory, which getenv leads to. An error that names a PostgreSQL
// database never holds its password.
func Open(ctx context.Context, name string, getenv func(string) string) (registry.Store, error) {
	switch scheme, rest, _ := strings.Cut(name, ":"); {
	case name == "":
		path, err := sqlite.DefaultPath(getenv)
		if err != nil {
			return nil, &toolmark.Error{Code: toolmark.ErrUsage, Message: err.Error()}
		}
		return opened(sqlite.Open(ctx, path))
	case scheme == "sqlite" && rest != "" && (!strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "///")):
		return opened(sqlite.Open(ctx, rest))
	case scheme == "postgres" || scheme == "postgresql":
		return opened(postgres.Open(ctx, name))
	}
	return nil, &toolmark.Error{
		Code:    toolmark.ErrUsage,
		Message: "a database is sqlite:PATH or postgres://user:password@host/name" + hint(name),
	}
}

// Unavailable reports whether an error of a store means that its database does not
// answer now, is locked by others for too long or cannot write, as opposed to a fault of
// ours. Asking again later may help.
func Unavailable(err error) bool { return sqlite.Unavailable(err) || postgres.Unavailable(err) }

// opened keeps a nil store of either kind from looking like one that is there.
func opened[S registry.Store](s S, err error) (registry.Store, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// hint helps who wrote a path; a name with a password in it is not repeated.
func hint(name string) string {
	if strings.ContainsAny(name, "@:") {
		return ""
	}
	return fmt.Sprintf("; did you mean sqlite:%s?", name)
}
