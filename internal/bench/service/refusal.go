package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/toolmark/toolmark/internal/access"
)

// Refusal is how long a request with one kind of wrong key took to be answered 401.
type Refusal struct {
	Key    string // what is wrong with it
	Median time.Duration
}

// Refusals sends requests with wrong keys of every kind in turns, on one connection, and
// gives the median of each: the time must say nothing of the key. All requests have the same
// length.
func Refusals(ctx context.Context, o Options, rounds int) (list []Refusal, err error) {
	o = o.withDefaults()
	started, bases, key, err := o.services(ctx)
	defer func() { err = errors.Join(err, stop(started)) }()
	if err != nil {
		return nil, err
	}
	unknown, _, err := access.NewKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	near := key[:20] + flipped(key[20:21]) + key[21:] // the hash of it differs as any other does
	kinds := []struct{ what, key string }{
		{"none", ""},
		{"1 character", "x"},
		{"8 characters", "tm_12345"},
		{"64 characters", strings.Repeat("x", 64)},
		{"1,024 characters", strings.Repeat("x", 1024)},
		{"4,096 characters", strings.Repeat("x", longestWrong)},
		{"right form, wrong checksum", unknown[:len(unknown)-1] + flipped(unknown[len(unknown)-1:])},
		{"right form and checksum, unknown", unknown},
		{"a known key but for one character", near},
	}
	random := mathrand.New(mathrand.NewPCG(1, 2))
	c := &client{base: bases[0]}
	defer c.close()
	times := make([][]time.Duration, len(kinds))
	for round := range rounds + rounds/10 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, i := range random.Perm(len(kinds)) {
			// Every request is as long as every other: reading a longer one takes the network
			// and the parser of headers longer, whatever is in it.
			padding := fmt.Sprintf("X-Padding: %s\r\n", strings.Repeat("x", longestWrong-len(kinds[i].key)))
			request := c.head("GET", "/api/v1/usage/stats", kinds[i].key, padding)
			begun := time.Now()
			status, err := c.do(request)
			took := time.Since(begun)
			if err != nil {
				return nil, fmt.Errorf("send a wrong key: %w", err)
			}
			if status != 401 {
				return nil, fmt.Errorf("a wrong key (%s) was answered %d", kinds[i].what, status)
			}
			if round >= rounds/10 { // the first are warming up
				times[i] = append(times[i], took)
			}
		}
	}
	for i, k := range kinds {
		slices.Sort(times[i])
		list = append(list, Refusal{k.what, times[i][len(times[i])/2]})
	}
	return list, nil
}

// longestWrong is the length of the longest wrong key.
const longestWrong = 4096

// flipped gives another letter or digit.
func flipped(c string) string {
	if c == "a" {
		return "b"
	}
	return "a"
}
