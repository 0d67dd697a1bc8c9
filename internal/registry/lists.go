package registry

import (
	"context"
	"fmt"
	"sync"

	"github.com/toolmark/toolmark/internal/access"
)

// maxLists is how many access lists are kept ready for use.
const maxLists = 1024

// listCache keeps access lists ready for use. A list is used only in the version that
// the key's row names, so a changed list holds from the next request on.
type listCache struct {
	mu    sync.Mutex
	lists map[string]readyList
}

type readyList struct {
	version int64
	list    *access.List
}

func (c *listCache) get(account string, version int64) (*access.List, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ready, ok := c.lists[account]
	return ready.list, ok && ready.version == version
}

func (c *listCache) put(account string, ready readyList) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lists == nil {
		c.lists = map[string]readyList{}
	}
	if old, ok := c.lists[account]; ok && old.version > ready.version {
		return
	} else if !ok && len(c.lists) >= maxLists {
		for any := range c.lists { // whichever: it is read again when needed
			delete(c.lists, any)
			break
		}
	}
	c.lists[account] = ready
}

// allowed asks the list of the service and that of the account; both must let the
// client through.
func (s *Service) allowed(ctx context.Context, state KeyState, client access.Client) (bool, error) {
	for _, l := range []struct {
		account string
		version int64
	}{{"", state.ServiceList}, {state.Account, state.AccountList}} {
		if l.version == 0 {
			continue
		}
		list, ok := s.lists.get(l.account, l.version)
		if !ok {
			var err error
			if list, err = s.load(ctx, l.account); err != nil {
				return false, err
			}
		}
		if !list.Allows(client) {
			return false, nil
		}
	}
	return true, nil
}

func (s *Service) serviceAllows(ctx context.Context, client access.Client) (bool, error) {
	list, err := s.load(ctx, "")
	if err != nil {
		return false, err
	}
	return list.Allows(client), nil
}

func (s *Service) load(ctx context.Context, account string) (*access.List, error) {
	rules, version, err := s.cfg.Store.ListRules(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("read the access list: %w", err)
	}
	entries := make([]access.Rule, len(rules))
	for i, r := range rules {
		entries[i] = r.Rule
	}
	list, err := access.NewList(entries)
	if err != nil {
		return nil, err
	}
	s.lists.put(account, readyList{version, list})
	return list, nil
}
