#!/bin/sh
# Handler plugin: after the third error of a realm within ten minutes, pause the realm for half an
# hour. Events it does not know, and anything that goes wrong here, leave the agent as it is.
#
#   plugins:
#     pause-after-errors:
#       use: exec
#       command: [/usr/local/lib/realm-agent/pause-after-errors.sh]
#       environment: { STATE: /var/lib/realm-agent/plugin-state }
#   realms:
#     stock: { on_error: [pause-after-errors] }
set -eu

request=$(cat)
# The request is one line of JSON with sorted keys; names of realms have neither quotes nor slashes.
field() {
    printf '%s' "$request" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

[ "$(field kind)" = error ] || exit 0
realm=$(field realm)
state=${STATE:?set STATE to a directory that the agent may write to}
mkdir -p "$state"

now=$(date +%s)
history="$state/$realm.errors"
{ cat "$history" 2>/dev/null || true; echo "$now"; } \
    | awk -v oldest=$((now - 600)) '$1 >= oldest' >"$history.new"
mv "$history.new" "$history"

if [ "$(wc -l <"$history")" -ge 3 ]; then
    rm -f "$history"
    until=$(date -u -d "@$((now + 1800))" +%Y-%m-%dT%H:%M:%SZ)
    printf '{ "decision": "suspend", "until": "%s", "note": "three errors within ten minutes" }\n' "$until"
fi
