#!/usr/bin/env bash
# The main job on a fresh machine: the scan service on its embedded database. It prints
# its address and, on the first start, a key and a request to try; Ctrl-C ends it.
set -eu
toolmark=$1
shift
exec "$toolmark" serve "$@"
