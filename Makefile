# Toolmark. `make run` and `make test` are all a new machine needs; the rest is for
# who works on it. Every command prints what it does.
SHELL := /bin/bash
BIN := bin/toolmark
SHARED ?= ../shared
# Bodies `make oracle` generates, and the time `make fuzz` gives each target.
BODIES ?= 200000
FUZZTIME ?= 30s

.PHONY: help run demo build release test test-real check bench eval fuzz oracle generate clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: build ## build, then start the scan service on its embedded database (ARGS='--addr …' for its flags)
	@./scripts/run.sh $(BIN) $(ARGS)

demo: build ## build, then scan a real MCP server (the bundled example where there is no Node)
	@./scripts/demo.sh $(BIN)

build: ## build bin/toolmark
	go build -trimpath -o $(BIN) ./cmd/toolmark

release: ## build bin/toolmark as the image has it, with the profile of a loaded service: faster scans, a slower build
	go build -trimpath -pgo=cmd/toolmark/serve.pgo -o $(BIN) ./cmd/toolmark

# Tests need PostgreSQL: the script installs it where it is missing (root, apt-get) and
# starts a private cluster on a Unix socket; it says what to install where it cannot.
test: ## everything that decides green
	go vet ./...
	url="$${TOOLMARK_TEST_POSTGRES:-$$(./scripts/postgres.sh start)}" && \
	  TOOLMARK_TEST_POSTGRES="$$url" go test ./...

test-real: build ## real MCP servers from npm, and the official conformance suite on ours (needs Node and the npm registry)
	url="$${TOOLMARK_TEST_POSTGRES:-$$(./scripts/postgres.sh start)}" && \
	  TOOLMARK_TEST_POSTGRES="$$url" TOOLMARK_REAL=1 go test -count=1 -v -run 'Real' ./internal/probe/ ./internal/mcpserver/ ./cmd/toolmark/

check: ## what a change must pass before it is sent
	./scripts/check.sh

bench: release ## measure everything that is promised; writes docs/performance.md
	url="$${TOOLMARK_TEST_POSTGRES:-$$(./scripts/postgres.sh start)}"; \
	  TOOLMARK_SHARED="$(SHARED)" TOOLMARK_TEST_POSTGRES="$$url" go run ./internal/bench -check -write docs/performance.md

eval: ## detection on ../shared/corpus; writes docs/detection.md
	go run ./internal/eval -shared $(SHARED)

fuzz: ## every fuzz target for FUZZTIME
	./scripts/fuzz.sh $(FUZZTIME)

oracle: build ## BODIES fresh bodies against CPython: 0 may differ
	go run ./test/oracle/run -n $(BODIES) -binary $(BIN)

generate: ## the compiled rules and docs/rules.md (Unicode tables: go generate ./textcheck)
	go generate ./rulepack
	go run ./internal/eval -rules-doc

clean:
	rm -rf bin
