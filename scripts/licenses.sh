#!/usr/bin/env bash
# Writes internal/license/table.txt anew: SPDX's lists from npm, the permissions table of
# choosealicense from PyPI, both pinned. Only identifiers and flags are kept, no text.
set -euo pipefail
out=$(cd "$(dirname "$0")/.." && pwd)/internal/license/table.txt
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ids=spdx-license-ids@3.0.24 exceptions=spdx-exceptions@2.5.0 choose=pychoosealicense==2026.5.19
npm pack --silent "$ids" "$exceptions" >/dev/null
python3 -m pip download --quiet --no-deps --disable-pip-version-check "$choose"
for package in spdx-license-ids spdx-exceptions; do
  mkdir "$package"
  tar xzf "$package"-*.tgz -C "$package"
done
python3 -m zipfile -e pychoosealicense-*.whl choose
sums=$(sha256sum -- *.tgz *.whl)
IDS=$ids EXCEPTIONS=$exceptions CHOOSE=$choose SUMS=$sums python3 - >"$out" <<'PYTHON'
import glob, json, os

def front(path):
    """The lists of a file's front matter; its other members are texts, and are left out."""
    found, current = {}, None
    with open(path, encoding="utf-8") as f:
        assert next(f).strip() == "---", path
        for line in f:
            line = line.rstrip()
            if line == "---":
                return found
            if line.startswith("spdx-id:"):
                found["id"] = line.split(":", 1)[1].strip()
            if line and not line[0].isspace() and line[0] != "-":
                current = line.split(":")[0]
            elif current in ("permissions", "conditions", "limitations") and line.strip().startswith("- "):
                found.setdefault(current, []).append(line.strip()[2:].strip())
    raise SystemExit(path + ": no end of the front matter")

def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)

flags = {}
for path in glob.glob("choose/pychoosealicense/_licenses/*.txt"):
    f = front(path)
    assert f.get("permissions"), path
    flags[f["id"]] = f
current = load("spdx-license-ids/package/index.json")
deprecated = load("spdx-license-ids/package/deprecated.json")
names = {n.lower(): n for n in current + deprecated}
flags = {names[i.lower()]: f for i, f in flags.items()}
assert len(flags) >= 47 and len(current) > 700, (len(flags), len(current))

print("# Made by scripts/licenses.sh; do not edit. Facts only: identifiers and flags, no texts.")
print("# SPDX's identifiers: npm " + os.environ["IDS"] + " (CC0-1.0)")
print("# SPDX's exceptions: npm " + os.environ["EXCEPTIONS"] + " (CC-BY-3.0)")
print("# Flags of choosealicense.com: PyPI " + os.environ["CHOOSE"] + " (MIT; the site's data is CC-BY-3.0)")
for line in sorted(os.environ["SUMS"].splitlines()):
    print("# sha256 " + line)
print("#")
print("# license ID [deprecated] [permissions=… conditions=… limitations=…] and exception ID [deprecated]")
for i in sorted(current + deprecated, key=str.lower):
    words = ["license", i]
    if i in deprecated:
        words.append("deprecated")
    for kind in ("permissions", "conditions", "limitations"):
        if i in flags:
            words.append(kind + "=" + ",".join(sorted(flags[i].get(kind, []))))
    print(" ".join(words))
for name, old in (("index", False), ("deprecated", True)):
    for i in sorted(load("spdx-exceptions/package/" + name + ".json"), key=str.lower):
        print("exception " + i + (" deprecated" if old else ""))
PYTHON
