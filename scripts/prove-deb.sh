#!/bin/bash
# Makes the Debian packages on a Debian 12 with nothing but apt, a clone and a Swift toolchain: with what
# scripts/setup.sh deb installs there. Needs root and mmdebstrap.
#
#   scripts/prove-deb.sh BIN    with the programs in the folder BIN: only their compilation is left out
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/prove/checks.sh
trap 'rm -rf "$work"' EXIT

if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
    loud "packages on a fresh machine: this takes root, and mmdebstrap (scripts/setup.sh image)"
    exit 1
fi
programs=$(realpath "$1")
# DIRECTORY/usr/bin/swift
toolchain=$(dirname "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")")
root=$work/root
source=/root/realm-agent

check "a Debian 12 is made" mmdebstrap --quiet --variant=apt bookworm "$root"
check "the sources are cloned" git clone --quiet . "$root$source"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root$toolchain" "$root/programs" "$root$source/.build-package/release"
for program in realm-agent realm-server; do
    # Packaging looks at the programs' own libraries; those of this build are not Debian's.
    printf '#!/bin/sh\nexec /programs/%s "$@"\n' $program >"$root$source/.build-package/release/$program"
    chmod +x "$root$source/.build-package/release/$program"
done
# inside COMMAND…: in the clone, there. The mounts end with the command.
inside() {
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount bash -euc '
        root=$1 toolchain=$2 programs=$3 source=$4
        shift 4
        mount --bind "$toolchain" "$root$toolchain"
        mount --bind "$programs" "$root/programs"
        mount -t proc none "$root/proc"
        mount --rbind /dev "$root/dev"
        exec env -i PATH="$toolchain/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin" HOME=/root LANG=C.UTF-8 \
            chroot "$root" sh -ec "cd $source && exec \"\$@\"" sh "$@"
    ' start "$root" "$toolchain" "$programs" "$source" "$@"
}

refuse "there is no tool for packages yet" inside sh -c 'command -v dpkg-buildpackage'
check "scripts/setup.sh deb installs what is missing" inside scripts/setup.sh deb
check "a second run finds nothing to install" \
    inside sh -c '[ -z "$(scripts/setup.sh deb)" ]'
check "that has all of Build-Depends" inside dpkg-checkbuilddeps packaging/debian/control
check "the packages are made" inside scripts/make-deb.sh --packed
for program in realm-agent realm-server; do
    check "$program: it has the program, its unit and its manual" inside sh -c "
        dpkg-deb --contents .build-package/deb/${program}_*.deb >/tmp/list
        grep -q usr/bin/$program /tmp/list && grep -q $program.service /tmp/list &&
            grep -q 'man8/$program.8.gz' /tmp/list"
done
loud "the compilation: make deb"

if [ "$failures" = 0 ]; then echo "all of it held"; else
    echo "$failures checks failed" >&2
    exit 1
fi
