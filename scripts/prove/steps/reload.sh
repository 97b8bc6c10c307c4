# shellcheck shell=bash
# Changed, bad and restored configurations of both services, while they run.

before=$(process realm-agent)
shell 'cat >/etc/realm-agent.d/30-more.yaml' <<'YAML'
realms:
  elsewhere: { user: till-7, partition: { string: store-43 }, path: /srv/realms/elsewhere.sqlite, schema: { classes: { Item: { primary_key: _id, properties: { _id: int, name: string } } } } }
YAML
page reload
eventually "a realm that was added is open" is_open elsewhere
check "in the place that it was given" inside test -s /srv/realms/elsewhere.sqlite
check "by the same process" [ "$(process realm-agent)" = "$before" ]
shell 'cp /etc/realm-agent.d/30-more.yaml /root/good.yaml && echo "  stcok: {}" >>/etc/realm-agent.d/30-more.yaml'
since=$(shell 'date "+%Y-%m-%d %H:%M:%S"')
refuse "a reload with a mistake fails" inside systemctl reload realm-agent
check "the journal names the mistake and its place" \
    shell "journalctl -u realm-agent --since '$since' | grep -q '30-more.yaml:[0-9]*:[0-9]*: error:'"
check "and the agent goes on as it was" \
    shell "[ \$(systemctl show -p MainPID --value realm-agent) = $before ] && systemctl is-active realm-agent"
insert "$stock" 3 rusk
eventually "and syncs on" has "$mirror" 3 rusk
shell 'rm /etc/realm-agent.d/30-more.yaml'
check "a realm that is taken out again is gone after a reload" \
    shell 'systemctl reload realm-agent && ! realm-agent status | grep -qw elsewhere'

before=$(process realm-server)
check "the server reloads" inside systemctl reload realm-server
check "and is the same process" \
    shell "[ \$(systemctl show -p MainPID --value realm-server) = $before ] && systemctl is-active realm-server"
insert "$stock" 4 milk
eventually "and serves on" has "$mirror" 4 milk
