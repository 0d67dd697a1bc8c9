package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store"
)

// databaseFlag is the database that a command works on, as serve does.
type databaseFlag struct{ name string }

func (f *databaseFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "database", "",
		"sqlite:PATH or postgres://… (default: $TOOLMARK_DATABASE, else toolmark/toolmark.db in your data directory)")
}

// openStore opens the database that the flag or the environment names.
func (p *program) openStore(ctx context.Context, f databaseFlag) (registry.Store, error) {
	name := f.name
	if name == "" {
		name = p.env.getenv("TOOLMARK_DATABASE")
	}
	return store.Open(ctx, name, p.env.getenv)
}

// withService runs f with the service over the database.
func (p *program) withService(ctx context.Context, f databaseFlag, do func(*registry.Service) error) (err error) {
	s, err := p.openStore(ctx, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	service, err := registry.New(registry.Config{Store: s, Now: p.env.now})
	if err != nil {
		return err
	}
	defer service.Close()
	return asFailure(do(service))
}

// asFailure gives a service's error the kind that decides the exit code.
func asFailure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, registry.ErrInvalid):
		return &toolmark.Error{Code: toolmark.ErrUsage, Err: err}
	case errors.Is(err, registry.ErrNotFound):
		return &toolmark.Error{Code: toolmark.ErrNotFound, Err: err}
	}
	return err
}
