#!/bin/bash
# Builds an OCI image of each program: a minimal Debian 12 with the Debian package, without a registry.
# The images end up as directories (image layout) in .build-package/image. Needs root and mmdebstrap.
#
#   scripts/make-image.sh               from the packages in .build-package/deb (make deb)
#   scripts/make-image.sh DEBS TARGET   from and to other folders
set -euo pipefail
cd "$(dirname "$0")/.."

packages=${1:-.build-package/deb}
target=${2:-.build-package/image}
suite=bookworm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
    echo "make-image: this takes root, and mmdebstrap" >&2
    exit 1
fi
umask 022
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog --file packaging/debian/changelog --show-field Timestamp)
export SOURCE_DATE_EPOCH
mkdir -p "$target"

# The packages that a package depends on, the first of alternatives, without systemd: no unit runs there.
dependencies() {
    dpkg-deb --field "$1" Depends | tr ',' '\n' | sed 's/^ *//; s/^systemd *| *//; s/[ (|].*//; /^$/d' | tr '\n' ','
}

# image PROGRAM USER: USER is the number of its user, as in packaging/images/PROGRAM.json.
image() {
    local program=$1 user=$2 package version include
    package=$(ls "$packages/${program}"_*.deb)
    version=$(dpkg-deb --field "$package" Version)
    include=$(dependencies "$package")
    # A fixed number for the user, which owners of volumes can name; the package finds the user there.
    # The programs that install other packages are not needed any more.
    # shellcheck disable=SC2016 # "$1" is the inner shell's
    mmdebstrap --quiet --variant=essential --format=tar --include="${include}tzdata" \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        --essential-hook="echo '$program:x:$user:' >>\"\$1/etc/group\"" \
        --essential-hook="echo '$program:x:$user:$user::/var/lib/$program:/usr/sbin/nologin' >>\"\$1/etc/passwd\"" \
        --customize-hook="copy-in '$package' /tmp" \
        --customize-hook="chroot \"\$1\" sh -c 'dpkg --install /tmp/*.deb && rm /tmp/*.deb'" \
        --customize-hook="upload packaging/images/$program.yaml /etc/$program.yaml" \
        --customize-hook="chroot \"\$1\" chown root:$user /etc/$program.yaml" \
        --customize-hook="chroot \"\$1\" install -d -o $user -g $user -m 0750 /var/lib/$program" \
        --customize-hook='rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/* "$1"/var/log/*' \
        "$suite" "$work/$program.tar"
    # mmdebstrap empties /run at its end.
    mkdir -p "$work/more/run/$program"
    tar -C "$work/more" --append --file="$work/$program.tar" --owner=$user --group=$user --numeric-owner \
        --mode=0750 --mtime="@$SOURCE_DATE_EPOCH" "./run/$program"
    scripts/image/oci.py write "$work/$program.tar" "$target/$program" "$program:$version" \
        "packaging/images/$program.json"
    rm "$work/$program.tar"
    echo "make-image: $target/$program ($(du -sh "$target/$program" | cut -f1)): $program:$version"
}

image realm-server 10001
image realm-agent 10002
cat <<END

Load one with one of:
    podman pull oci:$target/realm-server
    skopeo copy oci:$target/realm-server docker-daemon:realm-server:$(dpkg-parsechangelog \
    --file packaging/debian/changelog --show-field Version)
END
