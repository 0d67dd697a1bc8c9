package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
)

// newDatabase makes an empty database on the server and gives its URL; drop removes it.
func (b *bench) newDatabase(ctx context.Context) (address string, drop func() error, err error) {
	server, err := url.Parse(b.postgres)
	if err != nil {
		return "", nil, errors.New("TOOLMARK_TEST_POSTGRES is no URL") // it may hold a password
	}
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", nil, err
	}
	name := "toolmark_bench_" + hex.EncodeToString(random[:])
	if err := b.execute(ctx, `CREATE DATABASE "`+name+`"`); err != nil {
		return "", nil, err
	}
	server.Path = "/" + name
	return server.String(), func() error {
		return b.execute(context.WithoutCancel(ctx), `DROP DATABASE "`+name+`" WITH (FORCE)`)
	}, nil
}

func (b *bench) execute(ctx context.Context, statement string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, b.postgres)
	if err != nil {
		return fmt.Errorf("connect to the PostgreSQL of TOOLMARK_TEST_POSTGRES: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}
