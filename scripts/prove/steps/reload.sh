# shellcheck shell=bash
# Changed, bad and restored configurations of both services, while they run.

now() { shell 'date "+%Y-%m-%d %H:%M:%S"'; }
# runs UNIT PID: the unit is active, as the same process.
runs() { shell "[ \$(systemctl show -p MainPID --value $1) = $2 ] && systemctl is-active $1"; }
# names_mistake UNIT SINCE FILE: the journal has a mistake in that file, and its place.
names_mistake() { shell "journalctl -u $1 --since '$2' | grep -q '$3:[0-9]*:[0-9]*: error:'"; }

before=$(process realm-agent)
shell 'cat >/etc/realm-agent.d/30-more.yaml' <<'YAML'
realms:
  elsewhere: { user: till-7, partition: { string: store-43 }, path: /srv/realms/elsewhere.sqlite, schema: { classes: { Item: { primary_key: _id, properties: { _id: int, name: string } } } } }
YAML
page reload
eventually "a realm that was added is open" is_open elsewhere
check "in the place that it was given" inside test -s /srv/realms/elsewhere.sqlite
check "by the same process" [ "$(process realm-agent)" = "$before" ]
shell 'echo "agent: { log: { level: warn } }" >/etc/realm-agent.d/40-quiet.yaml
    mkdir /etc/realm-agent.d/schemas; echo "no: [configuration" | tee /etc/realm-agent.d/schemas/x.yaml >/etc/realm-agent.d/50-off.yaml.bak'
page origins
check "a later drop-in counts, and is named; what lies deeper or ends otherwise does not" \
    shell 'realm-agent config show --origin | grep -q "level: warn  # /etc/realm-agent.d/40-quiet.yaml:1:"'
check "it is in force after a reload" \
    shell 'systemctl reload realm-agent && realm-agent log-level | grep -q warn'
shell 'rm -r /etc/realm-agent.d/40-quiet.yaml /etc/realm-agent.d/schemas /etc/realm-agent.d/50-off.yaml.bak'
shell 'echo "  stcok: {}" >>/etc/realm-agent.d/30-more.yaml'
since=$(now)
refuse "a reload with a mistake fails" inside systemctl reload realm-agent
check "the journal names the mistake and its place" names_mistake realm-agent "$since" 30-more.yaml
check "and the agent goes on as it was" runs realm-agent "$before"
insert "$stock" 3 rusk
eventually "and syncs on" has "$mirror" 3 rusk
shell 'rm /etc/realm-agent.d/30-more.yaml'
check "a realm that is taken out again is gone after a reload" \
    shell 'systemctl reload realm-agent && ! realm-agent status | grep -qw elsewhere'

# A unit's variables are those that its process was started with.
shell 'mkdir -p /run/systemd/system/realm-agent.service.d
printf "[Service]\nEnvironment=SITE=42\n" >/run/systemd/system/realm-agent.service.d/site.conf
cat >/etc/realm-agent.d/30-more.yaml <<"YAML"
realms:
  site: { user: till-7, partition: { string: "site-${env.SITE}" }, path: "/srv/realms/site-${env.SITE}.sqlite" }
YAML
systemctl daemon-reload; systemctl restart realm-agent'
eventually "a partition is filled in from the environment of the unit" \
    shell 'realm-agent status site --json | grep -q site-42.sqlite'
shell 'sed -i s/42/43/ /run/systemd/system/realm-agent.service.d/site.conf && systemctl daemon-reload'
check "another value does not count by a reload" \
    shell 'systemctl reload realm-agent && realm-agent status site --json | grep -q site-42.sqlite'
shell 'systemctl restart realm-agent'
eventually "but after a restart" shell 'realm-agent status site --json | grep -q site-43.sqlite'
shell 'rm /etc/realm-agent.d/30-more.yaml; rm -r /run/systemd/system/realm-agent.service.d
systemctl daemon-reload; systemctl restart realm-agent'
eventually "without them the agent is as it was" is_open stock

