# shellcheck shell=bash
# Syncing now and then: by hand, by timer, with an agent and without one.

page sync
check "a refresh by its unit ends well" inside systemctl start realm-agent-refresh@stock.service
since=$(shell 'date "+%Y-%m-%d %H:%M:%S"')
page timer
eventually "the timer refreshes the realm" \
    shell "journalctl -u realm-agent-refresh@stock.service --since '$since' | grep -q 'Deactivated successfully\|Finished'"
shell 'systemctl disable --now --quiet realm-agent-refresh@stock.timer'
shell 'systemctl stop realm-agent'
insert "$stock" 5 flour
check "a refresh works without a running agent" inside systemctl start realm-agent-refresh@mirror.service
check "and syncs by hand" shell \
    'setpriv --reuid=realm-agent --regid=realm-agent --init-groups realm-agent check'
shell 'systemctl start realm-agent'
eventually "what was written meanwhile arrives" has "$mirror" 5 flour
check "the line of the cron example does the same" \
    shell "\$(sed -n 's/.*realm-agent  \\(\\/usr\\/bin\\/realm-agent sync\\) .*/\\1/p' /usr/share/doc/realm-agent/examples/realm-agent.cron | head -n 1) --wait --timeout 1m stock"
