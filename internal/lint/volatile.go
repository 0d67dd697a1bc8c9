package lint

import (
	"strconv"
	"strings"
	"time"

	"github.com/toolmark/toolmark"
)

// volatile looks for values of the moment, of the machine and of the user in definitions
// (L107). Each makes the definition another one tomorrow or elsewhere. A value that stands
// as an example of a format does not: a date counts where it is the day of the probe or is
// called the current one, a path or an identifier where nothing beside it says that it is
// an example.
func (c *collector) volatile(m *toolmark.Manifest, now time.Time, s Surroundings) {
	v := &volatile{now: now, surroundings: s.values(), found: map[volatileGroup][]toolmark.Location{}}
	if !now.IsZero() {
		v.days = days(now)
	}
	walk(m, v.text)
	for i := range m.Tools {
		v.values(i, "", m.Tools[i].Tree)
	}
	for _, g := range v.order {
		c.add(m, g.tool, toolmark.CodeVolatile, toolmark.Medium, volatileReasons[g.kind],
			toolmark.AdviceDetails{Kind: g.kind, Locations: v.found[g]})
	}
}

var volatileReasons = map[string]string{
	"date":        "The definition holds the day on which it was served, so it is another one every day",
	"time":        "The definition holds a time of the moment, so it is another one at every start",
	"user":        "The definition holds the name of the user on whose machine it was served",
	"path":        "The definition holds a path of the machine it was served from",
	"host":        "The definition holds the name of the machine it was served from",
	"uuid":        "The definition holds an identifier that looks made for one session or account",
	"build":       "The definition holds the number of a build, so every build changes it",
	"own-objects": "The values to choose from look like one user's own objects; let a tool return them",
}

type volatileGroup struct {
	tool int
	kind string
}

type volatile struct {
	now          time.Time // zero where it is not known when the list was read
	days         []string
	surroundings []surrounding
	found        map[volatileGroup][]toolmark.Location
	order        []volatileGroup
}

func (v *volatile) add(tool int, kind string, at toolmark.Location) {
	g := volatileGroup{tool, kind}
	if _, there := v.found[g]; !there {
		v.order = append(v.order, g)
	}
	if len(v.found[g]) < maxPlaces {
		v.found[g] = append(v.found[g], at)
	}
}

// place is a place of a text, given in bytes.
func place(t text, from, to int) toolmark.Location {
	return toolmark.Location{
		Pointer: toolmark.Text(t.pointer), Start: toolmark.CodePoints(t.text[:from]), End: toolmark.CodePoints(t.text[:to]),
		Reading: "raw", Excerpt: around(t.text, from, to),
	}
}

// surrounding is a value of this machine.
type surrounding struct{ kind, value string }

func (s Surroundings) values() []surrounding {
	var list []surrounding
	for _, v := range []surrounding{{"path", s.Home}, {"path", s.Dir}, {"host", s.Host}, {"user", s.User}} {
		// "root", "/root" or "localhost" stand in honest texts of their own.
		if len(v.value) >= 4 && !commonValues[strings.ToLower(strings.Trim(v.value, "/"))] {
			list = append(list, v)
		}
	}
	return list
}

var commonValues = map[string]bool{
	"root": true, "home": true, "user": true, "users": true, "admin": true, "ubuntu": true, "debian": true, "runner": true,
	"localhost": true, "docker": true, "node": true, "test": true, "work": true, "workspace": true, "app": true, "data": true,
	"home/runner": true, "home/user": true, "home/node": true, "opt/app": true, "server": true,
}

// days writes the day of the probe, the one before and the one after (the server's clock
// may be in another zone) in the forms programs write dates in.
func days(now time.Time) []string {
	var list []string
	for _, shift := range []int{-1, 0, 1} {
		day := now.UTC().AddDate(0, 0, shift)
		for _, layout := range []string{
			"2006-01-02", "2006/01/02", "20060102", "02.01.2006", "January 2, 2006", "Jan 2, 2006", "2 January 2006",
			"02 Jan 2006", "Mon Jan 02 2006", "1/2/2006", "01/02/2006", "2006年1月2日", "2006年01月02日",
		} {
			list = append(list, day.Format(layout))
		}
	}
	return list
}

const uuidForm = `[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`

