#!/bin/bash
# The pictures of docs/: the console of a server with two agents, photographed with Chromium.
# Usage: pictures.sh BIN-DIRECTORY [TARGET]
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$1
target=${2:-docs/pictures}
for tool in chromium chromedriver; do
    command -v $tool >/dev/null || {
        echo "pictures: $tool is not installed" >&2
        exit 1
    }
done
run=$(mktemp -d)
pids=()
stop() {
    for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$run"
}
trap stop EXIT
start() { # NAME COMMAND...
    local name=$1
    shift
    "$@" >"$run/$name.log" 2>&1 &
    pids+=($!)
}
within() { # SECONDS COMMAND...
    local deadline=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        if [ $SECONDS -ge $deadline ]; then
            echo "pictures: failed: $*" >&2
            tail -n 5 "$run"/*.log >&2
            exit 1
        fi
        sleep 0.2
    done
}

cat >"$run/server.yaml" <<YAML
version: 1
server:
  listen: 127.0.0.1:19090
  metrics: { listen: "127.0.0.1:19465" }
  storage: sqlite:$run/server.sqlite
  log: { level: info, output: stderr }
apps:
  shop-abcde:
    sync: { mode: partition, partition_key: store, partition_type: string }
    development_mode: true
    providers: { email_password: { auto_confirm: false }, anonymous: true }
  field-notes:
    sync: { mode: flexible, queryable_fields: [team] }
    development_mode: true
    providers: { anonymous: true }
YAML
server() { "$bin/realm-server" "$@" --config "$run/server.yaml"; }
start server "$bin/realm-server" serve --config "$run/server.yaml"
within 60 server health

(umask 077; echo "correct horse" >"$run/password")
for number in 7 8; do
    server users create --app shop-abcde "till-$number@example.com" --password-file "$run/password"
    cat >"$run/till-$number.yaml" <<YAML
version: 1
agent:
  data_directory: $run/till-$number
  control_socket: $run/till-$number.sock
  metrics: { listen: "127.0.0.1:$((19470 + number))" }
  log: { level: info, output: stderr }
apps: { shop: { app_id: shop-abcde, base_url: "http://127.0.0.1:19090" } }
users:
  till: { app: shop, provider: email-password, email: till-$number@example.com, password: { file: $run/password } }
realms:
  stock:
    user: till
    partition: { string: store-42 }
    schema: { classes: { Item: { primary_key: _id, properties: { _id: int, name: string } } } }
YAML
    start "till-$number" "$bin/realm-agent" run --config "$run/till-$number.yaml"
done
# An account that waits for its confirmation.
curl --silent --json '{"email":"new-till@example.com","password":"correct horse"}' \
    http://127.0.0.1:19090/api/client/v2.0/app/shop-abcde/auth/providers/local-userpass/register >/dev/null

for number in 7 8; do
    within 60 "$bin/realm-agent" wait stock --for open --timeout 60s --config "$run/till-$number.yaml"
done
# Some work, with wrong passwords.
for number in $(seq 1 20); do
    sqlite3 -cmd '.timeout 10000' "$run/till-7/realms/stock/stock.sqlite" \
        "INSERT INTO Item(_id, name) VALUES ($number, 'item $number')"
    curl --silent --json '{"username":"till-7@example.com","password":"wrong"}' \
        http://127.0.0.1:19090/api/client/v2.0/app/shop-abcde/auth/providers/local-userpass/login >/dev/null
    sleep 0.2
done
"$bin/realm-server" console --port 0 --config "$run/server.yaml" >"$run/address" &
pids+=($!)
within 60 grep -q key= "$run/address"
scripts/browser/pictures.py "$(cat "$run/address")" "$target"
ls -l "$target"
