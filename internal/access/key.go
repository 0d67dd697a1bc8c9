package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// The form of a key: keyPrefix, keyRandom characters and keyCheck characters, all
// after the prefix from 0-9, A-Z, a-z. Secret scanners find it with
// \btm_[0-9A-Za-z]{49}\b and know by the checksum that it is one.
const (
	keyPrefix = "tm_"
	keyRandom = 43 // 43 of 62 characters are 256 bits
	keyCheck  = 6  // CRC-32 in base 62
	// KeyLength is the length of a key in bytes.
	KeyLength = len(keyPrefix) + keyRandom + keyCheck
	// hintLength is how much of a key may be kept to recognise it by: four random
	// characters, which leaves 232 bits unknown.
	hintLength = len(keyPrefix) + 4
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// ErrKey is the error for a text that is no key: another form, or a checksum that
// does not match.
var ErrKey = errors.New("not an API key: tm_ and 49 letters and digits, the last six of which are a checksum")

// Hash is the SHA-256 of a key, which is all that is stored of it.
//
// A slow, salted password hash would add nothing: it makes guessing of what people
// choose expensive, and a key is 256 bits from a random source, which cannot be
// guessed at any speed. A fast one keeps the check of a key out of the cost of a scan.
type Hash [sha256.Size]byte

// NewKey makes a key from the random source: the key itself, to be shown once, and
// what is stored of it.
func NewKey(random io.Reader) (key string, hash Hash, err error) {
	text, err := randomText(random, keyRandom)
	if err != nil {
		return "", Hash{}, fmt.Errorf("make a key: %w", err)
	}
	key = keyPrefix + text
	key += checksum(key)
	return key, HashKey(key), nil
}

// NewID makes an identifier: the prefix, "_" and 20 characters (119 bits).
func NewID(random io.Reader, prefix string) (string, error) {
	text, err := randomText(random, 20)
	if err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return prefix + "_" + text, nil
}

// ParseKey tests form and checksum of a key, which needs no database: it tells a typo
// from a key that is unknown. It is for those who type keys; a request's key is never
// judged by it, so that its answer takes the same time whatever it looks like.
func ParseKey(text string) (Hash, error) {
	if len(text) != KeyLength || !strings.HasPrefix(text, keyPrefix) {
		return Hash{}, ErrKey
	}
	for _, c := range []byte(text[len(keyPrefix):]) {
		if strings.IndexByte(base62, c) < 0 {
			return Hash{}, ErrKey
		}
	}
	body := text[:KeyLength-keyCheck]
	if checksum(body) != text[len(body):] {
		return Hash{}, ErrKey
	}
	return HashKey(text), nil
}

// HashKey gives the hash of any text sent as a key. It never fails, and its time is
// bounded: a text longer than a key cannot be one, and is hashed only so far that this
// stays true.
func HashKey(text string) Hash {
	if len(text) > KeyLength {
		text = text[:KeyLength+1]
	}
	return sha256.Sum256([]byte(text))
}

// Equal compares two hashes in constant time.
func (h Hash) Equal(other Hash) bool { return subtle.ConstantTimeCompare(h[:], other[:]) == 1 }

// Hint gives the start of a key, by which people recognise it in a list.
func Hint(key string) string {
	if len(key) < hintLength {
		return ""
	}
	return key[:hintLength]
}

// checksum gives the CRC-32 (IEEE 802.3) of the text as keyCheck digits in base 62.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	var digits [keyCheck]byte
	for i := keyCheck - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return string(digits[:])
}

// randomText gives n characters, each of the 62 equally likely: bytes past the last
// multiple of 62 are drawn again.
func randomText(random io.Reader, n int) (string, error) {
	const limit = 256 - 256%62
	text := make([]byte, 0, n)
	var buf [64]byte
	for len(text) < n {
		if _, err := io.ReadFull(random, buf[:]); err != nil {
			return "", fmt.Errorf("read random bytes: %w", err)
		}
		for _, b := range buf {
			if b < limit && len(text) < n {
				text = append(text, base62[b%62])
			}
		}
	}
	return string(text), nil
}
