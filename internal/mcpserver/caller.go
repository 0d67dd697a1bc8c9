package mcpserver

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
)

// callerKey is the key of the *caller in a call's context.
type callerKey struct{}

// caller is who asks, for the length of one HTTP request or one session on stdio.
type caller struct {
	server *Server
	local  bool // stdio: everything is allowed and nothing counted
	call   registry.Call
	grant  *registry.Grant // nil: no key
	// calls counts the tool calls of the request: one is admitted with the request, each
	// further one of a batch (MCP 2025-03-26) by itself, so that a batch is no way around
	// a rate.
	calls atomic.Int64
	// onGone arranges for f to be called when the client leaves; nil where the session's
	// context says so.
	onGone func(f func()) (stop func() bool)
}

func callerOf(ctx context.Context) (*caller, error) {
	c, ok := ctx.Value(callerKey{}).(*caller)
	if !ok {
		return nil, errors.New("a call without a caller")
	}
	return c, nil
}

// admit holds a call of a tool against what the caller may do.
func (c *caller) admit(ctx context.Context, tool string) error {
	if c.local {
		return nil
	}
	n := c.calls.Add(1)
	if c.grant == nil {
		if !c.server.cfg.Public || tool == "scan_manifest" {
			return &access.Denial{Code: access.MissingKey, Message: "No API key was sent."}
		}
		if n > 1 {
			_, err := c.server.cfg.Accounts.AdmitPublic(ctx, c.call.Client)
			return err
		}
		return nil
	}
	if !c.grant.Scopes.Allow(scopes[tool]) {
		return &access.Denial{Code: access.ScopeDenied, Message: "The key's scopes do not include what this tool needs: " + string(scopes[tool]) + "."}
	}
	if n > 1 {
		_, err := c.server.cfg.Accounts.Admit(ctx, c.call)
		return err
	}
	return nil
}

// as says who asks, for the registry.
func (c *caller) as() registry.Caller {
	if c.local {
		return registry.Caller{Account: registry.DefaultAccount, Actor: "mcp"}
	}
	if c.grant == nil {
		return registry.Caller{}
	}
	return registry.Caller{Account: c.grant.Account, Actor: c.grant.KeyID}
}
