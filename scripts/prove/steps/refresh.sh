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
# As cron would, which mails what is printed.
check "the lines of the cron example do the same, and print nothing" shell '
    sed -n "s|^# .* realm-agent  \(/usr/bin/.*\)|\1|p" /usr/share/doc/realm-agent/examples/realm-agent.cron >/tmp/lines
    [ "$(grep -c . /tmp/lines)" = 2 ] || exit 1
    sed "s/orders/stock/" /tmp/lines | while read -r line; do
        said=$(setpriv --reuid=realm-agent --regid=realm-agent --init-groups sh -c "$line" 2>&1 </dev/null) && [ -z "$said" ] || { echo "$line: $said"; exit 1; }
    done'
