package probe

import (
	"errors"
	"strings"
)

// isBatch reports whether Windows runs a program by its command interpreter.
func isBatch(path string) bool {
	lower := strings.ToLower(path)
	return strings.HasSuffix(lower, ".cmd") || strings.HasSuffix(lower, ".bat")
}

var errBatchArgument = errors.New("an argument with a line break or a NUL cannot be given to a batch file")

// batchLine gives the command line by which cmd.exe runs a batch file, such as npx.cmd,
// with exactly those arguments. The interpreter reads the line before the program does
// and would act on & | < > ^ and expand %NAME% in it, so:
//
//   - every argument stands in quotes, inside of which only " and % mean something to it;
//   - " is doubled, which closes the quotes and opens them again at once, and is one
//     quote to the C runtime's reader; backslashes before a quote are doubled for it;
//   - % becomes %%cd:~,%: the first stays, and the rest is a substring of length 0 of
//     a variable that always exists, so that no name can begin;
//   - /v:OFF leaves ! alone, /d keeps the user's AutoRun commands from running, /s
//     takes off the outermost quotes and no others.
//
// The interpreter has no way to carry a line break.
func batchLine(script string, args []string) (string, error) {
	var b strings.Builder
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /s /c "`)
	for i, arg := range append([]string{script}, args...) {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", errBatchArgument
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte('"')
		backslashes := 0
		for j := range len(arg) {
			switch c := arg[j]; c {
			case '\\':
				backslashes++
			case '"':
				b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
				backslashes = 0
			case '%':
				b.WriteString("%%cd:~,")
				backslashes = 0
			default:
				backslashes = 0
			}
			b.WriteByte(arg[j])
		}
		b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
	}
	b.WriteByte('"')
	return b.String(), nil
}
