package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolmark/toolmark/internal/access"
)

// ErrInvalid says that a value given by an operator cannot be; the text says which.
var ErrInvalid = errors.New("invalid value")

// NewKey is what an operator says of a key to be made.
type NewKey struct {
	Account string // default DefaultAccount
	Name    string // at most 200 bytes
	Plan    string // default "custom"
	Scopes  access.Scopes
	Limits  access.Limits
	Credits *int64
	Expires time.Time // zero: never
}

// MadeKey is a new key. Plain is kept nowhere.
type MadeKey struct {
	Key
	Plain string
}

// MaxPage is the greatest number of keys in one answer of ListKeys.
const MaxPage = 1000

// CreateKey makes a key, and the account where there is none of that name.
func (s *Service) CreateKey(ctx context.Context, n NewKey) (MadeKey, error) {
	if n.Account == "" {
		n.Account = DefaultAccount
	}
	if n.Plan == "" {
		n.Plan = "custom"
	}
	if !n.Expires.IsZero() && !n.Expires.After(s.cfg.Now()) {
		return MadeKey{}, fmt.Errorf("%w: the key would have expired already, on %s", ErrInvalid, n.Expires.UTC().Format(time.RFC3339))
	}
	return s.create(ctx, n, nil)
}

func (s *Service) create(ctx context.Context, n NewKey, signup *SignupLimit) (MadeKey, error) {
	if err := errors.Join(validText("name", n.Name, 200), validText("plan", n.Plan, 100), validAccount(n.Account)); err != nil {
		return MadeKey{}, err
	}
	if err := n.Limits.Validate(); err != nil {
		return MadeKey{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if n.Credits != nil && (*n.Credits < 0 || *n.Credits > access.MaxLimit) {
		return MadeKey{}, fmt.Errorf("%w: the credits %d are not between 0 and %d", ErrInvalid, *n.Credits, int64(access.MaxLimit))
	}
	scopes, err := access.ParseScopes(n.Scopes.String())
	if err != nil {
		return MadeKey{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	plain, hash, err := access.NewKey(s.cfg.Random)
	if err != nil {
		return MadeKey{}, err
	}
	id, err := access.NewID(s.cfg.Random, "key")
	if err != nil {
		return MadeKey{}, err
	}
	key := Key{
		ID: id, Account: n.Account, Hash: hash, Hint: access.Hint(plain), Name: n.Name, Plan: n.Plan, Scopes: scopes,
		Limits: n.Limits, Credits: n.Credits, Created: stored(s.cfg.Now()), Expires: stored(n.Expires),
	}
	if err := s.cfg.Store.CreateKey(ctx, key, signup); err != nil {
		return MadeKey{}, fmt.Errorf("store the key: %w", err)
	}
	return MadeKey{Key: key, Plain: plain}, nil
}

// stored gives a time as a store keeps it.
func stored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func validAccount(id string) error {
	if id == "" || len(id) > 100 || strings.ContainsFunc(id, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c == '.')
	}) {
		return fmt.Errorf("%w: an account has 1 to 100 letters, digits and the signs . _ -, all ASCII", ErrInvalid)
	}
	return nil
}

// ListKeys gives a page of keys by id: up to limit (1 to MaxPage; 0 is MaxPage) after
// the id after; of one account, or of all when account is "".
func (s *Service) ListKeys(ctx context.Context, account, after string, limit int) ([]KeyState, error) {
	if limit < 0 || limit > MaxPage {
		return nil, fmt.Errorf("%w: a page has 1 to %d keys", ErrInvalid, MaxPage)
	}
	if limit == 0 {
		limit = MaxPage
	}
	keys, err := s.cfg.Store.ListKeys(ctx, account, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list the keys: %w", err)
	}
	return keys, nil
}

// ShowKey finds a key by its id, or by the key itself. A text that has the form of
// neither, or a mistyped key, is ErrInvalid; an unknown one ErrNotFound.
func (s *Service) ShowKey(ctx context.Context, idOrKey string) (KeyState, error) {
	var state KeyState
	var err error
	if strings.HasPrefix(idOrKey, "tm_") {
		var hash access.Hash
		if hash, err = access.ParseKey(idOrKey); err != nil {
			return KeyState{}, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		state, err = s.cfg.Store.KeyByHash(ctx, hash)
	} else {
		state, err = s.cfg.Store.KeyByID(ctx, idOrKey)
	}
	if err != nil {
		return KeyState{}, fmt.Errorf("find the key: %w", err)
	}
	return state, nil
}

// RevokeKey makes a key useless from the next request on, everywhere, and gives it as
// it is then. To revoke a key twice is no error.
func (s *Service) RevokeKey(ctx context.Context, idOrKey string) (KeyState, error) {
	state, err := s.ShowKey(ctx, idOrKey)
	if err != nil {
		return KeyState{}, err
	}
	if err := s.cfg.Store.RevokeKey(ctx, state.ID, stored(s.cfg.Now())); err != nil {
		return KeyState{}, fmt.Errorf("revoke the key: %w", err)
	}
	return s.ShowKey(ctx, state.ID)
}

// AddAccess adds an entry to an account's access list, or to that of the whole service
// when account is "". An entry that is there already is ErrExists.
func (s *Service) AddAccess(ctx context.Context, account string, rule access.Rule, note string) (Rule, error) {
	rule, err := access.ParseRule(string(rule.Action), string(rule.Kind), rule.Value)
	if err != nil {
		return Rule{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err := validText("note", note, 500); err != nil {
		return Rule{}, err
	}
	if account != "" {
		if err := validAccount(account); err != nil {
			return Rule{}, err
		}
	}
	id, err := access.NewID(s.cfg.Random, "rule")
	if err != nil {
		return Rule{}, err
	}
	added := Rule{ID: id, Account: account, Rule: rule, Note: note, Created: stored(s.cfg.Now())}
	if err := s.cfg.Store.AddRule(ctx, added); err != nil {
		return Rule{}, fmt.Errorf("add to the access list: %w", err)
	}
	return added, nil
}

// ListAccess gives an account's access list, or that of the whole service when account
// is "".
func (s *Service) ListAccess(ctx context.Context, account string) ([]Rule, error) {
	rules, _, err := s.cfg.Store.ListRules(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("read the access list: %w", err)
	}
	return rules, nil
}

// RemoveAccess removes an entry by its id.
func (s *Service) RemoveAccess(ctx context.Context, id string) error {
	if err := s.cfg.Store.RemoveRule(ctx, id); err != nil {
		return fmt.Errorf("remove from the access list: %w", err)
	}
	return nil
}
