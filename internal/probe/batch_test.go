package probe

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// interpret does with a line what cmd.exe does before it starts anything: percent
// expansion first, in quotes and out of them, then operators outside of quotes.
func interpret(line string) (command string, operators bool) {
	line = strings.TrimSuffix(strings.TrimPrefix(line, `cmd.exe /e:ON /v:OFF /d /s /c "`), `"`)
	var b strings.Builder
	for i := 0; i < len(line); {
		if line[i] != '%' {
			b.WriteByte(line[i])
			i++
			continue
		}
		name, _, closed := strings.Cut(line[i+1:], "%")
		switch {
		case closed && strings.HasPrefix(name, "cd:~,"):
			i += len(name) + 2
		case closed && name != "":
			b.WriteString("EXPANDED")
			i += len(name) + 2
		default:
			b.WriteByte('%')
			i++
		}
	}
	quoted := false
	for _, c := range b.String() {
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted && strings.ContainsRune("&|<>^()", c):
			operators = true
		}
	}
	return b.String(), operators || quoted
}

// arguments parts a command as the C runtime of Windows does.
func arguments(command string) []string {
	var all []string
	for command = strings.TrimLeft(command, " "); command != ""; command = strings.TrimLeft(command, " ") {
		var b strings.Builder
		quoted, i := false, 0
		for i < len(command) && (quoted || command[i] != ' ') {
			slashes := 0
			for i < len(command) && command[i] == '\\' {
				slashes++
				i++
			}
			if i == len(command) || command[i] != '"' {
				b.WriteString(strings.Repeat(`\`, slashes))
				if i < len(command) && (quoted || command[i] != ' ') {
					b.WriteByte(command[i])
					i++
				}
				continue
			}
			b.WriteString(strings.Repeat(`\`, slashes/2))
			switch {
			case slashes%2 == 1:
				b.WriteByte('"')
			case quoted && i+1 < len(command) && command[i+1] == '"':
				b.WriteByte('"')
				i++
			default:
				quoted = !quoted
			}
			i++
		}
		all, command = append(all, b.String()), command[i:]
	}
	return all
}

// npx on Windows is a batch file. It is run by the interpreter, which must not act on
// what stands in its arguments.
func TestCaseE09_BatchFilesOnWindows(t *testing.T) {
	for path, want := range map[string]bool{`C:\node\npx.cmd`: true, `x.BAT`: true, `node.exe`: false, `cmd`: false, `a.cmd.exe`: false} {
		if isBatch(path) != want {
			t.Errorf("isBatch(%q) is %v", path, !want)
		}
	}
	for _, args := range [][]string{
		{"-y", "pkg", "a & calc"},
		{"a&calc"},
		{`"&calc&"`, `\"&calc`, `\\"|more`, `a\`, `a\\`, ""},
		{"%PATH%", "%%", "100%", "%cd:~,%", "^%PATH^%", "!PATH!"},
		{"a|b", "<in", ">out", "^", "(x)"},
		{"two words", "tab\there", "é"},
	} {
		line, err := batchLine(`C:\Program Files\no%de\npx.cmd`, args)
		if err != nil {
			t.Fatal(err)
		}
		checkBatch(t, line, `C:\Program Files\no%de\npx.cmd`, args)
	}
	for _, wrong := range []string{"a\nb", "a\rb", "a\x00b"} {
		if line, err := batchLine("x.cmd", []string{wrong}); err == nil {
			t.Errorf("%q gives %s", wrong, line)
		}
	}
}

func checkBatch(t interface{ Fatalf(string, ...any) }, line, script string, args []string) {
	command, operators := interpret(line)
	if operators {
		t.Fatalf("the interpreter acts on something in %s", command)
	}
	if got, want := arguments(command), append([]string{script}, args...); !slices.Equal(got, want) {
		t.Fatalf("%s\ngives %q, want %q", line, got, want)
	}
}

func TestBatchLinesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOfN(rapid.StringMatching(`[a"\\%&|^<> !:~,cd]{0,12}`), 0, 4).Draw(t, "args")
		line, err := batchLine(`C:\x.cmd`, args)
		if err != nil {
			t.Fatalf("%v", err)
		}
		checkBatch(t, line, `C:\x.cmd`, args)
	})
}
