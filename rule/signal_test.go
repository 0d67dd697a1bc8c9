package rule

import (
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
)

// signalText gives a rule of severity signal.
func signalText(id, weight, body string) string {
	text := ruleText(id, body)
	return strings.Replace(text, "severity: high\n", "severity: signal\n"+weight, 1)
}

// TestSignalsAreGivenSentenceBySentence: a score needs to know what stands together,
// so one place a field is not enough.
func TestSignalsAreGivenSentenceBySentence(t *testing.T) {
	s := load(t,
		signalText("spoken", "weight: 2\n", "any:\n- {id: x, near: [tell, user]}\n- {id: y, near: [user]}\nunless:\n- {near: [permission]}\n"),
		ruleText("plain", "any:\n- {id: x, near: [tell, user]}\n"))
	fields := []Field{
		raw(toolmark.SurfaceDescription, "Tell the user. Nothing here. Tell the user, then tell the user. Ask the user for permission."),
		raw(toolmark.SurfaceParameter, "The user."),
	}
	matches, _ := s.Match(fields, nil)
	type place struct {
		rule            string
		field, sentence int
	}
	var got []place
	for _, m := range matches {
		got = append(got, place{m.Rule.ID, m.Field, m.Sentence})
		if m.Rule.ID == "spoken" && (m.Rule.Weight != 2 || m.Severity != toolmark.Info) {
			t.Errorf("a signal of weight %d and severity %v", m.Rule.Weight, m.Severity)
		}
	}
	want := []place{{"plain", 0, 0}, {"spoken", 0, 0}, {"spoken", 0, 2}, {"spoken", 1, 0}}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("match %d: got %v, want %v", i, got[i], want[i])
		}
	}
	sameMatches(t, s, fields)
}

func TestSignalsAreBounded(t *testing.T) {
	s := load(t, signalText("spoken", "weight: -1\n", "any:\n- {id: x, near: [user]}\n"))
	matches, _ := s.Match([]Field{raw(toolmark.SurfaceDescription, strings.Repeat("The user. ", 3*MaxSightings))}, nil)
	if len(matches) != MaxSightings {
		t.Errorf("%d matches", len(matches))
	}
}

func TestSignalFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{signalText("a", "", "any:\n- {id: x, near: [user]}\n"), "has a weight"},
		{signalText("a", "weight: 0\n", "any:\n- {id: x, near: [user]}\n"), "has a weight"},
		{signalText("a", "weight: 6\n", "any:\n- {id: x, near: [user]}\n"), "from -5 to 5"},
		{ruleText("a", "weight: 2\nany:\n- {id: x, near: [user]}\n"), "no other rule has one"},
		{signalText("a", "weight: 2\n", "any:\n- {id: x, near: [user], span: field}\n"), "no other span"},
		{signalText("a", "weight: 2\n", "any:\n- {id: x, near: [user]}\ndowngrade:\n- {near: [tell]}\n"), "nothing to downgrade"},
		{signalText("a", "weight: 2\n", "any:\n- id: x\n  near: [user]\n  downgrade:\n  - {near: [tell]}\n"), "nothing to downgrade"},
	} {
		if _, err := Load(rules(t, c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot %v, want %q", c.text, err, c.want)
		}
	}
}
