package service

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Typical makes up a request body that reads like the list of a usual server: so many
// tools, about size bytes altogether. It is the same in every run.
func Typical(tools, size int) []byte {
	rng := rand.New(rand.NewPCG(7, 11))
	pick := func(words []string) string { return words[rng.IntN(len(words))] }
	var list []any
	for i := range tools {
		verb, noun := pick(verbs), pick(nouns)
		properties := map[string]any{}
		for _, name := range names[:2+rng.IntN(len(names)-2)] {
			p := map[string]any{"type": pick([]string{"string", "number", "boolean"}), "description": pick(remarks)}
			if rng.IntN(4) == 0 {
				p["enum"] = []string{"open", "closed", "all"}
			}
			properties[name] = p
		}
		list = append(list, map[string]any{
			"name":        fmt.Sprintf("%s_%s_%d", verb, noun, i),
			"description": fmt.Sprintf("%s the %s of a project. %s %s", title(verb), noun, pick(remarks), pick(remarks)),
			"inputSchema": map[string]any{"type": "object", "properties": properties, "required": []string{names[0]}, "additionalProperties": false},
			"annotations": map[string]any{"readOnlyHint": verb != "update", "title": title(verb) + " " + noun},
		})
	}
	encode := func() []byte {
		body, err := json.Marshal(map[string]any{"tools": list})
		if err != nil { // made of strings only
			panic(err)
		}
		return body
	}
	body := encode()
	for len(body) < size {
		tool := list[rng.IntN(len(list))].(map[string]any)
		tool["description"] = tool["description"].(string) + " " + pick(remarks)
		body = encode()
	}
	return body
}

func title(word string) string { return string(word[0]-'a'+'A') + word[1:] }

var (
	verbs   = []string{"list", "get", "search", "create", "update", "export"}
	nouns   = []string{"tickets", "boards", "files", "members", "labels", "releases", "comments", "reports"}
	names   = []string{"project", "query", "limit", "cursor", "state", "since", "assignee"}
	remarks = []string{
		"Results come newest first, at most 100 a page.", "Pass the cursor of the last page to get the next one.",
		"Dates are written as in 2026-11-30; the time zone is that of the project.", "Returns an error where the project does not exist.",
		"Archived entries are left out unless the state says otherwise.", "The text may be Markdown; images are kept as links.",
		"You must have the right to read the project.", "Changes show at once; members who follow the entry get a mail.",
		"Names may hold letters, digits and the signs - and _.", "Leave it empty to take the default of the project.",
	}
)
