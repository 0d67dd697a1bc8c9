package docs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/canonjson"
	"github.com/toolmark/toolmark/pin"
)

// TestVectors holds the code against the vectors that we publish.
func TestVectors(t *testing.T) {
	var file struct {
		Version int
		Vectors []struct {
			Name, Body           string
			PinCanonical         string `json:"pin_canonical"`
			Pin                  string
			Tools                []toolmark.ToolHash
			FingerprintCanonical *string `json:"fingerprint_canonical"`
			Fingerprint          *string
		}
	}
	if err := json.Unmarshal(Vectors, &file); err != nil || file.Version != 1 || len(file.Vectors) < 13 {
		t.Fatalf("version %d, %d vectors, %v", file.Version, len(file.Vectors), err)
	}
	for _, v := range file.Vectors {
		value, err := canonjson.Parse([]byte(v.Body), canonjson.Options{})
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		m, err := toolmark.ReadManifest(value)
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		if got := string(pin.Canonical(m.Tools)); got != v.PinCanonical {
			t.Errorf("%s: canonical\n got %s\nwant %s", v.Name, got, v.PinCanonical)
		}
		sums := pin.Compute(m.Tools)
		if sums.SHA256 != v.Pin || sum(v.PinCanonical) != v.Pin {
			t.Errorf("%s: pin %s, want %s", v.Name, sums.SHA256, v.Pin)
		}
		if !slices.Equal(sums.Tools, v.Tools) {
			t.Errorf("%s: tools %v, want %v", v.Name, sums.Tools, v.Tools)
		}
		fingerprint, err := pin.Fingerprint(m.Server, m.Tools)
		switch {
		case v.Fingerprint == nil:
			if err == nil {
				t.Errorf("%s: fingerprint %s, want none", v.Name, fingerprint)
			}
		case err != nil || string(fingerprint) != *v.Fingerprint || "tmfp1:"+sum(*v.FingerprintCanonical) != *v.Fingerprint:
			t.Errorf("%s: fingerprint %s (%v), want %s", v.Name, fingerprint, err, *v.Fingerprint)
		}
	}
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// The file is what the script writes.
func TestVectorsAreTheScripts(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	out, err := exec.Command(python, "../scripts/vectors.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != string(Vectors) {
		t.Error("run scripts/vectors.py > docs/vectors.json")
	}
}
