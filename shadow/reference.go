package shadow

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/textcheck"
)

// Text is one text of a tool, with its readings.
type Text struct {
	Pointer  string
	Readings []textcheck.Reading
}

// Marks stand in a sentence for the names of tools, so that a pattern speaks of any
// tool. Text of a manifest that has them already is taken as it is: the mark then
// names no tool and is dropped with it.
const (
	markForeign = "\ue000" // a tool of another server, known or by its looks
	markOwn     = "\ue001" // a tool of this server
)

// sway is one way in which a text interferes with another server's tool.
type sway struct {
	pattern *regexp.Regexp
	// known asks that the name is that of a tool of a known other server; without it
	// a name that looks like a tool's will do.
	known bool
	// called asks that an unknown tool is called one in so many words: what is "used"
	// or "present" may be a field as well.
	called bool
	alters bool // changes how the tool is used, or takes its place
}

// sways are compiled when the first text names a foreign tool.
var sways = sync.OnceValue(func() []sway {
	const (
		t   = markForeign
		gap = `[^` + markForeign + markOwn + `]`
		any = `[^` + markForeign + `]` // what is ordered may well name the server's own tools
		tc  = t + "[`'’\"*)]*(?:s\\b)?" + `(?:\)|\s+(?:tool|function|method|command|server)s?)*`
		// what is done to a tool that one wants to be used differently
		change = `(?:chang\w*|alter\w*|modif\w*|overrid\w*|overwrit\w*|re-?rout\w*|re-?direct\w*|replac\w*|swap\w*|substitut\w*|append\w*|prepend\w*|includ\w*|insert\w*|attach\w*|add\w*|set|bcc\w*|cc|copy|copies|forward\w*|mirror\w*|send\w*|pass\w*|use)`
	)
	alter := func(known bool, patterns ...string) []sway {
		out := make([]sway, len(patterns))
		for i, p := range patterns {
			out[i] = sway{pattern: regexp.MustCompile(`(?is)` + p), known: known, alters: true}
		}
		return out
	}
	list := alter(true,
		// in its place
		`\b(?:instead\s+of|rather\s+than|in\s+place\s+of|in\s+preference\s+to|supersed\w*|replac\w+|overrid\w+|deprecat\w+)\s+`+gap+`{0,40}`+t,
		`\b(?:do\s+not|don['’]?t|never|must\s+not|should\s+not|avoid|stop|refrain\s+from|no\s+longer)\s+(?:ever\s+)?(?:us\w+|call\w*|invok\w+|run\w*|trust\w*|rely\w*)\s+`+gap+`{0,30}`+t,
		tc+`\s+(?:is|has\s+been|was)\s+(?:\w+\s+)?(?:deprecated|broken|obsolete|unsafe|insecure|compromised|unreliable|disabled|superseded|replaced|retired|outdated)`,
		// and in other languages: instead of T
		`(?:statt|anstelle\s+von|anstatt)\s+`+gap+`{0,20}`+t, `(?:en\s+lugar\s+de|en\s+vez\s+de|sustituye|reemplaza)\s+`+gap+`{0,20}`+t,
		`(?:au\s+lieu\s+d|à\s+la\s+place\s+d|remplace)`+gap+`{0,20}`+t, `(?:em\s+vez\s+d|ao\s+invés\s+d|no\s+lugar\s+d|substitui)`+gap+`{0,20}`+t,
		`(?:invece\s+d|al\s+posto\s+d|sostituisce)`+gap+`{0,20}`+t, `вместо\s+`+gap+`{0,20}`+t, `(?:代替|取代|而不是|不要使用|不要调用|请勿使用)`+gap+`{0,10}`+t,
		t+gap+`{0,6}(?:の代わりに|ではなく|を使わず)`, t+gap+`{0,6}(?:대신|말고)`, `(?:بدل[اًا]*\s+من)\s+`+gap+`{0,20}`+t,
		t+gap+`{0,8}(?:के\s+बजाय|की\s+जगह|के\s+स्थान\s+पर)`, t+gap+`{0,6}\s+yerine`,
	)
	list = append(list, alter(false,
		`\b(?:when|whenever|if|once|each\s+time|every\s+time|any\s+time|before|after|as\s+soon\s+as)\s+`+gap+`{0,40}`+tc+`\s+(?:is|are|was|gets?|has\s+been)\s+(?:\w+\s+)?(?:called|invoked|run|executed|triggered)`+any+`{0,80}\b`+change+`\b`,
		`\b(?:when|whenever|if|once|each\s+time|every\s+time|any\s+time)\s+(?:you|the\s+(?:agent|assistant|model|llm|ai|user))\s+(?:\w+\s+)?(?:calls?|uses?|invokes?|runs?|executes?)\s+`+gap+`{0,20}`+tc+any+`{0,80}\b`+change+`\b`,
		`\b(?:every|each|any|all)\s+`+gap+`{0,10}`+tc+`\s+(?:calls?|invocations?|requests?)\b`+any+`{0,60}\b(?:must|should|shall|has\s+to|have\s+to|needs?\s+to)\b`,
		`\b(?:side[\s-]effects?|effects?|influence|precedence|priority)\s+(?:on|over)\s+`+gap+`{0,40}`+t,
		`\b(?:modif\w+|chang\w+|alter\w*|overrid\w+|redefin\w+|tak\w+\s+over|hijack\w*|intercept\w*)\s+(?:the\s+)?(?:behaviou?r|working|output|results?|calls?|recipients?|arguments?|parameters?|meaning)\s+(?:of|to|from)\s+`+gap+`{0,30}`+t,
		`\b(?:also[\s-]present|also[\s-]available|previously\s+(?:declared|defined|registered)|other\s+server['’]?s)\s+`+gap+`{0,12}`+t,
		`\b(?:supersed\w+|shadow\w*|takes?\s+precedence\s+over|overrid\w+)\s+`+gap+`{0,20}`+t,
		tc+`\s+(?:\w+\s+)?returns?\s+(?:incomplete|wrong|incorrect|stale|bad|false|unreliable)\b`,
		`\b(?:re-?rout\w*|redirect\w*|route)\s+(?:all\s+)?`+gap+`{0,30}(?:from|of|to|through|for)\s+`+gap+`{0,12}`+t,
	)...)
	list = append(list, sway{
		pattern: regexp.MustCompile(`(?is)` + tc + `\s+(?:\w+\s+)?(?:must|should|shall|has\s+to|needs\s+to)\s+(?:always\s+|also\s+|first\s+)?(?:send|use|set|include|be\s+(?:called|invoked|run|used)\s+with|pass|forward|copy|bcc|go\s+through)\b`),
		called:  true, alters: true,
	}, sway{
		pattern: regexp.MustCompile(`(?is)\b(?:when|whenever|if|once|each\s+time|every\s+time|any\s+time)\s+` + gap + `{0,40}` + tc +
			`\s+(?:is|are|was|gets?|has\s+been)\s+(?:\w+\s+)?(?:used|present|available|requested)` + any + `{0,80}\b` + change + `\b`),
		called: true, alters: true,
	})
	for _, p := range []string{
		`\b(?:call\w*|us(?:e|es|ing)|invok\w+|run\w*|execut\w+|trigger\w*|ask\w*|fetch\w*)\s+(?:the\s+|our\s+|its\s+|also\s+)?` + gap + `{0,12}` + t,
		`\b(?:before|after|first|then|prior\s+to)\s+` + gap + `{0,24}` + t,
	} {
		list = append(list, sway{pattern: regexp.MustCompile(`(?is)` + p), known: true})
	}
	return list
})