var (
	isoDate = `\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?`
	// namedNow is a date that the text calls the present one.
	namedNow = lazily(`(?i)\b(?:today(?:'s date)?(?: is|:)|(?:the )?(?:current|server|present)[ _-](?:date|time|datetime|timestamp|day)(?: \(?utc\)?)?(?: is|:|=)|generated (?:on|at):?|started (?:on|at):?|last (?:updated|refreshed|synced)(?: on| at)?:?|as of(?: now| today)?,?)\s+["'` + "`" + `(]?(` + isoDate + `)`)
	// clock is a time of day that the text calls the present one.
	clock = lazily(`(?i)\b(?:current|server|local|system|present)[ _-]time(?: \(?utc\)?)?(?: is|:|=)?\s*["'` + "`" + `(]?(\d{1,2}:\d{2}(?::\d{2})?)\b`)
	// builds are numbers that name a build.
	builds = lazily(`(?i)\b(?:build(?: id| number| hash)?|commit|revision|git sha|sha)[ :=#(]+([0-9a-f]{7,40}|\d{5,})\b`)
	// identifier is a UUID that the text calls that of a session, an account or the like.
	// Documentation is full of others.
	identifier = lazily(`(?i)\b(?:session|account|workspace|project|tenant|user|organi[sz]ation|instance|environment|deployment|connection|request)(?:'s)?(?: id)?(?: is|:|=)\s*["'` + "`" + `(]*(` + uuidForm + `)\b`)
	uuid       = lazily(`(?i)^` + uuidForm + `$`)
	// homePath is a path below somebody's home.
	homePath = lazily(`(?:/home/|/Users/|[A-Za-z]:\\{1,2}Users\\{1,2})([A-Za-z0-9._-]+)`)
	// example are words beside a value that say that it is an example.
	example = lazily(`(?i)\b(?:e\.?\s?g\.?|i\.e\.|for example|for instance|example|examples|such as|sample|like|format|formatted|looks? like|placeholder|ex:|pattern)\b|例|예|z\.\s?B\.|par exemple|por ejemplo|per esempio|например|örnek|उदाहरण|مثال`)
)

// placeholderUsers are names that stand for anybody.
var placeholderUsers = map[string]bool{
	"user": true, "username": true, "your": true, "you": true, "yourname": true, "your-name": true, "me": true, "name": true,
	"alice": true, "bob": true, "john": true, "jane": true, "johndoe": true, "jdoe": true, "foo": true, "bar": true,
	"example": true, "shared": true, "public": true, "test": true, "dev": true, "developer": true, "someone": true, "xxx": true,
	"admin": true, "ubuntu": true, "ec2-user": true, "deploy": true, "vagrant": true, "git": true, "www": true,
	"project": true, "projects": true, "documents": true, "workspace": true, "youruser": true, "your_username": true, "yourusername": true, "myuser": true, "node": true, "app": true, "runner": true,
}

// exampleReach is how many bytes before a value a word makes it an example.
const exampleReach = 80

// text looks at one string.
func (v *volatile) text(t text) {
	for _, s := range v.surroundings {
		if at := wordIndex(t.text, s.value); at >= 0 {
			v.add(t.tool, s.kind, place(t, at, at+len(s.value)))
		}
	}
	isExample := exampleKey(t)
	if !isExample && !t.name && (strings.Contains(t.text, "/home/") || strings.Contains(t.text, "Users")) {
		for _, at := range homePath().FindAllStringSubmatchIndex(t.text, 4) {
			if !placeholderUsers[strings.ToLower(t.text[at[2]:at[3]])] && !exampleBefore(t.text, at[0]) {
				v.add(t.tool, "path", place(t, at[0], at[1]))
			}
		}
	}
	// Everything below has digits, which most texts have not.
	if !strings.ContainsAny(t.text, "0123456789") {
		return
	}
	v.today(t)
	if at := namedNow().FindStringSubmatchIndex(t.text); at != nil && !isExample {
		kind := "date"
		if at[3]-at[2] > len("2006-01-02") {
			kind = "time"
		}
		v.add(t.tool, kind, place(t, at[2], at[3]))
	}
	if from, to := v.epoch(t.text); to > 0 {
		v.add(t.tool, "time", place(t, from, to))
	}
	if isExample || t.name {
		return
	}
	if at := clock().FindStringSubmatchIndex(t.text); at != nil && !exampleBefore(t.text, at[0]) {
		v.add(t.tool, "time", place(t, at[2], at[3]))
	}
	for _, at := range identifier().FindAllStringSubmatchIndex(t.text, 4) {
		if !plainUUID(t.text[at[2]:at[3]]) && !exampleBefore(t.text, at[0]) {
			v.add(t.tool, "uuid", place(t, at[2], at[3]))
		}
	}
	if (t.key == "default" || t.key == "const") && uuid().MatchString(t.text) && !plainUUID(t.text) {
		v.add(t.tool, "uuid", place(t, 0, len(t.text)))
	}
	for _, at := range builds().FindAllStringSubmatchIndex(t.text, 4) {
		if strings.ContainsAny(t.text[at[2]:at[3]], "0123456789") && !exampleBefore(t.text, at[0]) {
			v.add(t.tool, "build", place(t, at[2], at[3]))
		}
	}
}

