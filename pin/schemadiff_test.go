package pin_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolmark/toolmark"
	"github.com/toolmark/toolmark/pin"
)

// diffSchemas gives the drift of one tool whose input schema changes.
func diffSchemas(t *testing.T, old, new string) *pin.Drift {
	t.Helper()
	const body = `{"tools":[{"name":"a","description":"A","inputSchema":%s}]}`
	o, n := manifest(t, fmt.Sprintf(body, old)), manifest(t, fmt.Sprintf(body, new))
	d := pin.Diff(o, n, pin.Options{})
	mustApply(t, o, n, d)
	return d
}

// mustApply holds that the drift makes the new out of the old.
func mustApply(t interface {
	Helper()
	Fatalf(string, ...any)
}, old, new *toolmark.Manifest, d *pin.Drift,
) {
	t.Helper()
	want := pin.Comparable(new, pin.Options{})
	made, err := pin.Apply(pin.Comparable(old, pin.Options{}), d)
	if err != nil {
		t.Fatalf("%v\nof %s", err, show(d))
	}
	if !equal(made, want) {
		t.Fatalf("apply does not give the new manifest:\n%s\nwant\n%s\nby %s", text(made), text(want), show(d))
	}
}

// whole gives the effect on the schema as a whole, "" where nothing differs.
func whole(d *pin.Drift) pin.Effect {
	if len(d.Tools) == 0 {
		return ""
	}
	return d.Tools[0].Schema
}

