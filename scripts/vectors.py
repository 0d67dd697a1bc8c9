#!/usr/bin/env python3
"""Writes docs/vectors.json: test vectors of the pin and the fingerprint.

The canonical bytes and hashes come from here, from CPython's json and the small
RFC 8785 writer below, and not from the Go code, which a test holds against them.
"""
import hashlib
import json
import math
import sys

# (name, what it shows, body). A body is JSON text: {"server"?, "tools"}.
CASES = [
    ("empty", "A list without tools, a server that says nothing of itself.", '{"tools":[]}'),
    ("simple", "Members that are not covered change nothing; tools are sorted by name.",
     '{"server":{"name":"library","version":"1.4.0"},"tools":[{"name":"search","description":"Finds books by title.",'
     '"inputSchema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]},"annotations":{"readOnlyHint":true}},'
     '{"name":"borrow","title":"Borrow","description":"Borrows one book \\u2014 for 14 days."}]}'),
    ("other-version", "The version is part of the fingerprint and not of the pin.",
     '{"server":{"name":"library","version":"1.5.0"},"tools":[{"name":"borrow"}]}'),
    ("same-tools", "The pin of other-version, another fingerprint.",
     '{"server":{"name":"library","version":"1.6.0"},"tools":[{"name":"borrow"}]}'),
    ("absent", "Absent, null and the other spelling of the schema's member; inputSchema wins where both stand.",
     '{"tools":[{"name":"a"},{"name":"b","description":null,"inputSchema":null},{"name":"c","description":"","input_schema":{"x":1}},'
     '{"name":"d","inputSchema":{"y":2},"input_schema":{"x":1}},{"name":"e","inputSchema":null,"input_schema":{"z":3}}]}'),
    ("equal-names", "Tools of one name are sorted by their own canonical JSON.",
     '{"tools":[{"name":"a","description":"second"},{"name":"a","description":"first"}]}'),
    ("order", "Names beyond U+FFFF: the pin sorts by code point, the fingerprint by UTF-16 code unit.",
     '{"tools":[{"name":"\\ud83d\\ude00"},{"name":"\\uff5a"}]}'),
    ("escapes", "What is escaped and what stands bare.",
     '{"tools":[{"name":"a","description":"\\u0000\\b\\f\\n\\r\\t\\u001f \\"\\\\/<>& \\u007f \\u00e9 \\u20ac \\ud834\\udd1e"}]}'),
    ("numbers", "The same double in other spellings: other pins, one form in the fingerprint.",
     '{"tools":[{"name":"a","inputSchema":{"a":1.0,"b":1e5,"c":-0,"d":-0.0,"e":0.1,"f":1e-7,"g":1e21,"h":1e16,"i":123456789012,"j":0.0001,"k":5e-324}}]}'),
    ("big-integer", "2^53+1 is exact in the pin; RFC 8785 would write 2^53, so there is no fingerprint.",
     '{"tools":[{"name":"a","inputSchema":{"maximum":9007199254740993}}]}'),
    ("overflow", "A number beyond the doubles is Infinity in the pin; no fingerprint.",
     '{"tools":[{"name":"a","inputSchema":{"maximum":1e400,"minimum":-1e400}}]}'),
    ("duplicate-member", "Of a member that stands twice the last counts in the pin; no fingerprint.",
     '{"tools":[{"name":"a","inputSchema":{"type":"array","type":"object"}}]}'),
    ("lone-surrogate", "Half a surrogate pair is its escape in the pin; no fingerprint.",
     '{"tools":[{"name":"a","description":"\\ud800"}]}'),
]


def sha256(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def python(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).replace("\x7f", "\\u007f")


def units(text):
    return text.encode("utf-16-be", "surrogatepass")


class Refused(Exception):
    """RFC 8785 does not carry this."""


def number(v):
    """ECMAScript's Number::toString (RFC 8785, section 3.2.2.3)."""
    if isinstance(v, int):
        if int(float(v)) != v:
            raise Refused
        v = float(v)
    if math.isinf(v):
        raise Refused
    if v == 0:
        return "0"
    sign, v = ("-", -v) if v < 0 else ("", v)
    mantissa, _, exponent = ("%r" % v).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + ("" if fraction == "0" else fraction))
    n = len(whole) + int(exponent or 0)  # the point stands behind n digits
    stripped = digits.lstrip("0")
    n -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    k = len(digits)
    if k <= n <= 21:
        return sign + digits + "0" * (n - k)
    if 0 < n <= 21:
        return sign + digits[:n] + "." + digits[n:]
    if -6 < n <= 0:
        return sign + "0." + "0" * -n + digits
    e = ("+" if n > 0 else "-") + str(abs(n - 1))
    return sign + digits[0] + ("." + digits[1:] if k > 1 else "") + "e" + e


def jcs(v):
    if isinstance(v, bool) or v is None:
        return json.dumps(v)
    if isinstance(v, (int, float)):
        return number(v)
    if isinstance(v, str):
        if any(0xD800 <= ord(c) <= 0xDFFF for c in v):
            raise Refused
        return json.dumps(v, ensure_ascii=False)
    if isinstance(v, list):
        return "[" + ",".join(jcs(x) for x in v) + "]"
    return "{" + ",".join(jcs(k) + ":" + jcs(v[k]) for k in sorted(v, key=units)) + "}"


def once(pairs):
    if len({k for k, _ in pairs}) != len(pairs):
        raise Refused
    return dict(pairs)


def schema(tool):
    for name in ("inputSchema", "input_schema"):
        if tool.get(name) is not None:
            return tool[name]
    return {}


def vector(name, shows, body):
    doc = json.loads(body)
    tools = [{"name": t["name"], "description": t.get("description") or "", "input_schema": schema(t)} for t in doc["tools"]]
    canonical = python(sorted(tools, key=lambda t: (t["name"], python(t))))
    out = {
        "name": name, "shows": shows, "body": body, "pin_canonical": canonical, "pin": sha256(canonical),
        "tools": [{"name": t["name"], "sha256": sha256(python(t))} for t in tools], "fingerprint_canonical": None, "fingerprint": None,
    }
    try:
        doc = json.loads(body, object_pairs_hook=once)
        tools = [{"name": t["name"], "description": t.get("description") or "", "inputSchema": schema(t)} for t in doc["tools"]]
        server = doc.get("server") or {}
        text = jcs({
            "server": {"name": server.get("name", ""), "version": server.get("version", "")},
            "tools": sorted(tools, key=lambda t: (units(t["name"]), units(jcs(t)))),
        })
        out["fingerprint_canonical"], out["fingerprint"] = text, "tmfp1:" + sha256(text)
    except Refused:
        pass
    return out


json.dump({"version": 1, "vectors": [vector(*c) for c in CASES]}, sys.stdout, indent=1)
print()
