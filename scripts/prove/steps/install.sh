# shellcheck shell=bash
# A first installation: what runs, whose files are whose, and what helps people.

page install
eventually "the agent is active, with nothing to sync" inside systemctl is-active realm-agent
eventually "the server is active" inside systemctl is-active realm-server
check "the agent is READY and says so" \
    shell 'systemctl show realm-agent -p StatusText | grep -q "StatusText=."'
check "the journal has fields" \
    shell 'journalctl -u realm-agent -o json | grep -q "\"CATEGORY\":\"Agent"'
# owns PATH MODE USER GROUP
owns() { shell "[ \"\$(stat -c '%a %U %G' $1)\" = '$2 $3 $4' ]"; }
check "configuration is for root and the agent" owns /etc/realm-agent.yaml 640 root realm-agent
check "and so are its drop-ins" owns /etc/realm-agent.d 750 root realm-agent
check "credentials are for root" owns /etc/realm-agent.credentials 700 root root
check "the server's configuration is for root and the server" \
    owns /etc/realm-server.yaml 640 root realm-server
check "and so is what it names" owns /etc/realm-server.d 750 root realm-server
check "state is the agent's" owns /var/lib/realm-agent 750 realm-agent realm-agent
check "the store is the server's" owns /var/lib/realm-server 700 realm-server realm-server
check "the control socket is the group's" \
    shell '[ "$(stat -c "%a %G" /run/realm-agent/control.sock)" = "660 realm-agent" ]'
for unit in realm-agent realm-server; do
    check "$unit.service is verified in place, its manual pages included" \
        inside systemd-analyze verify "$unit.service"
done
for page in '1 realm-agent' '8 realm-agent' '5 realm-agent.yaml' '8 realm-server' '5 realm-server.yaml'; do
    check "man $page" shell "man $page | grep -q 'SEE ALSO'"
done
check "bash completes verbs" shell '
    . /usr/share/bash-completion/bash_completion; _completion_loader realm-agent || true
    COMP_WORDS=(realm-agent sus) COMP_CWORD=1 COMP_LINE="realm-agent sus" COMP_POINT=15
    handler=$(complete -p realm-agent | sed "s/.*-F \([^ ]*\).*/\1/")
    "$handler" realm-agent sus realm-agent; [ "${COMPREPLY[*]}" = suspend ]'
# Packaging adds descriptions, and nothing else.
check "the schema that ships is the one of the program" shell '
    realm-agent config schema >/tmp/schema.json
    for schema in /tmp/schema.json /usr/share/realm-agent/realm-agent.schema.json; do
        sqlite3 :memory: "SELECT fullkey, type, atom FROM json_tree(readfile(\"$schema\"))
            WHERE key IS NOT \"description\" OR type <> \"text\" ORDER BY fullkey" >"/tmp/$(basename $schema).keys"
    done
    [ -s /tmp/schema.json.keys ] && cmp /tmp/schema.json.keys /tmp/realm-agent.schema.json.keys'
check "the example of every key is a valid configuration" \
    inside realm-agent check --config /usr/share/doc/realm-agent/examples/realm-agent.yaml
check "that of the server lacks only the files that it names" shell '
    realm-server check --config /usr/share/doc/realm-server/examples/realm-server.yaml 2>&1 |
        grep ": error:" | grep -v /etc/realm-server.d/ && exit 1 || exit 0'
refuse "nothing in the journal frightens people" \
    shell "journalctl -u 'realm-*' | grep -iE 'thread priority|error|fail'"
