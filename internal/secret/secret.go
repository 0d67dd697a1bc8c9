// Package secret seals what must not be readable in a database or its backup: AES-256 in
// Galois/Counter Mode (NIST SP 800-38D) under keys that the operator keeps elsewhere.
//
// Guarantees. What was changed, or moved to another record, does not open. A sealed text
// names its key, so that keys can be changed: the first of a ring seals, every one opens.
// No error holds a key or what was sealed.
//
// What it does not do: it does not hide how long a text is, and a key that is lost
// cannot be made again.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// MaxKeys is the most keys of a ring.
const MaxKeys = 16

// version is the first byte of what Seal gives: version, id of the key (8 bytes), nonce
// (12 bytes), ciphertext with tag.
const (
	version = 1
	idSize  = 8
)

// ErrUnknownKey says that a text was sealed with a key that the ring does not have.
var ErrUnknownKey = errors.New("sealed with a key that is not there")

// ErrDamaged says that a sealed text was changed, or belongs to another record.
var ErrDamaged = errors.New("the sealed text is damaged")

// Ring is the operator's keys. It does not change.
type Ring struct {
	keys []key
}

type key struct {
	id   [idSize]byte
	aead cipher.AEAD
}

// Parse reads a ring: one key a line, 32 bytes in base64 (RFC 4648, with or without
// padding, standard or URL alphabet) or in hexadecimal; the first one seals. Empty lines
// and lines that begin with # are skipped. openssl rand -base64 32 makes a key.
func Parse(text string) (*Ring, error) {
	r := &Ring{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		raw, ok := decode(line)
		if !ok {
			return nil, fmt.Errorf("line %d is not a key: 32 bytes in base64 or hexadecimal (make one with: openssl rand -base64 32)", n)
		}
		if len(r.keys) == MaxKeys {
			return nil, fmt.Errorf("more than %d keys", MaxKeys)
		}
		block, err := aes.NewCipher(raw)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		k := key{aead: aead}
		sum := sha256.Sum256(append([]byte("toolmark secret key id\x00"), raw...))
		copy(k.id[:], sum[:])
		if r.find(k.id[:]) != nil {
			return nil, fmt.Errorf("line %d repeats an earlier key", n)
		}
		r.keys = append(r.keys, k)
	}
	if len(r.keys) == 0 {
		return nil, errors.New("there is no key (make one with: openssl rand -base64 32)")
	}
	return r, nil
}

func decode(line string) ([]byte, bool) {
	if len(line) == 2*KeySize {
		raw, err := hex.DecodeString(line)
		return raw, err == nil
	}
	line = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(line), "=")
	raw, err := base64.RawStdEncoding.Strict().DecodeString(line)
	return raw, err == nil && len(raw) == KeySize
}

func (r *Ring) find(id []byte) *key {
	for i := range r.keys {
		if string(r.keys[i].id[:]) == string(id) {
			return &r.keys[i]
		}
	}
	return nil
}

// ID names the key that seals, in hexadecimal. It does not lead to the key.
func (r *Ring) ID() string { return hex.EncodeToString(r.keys[0].id[:]) }

// KeyID names the key that a text was sealed with, "" where it is no sealed text.
func KeyID(sealed []byte) string {
	if len(sealed) < 1+idSize || sealed[0] != version {
		return ""
	}
	return hex.EncodeToString(sealed[1 : 1+idSize])
}

// Seal encrypts a text for one record; random must be a cryptographic source.
func (r *Ring) Seal(random io.Reader, plain []byte, record string) ([]byte, error) {
	k := &r.keys[0]
	out := append([]byte{version}, k.id[:]...)
	nonce := make([]byte, k.aead.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	out = append(out, nonce...)
	return k.aead.Seal(out, nonce, plain, bound(out[:1+idSize], record)), nil
}

// Open is the inverse of Seal for the same record. The error is ErrUnknownKey or
// ErrDamaged.
func (r *Ring) Open(sealed []byte, record string) ([]byte, error) {
	id := KeyID(sealed)
	if id == "" {
		return nil, ErrDamaged
	}
	head, rest := sealed[:1+idSize], sealed[1+idSize:]
	k := r.find(head[1:])
	if k == nil {
		return nil, fmt.Errorf("%w: its id is %s", ErrUnknownKey, id)
	}
	if len(rest) < k.aead.NonceSize() {
		return nil, ErrDamaged
	}
	nonce, sealedText := rest[:k.aead.NonceSize()], rest[k.aead.NonceSize():]
	plain, err := k.aead.Open(nil, nonce, sealedText, bound(head, record))
	if err != nil {
		return nil, ErrDamaged
	}
	return plain, nil
}

// bound is what the seal covers beside the text: its head and the record.
func bound(head []byte, record string) []byte {
	return append(append([]byte{}, head...), record...)
}
