# shellcheck shell=bash
# An upgrade over an older build with an edited configuration, and layouts old and new.

# The same programs as an older version.
for package in "$agent" "$server"; do
    dpkg-deb --raw-extract "$package" "$work/older"
    sed -i 's/^Version: .*/Version: 0.0.9/' "$work/older/DEBIAN/control"
    mkdir -p "$work/packages/older"
    dpkg-deb -Znone --root-owner-group --build "$work/older" "$work/packages/older/" >/dev/null
    rm -rf "$work/older"
done
check "an older build takes the place of this one" \
    shell 'apt-get -qq install -y --allow-downgrades /packages/older/*.deb'
eventually "and runs" inside systemctl is-active realm-agent
shell 'sed -i "s/level: info/level: detail/" /etc/realm-agent.yaml && systemctl stop realm-server'
page upgrade
check "the upgrade has kept the edit, without a question" \
    shell 'grep -q "level: detail" /etc/realm-agent.yaml'
check "the version is the new one" \
    shell '[ "$(dpkg-query -W -f "\${Version}" realm-agent)" = "$(realm-agent --version)" ]'
eventually "the agent that was running runs again" inside systemctl is-active realm-agent
refuse "the server that was stopped stays stopped" inside systemctl is-active realm-server
shell 'systemctl start realm-server'
insert "$stock" 10 eggs
eventually "and goes on syncing" has "$mirror" 10 eggs

# The state as its first layout had it.
metadata=/var/lib/realm-agent/private/metadata.sqlite
shell "systemctl stop realm-agent && sqlite3 -cmd '.timeout 30000' $metadata \"
    ALTER TABLE user DROP COLUMN identities; ALTER TABLE user DROP COLUMN profile;
    UPDATE layout SET version = 1; PRAGMA wal_checkpoint(TRUNCATE)\" >/dev/null && systemctl start realm-agent"
eventually "state of an older layout is upgraded" is_open stock
check "a copy of it is kept, for the agent alone" \
    shell "[ \"\$(stat -c '%a %U' $metadata.layout-1)\" = '600 realm-agent' ] && [ \"\$(sqlite3 -cmd '.timeout 30000' $metadata.layout-1 'SELECT version FROM layout')\" = 1 ]"
check "the state itself is of the new one" \
    shell "[ \"\$(sqlite3 -cmd '.timeout 30000' $metadata 'SELECT version FROM layout')\" -gt 1 ]"
shell "systemctl stop realm-agent && sqlite3 -cmd '.timeout 30000' $metadata 'UPDATE layout SET version = 99'"
since=$(shell 'date "+%Y-%m-%d %H:%M:%S"')
shell 'systemctl start realm-agent' >/dev/null 2>&1 || true
check "state of a newer layout is refused, with instructions" shell "
    ! systemctl is-active --quiet realm-agent
    journalctl -u realm-agent --since '$since' | grep 'layout 99' | grep -q 'install the version that wrote it'"
check "and not tried again and again" \
    shell '[ "$(systemctl show -p NRestarts --value realm-agent)" = 0 ] && systemctl is-failed realm-agent'
shell 'systemctl reset-failed realm-agent'
page go-back
eventually "the copy that was kept works in its place" is_open stock

store=/var/lib/realm-server/server.sqlite
known=$(shell "sqlite3 -cmd '.timeout 30000' $store 'PRAGMA user_version'")
shell "systemctl stop realm-server && sqlite3 -cmd '.timeout 30000' $store 'PRAGMA user_version = 99'"
since=$(shell 'date "+%Y-%m-%d %H:%M:%S"')
shell 'systemctl start realm-server' >/dev/null 2>&1 || true
check "a store of a newer layout is refused, with instructions" shell "
    ! systemctl is-active --quiet realm-server
    journalctl -u realm-server --since '$since' | grep 'layout 99' | grep -q 'install the version that wrote it'"
check "and not tried again and again" \
    shell '[ "$(systemctl show -p NRestarts --value realm-server)" = 0 ] && systemctl is-failed realm-server'
shell "systemctl reset-failed realm-server; sqlite3 -cmd '.timeout 30000' $store 'PRAGMA user_version = $known' && systemctl start realm-server"
eventually "and is as it was for a version that knows it" \
    shell "realm-agent sync --timeout 30s stock"
