# shellcheck shell=bash
# A Debian 12 of its own with systemd as its first process.

name=realm-prove-$$
group=
pid=
leader=
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)

# A tar of it, made once and kept.
make_image() {
    [ ! -e "$image" ] || return 0
    command -v mmdebstrap >/dev/null || {
        loud "no image $image, and no mmdebstrap to make one"
        return 1
    }
    mkdir -p "$(dirname "$image")"
    # The name tells mmdebstrap that a tar is wanted.
    mmdebstrap --variant=minbase --quiet --include="$(tr -s ' \n' , <<<"$contents")" \
        bookworm "${image%.tar}.new.tar" && mv "${image%.tar}.new.tar" "$image"
}
contents="systemd systemd-sysv dbus iproute2 procps ca-certificates adduser polkitd sqlite3 curl \
    python3-minimal libstdc++6 libsqlite3-0 libyaml-0-2 libsystemd0 libpq5 zlib1g libcrypt1 tzdata man-db \
    bash-completion prometheus"

unpack_machine() {
    root=$work/root
    mkdir -p "$root" "$work/packages"
    tar -C "$root" -xf "$image"
    : >"$root/etc/machine-id"
    printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
    rm -f "$root/usr/sbin/policy-rc.d"
    # In place for the page that installs it, which gives it another port.
    rm -f "$root"/etc/systemd/system/multi-user.target.wants/prometheus*.service
    # Minimal images leave documentation out; ours is looked for. And nobody answers questions.
    rm -f "$root"/etc/dpkg/dpkg.cfg.d/*
    printf 'APT::Get::Assume-Yes "true";\nAcquire::Languages "none";\nDpkg::Use-Pty "0";\n' \
        >"$root/etc/apt/apt.conf.d/99prove"
    cp "$packages"/*.deb "$work/packages/"
}

boot() {
    if [ -n "$unified" ] && [ "$unified" != /sys/fs/cgroup ]; then
        # A hybrid hierarchy: a leaf of the unified one, so that nothing else is touched.
        group=$unified/$name
        mkdir -p "$group"
    fi
    (
        [ -z "$group" ] || echo "$BASHPID" >"$group/cgroup.procs"
        export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
        exec systemd-nspawn -D "$root" --machine="$name" --boot --register=no --keep-unit \
            --console=read-only --private-network --bind-ro="$work/packages:/packages" \
            </dev/null >"$work/console" 2>&1
    ) &
    pid=$!
    local end=$((SECONDS + 120))
    until leader=$(pgrep -P $pid | head -n 1) && [ -n "$leader" ] \
        && inside systemctl is-system-running --wait 2>/dev/null | grep -qE 'running|degraded'; do
        if [ $SECONDS -ge $end ] || ! kill -0 $pid 2>/dev/null; then
            tail -n 20 "$work/console" >&2
            return 1
        fi
        sleep 0.2
    done
}
inside() {
    nsenter -t "$leader" -a -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}
# Runs a line of shell inside.
shell() { inside bash -c "$1"; }

cleanup() {
    [ -z "$pid" ] || kill -KILL "${leader:-$pid}" "$pid" 2>/dev/null || true
    [ -z "$pid" ] || wait "$pid" 2>/dev/null || true
    [ -z "$group" ] || find "$group" -depth -type d -exec rmdir {} \; 2>/dev/null || true
}
trap 'cleanup; rm -rf "$work"' EXIT
