package registry

import (
	"context"
	"errors"
	"time"

	"github.com/toolmark/toolmark/internal/access"
)

// The errors a store gives, wrapped; every other error is a fault of the store.
var (
	// ErrNotFound says that there is no such key, account or entry.
	ErrNotFound = errors.New("not found")
	// ErrExists says that an entry is there already.
	ErrExists = errors.New("exists already")
	// ErrNewerSchema says that a newer program has changed the database.
	ErrNewerSchema = errors.New("the database was made by a newer version of toolmark")
)

// Store is what the service needs of a database. Every method may be called by several
// goroutines, processes and machines at once. A method that returns nil has made its
// change durable: it is there after the process, or the database, was killed. Times are
// kept to the microsecond, in UTC.
type Store interface {
	Keys
	Rules
	Meters
	Servers
	Snapshots
	Histories
	Outbox
	Webhooks
	// Ping reports whether the database answers.
	Ping(ctx context.Context) error
	// Close ends all connections. Later calls, and a second Close, do no harm.
	Close() error
}

// Keys holds accounts and their keys.
type Keys interface {
	// CreateKey stores a key and its meter, and the account where there is none yet. A
	// hash or an id that is taken is ErrExists.
	CreateKey(ctx context.Context, key Key, signup *SignupLimit) error
	// KeyByHash finds a key, revoked and expired ones too.
	KeyByHash(ctx context.Context, hash access.Hash) (KeyState, error)
	// KeyByID finds a key by its id.
	KeyByID(ctx context.Context, id string) (KeyState, error)
	// ListKeys gives up to limit keys whose id is greater than after, by id; of one
	// account, or of all when account is "".
	ListKeys(ctx context.Context, account, after string, limit int) ([]KeyState, error)
	// RevokeKey marks a key as revoked at a time. The time of a key that is revoked
	// already stays.
	RevokeKey(ctx context.Context, id string, at time.Time) error
}

// Rules holds the access lists.
type Rules interface {
	// AddRule stores an entry and makes the list's version greater. An entry of the
	// same action, kind and value in the same list is ErrExists.
	AddRule(ctx context.Context, rule Rule) error
	// ListRules gives a list with its version, by creation, then id.
	ListRules(ctx context.Context, account string) (rules []Rule, version int64, err error)
	// RemoveRule removes an entry and makes the list's version greater.
	RemoveRule(ctx context.Context, id string) error
}

// Meters holds what keys have used.
type Meters interface {
	// ChangeMeters locks the meters of the keys, gives them to change, and stores what
	// it made of them, all as one: while change runs, nobody else changes any of them,
	// on any machine. A key without meter is missing in the map. change is called once
	// at most, and must neither block nor call the store. An error means that nothing
	// was stored, or, when the connection broke during the commit, that nobody knows.
	ChangeMeters(ctx context.Context, keys []string, change func(map[string]*access.Meter)) error
}

// Key is an API key as it is stored: never the key itself.
type Key struct {
	ID      string // key_…
	Account string // acct_…, or DefaultAccount
	Hash    access.Hash
	Hint    string // the first characters, to recognise it by
	Name    string
	Plan    string
	Scopes  access.Scopes
	Limits  access.Limits
	Credits *int64 // those it was made with; nil: none are needed
	Created time.Time
	Expires time.Time // zero: never
	Revoked time.Time // zero: not
}

// KeyState is a key with what it has used, and the versions of the access lists that
// hold for it.
type KeyState struct {
	Key
	Meter access.Meter
	// ServiceList and AccountList are the versions of the two access lists; 0 is a list
	// that never had an entry.
	ServiceList, AccountList int64
}

// SignupLimit counts a new account against the address that asks for it, in the same
// transaction: it is stored only if fewer than Limit were in the hour.
type SignupLimit struct {
	Bucket string // access.Bucket of the address
	Hour   int64  // hours since 1970 UTC
	Limit  int64
}

// ErrSignupLimit says that an address has made its number of accounts.
var ErrSignupLimit = errors.New("too many accounts were made from this address in this hour")

// Rule is an entry of an access list.
type Rule struct {
	ID      string // rule_…
	Account string // "": the list of the whole service
	access.Rule
	Note    string
	Created time.Time
}

// DefaultAccount is the account of keys that an operator makes without naming one.
const DefaultAccount = "default"
