package postgres_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/migration"
	"github.com/toolmark/toolmark/internal/store/postgres"
	"github.com/toolmark/toolmark/internal/store/storetest"
)

func TestStore(t *testing.T) { storetest.Run(t, storetest.Postgres) }

func TestUpgrades(t *testing.T) {
	storetest.Upgrades(t, postgres.Migrations, func(tb testing.TB) storetest.Raw {
		url := storetest.PostgresURL(tb)
		return storetest.Raw{
			Open: func(ctx context.Context) (registry.Store, error) { return postgres.Open(ctx, url) },
			Migrate: func(ctx context.Context, to int64) error {
				cfg, err := pgx.ParseConfig(url)
				if err != nil {
					return err
				}
				db := stdlib.OpenDB(*cfg)
				files, err := fs.Sub(postgres.Migrations, "migrations")
				if err != nil {
					return err
				}
				provider, err := goose.NewProvider(goose.DialectPostgres, db, files, goose.WithTableName(migration.Table))
				if err != nil {
					return err
				}
				_, err = provider.UpTo(ctx, to)
				return errors.Join(err, db.Close())
			},
			Exec: func(ctx context.Context, statements string) error {
				conn, err := pgx.Connect(ctx, url)
				if err != nil {
					return err
				}
				_, err = conn.Exec(ctx, statements)
				return errors.Join(err, conn.Close(ctx))
			},
		}
	})
}

// TestErrorsHoldNoPassword: what cannot be read or reached is named without it.
func TestErrorsHoldNoPassword(t *testing.T) {
	for _, url := range []string{
		"postgres://ann:s3cret@127.0.0.1:1/db?connect_timeout=1",
		"postgres://ann:s3cret@127.0.0.1:port/db",
		"postgres://ann:s3cret@127.0.0.1/db?pool_max_conns=many",
		"postgres://ann:s3cret@127.0.0.1/db?sslmode=perhaps",
	} {
		s, err := postgres.Open(t.Context(), url)
		if err == nil {
			_ = s.Close()
			t.Errorf("%s was opened", url)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the password is in %q", err)
		}
	}
}
