# shellcheck shell=bash
# The first realm, as the page has it, and a second user to sync with.

page first-server
page first-realm
page first-rows
page first-look
check "the server has the partition" shell \
    'setpriv --reuid=realm-server --regid=realm-server --clear-groups realm-server realms list --app shop-abcde | grep -q store-42'
shell 'cat >/etc/realm-agent.d/20-mirror.yaml' <<'YAML'
users:
  till-8: { app: shop, provider: email-password, email: till-8@example.com, password: { credential: till-8-password }, register: true }
realms:
  mirror: { user: till-8, partition: { string: store-42 } }
YAML
shell 'umask 077; echo "correct horse" >/etc/realm-agent.credentials/till-8-password'
page credentials
eventually "a second realm opens with a credential of its own" is_open mirror
eventually "the rows arrive in the realm of another user" \
    shell "[ \"\$(sqlite3 -cmd '.timeout 30000' $mirror 'SELECT group_concat(name) FROM (SELECT name FROM Item ORDER BY _id)')\" = tea,salt ]"
shell 'useradd clerk; useradd stranger'
page group
as() { shell "setpriv --reuid=$1 --regid=$1 --init-groups $2"; }
check "a member of the group writes rows with SQL" \
    as clerk "sqlite3 -cmd '.timeout 30000' $stock \"INSERT INTO Item(_id, name) VALUES (3, 'bread')\""
eventually "and they arrive, too" has "$mirror" 3 bread
refuse "somebody outside the group reads nothing" as stranger "sqlite3 -cmd '.timeout 30000' $stock 'SELECT * FROM Item'"
refuse "nor may they ask the agent" as stranger 'realm-agent status'
page sealed
eventually "a sealed secret logs in as well as a plain one" is_open stock
refuse "and no plain one is left" inside test -e /etc/realm-agent.credentials/till-7-password
page places
eventually "with a place elsewhere everything is open again" is_open mirror
