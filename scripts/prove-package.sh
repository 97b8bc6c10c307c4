#!/bin/bash
# Installs the packages in a real Debian 12 that has systemd as its first process, runs every command
# of docs/operations.md there, and checks what it says. Needs root, mmdebstrap or a cached image, and
# systemd-nspawn.
#
#   scripts/prove-package.sh          all of it; says loudly what the machine does not allow
#   scripts/prove-package.sh --quick  units and scripts only: no packages, no boot (part of CI)
#
# Environment: PROVE_IMAGE, a tar of a Debian 12 with systemd (made and kept if missing);
# PROVE_BOOT=no does what is left where no system can be booted.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/prove/checks.sh
. scripts/prove/units.sh
trap 'rm -rf "$work"' EXIT

verdict() {
    if [ "$failures" = 0 ]; then echo "all of it held"; else
        echo "$failures checks failed" >&2
        exit 1
    fi
}

prove_units
if [ "${1:-}" = --quick ]; then
    verdict
    exit 0
fi

packages=.build-package/deb
agent=$(ls $packages/realm-agent_*.deb 2>/dev/null || true)
server=$(ls $packages/realm-server_*.deb 2>/dev/null || true)
if [ -z "$agent" ] || [ -z "$server" ]; then
    echo "prove-package: there are no packages in $packages; run: make deb" >&2
    exit 1
fi

. scripts/prove/packages.sh
. scripts/prove/machine.sh
prove_packages

if [ "$(id -u)" != 0 ]; then
    loud "everything that needs a Debian of its own: this takes root"
    exit 1
fi
image=${PROVE_IMAGE:-/var/cache/realm-agent-prove/bookworm-4.tar}
make_image || exit 1
unpack_machine
if [ "${PROVE_BOOT:-yes}" != yes ] || ! command -v systemd-nspawn >/dev/null || ! boot; then
    loud "everything that needs a booted system: systemd-nspawn cannot boot one on this machine"
    . scripts/prove/steps/chroot.sh
    echo "$failures checks failed; the rest was not made" >&2
    exit 1
fi
pass "a Debian $(inside cat /etc/debian_version) has booted"

stock=/var/lib/realm-agent/realms/stock/stock.sqlite
mirror=/var/lib/realm-agent/realms/mirror/mirror.sqlite
# The process of a unit.
process() { shell "systemctl show -p MainPID --value $1"; }
# insert FILE ID NAME: a row, as any program would write it.
insert() {
    shell "sqlite3 -cmd '.timeout 30000' $1 \"INSERT OR REPLACE INTO Item(_id, name) VALUES ($2, '$3')\""
}
# has FILE ID NAME: the row is there.
has() {
    shell "[ \"\$(sqlite3 -cmd '.timeout 30000' $1 'SELECT name FROM Item WHERE _id = $2')\" = $3 ]"
}
is_open() { shell "realm-agent status $1 | grep -qw open"; }

for step in install rows monitoring reload plugins refresh crash backup upgrade remove; do
    echo "---- $step"
    # shellcheck source=/dev/null
    . "scripts/prove/steps/$step.sh"
done

if [ "$failures" != 0 ]; then
    echo "---- the journal of both services:" >&2
    shell "journalctl --no-pager -o short-precise -u 'realm-*' | tail -n 60" >&2 || true
fi
inside poweroff >/dev/null 2>&1 || true
loud "AppArmor (no profile ships), resource limits of the unit (cgroup controllers), other architectures"
verdict
