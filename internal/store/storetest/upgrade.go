package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/migration"
)

// Raw is a fresh database below a store, for tests of migrations.
type Raw struct {
	Open    func(ctx context.Context) (registry.Store, error) // as the program does
	Migrate func(ctx context.Context, to int64) error         // up to a version, and no further
	Exec    func(ctx context.Context, statements string) error
}

// Upgrades opens a database of every earlier version. A version is added by data: its
// migration, its line in testdata/migrations.sum, and testdata/vNNNN.sql, which fills a
// database of that version with the records that CheckOldRecords asks for.
func Upgrades(t *testing.T, migrations fs.FS, fresh func(tb testing.TB) Raw) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations (%v)", len(files), err)
	}
	t.Run("ReleasedMigrationsStay", func(t *testing.T) { releasedStay(t, migrations, files) })
	for i, file := range files {
		number, _, _ := strings.Cut(filepath.Base(file), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version != int64(i+1) {
			t.Fatalf("%s: migrations are numbered without gaps from 0001", file)
		}
		t.Run("From"+number, func(t *testing.T) {
			records, err := os.ReadFile(filepath.Join("testdata", "v"+number+".sql"))
			if err != nil {
				t.Fatal(err)
			}
			raw := fresh(t)
			if err := raw.Migrate(t.Context(), version); err != nil {
				t.Fatal(err)
			}
			if err := raw.Exec(t.Context(), string(records)); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second finds nothing to do
				s, err := raw.Open(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				oldRecords(t, s)
				if version >= 2 {
					oldServers(t, s)
				}
				if version >= 3 {
					oldWebhooks(t, s)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	t.Run("NewerIsRefused", func(t *testing.T) { newerRefused(t, fresh(t), len(files)) })
}

// releasedStay: what has run somewhere is never edited, or databases would differ.
func releasedStay(t *testing.T, migrations fs.FS, files []string) {
	var want strings.Builder
	for _, file := range files {
		data, err := fs.ReadFile(migrations, file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&want, "%s  %s\n", hex.EncodeToString(sum[:]), filepath.Base(file))
	}
	got, err := os.ReadFile(filepath.Join("testdata", "migrations.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("testdata/migrations.sum does not fit the migrations: a released one must not be edited; a new one needs its line. Now:\n%s", want.String())
	}
}

// OldKey is the key whose records testdata/vNNNN.sql holds.
const OldKey = "tm_0z0zAa0z0zAa0z0zAa0z0zAa0z0zAa0z0zAa0z0zAa01symhp"

func oldRecords(t *testing.T, s registry.Store) {
	t.Helper()
	k, err := s.KeyByHash(t.Context(), access.HashKey(OldKey))
	if err != nil {
		t.Fatal(err)
	}
	limits := access.Limits{PerMinute: n(60), PerMonth: n(1000)}
	want := registry.KeyState{
		Key: registry.Key{
			ID: "key_old", Account: "acct_old", Hash: access.HashKey(OldKey), Hint: "tm_0z0z", Name: "old", Plan: "free",
			Scopes: access.Scopes{access.ScopeProxy, access.ScopeRead}, Limits: limits, Credits: n(100),
			Created: epoch, Expires: epoch.AddDate(10, 0, 0),
		},
		Meter: access.Meter{
			Limits: limits, Credits: n(93), Minute: 29583359, MinuteUsed: 2, Month: 24314, MonthUsed: 7, LastUsed: epoch,
		},
		AccountList: 1,
	}
	same(t, "the old key", k, want)
	rules, version, err := s.ListRules(t.Context(), "acct_old")
	if err != nil || version != 1 {
		t.Errorf("the old list has version %d (%v)", version, err)
	}
	same(t, "the old list", rules, []registry.Rule{{
		ID: "rule_old", Account: "acct_old", Note: "old", Created: epoch,
		Rule: access.Rule{Action: access.Block, Kind: access.KindIP, Value: "192.0.2.1"},
	}})
	err = s.CreateKey(t.Context(), key("late"), &registry.SignupLimit{Bucket: "192.0.2.9", Hour: 500_000, Limit: 3})
	wants(t, "a signup where the old database counted three", err, registry.ErrSignupLimit)
}

func newerRefused(t *testing.T, raw Raw, latest int) {
	s, err := raw.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	create(t, s, key("kept"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := raw.Exec(t.Context(), fmt.Sprintf("INSERT INTO %s (version_id, is_applied) VALUES (%d, true)", migration.Table, latest+1)); err != nil {
		t.Fatal(err)
	}
	if s, err := raw.Open(t.Context()); !errors.Is(err, registry.ErrNewerSchema) {
		t.Errorf("a newer database: %v", err)
		if err == nil {
			_ = s.Close()
		}
	} else if want := fmt.Sprintf("it has schema version %d and this program knows versions up to %d", latest+1, latest); !strings.Contains(err.Error(), want) {
		t.Errorf("message %q does not say: %s", err, want)
	}
	if err := raw.Exec(t.Context(), fmt.Sprintf("DELETE FROM %s WHERE version_id = %d", migration.Table, latest+1)); err != nil {
		t.Fatal(err)
	}
	if s, err = raw.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := get(t, s, "key_kept").ID; got != "key_kept" {
		t.Errorf("key %q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
