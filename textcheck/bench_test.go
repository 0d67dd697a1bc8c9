package textcheck

import (
	"strings"
	"testing"
)

var benchTexts = []struct{ name, text string }{
	{"plain", strings.Repeat("Lists the open issues of a repository, newest first; takes a page size of at most 100 and a cursor. ", 40)},
	{"lines", strings.Repeat("Lists the open issues of a repository.\n- state: open or closed\n- page: from 1\n\nReturns at most 100.\n", 40)},
	{"russian", strings.Repeat("Показывает открытые задачи проекта, сначала новые; принимает размер страницы и курсор. ", 40)},
	{"hostile", strings.Repeat(strings.Join(pieces, " "), 4)},
}

func BenchmarkReadings(b *testing.B) {
	for _, t := range benchTexts {
		b.Run(t.name, func(b *testing.B) {
			b.SetBytes(int64(len(t.text)))
			for b.Loop() {
				Readings(t.text)
			}
		})
	}
}

func BenchmarkInspect(b *testing.B) {
	for _, t := range benchTexts {
		b.Run(t.name, func(b *testing.B) {
			b.SetBytes(int64(len(t.text)))
			for b.Loop() {
				Inspect(t.text, Options{})
			}
		})
	}
}
