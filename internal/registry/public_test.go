package registry_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/toolmark/toolmark/internal/access"
	"github.com/toolmark/toolmark/internal/registry"
	"github.com/toolmark/toolmark/internal/store/storetest"
)

// A caller without a key has the rate of its address, and the service's access list
// holds for it.
func TestAdmitPublic(t *testing.T) {
	c := newClock()
	s := service(t, registry.Config{Store: storetest.SQLite(t)(t), Now: c.Now, PublicPerMinute: 2})
	from := func(addr string) access.Client { return access.Client{Addr: netip.MustParseAddr(addr)} }
	for i, addr := range []string{"2001:db8:0:1::1", "2001:db8:0:1::2", "2001:db8:0:2::1"} {
		rate, err := s.AdmitPublic(t.Context(), from(addr))
		if want := []int64{1, 0, 1}[i]; err != nil || rate.Limit != 2 || rate.Remaining != want {
			t.Errorf("%s: %+v, %v; want %d left", addr, rate, err, want)
		}
	}
	_, err := s.AdmitPublic(t.Context(), from("2001:db8:0:1::3"))
	if d := denied(t, err, access.RateExceeded); d.RetryAfter != 30*time.Second {
		t.Errorf("retry after %v", d.RetryAfter)
	}
	if _, err := s.AddAccess(t.Context(), "", access.Rule{Action: access.Block, Kind: access.KindCIDR, Value: "192.0.2.0/24"}, ""); err != nil {
		t.Fatal(err)
	}
	_, err = s.AdmitPublic(t.Context(), from("192.0.2.7"))
	denied(t, err, access.AccessListBlock)
	if _, err := s.AdmitPublic(t.Context(), from("198.51.100.7")); err != nil {
		t.Error(err)
	}
}
