#!/bin/bash
# Installs the packages in a real Debian 12 that has systemd as its first process, and checks that they
# do what docs/operations.md says. Needs root, mmdebstrap or a cached image, and systemd-nspawn.
#
#   scripts/prove-package.sh          all of it; says loudly what the machine does not allow
#   scripts/prove-package.sh --quick  units and scripts only: no packages, no boot (part of CI)
#
# Environment: PROVE_IMAGE, a tar of a Debian 12 with systemd (made and kept if missing).
set -euo pipefail
cd "$(dirname "$0")/.."

failures=0
pass() { echo "ok      $1"; }
fail() { echo "FAILED  $1" >&2; failures=$((failures + 1)); }
loud() { echo >&2; echo "######## NOT PROVED HERE: $1" >&2; echo >&2; }

# check WHAT COMMAND…: the command succeeds.
check() {
    local what=$1
    shift
    if "$@" >"$work/output" 2>&1; then pass "$what"; else
        fail "$what: $*"
        sed 's/^/        /' "$work/output" | tail -n 15 >&2
    fi
}
# refuse WHAT COMMAND…: the command fails.
refuse() {
    local what=$1
    shift
    if "$@" >"$work/output" 2>&1; then fail "$what: $*"; else pass "$what"; fi
}
# eventually WHAT COMMAND…: the command succeeds within a minute.
eventually() {
    local what=$1 end=$((SECONDS + 60))
    shift
    until "$@" >"$work/output" 2>&1; do
        if [ $SECONDS -ge $end ]; then
            fail "$what: $*"
            sed 's/^/        /' "$work/output" | tail -n 15 >&2
            return 0
        fi
        sleep 0.2
    done
    pass "$what"
}
work=$(mktemp -d)
cleanup() { :; }
trap 'cleanup; rm -rf "$work"' EXIT

# ---- What needs no machine of its own --------------------------------------------------------------

