# shellcheck shell=bash
# What is left where no system can be booted: the packages and their scripts in a chroot.

cp -r "$work/packages" "$root/packages"
in_chroot() {
    # systemd-tmpfiles looks into /proc, systemd-journald for its control group.
    unshare --mount --pid --fork --mount-proc="$root/proc" \
        sh -c 'mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"' "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}
check "the packages install without a service manager" \
    in_chroot sh -c 'apt-get -qq install -y /packages/realm-agent_*.deb /packages/realm-server_*.deb'
check "the agent has a user of its own" in_chroot id realm-agent
check "whose is the state" \
    in_chroot sh -c '[ "$(stat -c "%a %U" /var/lib/realm-agent)" = "750 realm-agent" ]'
for program in realm-agent realm-server; do
    check "$program finds its configuration good" in_chroot $program check
    check "$program.service is verified in place" in_chroot systemd-analyze verify $program.service
done
# A journal without a service manager, in a mount namespace of its own.
check "the journal has fields" in_chroot bash -c '
    mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal /run/log/journal /run/realm-agent
    [ -s /etc/machine-id ] || echo 0123456789abcdef0123456789abcdef >/etc/machine-id
    /lib/systemd/systemd-journald &
    for _ in $(seq 600); do [ -S /run/systemd/journal/socket ] && break; sleep 0.1; done
    mkdir -p /root/x
    printf "version: 1\nagent: { data_directory: /root/x, control_socket: /root/x/s, log: { output: journald } }\n" >/root/x.yaml
    realm-agent run --config /root/x.yaml & agent=$!
    for _ in $(seq 600); do
        journalctl -D /run/log/journal -o json | grep -q "\"CATEGORY\":\"Agent" && found=yes && break
        sleep 0.1
    done
    kill $agent; wait $agent
    rm -rf /root/x /root/x.yaml
    [ "${found:-no}" = yes ]'
in_chroot sh -c 'sed -i "s/level: info/level: detail/" /etc/realm-agent.yaml'
check "installing again keeps an edit, without a question" in_chroot sh -c \
    'apt-get -qq install -y --reinstall /packages/realm-agent_*.deb </dev/null && grep -q "level: detail" /etc/realm-agent.yaml'
check "removing keeps data and configuration" in_chroot sh -c \
    'apt-get -qq remove -y realm-agent realm-server && test -d /var/lib/realm-agent && test -e /etc/realm-agent.yaml'
check "purging leaves nothing behind" in_chroot sh -c \
    'apt-get -qq purge -y realm-agent realm-server && ! ls -d /var/lib/realm-* /etc/realm-* 2>/dev/null | grep .'