func TestSchemaEffect(t *testing.T) {
	const (
		eq  = pin.EffectEquivalent
		ann = pin.EffectAnnotation
		wid = pin.EffectWidened
		nar = pin.EffectNarrowed
		res = pin.EffectRestructured
	)
	for _, test := range []struct {
		old, new string
		want     pin.Effect
	}{
		// Types. integer is part of number.
		{`{"type":"integer"}`, `{"type":"number"}`, wid},
		{`{"type":"string"}`, `{"type":["string"]}`, eq},
		{`{"type":["string","null"]}`, `{"type":["null","string"]}`, eq},
		{`{"type":["integer","number"]}`, `{"type":"number"}`, eq},
		{`{"type":"string"}`, `{"type":["string","null"]}`, wid},
		{`{"type":"string"}`, `{"type":"integer"}`, res},
		{`{"type":"string"}`, `{}`, wid},
		{`{"type":"string"}`, `{"type":"text"}`, wid + "?"},
		{`{"type":["string","null"]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, eq},
		{`{"type":["string","null"]}`, `{"oneOf":[{"type":"null"},{"type":"string"}]}`, eq},
		{`{"type":["string","null"],"maxLength":3}`, `{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]}`, eq},
		{`{"type":["string","null"],"maxLength":3}`, `{"anyOf":[{"type":"string","maxLength":4},{"type":"null"}]}`, wid},
		{`{"type":["string","null"],"maxLength":3}`, `{"anyOf":[{"type":"string","maxLength":2},{"type":"null"}]}`, nar},
		{`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `{"type":"number"}`, wid},
		{`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `{"anyOf":[{"type":"integer"},{"type":"number"}]}`, wid},
		{`{"type":"boolean"}`, `{"enum":[true,false]}`, eq},
		{`{"type":"null"}`, `{"const":null}`, eq},
		// Values.
		{`{"enum":["a","b"]}`, `{"enum":["b","a"]}`, eq},
		{`{"enum":["a"]}`, `{"const":"a"}`, eq},
		{`{"type":"string","enum":["a"]}`, `{"enum":["a"]}`, eq},
		{`{"type":"string","enum":["a",1]}`, `{"enum":["a"]}`, eq},
		{`{"enum":["a"]}`, `{"enum":["a","b"]}`, wid},
		{`{"enum":["a","b"]}`, `{"enum":["b"]}`, nar},
		{`{"enum":["a","b"]}`, `{"enum":["b","c"]}`, res},
		{`{"enum":["a","b"]}`, `{"anyOf":[{"const":"b"},{"const":"a"}]}`, eq},
		{`{"enum":[1]}`, `{"enum":[1.0]}`, eq},
		{`{"enum":[1e999]}`, `{"enum":[10e998]}`, res},
		{`{"const":{"a":1,"b":[2]}}`, `{"const":{"b":[2.0],"a":1e0}}`, eq},
		// Bounds.
		{`{"minimum":1}`, `{"minimum":1.0}`, eq},
		{`{"minimum":1}`, `{"minimum":0}`, wid},
		{`{"maximum":1}`, `{"maximum":0}`, nar},
		{`{"minimum":9007199254740992}`, `{"minimum":9007199254740993}`, nar},
		{`{"type":"integer","exclusiveMinimum":0}`, `{"type":"integer","minimum":1}`, eq},
		{`{"type":"integer","maximum":7.5}`, `{"type":"integer","exclusiveMaximum":8}`, eq},
		{`{"type":"number","exclusiveMinimum":0}`, `{"type":"number","minimum":1}`, nar},
		{`{"exclusiveMinimum":0}`, `{"minimum":0}`, wid},
		{`{"minimum":0,"exclusiveMinimum":true}`, `{"minimum":0}`, wid + "?"},
		{`{"type":"string","minimum":1}`, `{"type":"string"}`, eq},
		{`{"type":"string","minLength":0}`, `{"type":"string"}`, eq},
		{`{"type":"string","minLength":1}`, `{"type":"string"}`, wid},
		{`{"maxLength":5}`, `{"maxLength":9,"minLength":1}`, res},
		{`{"multipleOf":4}`, `{"multipleOf":2}`, wid},
		{`{"type":"integer","multipleOf":1}`, `{"type":"integer"}`, eq},
		{`{"minimum":1e999999999}`, `{"minimum":2e999999999}`, res},
		{`{"enum":["ab","abc"],"minLength":1}`, `{"enum":["ab","abc"],"minLength":2}`, eq},
		// What is opaque.
		{`{"pattern":"a"}`, `{"pattern":"[a]"}`, res},
		{`{"pattern":"a"}`, `{}`, wid},
		{`{"type":"string"}`, `{"type":"string","format":"uri"}`, nar},
		{`{"format":"uint","type":"integer"}`, `{"format":"int64","type":"integer"}`, res},
		{`{"not":{"type":"string"}}`, `{"not":{"type":["string","null"]}}`, nar},
		{`{"not":{"type":"string","minLength":1}}`, `{"not":{"type":"string","minLength":2}}`, wid},
		{`{"if":{"type":"string"},"then":{"minLength":1}}`, `{"if":{"type":"string"},"then":{"minLength":2}}`, res},
		{`{"if":{"type":"string"},"then":{"minLength":1},"title":"a"}`, `{"if":{"type":"string"},"then":{"minLength":1}}`, ann},
		{`{"contains":{"type":"string"}}`, `{"contains":{"type":"string"},"minContains":2}`, res},
		{`{"type":"string"}`, `{"type":"string","nullable":true}`, res},
		{`{"type":"string","x-order":1}`, `{"type":"string","x-order":2}`, res},
		{`{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"unevaluatedProperties":false}`, res},
		// Objects.
		{`{"required":["a","b"]}`, `{"required":["b","a"]}`, eq},
		{`{"required":["a"]}`, `{"required":["a","a"]}`, eq},
		{`{"required":[]}`, `{}`, eq},
		{`{"required":["a"]}`, `{"required":["a","b"]}`, nar},
		{`{"type":"object","required":["a"]}`, `{"type":"object","required":["a"],"minProperties":1}`, eq},
		{`{"type":"object"}`, `{"type":"object","additionalProperties":true}`, eq},
		{`{"type":"object"}`, `{"type":"object","additionalProperties":{}}`, eq},
		{`{"type":"object"}`, `{"type":"object","properties":{}}`, eq},
		{`{"type":"object"}`, `{"type":"object","additionalProperties":false}`, nar},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":false}`, nar},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, nar},
		{`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"additionalProperties":false}`, wid},
		{`{"properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`, `{"additionalProperties":{"type":"string"}}`, ann},
		{`{"properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}}`, `{"additionalProperties":{"type":"string"}}`, res},
		{`{"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false}`, `{"patternProperties":{"^x":{"type":"number"}},"additionalProperties":false}`, wid},
		{`{"patternProperties":{"^x":{}},"additionalProperties":false}`, `{"additionalProperties":false}`, nar},
		{`{"allOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}},"additionalProperties":false}]}`, `{"properties":{"a":{},"b":{}},"additionalProperties":false}`, wid},
		{`{"propertyNames":{"maxLength":3}}`, `{"propertyNames":{"type":"string","maxLength":3}}`, eq},
		{`{"allOf":[{"minimum":1},{"maximum":3}]}`, `{"minimum":1,"maximum":3}`, eq},
		{`{"allOf":[{"minimum":1}],"maximum":3}`, `{"minimum":1,"allOf":[{"maximum":3}]}`, eq},
		// Arrays.
		{`{"items":{"type":"integer"}}`, `{"items":{"type":"number"}}`, wid},
		{`{"items":{}}`, `{}`, eq},
		{`{"type":"array","prefixItems":[{"type":"string"}],"items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"}}`, eq},
		{`{"type":"array","prefixItems":[{"type":"string"}],"items":false}`, `{"type":"array","items":{"type":"string"}}`, wid},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"}}`, res},
		{`{"type":"array","prefixItems":[{},{}],"items":{"type":"string"}}`, `{"type":"array","prefixItems":[{}],"items":{"type":"string"}}`, nar},
		{`{"items":[{"type":"string"}],"additionalItems":false}`, `{"prefixItems":[{"type":"string"}],"items":false}`, res},
		{`{"type":"array","uniqueItems":false}`, `{"type":"array"}`, eq},
		{`{"type":"array","minItems":1}`, `{"type":"array","minItems":2}`, nar},
		// References.
		{`{"$ref":"#/$defs/P","$defs":{"P":{"type":"string"}}}`, `{"type":"string"}`, eq},
		{`{"properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"string"}}}`, `{"properties":{"p":{"$ref":"#/definitions/Q"}},"definitions":{"Q":{"type":"string"}}}`, eq},
		{`{"properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"string"}}}`, `{"properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"integer"}}}`, res},
		{`{"properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"string"}}}`, `{"properties":{"p":{"$ref":"#/$defs/P"}}}`, res},
		{`{"properties":{"p":{"$ref":"https://a.example/s"}}}`, `{"properties":{"p":{"type":"string"}}}`, nar + "?"},
		{`{"properties":{"p":{"$ref":"#/properties/q"},"q":{"type":"string"}}}`, `{"properties":{"p":{"type":"string"},"q":{"type":"string"}}}`, eq},
		{`{"$defs":{"T":{"properties":{"next":{"$ref":"#/$defs/T"}}}},"$ref":"#/$defs/T"}`, `{"$defs":{"U":{"properties":{"next":{"$ref":"#/$defs/U"}}}},"$ref":"#/$defs/U"}`, eq},
		{`{"$defs":{"T":{"properties":{"next":{"$ref":"#/$defs/T"}}}},"$ref":"#/$defs/T"}`, `{"properties":{"next":{"$ref":"#"}}}`, eq},
		{`{"$defs":{"T":{"required":["v"],"properties":{"next":{"$ref":"#/$defs/T"}}}},"$ref":"#/$defs/T"}`, `{"$defs":{"T":{"properties":{"next":{"$ref":"#/$defs/T"}}}},"$ref":"#/$defs/T"}`, wid},
		{`{"$defs":{"T":{"$ref":"#/$defs/T"}},"$ref":"#/$defs/T"}`, `{"type":"string"}`, nar + "?"},
		{`{"$defs":{"T":{"type":"string"}},"$ref":"#/$defs/T"}`, `{"$defs":{"T":{"$ref":"#/$defs/T"}},"$ref":"#/$defs/T"}`, wid + "?"},
		// Dialects.
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}`, eq},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, `{"type":"object"}`, eq},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}]}`, `{"$schema":"https://json-schema.org/draft/2020-12/schema","items":[{}]}`, res},
		{`{"type":"object"}`, `{"$schema":"https://a.example/read the key file","type":"object"}`, res},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$defs":{"P":{}},"$ref":"#/$defs/P","type":"string"}`, `{"$schema":"http://json-schema.org/draft-07/schema#","type":"string","$defs":{"P":{}}}`, res},
		// What is said beside.
		{`{"title":"A"}`, `{}`, ann},
		{`{"default":1}`, `{"default":1.0}`, eq},
		{`{"default":1}`, `{"default":2}`, ann},
		{`{"properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"string","description":"x"}}}`, `{"properties":{"p":{"type":"string","description":"x"}}}`, eq},
		{`{"properties":{"p":{"$ref":"#/$defs/P"}},"$defs":{"P":{"type":"string","description":"x"}}}`, `{"properties":{"p":{"type":"string","description":"y"}}}`, ann},
		{`{"properties":{"p":{"$ref":"#/$defs/P"},"q":{"description":"y"}},"$defs":{"P":{"type":"string","description":"x"}}}`, `{"properties":{"p":{"type":"string","description":"y"},"q":{"description":"y"}}}`, ann},
		{`{"type":["string","null"],"description":"d"}`, `{"anyOf":[{"type":"string"},{"type":"null"}],"description":"d"}`, eq},
		{`{"type":"object"}`, `{"type":"object","$defs":{"N":{"description":"first read the notes"}}}`, ann},
		{`{"type":"object"}`, `{"type":"object","$defs":{"first read the notes":{}}}`, ann},
		{`{"$defs":{"P":{"type":"string","nullable":true}},"$ref":"#/$defs/P"}`, `{"type":"string"}`, res},
	} {
		d := diffSchemas(t, test.old, test.new)
		want, doubt := strings.CutSuffix(string(test.want), "?")
		got := whole(d)
		// A question mark: what one side means is not known, so this or "restructured".
		if got != pin.Effect(want) && (!doubt || got != res) {
			t.Errorf("%s\n%s\nis %q, want %q: %s", test.old, test.new, got, test.want, show(d))
		}
		if got == eq && d.Changed() || got != eq && !d.Changed() {
			t.Errorf("%s\n%s\nis %q and changed %v: %s", test.old, test.new, got, d.Changed(), show(d))
		}
		back := whole(diffSchemas(t, test.new, test.old))
		if got == ann && back == eq || got == eq && back == ann {
			continue // to drop a definition that nobody refers to adds nothing to read
		}
		if back != inverse(got) {
			t.Errorf("%s\n%s\nis %q, and back %q", test.old, test.new, got, back)
		}
	}
}

func inverse(e pin.Effect) pin.Effect {
	switch e {
	case pin.EffectWidened:
		return pin.EffectNarrowed
	case pin.EffectNarrowed:
		return pin.EffectWidened
	}
	return e
}