quick() {
    local unit score script
    if ! command -v systemd-analyze >/dev/null; then
        loud "units: systemd-analyze is not installed"
    else
        for unit in realm-agent realm-agent-refresh@ realm-server; do
            score=$(systemd-analyze security --offline=true "systemd/$unit.service" \
                | sed -n 's/.*exposure level[^:]*: \([0-9.]*\).*/\1/p')
            if awk -v s="${score:-10}" 'BEGIN { exit !(s <= 2.0) }'; then
                pass "$unit.service is exposed at $score, which is 2.0 or less"
            else
                fail "$unit.service is exposed at ${score:-?}, more than 2.0"
            fi
        done
        # The programs are not installed here; everything else in the units can be verified.
        mkdir "$work/units"
        cp systemd/* "$work/units"
        sed -i 's|/usr/bin/realm-[a-z]*|/bin/true|' "$work"/units/*.service
        cp "$work/units/realm-agent-refresh@.service" "$work/units/realm-agent-refresh@x.service"
        cp "$work/units/realm-agent-refresh@.timer" "$work/units/realm-agent-refresh@x.timer"
        for unit in realm-agent.service realm-server.service realm-agent-refresh@x.service \
            realm-agent-refresh@x.timer; do
            check "$unit is verified" systemd-analyze verify --man=no "$work/units/$unit"
        done
    fi
    for script in packaging/debian/*.preinst packaging/debian/*.postinst packaging/debian/*.prerm \
        packaging/debian/*.postrm; do
        check "$(basename "$script") parses" sh -n "$script"
    done
    if command -v dpkg-parsechangelog >/dev/null; then
        version=$(dpkg-parsechangelog --file packaging/debian/changelog --show-field Version)
        check "the changelog has the version of the program ($version)" \
            grep -q "\"$version\"" Sources/realm-agent/AgentVersion.swift
    fi
}

quick
if [ "${1:-}" = --quick ]; then
    [ "$failures" = 0 ] && exit 0 || exit 1
fi

# ---- A Debian of its own ---------------------------------------------------------------------------

packages=.build-package/deb
agent=$(ls $packages/realm-agent_*.deb 2>/dev/null || true)
server=$(ls $packages/realm-server_*.deb 2>/dev/null || true)
if [ -z "$agent" ] || [ -z "$server" ]; then
    echo "prove-package: there are no packages in $packages; run: make deb" >&2
    exit 1
fi
if [ "$(id -u)" != 0 ] || ! command -v systemd-nspawn >/dev/null; then
    loud "everything that needs a booted system: this takes root and systemd-nspawn"
    exit 1
fi

image=${PROVE_IMAGE:-/var/cache/realm-agent-prove/bookworm.tar}
if [ ! -e "$image" ]; then
    command -v mmdebstrap >/dev/null || { loud "no image $image, and no mmdebstrap to make one"; exit 1; }
    mkdir -p "$(dirname "$image")"
    mmdebstrap --variant=minbase --quiet \
        --include=systemd,systemd-sysv,dbus,iproute2,procps,ca-certificates,adduser,polkitd,sqlite3,curl,python3-minimal,libstdc++6,libsqlite3-0,libyaml-0-2,libsystemd0,zlib1g,libcrypt1 \
        bookworm "$image"
fi
root=$work/root
mkdir -p "$root" "$work/packages"
tar -C "$root" -xf "$image"
: >"$root/etc/machine-id"
printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
rm -f "$root/usr/sbin/policy-rc.d"
cp $packages/*.deb "$work/packages/"
# The same programs as an older version, to upgrade from.
for package in "$agent" "$server"; do
    dpkg-deb --raw-extract "$package" "$work/older"
    sed -i 's/^Version: .*/Version: 0.0.9/' "$work/older/DEBIAN/control"
    mkdir -p "$work/packages/older"
    dpkg-deb -Znone --root-owner-group --build "$work/older" "$work/packages/older/" >/dev/null
    rm -rf "$work/older"
done

name=realm-prove-$$
group=
pid=
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
boot() {
    if [ -n "$unified" ] && [ "$unified" != /sys/fs/cgroup ]; then
        # A hybrid hierarchy: a leaf of the unified one, so that nothing else is touched.
        group=$unified/$name
        mkdir -p "$group"
    fi
    (
        [ -z "$group" ] || echo "$BASHPID" >"$group/cgroup.procs"
        export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
        exec systemd-nspawn -D "$root" --machine=$name --boot --register=no --keep-unit \
            --console=read-only --private-network --bind-ro="$work/packages:/packages" \
            </dev/null >"$work/console" 2>&1
    ) &
    pid=$!
    local end=$((SECONDS + 60))
    until leader=$(pgrep -P $pid | head -n 1) && [ -n "$leader" ] \
        && inside systemctl is-system-running --wait 2>/dev/null | grep -qE 'running|degraded'; do
        if [ $SECONDS -ge $end ] || ! kill -0 $pid 2>/dev/null; then
            tail -n 20 "$work/console" >&2
            return 1
        fi
        sleep 0.2
    done
}
inside() {
    nsenter -t "$leader" -a -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}
# Runs a line of shell inside.
shell() { inside bash -c "$1"; }
cleanup() {
    [ -z "$pid" ] || kill -KILL "${leader:-$pid}" "$pid" 2>/dev/null || true
    [ -z "$pid" ] || wait "$pid" 2>/dev/null || true
    [ -z "$group" ] || find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
}

if ! boot; then
    loud "everything that needs a booted system: systemd-nspawn cannot boot one on this machine"
    check "the packages unpack and configure in a chroot" \
        chroot "$root" sh -c "$(printf 'dpkg -i --force-depends /dev/null; true')"
    exit 1
fi
pass "a Debian $(inside cat /etc/debian_version) has booted"

install="apt-get -o Acquire::Languages=none -o Dpkg::Use-Pty=0 -qq install -y --allow-downgrades"

# ---- Install ---------------------------------------------------------------------------------------

check "the packages install from a local directory" \
    shell "$install /packages/older/realm-agent_*.deb /packages/older/realm-server_*.deb"
eventually "the agent is active, with nothing to sync" inside systemctl is-active realm-agent
eventually "the server is active" inside systemctl is-active realm-server
check "the agent is READY and says so" \
    shell 'systemctl show realm-agent -p StatusText | grep -q "StatusText=."'
check "the journal has fields" \
    shell 'journalctl -u realm-agent -o json | grep -q "\"CATEGORY\":\"Agent"'
check "configuration is for root and the agent" \
    shell '[ "$(stat -c "%a %U %G" /etc/realm-agent.yaml)" = "640 root realm-agent" ]'
check "state is the agent's" \
    shell '[ "$(stat -c "%a %U %G" /var/lib/realm-agent)" = "750 realm-agent realm-agent" ]'
check "the control socket is the group's" \
    shell '[ "$(stat -c "%a %G" /run/realm-agent/control.sock)" = "660 realm-agent" ]'
for unit in realm-agent realm-server; do
    check "$unit.service is verified in place" inside systemd-analyze verify --man=no "$unit.service"
done

# ---- Real rows -------------------------------------------------------------------------------------

shell 'cat >/etc/realm-server.yaml' <<'YAML'
version: 1
server: { listen: "127.0.0.1:9090", storage: "sqlite:/var/lib/realm-server/server.sqlite" }
apps:
  shop-abcde:
    sync: { mode: partition, partition_key: store, partition_type: string }
    development_mode: true
    providers: { email_password: { auto_confirm: true } }
YAML
shell 'cat >/etc/realm-agent.d/10-shop.yaml' <<'YAML'
apps:
  shop: { app_id: shop-abcde, base_url: "http://127.0.0.1:9090", backoff: { initial: 100ms, maximum: 1s } }
users:
  till-7: { app: shop, provider: email-password, email: till-7@example.com, password: { credential: till-7-password }, register: true }
  till-8: { app: shop, provider: email-password, email: till-8@example.com, password: { credential: till-7-password }, register: true }
realms:
  stock:  { user: till-7, partition: { string: store-42 }, schema: { classes: { Item: { primary_key: _id, properties: { _id: int, name: string } } } } }
  mirror: { user: till-8, partition: { string: store-42 } }
YAML
shell 'umask 077; echo "correct horse" >/etc/realm-agent.credentials/till-7-password'
check "the configuration is valid" inside realm-agent check
shell 'systemctl restart realm-server realm-agent'
eventually "both services are active again" shell 'systemctl is-active realm-agent realm-server'
stock=/var/lib/realm-agent/realms/stock/stock.sqlite
mirror=/var/lib/realm-agent/realms/mirror/mirror.sqlite
eventually "the password is read from a credential, and the realm opens" \
    shell 'realm-agent status stock | grep -qw open'
check "a member of the group writes rows with SQL" \
    shell "useradd --groups realm-agent clerk && setpriv --reuid=clerk --regid=clerk --init-groups sqlite3 -cmd '.timeout 30000' $stock \"INSERT INTO Item(_id, name) VALUES (1, 'tea'), (2, 'salt')\""
eventually "the rows arrive in the realm of another user" \
    shell "[ \"\$(sqlite3 $mirror 'SELECT group_concat(name) FROM (SELECT name FROM Item ORDER BY _id)')\" = tea,salt ]"
refuse "somebody outside the group reads nothing" \
    shell "useradd stranger && setpriv --reuid=stranger --regid=stranger --clear-groups sqlite3 $stock 'SELECT * FROM Item'"
refuse "nor may they ask the agent" \
    shell 'setpriv --reuid=stranger --regid=stranger --clear-groups realm-agent status'

# ---- Timer -----------------------------------------------------------------------------------------

check "a refresh by hand ends well" inside systemctl start realm-agent-refresh@stock.service
shell 'mkdir -p /etc/systemd/system/realm-agent-refresh@stock.timer.d && printf "[Timer]\nOnCalendar=\nOnCalendar=*:*:*\nRandomizedDelaySec=0\nAccuracySec=100ms\n" >/etc/systemd/system/realm-agent-refresh@stock.timer.d/often.conf && systemctl daemon-reload && journalctl --rotate -q'
since=$(shell 'date "+%Y-%m-%d %H:%M:%S"')
check "the timer is enabled" inside systemctl enable --now --quiet realm-agent-refresh@stock.timer
eventually "the timer refreshes the realm" \
    shell "journalctl -u realm-agent-refresh@stock.service --since '$since' | grep -q 'Deactivated successfully\|Finished'"
shell 'systemctl disable --now --quiet realm-agent-refresh@stock.timer'
shell 'systemctl stop realm-agent'
check "a refresh works without a running agent" inside systemctl start realm-agent-refresh@stock.service
shell 'systemctl start realm-agent'

# ---- Crash and configuration error -----------------------------------------------------------------

before=$(shell 'systemctl show -p MainPID --value realm-agent')
shell 'systemctl kill --signal=SIGKILL realm-agent'
eventually "a killed agent is started again" \
    shell "p=\$(systemctl show -p MainPID --value realm-agent); [ \$p != 0 ] && [ \$p != $before ] && systemctl is-active realm-agent"
shell 'mkdir -p /run/systemd/system/realm-agent.service.d && printf "[Service]\nWatchdogSec=2s\n" >/run/systemd/system/realm-agent.service.d/watchdog.conf && systemctl daemon-reload && systemctl restart realm-agent'
before=$(shell 'systemctl show -p MainPID --value realm-agent')
check "an agent that works is left alone by the watchdog" \
    shell "sleep 5; [ \$(systemctl show -p MainPID --value realm-agent) = $before ]"
shell 'systemctl kill --signal=SIGSTOP realm-agent'
eventually "one that hangs is ended by the watchdog and started again" \
    shell "p=\$(systemctl show -p MainPID --value realm-agent); [ \$p != 0 ] && [ \$p != $before ] && systemctl is-active realm-agent && journalctl -u realm-agent | grep -q 'Watchdog timeout'"
shell 'rm -r /run/systemd/system/realm-agent.service.d && systemctl daemon-reload && systemctl restart realm-agent'
before=$(shell 'systemctl show -p MainPID --value realm-server')
check "the server reloads" inside systemctl reload realm-server
check "and is the same process" \
    shell "[ \$(systemctl show -p MainPID --value realm-server) = $before ] && systemctl is-active realm-server"
shell 'cp /etc/realm-agent.d/10-shop.yaml /root/good.yaml && echo "  stcok: {}" >>/etc/realm-agent.d/10-shop.yaml'
refuse "an agent with a wrong configuration does not start" inside systemctl restart realm-agent
check "and is not started again and again" \
    shell '[ "$(systemctl show -p NRestarts --value realm-agent)" = 0 ] && systemctl is-failed realm-agent'
check "the journal names the mistake and its place" \
    shell 'journalctl -u realm-agent | grep -q "10-shop.yaml:[0-9]*:[0-9]*: error:"'
shell 'cp /root/good.yaml /etc/realm-agent.d/10-shop.yaml && systemctl reset-failed realm-agent && systemctl start realm-agent'
eventually "with the mistake gone it is open again" shell 'realm-agent status stock | grep -qw open'

# ---- Upgrade, remove, purge ------------------------------------------------------------------------

shell 'sed -i "s/level: info/level: detail/" /etc/realm-agent.yaml && systemctl stop realm-server'
check "an upgrade keeps an edited configuration, without a question" \
    shell "$install /packages/realm-agent_*.deb /packages/realm-server_*.deb </dev/null"
check "the edit is still there" shell 'grep -q "level: detail" /etc/realm-agent.yaml'
eventually "the agent that was running runs again" inside systemctl is-active realm-agent
refuse "the server that was stopped stays stopped" inside systemctl is-active realm-server
shell 'systemctl start realm-server'
eventually "and goes on syncing" shell "sqlite3 -cmd '.timeout 30000' $stock \"INSERT OR IGNORE INTO Item(_id, name) VALUES (3, 'bread')\" && [ \"\$(sqlite3 $mirror 'SELECT count(*) FROM Item')\" = 3 ]"
check "removing works" shell 'apt-get -qq remove -y realm-agent realm-server'
refuse "the agent is gone" shell 'systemctl is-active realm-agent || test -e /usr/bin/realm-agent'
check "removing keeps data and configuration" \
    shell "test -s $stock && test -s /etc/realm-agent.d/10-shop.yaml && test -s /var/lib/realm-server/server.sqlite"
check "installing again" shell "$install /packages/realm-agent_*.deb /packages/realm-server_*.deb"
eventually "finds the realm as it was" \
    shell "realm-agent status stock | grep -qw open && [ \"\$(sqlite3 $stock 'SELECT count(*) FROM Item')\" = 3 ]"
check "purging works" shell 'apt-get -qq purge -y realm-agent realm-server'
check "purging leaves nothing behind" \
    shell '! ls -d /var/lib/realm-agent /var/lib/realm-server /etc/realm-agent* /etc/realm-server* /run/realm-agent 2>/dev/null | grep .'
check "no unit is left failed" shell '[ "$(systemctl list-units --failed --no-legend | grep -c realm)" = 0 ]'

if [ "$failures" != 0 ]; then
    echo "---- the journal of both services:" >&2
    shell "journalctl --no-pager -o short-precise -u 'realm-*' | tail -n 60" >&2 || true
fi
inside poweroff >/dev/null 2>&1 || true
loud "AppArmor (no profile ships), resource limits of the unit (cgroup controllers), other architectures"
if [ "$failures" = 0 ]; then echo "all of it held"; else
    echo "$failures checks failed" >&2
    exit 1
fi