# serves APP: the running server knows it.
serves() {
    shell "setpriv --reuid=realm-server --regid=realm-server --init-groups realm-server apps list | grep -q $1"
}
before=$(process realm-server)
shell 'echo "apps: { kiosk-fghij: { sync: { mode: partition }, providers: { anonymous: true } } }" >/etc/realm-server.d/10-kiosk.yaml'
page server-reload
check "an app of a drop-in is served after a reload" serves kiosk-fghij
check "by the same process" runs realm-server "$before"
shell 'echo "aps: {}" >/etc/realm-server.d/20-wrong.yaml'
since=$(now)
refuse "a reload of the server with a mistake fails" inside systemctl reload realm-server
check "the journal names the mistake and its place" names_mistake realm-server "$since" 20-wrong.yaml
check "and the server goes on as it was" serves kiosk-fghij
shell 'rm /etc/realm-server.d/20-wrong.yaml /etc/realm-server.d/10-kiosk.yaml; systemctl kill --signal=HUP realm-server'
gone() { ! serves "$1"; }
eventually "an app that is taken out again is gone after a signal" gone kiosk-fghij
insert "$stock" 4 milk
eventually "and serves on" has "$mirror" 4 milk

# Certificates. certify NAME: the server gets one of that name, from an authority that the agent trusts.
certify() {
    shell "set -e; cd /root/tls
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=$1 -keyout key.pem -out request.pem
        openssl x509 -req -in request.pem -CA authority.pem -CAkey authority.key -CAcreateserial -days 30 \
            -extfile <(echo subjectAltName=IP:127.0.0.1) -out chain.pem
        install -m 0640 -g realm-server -t /etc/realm-server.d/tls key.pem chain.pem" >"$work/output" 2>&1 || tell
}
# shows NAME: new connections get the certificate of that name.
shows() { shell "openssl s_client -connect 127.0.0.1:9090 </dev/null 2>&1 | grep -q 'subject=CN *= *$1'"; }
shell 'mkdir /root/tls && install -d -m 0750 -g realm-server /etc/realm-server.d/tls && cd /root/tls &&
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=authority -keyout authority.key -out authority.pem 2>/dev/null &&
    install -m 0644 authority.pem /etc/realm-agent.d/'
certify first
shell 'cat >/etc/realm-server.d/30-tls.yaml' <<'YAML'
server: { tls: { certificate: /etc/realm-server.d/tls/chain.pem, key: { file: /etc/realm-server.d/tls/key.pem } } }
YAML
check "TLS needs a restart, and the answer says so" shell \
    "setpriv --reuid=realm-server --regid=realm-server --init-groups realm-server reload | grep -q 'needs a restart: server.tls'"
shell 'cat >/etc/realm-agent.d/30-tls.yaml' <<'YAML'
apps: { shop: { base_url: "https://127.0.0.1:9090", tls: { ca_file: /etc/realm-agent.d/authority.pem } } }
YAML
shell 'systemctl restart realm-server; systemctl reload realm-agent'
eventually "over TLS the realm opens" is_open stock
check "with the certificate of the drop-in" shows first
before=$(process realm-server)
certify second
check "new certificates are read by a reload" inside systemctl reload realm-server
check "new connections get them" shows second
check "by the same process" runs realm-server "$before"
insert "$stock" 12 jam
eventually "and old connections go on" has "$mirror" 12 jam
shell 'echo none >/etc/realm-server.d/tls/chain.pem'
since=$(now)
refuse "a reload with a file that is no certificate fails" inside systemctl reload realm-server
check "the journal names the file" shell "journalctl -u realm-server --since '$since' | grep -q chain.pem"
check "and the server shows the one it had" shows second
shell 'rm -r /etc/realm-server.d/tls /etc/realm-server.d/30-tls.yaml /etc/realm-agent.d/30-tls.yaml /etc/realm-agent.d/authority.pem
    systemctl restart realm-server; systemctl reload realm-agent'
eventually "without TLS it is as it was" is_open stock
insert "$stock" 13 figs
eventually "and rows arrive" has "$mirror" 13 figs
