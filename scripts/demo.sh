#!/usr/bin/env bash
# Scans a real MCP server from npm where Node is there and the registry answers, the
# bundled example manifest otherwise.
set -u
toolmark=$1
# Community rules are a download of 2 MB, once; without them the scan goes on and says so.
"$toolmark" rules update || true
package=@modelcontextprotocol/server-everything@2026.8.31
if command -v npx >/dev/null 2>&1; then
  echo "Scanning the npm package $package, started with npx:"
  "$toolmark" scan --timeout 120s -- npx -y "$package"
  code=$?
  # 1 means that it could not be read: no registry, most likely.
  [ "$code" -ne 1 ] && exit "$code"
  echo "That server could not be read; the bundled example instead:"
else
  echo "No npx here: scanning the bundled example manifest examples/weather.json:"
fi
exec "$toolmark" scan examples/weather.json
