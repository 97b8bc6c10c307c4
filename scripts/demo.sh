#!/usr/bin/env bash
# The main job on real input: one server, two agents, this machine's package inventory; then an app with
# flexible sync: two stores, and a region that sees both.
# Usage: demo.sh BIN-DIRECTORY [EXIT]    with EXIT=1 it ends by itself
set -euo pipefail

bin=$1
ends_by_itself=${2:-}
run=$PWD/.run
app=packages-demo
orders_app=orders-demo

# --- what it prints ---------------------------------------------------------------------------------

bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
if [ ! -t 1 ]; then bold="" dim="" plain=""; fi
step=0
title() {
    step=$((step + 1))
    printf '\n%s%d. %s%s\n' "$bold" "$step" "$*" "$plain"
}
say() { printf '   %s\n' "$*"; }
show() { sed 's/^/   /'; }
fail() {
    printf '\nFAILED: %s\n' "$*" >&2
    for log in "$run"/log/*.log; do
        printf -- '--- last lines of %s\n' "$log" >&2
        tail -n 15 "$log" >&2
    done
    exit 1
}

# --- processes --------------------------------------------------------------------------------------

declare -A pids=()

start() { # NAME COMMAND...
    local name=$1
    shift
    "$@" >>"$run/log/$name.log" 2>&1 &
    pids[$name]=$!
    say "$name: process ${pids[$name]}  ${dim}$*${plain}"
}

stop() { # SIGNAL NAME
    kill "-$1" "${pids[$2]}" 2>/dev/null || true
    wait "${pids[$2]}" 2>/dev/null || true
    unset "pids[$2]"
}

stop_everything() {
    trap - EXIT INT TERM
    for name in "${!pids[@]}"; do kill -TERM "${pids[$name]}" 2>/dev/null || true; done
    wait 2>/dev/null || true
}
trap stop_everything EXIT
trap 'echo; exit 130' INT TERM

within() { # SECONDS COMMAND...: repeats the command until it succeeds
    local deadline=$((SECONDS + $1))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

free_port() {
    local port
    for port in $(seq 9090 9190); do
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
    done
    return 1
}

# --- the realms -------------------------------------------------------------------------------------

file_of() { echo "$run/$1/realms/inventory/inventory.sqlite"; }
sql() { sqlite3 -cmd '.timeout 10000' "$(file_of "$1")" "$2"; }
orders_of() { echo "$run/$1/realms/orders/orders.sqlite"; }
orders_sql() { sqlite3 -cmd '.timeout 10000' "$(orders_of "$1")" "$2"; }
count_of() { sql "$1" 'SELECT count(*) FROM "Package"'; }
digest_of() { sql "$1" 'SELECT * FROM "Package" ORDER BY _id' | sha256sum | cut -c1-16; }
agent() { "$bin/realm-agent" "${@:2}" --config "$run/$1.yaml"; }

start_server() {
    start server "$bin/realm-server" serve --config "$run/server.yaml"
    within 120 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port" || fail "the server does not listen"
}
start_agent() {
    start "$1" "$bin/realm-agent" run --config "$run/$1.yaml"
    within 120 agent "$1" status || fail "agent $1 does not answer"
}

sync_both() {
    local name
    # Twice: what the second agent uploads in the first round reaches the first in the second.
    for name in north south north south; do
        agent "$name" sync inventory --wait --timeout 180s >>"$run/log/sync.log" 2>&1 \
            || fail "agent $name cannot sync"
    done
}

compare() {
    local north south
    north=$(digest_of north) south=$(digest_of south)
    say "north: $(count_of north) rows, digest $north"
    say "south: $(count_of south) rows, digest $south"
    [ "$north" = "$south" ] || fail "the two files differ"
    say "identical"
}

# --- configuration ----------------------------------------------------------------------------------

rm -rf "$run"
mkdir -p "$run/log"
port=$(free_port) || fail "no free port between 9090 and 9190"

cat >"$run/server.yaml" <<YAML
version: 1
server:
  listen: 127.0.0.1:$port
  storage: sqlite:$run/server/server.sqlite
  log: { level: info, output: stderr }
apps:
  $app:
    sync: { mode: partition, partition_key: site, partition_type: string }
    development_mode: true
    providers:
      anonymous: true
      email_password: { auto_confirm: true }
  $orders_app:
    sync: { mode: flexible, queryable_fields: [store, total] }
    development_mode: true
    rules:
      Order: [ { name: seller, read: true, write: "total >= 0" } ]
    providers: { anonymous: true }
YAML

cat >"$run/orders.yaml" <<'YAML'
classes:
  Order:
    primary_key: _id
    properties: { _id: string, store: string, item: string, total: int }
YAML

cat >"$run/packages.yaml" <<'YAML'
classes:
  Package:
    primary_key: _id
    properties:
      _id: string                # name:architecture
      name: string
      version: string
      architecture: string
      installed_size: int?       # KiB
      section: string?
      maintainer: string?
      installed_at: timestamp?
      note: string?
YAML

(umask 077 && head -c 18 /dev/urandom | base64 >"$run/south.password")

agent_configuration() { # NAME SUBSCRIPTION, the user's lines on standard input
    cat <<YAML
version: 1
agent:
  data_directory: $run/$1
  control_socket: $run/$1.sock
  log: { level: info, output: stderr }
apps:
  demo: { app_id: $app, base_url: "http://127.0.0.1:$port", backoff: { initial: 200ms, maximum: 2s } }
  shop: { app_id: $orders_app, base_url: "http://127.0.0.1:$port", backoff: { initial: 200ms, maximum: 2s } }
users:
$(cat)
  seller: { app: shop, provider: anonymous }
realms:
  inventory:
    user: $1
    partition: { string: "site-1" }
    schema: $run/packages.yaml
    enabled: $([ "$1" = region ] && echo false || echo true)
  orders:
    user: seller
    schema: $run/orders.yaml
    subscriptions:
      - $2
YAML
}
agent_configuration north "{ name: own, class: Order, query: \"store == 'north'\" }" \
    >"$run/north.yaml" <<'YAML'
  north: { app: demo, provider: anonymous }
YAML
agent_configuration region "{ class: Order }" >"$run/region.yaml" <<'YAML'
  region: { app: demo, provider: anonymous }
YAML
agent_configuration south "{ name: own, class: Order, query: \"store == 'south'\" }" \
    >"$run/south.yaml" <<YAML
  south:
    app: demo
    provider: email-password
    email: south@example.com
    password: { file: $run/south.password }
    register: true
YAML

# --- the eight steps --------------------------------------------------------------------------------

say "files of this run: $run (configuration, realms, logs)"

title "A server with an embedded store, an app with partitions and one with flexible sync"
start_server
say "listening on 127.0.0.1:$port, log in .run/log/server.log"

title "Two agents: north logs in anonymously, south with e-mail and password"
start_agent north
start_agent south
for name in north south; do
    within 120 test -f "$(file_of "$name")" || fail "$name has no realm file"
    within 120 sql "$name" 'SELECT 1 FROM "Package" LIMIT 1' || fail "$name has no table Package"
    say "$name: $(file_of "$name")"
done

title "This machine's package inventory goes into north's file, with the sqlite3 tool"
dpkg-query --show --showformat \
    '${Package}\t${Version}\t${Architecture}\t${Installed-Size}\t${Section}\t${Maintainer}\n' \
    >"$run/inventory.tsv"
# The list of a package's files is written when the package is installed.
while IFS=$'\t' read -r name version architecture rest; do
    for list in "/var/lib/dpkg/info/$name:$architecture.list" "/var/lib/dpkg/info/$name.list"; do
        if [ -e "$list" ]; then
            date -u -r "$list" "+$name:$architecture%t%Y-%m-%d %H:%M:%SZ"
            break
        fi
    done
done <"$run/inventory.tsv" >"$run/times.tsv"
began=$(date +%s%N)
sqlite3 -cmd '.timeout 10000' "$(file_of north)" >/dev/null <<SQL
CREATE TEMP TABLE inventory(name, version, architecture, size, section, maintainer);
CREATE TEMP TABLE times(id, at);
.mode list
.separator "\t" "\n"
.import "|tr -d '\"' < $run/inventory.tsv" inventory
.import "$run/times.tsv" times
BEGIN IMMEDIATE;
INSERT INTO "Package"(_id, name, version, architecture, installed_size, section, maintainer, installed_at)
    SELECT name || ':' || architecture, name, version, architecture,
        CAST(nullif(size, '') AS INTEGER), nullif(section, ''), nullif(maintainer, ''), times.at
    FROM inventory LEFT JOIN times ON times.id = name || ':' || architecture;
COMMIT;
SQL
rows=$(count_of north)
[ "$rows" -gt 0 ] || fail "nothing was loaded"
say "$rows rows; the first ones:"
sql north 'SELECT name, version, installed_size, installed_at FROM "Package" ORDER BY _id LIMIT 3' | show

title "The same rows in south's file"
all_rows_are_south() { [ "$(count_of south)" = "$rows" ]; }
within 120 all_rows_are_south || fail "south has $(count_of south) of $rows rows"
say "$(((($(date +%s%N) - began)) / 1000000)) ms from the start of the load to the last row in south's file"
agent south sync inventory --wait --timeout 180s >>"$run/log/sync.log" 2>&1 || fail "south cannot sync"
compare

title "Both sides write at the same time, also to the same fields"
sql north "UPDATE \"Package\" SET note = 'seen in the north' WHERE _id IN
    (SELECT _id FROM \"Package\" ORDER BY _id LIMIT 40)" &
first=$!
sql south "UPDATE \"Package\" SET note = 'seen in the south' WHERE _id IN
    (SELECT _id FROM \"Package\" ORDER BY _id LIMIT 40 OFFSET 20)" &
second=$!
wait $first && wait $second || fail "a write was refused"
sql south "DELETE FROM \"Package\" WHERE _id = (SELECT max(_id) FROM \"Package\")"
sync_both
sql north 'SELECT note, count(*) FROM "Package" WHERE note IS NOT NULL GROUP BY note' | show
compare

title "The server stops, both sides write on, one agent is killed, everything starts again"
stop TERM server
say "server stopped"
for name in north south; do
    sql "$name" "INSERT INTO \"Package\"(_id, name, version, architecture)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        SELECT printf('offline-$name-%03d:all', i), 'offline-$name', i, 'all' FROM n"
done
say "200 rows written on each side while the server is away"
(
    for number in $(seq 1 100); do
        sql north "INSERT INTO \"Package\"(_id, name, version, architecture)
            VALUES ('busy-$number:all', 'busy', '$number', 'all')"
    done
) &
writer=$!
some_are_written() { [ "$(sql north "SELECT count(*) FROM \"Package\" WHERE name = 'busy'")" -gt 20 ]; }
within 120 some_are_written || fail "the program does not get to write"
stop KILL north
say "agent north killed with SIGKILL while a program was writing to its file"
wait $writer || fail "a program could not write while the agent was dead"
start_server
start_agent north
sync_both
expected=$((rows - 1 + 400 + 100))
[ "$(count_of north)" = "$expected" ] || fail "$(count_of north) rows where $expected should be"
say "nothing is lost: $expected rows"
compare

title "Flexible sync: two stores, each with its own orders, and a region that sees both"
start_agent region
for name in north south region; do
    agent "$name" subscriptions list orders --json >>"$run/log/sync.log" 2>&1 || true
    agent "$name" sync orders --wait --timeout 180s >>"$run/log/sync.log" 2>&1 \
        || fail "agent $name cannot sync its orders"
done
for store in north south; do
    for number in 1 2 3; do
        orders_sql "$store" "INSERT INTO \"Order\"(_id, store, item, total)
            VALUES ('$store-$number', '$store', 'item $number', $number * 10)"
    done
    agent "$store" sync orders --wait --timeout 180s >>"$run/log/sync.log" 2>&1 \
        || fail "agent $store cannot upload its orders"
done
agent region sync orders --wait --timeout 180s >>"$run/log/sync.log" 2>&1 \
    || fail "the region cannot sync"
for name in north south region; do
    say "$name: $(orders_sql "$name" \
        "SELECT group_concat(_id, ' ') FROM (SELECT _id FROM \"Order\" ORDER BY _id)")"
done
[ "$(orders_sql north 'SELECT count(*) FROM "Order"')" = 3 ] || fail "north sees other orders"
[ "$(orders_sql region 'SELECT count(*) FROM "Order"')" = 6 ] || fail "the region lacks orders"
say "north writes an order of the other store, and one with a negative total:"
orders_sql north "INSERT INTO \"Order\"(_id, store, item, total) VALUES ('x-1', 'south', 'tea', 5);
    UPDATE \"Order\" SET total = -1 WHERE _id = 'north-1'"
agent north sync orders --wait --timeout 180s >>"$run/log/sync.log" 2>&1 \
    || fail "north cannot sync its orders"
both_are_rejected() { [ "$(agent north rejects orders --json | wc -l)" = 2 ]; }
within 120 both_are_rejected || fail "the server did not reject both writes"
agent north rejects orders | show
[ "$(orders_sql north "SELECT total FROM \"Order\" WHERE _id = 'north-1'")" = 10 ] \
    || fail "a rejected write was not undone"
say "both are undone; north adds a subscription, and gets the orders of the other store, too:"
agent north subscriptions add orders Order "store == 'south'" --name other --wait --timeout 180s \
    2>&1 | show
agent north subscriptions list orders | show
agent north verify orders | show

title "Status"
for name in north south region; do
    agent "$name" status | show
done

printf '\n%sEvery step held.%s Files: %s\n' "$bold" "$plain" "$run"
if [ "$ends_by_itself" = 1 ]; then exit 0; fi
printf 'Everything goes on running until Ctrl-C. Try:\n'
printf "  sqlite3 -cmd '.timeout 10000' %s \"UPDATE Package SET note = 'hello' WHERE name = 'bash'\"\n" "$(file_of north)"
printf "  sqlite3 -cmd '.timeout 10000' %s \"SELECT name, note FROM Package WHERE note = 'hello'\"\n" "$(file_of south)"
wait
