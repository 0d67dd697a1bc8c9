package outward

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// redirector answers every request with a redirect to the query's "to".
func redirector(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusTemporaryRedirect)
}

// Each hop of a redirect is checked like the first address.
func TestCaseG05_EachHopIsChecked(t *testing.T) {
	sentinel := listen(t, "127.0.0.1", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the sentinel was reached") }))
	public := listen(t, "127.0.0.2", http.HandlerFunc(redirector))
	g := guarded(t, &dns{answers: map[string][]string{"public.example": {"127.0.0.2"}, "inside.example": {"127.0.0.1"}}}, "127.0.0.2")
	start := "http://public.example" + port(public)
	for to, rule := range map[string]Rule{
		sentinel.URL + "/":                                 RuleAddress,
		"http://0.0.0.0" + port(sentinel) + "/":            RuleAddress,
		"http://[::ffff:127.0.0.1]" + port(sentinel) + "/": RuleEmbedded,
		"http://[::ffff:7f00:1]" + port(sentinel) + "/":    RuleEmbedded,
		"http://inside.example" + port(sentinel) + "/":     RuleName,
		"http://2130706433" + port(sentinel) + "/":         RuleNumber,
		"http://me@public.example" + port(public) + "/":    RuleUser,
		"file:///etc/passwd":                               RuleScheme,
		"//169.254.169.254/latest":                         RuleAddress,
		start + "/?to=http://10.0.0.1/":                    RuleAddress, // the second hop
	} {
		for name, client := range map[string]*http.Client{
			"ours": g.Client(Limits{}),
			// A caller's own policy does not take the guard away.
			"replaced": {Transport: g.Client(Limits{}).Transport},
		} {
			t.Run(name+" "+string(rule), func(t *testing.T) {
				q := start + "/?to=" + strings.ReplaceAll(strings.ReplaceAll(to, "?", "%3F"), "&", "%26")
				_, _, err := get(t, client, q)
				wantRefused(t, err, rule)
			})
		}
	}
}

// Addresses that a server names are fetched through the same guard, whatever they are
// for.
func TestCaseG08_DerivedAddressesAreChecked(t *testing.T) {
	public := listen(t, "127.0.0.2", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://169.254.169.254/"`)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"authorization_servers":["http://192.168.0.1/as"],"endpoint":"http://127.0.0.1/messages","icon":"http://[::1]/icon.png"}`)
	}))
	g := guarded(t, &dns{answers: map[string][]string{"public.example": {"127.0.0.2"}}}, "127.0.0.2")
	client := g.Client(Limits{})
	resp, err := client.Get("http://public.example" + port(public) + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	text := resp.Header.Get("WWW-Authenticate") + string(body)
	derived := 0
	for _, part := range strings.Split(text, `"`) {
		if !strings.HasPrefix(part, "http://") {
			continue
		}
		derived++
		_, _, err := get(t, client, part)
		wantRefused(t, err, RuleAddress)
	}
	if derived != 4 {
		t.Errorf("%d derived addresses were tried", derived)
	}
}

func TestRedirectsTakeNothingAlong(t *testing.T) {
	var got http.Header
	record := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	other := listen(t, "127.0.0.2", record)
	back := http.NewServeMux()
	first := listen(t, "127.0.0.1", back)
	back.Handle("/to", http.HandlerFunc(redirector))
	back.Handle("/end", record)
	bounce := listen(t, "127.0.0.2", http.HandlerFunc(redirector))
	g := guarded(t, &dns{answers: map[string][]string{"sub.first.example": {"127.0.0.2"}, "first.example": {"127.0.0.1"}}}, "127.0.0.0/8")
	client := g.Client(Limits{})
	secret := []string{"Authorization", "Cookie", "X-Api-Key", "Mcp-Session-Id", "Last-Event-Id", "Webhook-Signature", "Proxy-Authorization", "Referer"}
	send := func(to string) {
		t.Helper()
		got = nil
		req, _ := http.NewRequest(http.MethodPost, to, strings.NewReader("{}"))
		for _, name := range append(secret, "Accept", "Content-Type", "Mcp-Protocol-Version") {
			req.Header.Set(name, "v")
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	send("http://first.example" + port(first) + "/to?to=/end")
	for _, name := range secret {
		if got.Get(name) == "" {
			t.Errorf("%s did not stay with its own origin: %v", name, got)
		}
	}
	for name, to := range map[string]string{
		"another port":        other.URL + "/end",
		"a name below":        "http://sub.first.example" + port(other) + "/end",
		"back by a detour":    bounce.URL + "/?to=http://first.example" + port(first) + "/end",
		"the same in capital": "http://FIRST.example" + port(first) + "/end",
	} {
		send("http://first.example" + port(first) + "/to?to=" + strings.ReplaceAll(to, "?", "%3F"))
		kept := name == "the same in capital"
		for _, h := range secret {
			if kept && slices.Contains([]string{"Authorization", "Cookie", "Proxy-Authorization"}, h) {
				continue // net/http itself compares the names byte for byte
			}
			if (got.Get(h) != "") != kept {
				t.Errorf("%s: %s kept %v, want %v", name, h, got.Get(h) != "", kept)
			}
		}
		if got.Get("Accept") != "v" || got.Get("Mcp-Protocol-Version") != "v" {
			t.Errorf("%s: headers %v", name, slices.Sorted(maps.Keys(got)))
		}
	}
}

func TestRedirectsAreBounded(t *testing.T) {
	hops := 0
	s := listen(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hops++
		http.Redirect(w, r, "/again", http.StatusFound)
	}))
	g := guarded(t, &dns{}, "127.0.0.1")
	for most, requests := range map[int]int{0: DefaultMaxRedirects + 1, 2: 3} {
		hops = 0
		_, _, err := get(t, g.Client(Limits{MaxRedirects: most}), s.URL)
		wantRefused(t, err, RuleRedirect)
		if hops != requests {
			t.Errorf("%d requests, want %d", hops, requests)
		}
	}
	if status, _, err := get(t, g.Client(Limits{MaxRedirects: -1}), s.URL); err != nil || status != http.StatusFound {
		t.Errorf("no redirects: %d %v", status, err)
	}
}

func TestRedirectNeverLeavesTLS(t *testing.T) {
	plain := listen(t, "127.0.0.1", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("asked without TLS") }))
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL, http.StatusPermanentRedirect)
	}))
	defer secure.Close()
	nets, _ := ParseNets([]string{"127.0.0.1"})
	roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	g := New(Options{AllowNet: nets, RootCAs: roots})
	defer g.Close()
	_, _, err := get(t, g.Client(Limits{}), secure.URL)
	wantRefused(t, err, RuleRedirect)
}
