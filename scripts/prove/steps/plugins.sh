# shellcheck shell=bash
# Handlers in the sandbox of the unit: a program, and units that the agent may start or not.

shell 'printf "[Service]\nType=oneshot\nExecStart=/bin/touch /run/told\n" >/run/systemd/system/realm-agent-told.service
cp /run/systemd/system/realm-agent-told.service /run/systemd/system/other.service
install -d -o realm-agent /var/lib/realm-agent/plugins
echo "wrong horse" >/etc/realm-agent.d/ghost; chgrp realm-agent /etc/realm-agent.d/ghost; chmod 640 /etc/realm-agent.d/ghost
systemctl daemon-reload; systemctl restart polkit
cat >/etc/realm-agent.d/40-plugins.yaml' <<'YAML'
plugins:
  tell: { use: notify-systemd, unit: realm-agent-told.service }
  meddle: { use: notify-systemd, unit: other.service }
  pause:
    use: exec
    command: [/usr/share/doc/realm-agent/examples/plugins/pause-after-errors.sh]
    environment: { STATE: /var/lib/realm-agent/plugins }
users:
  ghost: { app: shop, provider: email-password, email: ghost@example.com, password: { file: /etc/realm-agent.d/ghost } }
realms:
  haunted: { user: ghost, partition: { string: store-66 }, on_error: [tell, meddle, pause] }
YAML
check "handlers are taken over by a reload" inside systemctl reload realm-agent
eventually "a handler starts a unit that is named for it" inside test -e /run/told
# handler NAME WORDS: what the list of handlers says of one.
handler() { shell "realm-agent plugins list | grep '^$1:' | grep -q '$2'"; }
eventually "but no other" handler meddle ', [1-9][0-9]* failures'
check "with what polkit says on record" shell "realm-agent plugins list | grep -q 'other.service'"
refuse "which has not run" shell 'systemctl show -p ExecMainStartTimestamp --value other.service | grep -q .'
eventually "the example of a program works in the sandbox" handler pause '; [1-9][0-9]* calls, 0 failures'
check "and sync of the other realms goes on" is_open stock
shell 'rm /etc/realm-agent.d/40-plugins.yaml /etc/realm-agent.d/ghost; rm -r /var/lib/realm-agent/plugins
rm /run/systemd/system/realm-agent-told.service /run/systemd/system/other.service /run/told
systemctl daemon-reload; systemctl reload realm-agent'
eventually "without them the agent is as it was" is_open stock
