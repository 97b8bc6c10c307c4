#!/bin/sh
# Runs a command beside a journald of its own, whose journal lies in a directory:
#
#     unshare --mount --propagation private with-journal.sh DIRECTORY COMMAND ARGUMENT…
#
# The mount namespace hides the journal of this machine. journald ends with the command.
set -eu
directory="$1"
shift
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /var/log
mkdir -p /run/systemd/journal /run/log/journal
mount --bind "$directory" /run/log/journal
if [ ! -s /etc/machine-id ]; then
    echo 0123456789abcdef0123456789abcdef >/run/machine-id
    touch /etc/machine-id
    mount --bind /run/machine-id /etc/machine-id
fi
setpriv --pdeathsig KILL /lib/systemd/systemd-journald >/run/journald.log 2>&1 &
for _ in $(seq 600); do
    [ -S /run/systemd/journal/socket ] && exec "$@"
    sleep 0.1
done
echo "journald does not come up: $(cat /run/journald.log)" >&2
exit 77
