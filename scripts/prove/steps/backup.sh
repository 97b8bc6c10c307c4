# shellcheck shell=bash
# Copies that are put back: a realm in its place and in another one, and the server's store.

page backup
insert "$stock" 6 honey
eventually "a row written after the backup arrives" has "$mirror" 6 honey
page restore
eventually "the restored realm gets back what it had synced" has "$stock" 6 honey
eventually "and is open" is_open stock
insert "$stock" 7 rice
eventually "what is written to it arrives" has "$mirror" 7 rice
shell 'install -o realm-agent -g realm-agent -m 0660 /root/stock-backup.sqlite /srv/realms/copy.sqlite
cat >/etc/realm-agent.d/30-copy.yaml' <<'YAML'
realms:
  copy: { user: till-7, partition: { string: store-42 }, path: /srv/realms/copy.sqlite }
YAML
check "a copy becomes a realm of its own" inside systemctl reload realm-agent
eventually "that gets what it lacks" has /srv/realms/copy.sqlite 7 rice
shell 'sqlite3 -cmd ".timeout 30000" /srv/realms/copy.sqlite "INSERT INTO Item(_id, name) VALUES (8, '"'oats'"')"'
eventually "and whose rows arrive in the one it was copied from" has "$stock" 8 oats
check "under an identity of its own" shell "
    [ \"\$(sqlite3 -cmd '.timeout 30000' $stock 'SELECT client_file_ident FROM _realm_state')\" != \"\$(sqlite3 -cmd '.timeout 30000' /srv/realms/copy.sqlite 'SELECT client_file_ident FROM _realm_state')\" ]"
shell 'rm /etc/realm-agent.d/30-copy.yaml && systemctl reload realm-agent'
page server-backup
insert "$stock" 9 oil
eventually "a row written after the server's backup arrives" has "$mirror" 9 oil
page server-restore
eventually "clients that are ahead of a restored server sync again" \
    shell "realm-agent sync --timeout 30s stock mirror"
insert "$stock" 11 corn
eventually "and what is written from then on arrives" has "$mirror" 11 corn
rows="SELECT group_concat(_id || name) FROM (SELECT * FROM Item ORDER BY _id)"
eventually "all have the same rows" \
    shell "[ \"\$(sqlite3 -cmd '.timeout 30000' $stock \"$rows\")\" = \"\$(sqlite3 -cmd '.timeout 30000' $mirror \"$rows\")\" ]"
