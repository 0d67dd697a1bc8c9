package report

import (
	"strconv"
	"strings"

	"github.com/toolmark/toolmark"
)

// schemaPlace is a place of a schema as a person would name it.
type schemaPlace struct {
	// path names the part of the input that the keyword is about: "filter.tags[]"; ""
	// is the input as a whole.
	path string
	// keyword is the keyword that differs; "" where the place is a schema itself.
	keyword string
	// rest are the tokens behind the keyword: an index into enum, for example.
	rest []string
	// property is true where the place is the schema of a named member itself.
	property bool
}

// placeInSchema reads the tokens of a pointer that starts at a schema.
func placeInSchema(tokens []string) schemaPlace {
	var p schemaPlace
	for i := 0; i < len(tokens); {
		k := tokens[i]
		more := i+1 < len(tokens)
		p.property = false
		switch k {
		case "properties", "patternProperties", "dependentSchemas", "$defs", "definitions":
			if !more {
				return schemaPlace{path: p.path, keyword: k}
			}
			p.enter(k, tokens[i+1])
			i += 2
		case "anyOf", "oneOf", "allOf", "prefixItems":
			if i+2 >= len(tokens) {
				return schemaPlace{path: p.path, keyword: k, rest: tokens[i+1:]}
			}
			n, _ := strconv.Atoi(tokens[i+1])
			if k == "prefixItems" {
				p.path += "[" + strconv.Itoa(n) + "]"
			} else {
				p.path += "(" + k + " " + strconv.Itoa(n+1) + ")"
			}
			i += 2
		case "items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else",
			"unevaluatedItems", "unevaluatedProperties":
			if !more {
				return schemaPlace{path: p.path, keyword: k}
			}
			switch k {
			case "items":
				p.path += "[]"
			case "additionalProperties":
				p.path += ".*"
			default:
				p.path += "(" + k + ")"
			}
			i++
		default:
			return schemaPlace{path: p.path, keyword: k, rest: tokens[i+1:]}
		}
	}
	return p
}

func (p *schemaPlace) enter(keyword, name string) {
	switch keyword {
	case "properties", "dependentSchemas":
		if p.path != "" {
			p.path += "."
		}
		p.path += name
		p.property = keyword == "properties"
	case "patternProperties":
		p.path += "./" + name + "/"
	default:
		p.path += "#" + name
	}
}

// tokensOf splits a JSON Pointer.
func tokensOf(pointer string) []string {
	if pointer == "" {
		return nil
	}
	list := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := range list {
		list[i] = strings.ReplaceAll(strings.ReplaceAll(list[i], "~1", "/"), "~0", "~")
	}
	return list
}

// pointerOf joins tokens to a JSON Pointer.
func pointerOf(tokens []string) string {
	at := ""
	for _, t := range tokens {
		at = toolmark.Pointer(at, t)
	}
	return at
}
