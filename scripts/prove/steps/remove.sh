# shellcheck shell=bash
# Remove, install again, purge.

page remove
refuse "the agent is gone" shell 'systemctl is-active realm-agent || test -e /usr/bin/realm-agent'
check "removing keeps data and configuration" \
    shell "test -s $stock && test -s /etc/realm-agent.d/10-shop.yaml && test -s /var/lib/realm-server/server.sqlite"
check "installing again" shell 'apt-get -qq install -y /packages/realm-agent_*.deb /packages/realm-server_*.deb'
eventually "finds the realm as it was" is_open stock
check "with its rows" has "$stock" 10 eggs
page purge
check "purging leaves nothing behind" \
    shell '! ls -d /var/lib/realm-agent /var/lib/realm-server /etc/realm-agent* /etc/realm-server* /run/realm-agent 2>/dev/null | grep .'
check "no unit is left failed" shell '[ "$(systemctl list-units --failed --no-legend | grep -c realm)" = 0 ]'
