# shellcheck shell=bash
# What needs no machine of its own: units and maintainer scripts.

prove_units() {
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
    # What people copy is run: each block has a name, and a step that runs it.
    local block
    while read -r block; do
        check "a step runs the block ${block:-without a name} of docs/operations.md" \
            grep -rqx "page ${block:-?}" scripts/prove/steps
    done < <(sed -n 's/^ *```sh *//p' docs/operations.md)
    if command -v dpkg-parsechangelog >/dev/null; then
        version=$(dpkg-parsechangelog --file packaging/debian/changelog --show-field Version)
        for script in Client/realm-agent/AgentVersion Backend/realm-server/ServerVersion; do
            check "the changelog has the version of $script ($version)" \
                grep -q "\"$version\"" "Sources/$script.swift"
        done
    fi
}
