#!/usr/bin/env bash
# Runs every fuzz target of the module for the time given, one after the other. Fails
# where a target does, and where there is no target to run.
set -euo pipefail
time=${1:-30s}
count=0
for dir in $(go list -f '{{.Dir}}' ./...); do
  for target in $(grep -hoE '^func (Fuzz[A-Za-z0-9_]+)' "$dir"/*_test.go 2>/dev/null | sed 's/^func //' | sort -u); do
    echo "== $target in ${dir#"$PWD"/}"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$dir"
    count=$((count + 1))
  done
done
[ "$count" -gt 0 ] || { echo "no fuzz target found"; exit 1; }
echo "$count fuzz targets passed"
