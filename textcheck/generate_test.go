package textcheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// dataEnv names the folder with the data files of Unicode that the tables are made
// from; see internal/gen.
const dataEnv = "TOOLMARK_UCD"

// The committed tables are what the data gives.
func TestTablesAreGenerated(t *testing.T) {
	dir := os.Getenv(dataEnv)
	if dir == "" {
		dir = "/usr/share/unicode"
	}
	if _, err := os.Stat(filepath.Join(dir, "confusables.txt")); err != nil {
		t.Skipf("no Unicode data: set %s to a folder as internal/gen describes it: %v", dataEnv, err)
	}
	out, err := exec.Command("go", "run", "./internal/gen", "-check", "-data", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func TestTables(t *testing.T) {
	for r, want := range map[rune]string{
		0x200b: "U+200B ZERO WIDTH SPACE", 0x1b: "U+001B ESCAPE", 0: "U+0000 NULL", 0x85: "U+0085 NEXT LINE",
		0x430: "U+0430 CYRILLIC SMALL LETTER A", 0xe0041: "U+E0041 TAG LATIN CAPITAL LETTER A",
		0x1d422: "U+1D422 MATHEMATICAL BOLD SMALL I", 0xe01ef: "U+E01EF VARIATION SELECTOR-256",
		0xd800: "U+D800 LONE SURROGATE", 0xe000: "U+E000 PRIVATE USE", 0x10ffff: "U+10FFFF NONCHARACTER",
		0x2065: "U+2065 UNASSIGNED", 0x41: "U+0041", 0x3164: "U+3164 HANGUL FILLER",
	} {
		if got := runeName(r); got != want {
			t.Errorf("name of %04X is %q; want %q", r, got, want)
		}
	}
	count := map[string]int{}
	for r := rune(0); r <= 0x10ffff; r++ {
		p := props(r)
		if p != propsHigh(r) {
			t.Fatalf("%U: two tables, %#x and %#x", r, p, propsHigh(r))
		}
		for name, bit := range map[string]uint32{
			"ignorable": bitIgnorable, "pictograph": bitPictograph, "emoji": bitEmoji, "modifier": bitModifier, "ideograph": bitIdeograph,
		} {
			if p&bit != 0 {
				count[name]++
			}
		}
		if category(p) == catCf {
			count["Cf"]++
		}
		if confusable(r) != "" {
			count["confusable"]++
		}
	}
	// The totals that the files of Unicode 15.0.0 state.
	for name, want := range map[string]int{
		"ignorable": 4174, "pictograph": 3537, "emoji": 1424, "modifier": 5, "ideograph": 97058, "Cf": 170, "confusable": 6311,
	} {
		if count[name] != want {
			t.Errorf("%d characters are %s; want %d", count[name], name, want)
		}
	}
	if props(-1) != 0 || props(0x110000) != 0 {
		t.Error("properties beyond Unicode")
	}
}