// collective are texts that interfere with tools they do not name.
var collective = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)\b(?:modif\w+|chang\w+|alter\w*|overrid\w+|redefin\w+|hijack\w*|intercept\w*)\s+(?:the\s+)?(?:behaviou?r|working|output|calls?|recipients?|arguments?)\s+(?:of|to|from)\s+(?:all|any|every|the)\s+(?:other\s+)?(?:\w+\s+)?(?:tool|server|function)s?\b`)
})

// ByText reports the tools of other servers that a tool's texts interfere with: high
// where the text takes the tool's place or changes how it is used, medium where it
// only tells the model to call it. A tool of the server itself is never reported,
// whatever other servers call theirs. At most one finding is given for each name.
func (n *Names) ByText(tool string, index int, texts []Text) []toolmark.Finding {
	var findings []toolmark.Finding
	seen := map[string]bool{}
	for i := range texts {
		for r := range texts[i].Readings {
			reading := &texts[i].Readings[r]
			if !n.worthReading(reading.Text) {
				continue
			}
			for _, ref := range n.references(reading.Text) {
				if key := ref.server + "\x00" + ref.tool; seen[key] || ref.tool == tool {
					continue
				} else {
					seen[key] = true
				}
				findings = append(findings, ref.finding(tool, index, texts[i].Pointer, reading))
			}
		}
	}
	return findings
}

// hints are what a text must hold for its tool names to matter where no other
// server is known; every pattern of sways that does not need a known tool, and
// collective, has one of them.
var hints = []string{
	"called", "used", "invoked", "run", "executed", "triggered", "present", "available", "requested",
	"call", "use", "invoke", "execute", "must", "should", "shall", "has to", "have to", "need", "effect", "influence", "precedence", "priority",
	"modif", "chang", "alter", "overrid", "redefin", "tak", "hijack", "intercept", "declared", "defined", "registered", "server",
	"supersed", "shadow", "return", "rout", "direct",
}

// worthReading is a cheap test that no text with a reference fails.
func (n *Names) worthReading(text string) bool {
	if len(n.others) > 0 {
		return true
	}
	if !strings.ContainsAny(text, "_.`'\"") && !hasHump(text) && !strings.Contains(text, "tool") {
		return false
	}
	lower := strings.ToLower(text)
	for _, h := range hints {
		if strings.Contains(lower, h) {
			return true
		}
	}
	return false
}

