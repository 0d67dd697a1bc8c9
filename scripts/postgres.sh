#!/usr/bin/env bash
# A private PostgreSQL for tests, in a folder of its own, reached by a Unix socket only:
# it opens no port and touches no other cluster of this machine.
#
#   scripts/postgres.sh start   starts it where it does not run; prints its URL
#   scripts/postgres.sh stop    ends it and deletes its folder
#   scripts/postgres.sh status  prints the URL, or fails
#
# Where there is no PostgreSQL, root on Debian or Ubuntu gets one by apt-get; anybody
# else is told what to install. Everything but the URL goes to standard error. It is
# safe to call at any time and several times at once, and every step has a time limit.
# TOOLMARK_POSTGRES_DIR names another folder.
set -euo pipefail
umask 077
cd /

me=$(id -u)
# Not $TMPDIR: it may differ between two calls, or be closed to the server's user.
dir=${TOOLMARK_POSTGRES_DIR:-/tmp/toolmark-postgres-$me}
data=$dir/data run=$dir/run log=$dir/log
url="postgres://postgres@/postgres?host=$run"

say() { printf 'postgres.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# limit SECONDS COMMAND…: timeout(1) where there is one (macOS has none).
limit() {
  if command -v timeout >/dev/null 2>&1; then timeout -k 10 "$@"; else shift; "$@"; fi
}

# The server refuses to run as root, so root hands its folder to another user.
owner=
if [ "$me" -eq 0 ]; then
  owner=postgres
fi

as_owner() { # SECONDS COMMAND…
  local seconds=$1
  shift
  if [ -z "$owner" ]; then
    limit "$seconds" "$@"
  elif command -v setpriv >/dev/null 2>&1; then
    limit "$seconds" setpriv --reuid="$owner" --regid="$(id -g "$owner")" --clear-groups env HOME="$dir" "$@"
  else
    limit "$seconds" runuser -u "$owner" -- env HOME="$dir" "$@"
  fi
}

# find_bin sets bin to the folder of the newest initdb and pg_ctl.
find_bin() {
  local candidate
  bin=
  for candidate in $(ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql*/bin \
    /usr/local/opt/postgresql*/bin /usr/local/pgsql/bin 2>/dev/null | sort -V -r); do
    if [ -x "$candidate/initdb" ] && [ -x "$candidate/pg_ctl" ]; then
      bin=$candidate
      return 0
    fi
  done
  if command -v initdb >/dev/null 2>&1 && command -v pg_ctl >/dev/null 2>&1; then
    bin=$(dirname "$(command -v pg_ctl)")
    return 0
  fi
  return 1
}

install_postgres() {
  if [ "$me" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    die "PostgreSQL is not installed here. Install it (Debian, Ubuntu: sudo apt-get install postgresql; macOS: brew install postgresql@17; Fedora: sudo dnf install postgresql-server), or set TOOLMARK_TEST_POSTGRES to the URL of a database in which tests may create databases."
  fi
  say "PostgreSQL is not installed here: installing it with apt-get"
  local out try
  out=$(mktemp)
  umask 022 # what packages write is for everybody
  for try in 1 2 3; do
    if DEBIAN_FRONTEND=noninteractive limit 240 apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 update >"$out" 2>&1 &&
      DEBIAN_FRONTEND=noninteractive limit 480 apt-get -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 \
        install -y --no-install-recommends postgresql >>"$out" 2>&1; then
      rm -f "$out"
      umask 077
      return 0
    fi
    say "apt-get failed ($try of 3):"
    tail -n 15 "$out" >&2
    sleep 3
  done
  rm -f "$out"
  die "PostgreSQL could not be installed with apt-get"
}

ready() { # a server answers queries, not only its port
  local psql=$bin/psql
  [ -x "$psql" ] || psql=psql
  [ -S "$run/.s.PGSQL.5432" ] &&
    [ "$(as_owner 15 "$psql" -X -A -t -q -h "$run" -U postgres -d postgres -c 'SELECT 1' 2>/dev/null)" = 1 ]
}

halt() { # ends the server, if there is one, whatever state it is in
  [ -d "$data" ] || return 0
  as_owner 40 "$bin/pg_ctl" -D "$data" -m immediate -w -t 30 stop >/dev/null 2>&1 || true
}

create() {
  halt
  rm -rf "$dir"
  mkdir -p "$dir"
  mkdir "$data" "$run"
  : >"$log"
  if [ -n "$owner" ]; then chown -R "$owner" "$dir"; fi
  as_owner 120 "$bin/initdb" -D "$data" -U postgres -A trust --encoding=UTF8 --locale=C --no-sync >>"$log" 2>&1 9>&-
}

# launch starts the server. It must not inherit the lock (9) nor our output.
launch() {
  as_owner 100 "$bin/pg_ctl" -D "$data" -l "$log" -w -t 90 \
    -o "-c listen_addresses='' -c unix_socket_directories='$run' -c port=5432 -c max_connections=200" \
    start >>"$dir/pg_ctl.log" 2>&1 </dev/null 9>&-
}

show_logs() {
  local f
  for f in "$log" "$dir/pg_ctl.log"; do
    if [ -s "$f" ]; then
      say "the end of $f:"
      tail -n 25 "$f" >&2
    fi
  done
}

# own refuses a folder that somebody else put there.
own() {
  if [ -L "$dir" ] || { [ -e "$dir" ] && [ ! -d "$dir" ]; }; then die "$dir is no folder"; fi
  [ -d "$dir" ] || return 0
  local uid
  uid=$(ls -dn "$dir" | awk '{print $3}')
  if [ "$uid" != "$me" ] && { [ -z "$owner" ] || [ "$uid" != "$(id -u "$owner")" ]; }; then
    die "$dir belongs to user $uid; set TOOLMARK_POSTGRES_DIR to another folder"
  fi
}

exclusive() {
  mkdir -p "$(dirname "$dir")"
  if command -v flock >/dev/null 2>&1; then
    exec 9>"$dir.lock"
    flock -w 900 9 || die "another postgres.sh has held $dir.lock for 15 minutes"
  fi
}

start() {
  if ! find_bin; then
    install_postgres
    find_bin || die "PostgreSQL was installed, but no initdb is where it should be"
  fi
  if [ -n "$owner" ] && ! id "$owner" >/dev/null 2>&1; then owner=nobody; fi
  own
  if ready; then
    printf '%s\n' "$url"
    return 0
  fi
  if [ "${#run}" -gt 80 ]; then die "the path $run is too long for a socket; set TOOLMARK_POSTGRES_DIR to a shorter one"; fi
  # What an earlier run left is used if it still starts; otherwise we begin anew, once.
  if [ -s "$data/PG_VERSION" ]; then
    halt
    mkdir -p "$run"
    if [ -n "$owner" ]; then chown -R "$owner" "$run"; fi
    if launch && ready; then
      printf '%s\n' "$url"
      return 0
    fi
    say "the cluster in $dir does not start; making a new one"
    show_logs
  fi
  local try
  for try in 1 2; do
    if create && launch && ready; then
      printf '%s\n' "$url"
      return 0
    fi
    say "the server did not start ($try of 2)"
    show_logs
  done
  halt
  die "PostgreSQL could not be started in $dir with $bin"
}

case ${1:-} in
start)
  exclusive
  start
  ;;
stop)
  exclusive
  if [ -d "$dir" ]; then
    own
    if find_bin; then
      as_owner 40 "$bin/pg_ctl" -D "$data" -m fast -w -t 30 stop >/dev/null 2>&1 || halt
    fi
    rm -rf "$dir"
  fi
  ;;
status)
  find_bin && ready || die "it does not run"
  printf '%s\n' "$url"
  ;;
*)
  die "usage: scripts/postgres.sh start|stop|status"
  ;;
esac
