#!/usr/bin/env bash
# What a change must pass before it is sent: format, vet, static analysis, generated
# files and go.mod as committed, all tests with the race detector.
set -euo pipefail
say() { printf '\n== %s\n' "$*"; }

say "gofumpt"
unformatted=$(go run mvdan.cc/gofumpt@v0.12.0 -l .)
[ -z "$unformatted" ] || { echo "not formatted: $unformatted"; exit 1; }

say "vet"
go vet ./...

say "staticcheck"
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

say "go.mod is tidy"
go mod tidy -diff

say "generated files are what their generators give"
# The Unicode tables need data that is not part of the repository: TOOLMARK_UCD names a
# folder that has it, and the tests compare then (see textcheck/internal/gen).
go generate ./rulepack
go run ./internal/eval -rules-doc
git diff --exit-code -- rulepack/compiled.rules docs/rules.md

say "tests with the race detector"
url="${TOOLMARK_TEST_POSTGRES:-$(./scripts/postgres.sh start)}"
TOOLMARK_TEST_POSTGRES="$url" go test -race ./...