func hasHump(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// reference is one tool of another server that a text interferes with.
type reference struct {
	server, tool string
	alters       bool
	known        bool
	start, end   int // byte offsets in the reading
}

func (ref *reference) finding(tool string, index int, pointer string, reading *textcheck.Reading) toolmark.Finding {
	from, to := reading.Origin(ref.start, ref.end)
	severity, reason := toolmark.High, "The tool's text tells the model how to use, or to replace, a tool of another server"
	if !ref.alters {
		severity, reason = toolmark.Medium, "The tool's text tells the model to call a tool of another server"
	}
	return toolmark.Finding{
		Code: toolmark.CodeShadowing, Tool: toolmark.Text(tool), Index: index, Severity: severity, Reason: reason,
		Details: toolmark.ShadowDetails{
			ShadowedServerName: toolmark.Text(ref.server),
			ShadowedToolName:   toolmark.Text(ref.tool),
			Match:              MatchReference,
			Locations: []toolmark.Location{{
				Pointer: toolmark.Text(pointer), Start: from, End: to, Reading: reading.Name,
				Excerpt: toolmark.Text(around(reading.Text, ref.start, ref.end)),
			}},
		},
	}
}

func (n *Names) references(text string) []reference {
	var found []reference
	for _, s := range sentences(text) {
		marked, mentions := n.mark(text, s)
		if len(mentions) == 0 {
			if m := collective().FindStringIndex(text[s.start:s.end]); m != nil {
				found = append(found, reference{tool: toolmark.WholeList, alters: true, start: s.start + m[0], end: s.start + m[1]})
			}
			continue
		}
		for _, sw := range sways() {
			for _, at := range sw.pattern.FindAllStringIndex(marked, -1) {
				m := markedIn(marked, mentions, at)
				if m == nil || sw.known && !m.known || sw.called && !m.known && !m.called || !sw.alters && m.has(found) {
					continue
				}
				found = append(found, reference{server: m.server, tool: m.tool, alters: sw.alters, known: m.known, start: m.start, end: m.end})
			}
		}
	}
	return found
}

func (m *mention) has(found []reference) bool {
	for i := range found {
		if found[i].tool == m.tool && found[i].server == m.server {
			return true
		}
	}
	return false
}

// markedIn gives the first foreign mention whose mark lies in a match.
func markedIn(marked string, mentions []mention, at []int) *mention {
	i := strings.Count(marked[:at[0]], markForeign)
	if strings.Contains(marked[at[0]:at[1]], markForeign) && i < len(mentions) {
		return &mentions[i]
	}
	return nil
}

// span is a stretch of a text in bytes.
type span struct{ start, end int }

// sentences cuts a text at the ends of sentences and paragraphs. A dot inside a name,
// a path or a number does not end one.
func sentences(text string) []span {
	var out []span
	start := 0
	cut := func(end int) {
		if strings.TrimSpace(text[start:end]) != "" {
			out = append(out, span{start, end})
		}
		start = end
	}
	for i, r := range text {
		switch {
		case r == '。' || r == '！' || r == '？':
			cut(i + utf8.RuneLen(r))
		case r == '.' || r == '!' || r == '?':
			if next, _ := utf8.DecodeRuneInString(text[i+1:]); i+1 == len(text) || unicode.IsSpace(next) {
				cut(i + 1)
			}
		case r == '\n' && i+1 < len(text) && text[i+1] == '\n':
			cut(i + 1)
		}
	}
	cut(len(text))
	return out
}

// around gives a stretch with some text on both sides, on rune boundaries.
func around(text string, start, end int) string {
	const side = 60
	start, end = max(0, start-side), min(len(text), end+side)
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return text[start:end]
}
