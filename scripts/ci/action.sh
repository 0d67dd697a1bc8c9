#!/usr/bin/env bash
# The steps of action.yml: build, run, verdict. What the user gave comes in TOOLMARK_*
# variables and is only ever used as data: quoted, one argument a line, never evaluated.
set -euo pipefail

bin=${RUNNER_TEMP:?}/toolmark/bin
out=${RUNNER_TEMP:?}/toolmark

die() { # wrong use, like toolmark's own exit code 2
  printf 'toolmark action: %s\n' "$1" >&2
  exit 2
}

# Reads the lines of $1 into the array list; empty ones are left out, and so is a CR at the
# end. (macOS has bash 3.2, so no name references.)
arguments() {
  local line
  list=()
  while IFS= read -r line || [[ -n $line ]]; do
    line=${line%$'\r'}
    if [[ -n $line ]]; then list+=("$line"); fi
  done <<<"$1"
}

build() {
  local version=${TOOLMARK_VERSION:-}
  mkdir -p "$bin"
  if [[ -n $version ]]; then
    [[ $version =~ ^[A-Za-z0-9][A-Za-z0-9._/-]*$ ]] || die 'version is a tag, a branch or a commit'
    GOBIN=$bin go install -trimpath "github.com/toolmark/toolmark/cmd/toolmark@$version"
  else
    (cd "${GITHUB_ACTION_PATH:?}" && go build -trimpath -o "$bin/" ./cmd/toolmark)
  fi
  if [[ ${TOOLMARK_COMMUNITY:-} == true ]]; then
    "$bin/toolmark" rules update
  fi
}

run() {
  local command=${TOOLMARK_COMMAND:-} list source args flags=() code=0
  arguments "${TOOLMARK_SOURCE:-}"
  source=("${list[@]+"${list[@]}"}")
  arguments "${TOOLMARK_ARGS:-}"
  args=("${list[@]+"${list[@]}"}")
  if [[ -z $command ]]; then
    command=check
    if ((${#source[@]} > 0)); then command=scan; fi
  fi
  # A source must not turn into a flag: only what follows -- may begin with a dash.
  local word
  for word in "${source[@]+"${source[@]}"}"; do
    [[ $word == -- ]] && break
    [[ $word != -* ]] || die "a source may not begin with a dash; write ./$word for a file of that name"
  done
  case $command in
  scan | diff | lint) ((${#source[@]} > 0)) || die "$command needs a source" ;;
  check) flags+=("--lockfile=${TOOLMARK_LOCKFILE:-toolmark.lock.json}") ;;
  *) die 'command is scan, check, diff or lint' ;;
  esac
  flags+=("--fail-on=${TOOLMARK_FAIL_ON:-high}")
  flags+=("--sarif=$out/toolmark.sarif" "--junit=$out/toolmark.xml" "--markdown=$out/toolmark.md")
  rm -f "$out/toolmark.sarif" "$out/toolmark.xml" "$out/toolmark.md"

  # The runner takes lines of the log that begin with :: for commands. What toolmark prints
  # is escaped, but it is not all ours, so commands are off while it speaks.
  local token
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  echo "::stop-commands::$token"
  "$bin/toolmark" "$command" "${flags[@]}" "${args[@]+"${args[@]}"}" "${source[@]+"${source[@]}"}" || code=$?
  echo
  echo "::$token::"

  local file
  {
    echo "exit-code=$code"
    for file in sarif:toolmark.sarif junit:toolmark.xml markdown:toolmark.md; do
      if [[ -s $out/${file#*:} ]]; then echo "${file%%:*}=$out/${file#*:}"; fi
    done
  } >>"${GITHUB_OUTPUT:?}"
  if [[ ${TOOLMARK_SUMMARY:-true} == true && -s $out/toolmark.md ]]; then
    cat "$out/toolmark.md" >>"${GITHUB_STEP_SUMMARY:?}"
  fi
  # Findings are for the verdict, once they are uploaded. Whatever left no report is not.
  if [[ ! -s $out/toolmark.sarif && $code -ne 0 ]]; then
    exit "$code"
  fi
}

verdict() {
  case ${TOOLMARK_EXIT:-} in
  0) ;;
  1) echo "::error title=Toolmark::A server could not be read, or a list was not scanned whole. The summary says which." ;;
  3) echo "::error title=Toolmark::Tool definitions changed, or there are findings. The summary shows them, with the command that accepts a change." ;;
  *) echo "::error title=Toolmark::toolmark ended with exit code ${TOOLMARK_EXIT//[^0-9]/}." ;;
  esac
  exit "${TOOLMARK_EXIT//[^0-9]/}"
}

case ${1:-} in
build | run | verdict) "$1" ;;
*) die 'usage: action.sh build|run|verdict' ;;
esac