// today looks for the day of the probe, which no example happens to hold but on the day
// it was written.
func (v *volatile) today(t text) {
	for _, day := range v.days {
		at := wordIndex(t.text, day)
		if at < 0 {
			continue
		}
		kind, to := "date", at+len(day)
		if rest := t.text[to:]; len(rest) > 5 && (rest[0] == 'T' || rest[0] == ' ') && rest[3] == ':' {
			kind = "time"
		}
		v.add(t.tool, kind, place(t, at, to))
		return
	}
}

// epoch looks for the time of the probe as a number of seconds or milliseconds since 1970:
// one of within a day, which no example holds.
func (v *volatile) epoch(text string) (from, to int) {
	if v.now.IsZero() {
		return 0, 0
	}
	for at := 0; at < len(text); {
		if text[at] < '0' || text[at] > '9' {
			at++
			continue
		}
		end := at
		for end < len(text) && text[end] >= '0' && text[end] <= '9' {
			end++
		}
		if n, err := strconv.ParseInt(text[at:end], 10, 64); err == nil {
			var when time.Time
			switch end - at {
			case 10:
				when = time.Unix(n, 0)
			case 13:
				when = time.UnixMilli(n)
			}
			if !when.IsZero() && when.Sub(v.now).Abs() <= 24*time.Hour {
				return at, end
			}
		}
		at = end
	}
	return 0, 0
}

// wordIndex finds a value that does not go on in letters or digits on either side.
func wordIndex(text, value string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], value)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(value)
		if (at == 0 || !wordByte(text[at-1])) && (end == len(text) || !wordByte(text[end]) || text[end] == 'T') {
			return at
		}
		from = at + 1
	}
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// exampleKey reports whether a text stands where examples stand.
func exampleKey(t text) bool {
	switch t.key {
	case "examples", "example", "pattern", "format", "$id", "$ref", "$schema", "$comment", "uri", "uriTemplate", "src":
		return true
	}
	return false
}

func exampleBefore(text string, at int) bool {
	before := text[max(0, at-exampleReach):at]
	return example().MatchString(before)
}

// plainUUID reports whether an identifier is made up: few different digits, or counting.
func plainUUID(id string) bool {
	id = strings.ToLower(strings.ReplaceAll(id, "-", ""))
	seen := map[rune]bool{}
	for _, r := range id {
		seen[r] = true
	}
	return len(seen) <= 6 || strings.Contains(id, "12345678") || strings.Contains(id, "abcdef") || strings.HasPrefix(id, "550e8400e29b")
}

// ownObject is a value that names one object of one account.
var ownObject = lazily(`(?i)^(?:` + uuidForm + `|[0-9a-f]{24}|(?:/home/|/Users/|[a-z]:\\Users\\)\S+|[^\s@]+@[^\s@]+\.[a-z]{2,}|(?:proj|acct|org|user|usr|ws|team|cus|wrk|db|env)_[0-9a-z]{10,})$`)

// values looks for lists of values that are one user's own, and for the present time as a
// number.
func (v *volatile) values(tool int, pointer string, value *toolmark.Value) {
	switch value.Kind {
	case toolmark.KindNumber:
		if _, to := v.epoch(value.Text); to > 0 {
			v.add(tool, "time", toolmark.Location{Pointer: toolmark.Text(pointer)})
		}
	case toolmark.KindArray:
		for i := range value.Items {
			v.values(tool, toolmark.Pointer(pointer, i), &value.Items[i])
		}
	case toolmark.KindObject:
		for i := range value.Members {
			member := &value.Members[i]
			at := toolmark.Pointer(pointer, member.Name)
			if member.Name == "enum" && member.Value.Kind == toolmark.KindArray {
				own := 0
				for k := range member.Value.Items {
					if item := &member.Value.Items[k]; item.Kind == toolmark.KindString && ownObject().MatchString(item.Text) {
						own++
					}
				}
				if own > 0 && 2*own >= len(member.Value.Items) {
					v.add(tool, "own-objects", toolmark.Location{Pointer: toolmark.Text(at)})
				}
				continue
			}
			v.values(tool, at, &member.Value)
		}
	}
}
