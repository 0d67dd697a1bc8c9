package toolmark

import (
	"fmt"
	"slices"
)

// Surface says which part of a manifest a text stands in.
type Surface string

// The surfaces, from the most to the least read by a model.
const (
	SurfaceDescription   Surface = "description"    // a tool's description
	SurfaceParameter     Surface = "parameter"      // a description in the input schema
	SurfaceParameterName Surface = "parameter-name" // a property name in the input schema
	SurfaceEnum          Surface = "enum"           // enum and const values
	SurfaceDefault       Surface = "default"        // default values
	SurfaceExample       Surface = "example"        // examples
	SurfaceSchema        Surface = "schema"         // any other string of the input schema: title, pattern, $comment, unknown members
	SurfaceName          Surface = "name"           // a tool's name
	SurfaceTitle         Surface = "title"          // a tool's title
	SurfaceAnnotation    Surface = "annotation"     // a tool's annotations
	SurfaceOutput        Surface = "output"         // any string of the output schema
	SurfaceMeta          Surface = "meta"           // _meta and members no revision of MCP defines
	SurfaceInstructions  Surface = "instructions"   // the server's instructions
	SurfacePrompt        Surface = "prompt"         // any string of a prompt's entry
	SurfaceResource      Surface = "resource"       // any string of a resource or a resource template
	SurfaceServer        Surface = "server"         // serverInfo
)

// Surfaces lists every surface in the order above.
func Surfaces() []Surface {
	return []Surface{
		SurfaceDescription, SurfaceParameter, SurfaceParameterName, SurfaceEnum, SurfaceDefault,
		SurfaceExample, SurfaceSchema, SurfaceName, SurfaceTitle, SurfaceAnnotation, SurfaceOutput,
		SurfaceMeta, SurfaceInstructions, SurfacePrompt, SurfaceResource, SurfaceServer,
	}
}

// ParseSurface reads a surface's name; an unknown one is an error.
func ParseSurface(text string) (Surface, error) {
	if slices.Contains(Surfaces(), Surface(text)) {
		return Surface(text), nil
	}
	return "", fmt.Errorf("unknown surface %q: one of %v", text, Surfaces())
}

// Scope says how much of a manifest is scanned.
type Scope uint8

// The scopes. The zero Scope is what the HTTP API promises.
const (
	// ScopeStandard reads each tool's description and every string of its input schema.
	ScopeStandard Scope = iota
	// ScopeAll reads everything a model or a person may be shown.
	ScopeAll
)

// String gives "standard" or "all". It is the inverse of ParseScope.
func (s Scope) String() string {
	if s == ScopeAll {
		return "all"
	}
	return "standard"
}

// ParseScope reads "standard" or "all"; any other text is an error.
func ParseScope(text string) (Scope, error) {
	switch text {
	case "standard":
		return ScopeStandard, nil
	case "all":
		return ScopeAll, nil
	}
	return 0, fmt.Errorf("unknown surfaces %q: use standard or all", text)
}
