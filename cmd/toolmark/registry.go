package main

import (
	"crypto/rand"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/secret"
)

// registryFlags say what the registry of servers may do. The key for headers has no flag
// of its own: it would stand in the list of processes.
type registryFlags struct {
	allowNet      []string
	allowCommands bool
	secretFile    string
	interval      time.Duration
}

func (f *registryFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.allowNet, "allow-net", nil, "network or address that servers may be at although it is not public; may be repeated")
	flags.BoolVar(&f.allowCommands, "allow-commands", false, "let servers be registered that are programs, which are then run on this machine")
	flags.StringVar(&f.secretFile, "secret-key-file", "", "keys that encrypt the headers sent to servers (default: $TOOLMARK_SECRET_KEY): 32 bytes in base64 a line, the first one encrypts")
}

// maxSecretFile is the longest file of keys.
const maxSecretFile = 16 << 10

// registryConfig gives what the flags say of the registry. Close the prober at the end.
func (p *program) registryConfig(f *registryFlags) (cfg registry.Config, prober *prober, err error) {
	if f.interval != 0 && (f.interval < time.Second || f.interval > registry.MaxInterval) {
		return cfg, nil, usage("--interval is %s to %s", time.Second, registry.MaxInterval)
	}
	ring, err := p.secrets(f.secretFile)
	if err != nil {
		return cfg, nil, err
	}
	if prober, err = newProber(f.allowNet, p.env.now); err != nil {
		return cfg, nil, err
	}
	return registry.Config{
		Now: p.env.now, Random: rand.Reader, Probe: prober, Secrets: ring, AllowCommands: f.allowCommands,
		PlainWebhooks: len(f.allowNet) > 0,
		Interval:      f.interval, MinInterval: min(time.Minute, max(f.interval, time.Second)),
	}, prober, nil
}

// secrets reads the operator's keys; nil where there are none.
func (p *program) secrets(file string) (*secret.Ring, error) {
	text, from := p.env.getenv("TOOLMARK_SECRET_KEY"), "TOOLMARK_SECRET_KEY"
	if file != "" {
		from = "--secret-key-file"
		info, err := os.Stat(file)
		if err != nil {
			return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: "the file of keys cannot be read", Err: err}
		}
		if info.Size() > maxSecretFile {
			return nil, usage("--secret-key-file: the file has more than %d bytes", maxSecretFile)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, &toolmark.Error{Code: toolmark.ErrNotFound, Message: "the file of keys cannot be read", Err: err}
		}
		text = string(data)
	} else if text == "" {
		return nil, nil
	}
	ring, err := secret.Parse(text)
	if err != nil {
		return nil, usage("%s: %v", from, err)
	}
	return ring, nil
}
