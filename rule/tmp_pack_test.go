package rule

import (
	"os"
	"testing"
	"time"
)

func TestTmpPack(t *testing.T) {
	start := time.Now()
	s, err := Load(os.DirFS("../rulepack"))
	t.Log(time.Since(start))
	if err != nil {
		t.Fatal(err)
	}
	start = time.Now()
	_, err = Options{Deferred: true}.Load(os.DirFS("../rulepack"))
	t.Log(time.Since(start), err)
	for _, e := range s.Verify() {
		t.Error(e)
	}
}
