#!/bin/sh
# Installs the Debian packages that building, running and testing need; quiet when all are there.
#
#   scripts/setup.sh [WORK...]   and those of: deb, image, repository, browser
set -eu

packages="libcrypt-dev libpq-dev libsqlite3-dev libsystemd-dev libyaml-dev zlib1g-dev pkg-config curl python3 sqlite3 \
    iproute2 jq man-db postgresql-15"
for work; do
    case $work in
        deb) packages="$packages build-essential debhelper dpkg-dev git" ;;
        image) packages="$packages dpkg-dev mmdebstrap" ;;
        repository) packages="$packages apt-utils dpkg-dev gpg gpg-agent" ;;
        browser) packages="$packages chromium chromium-driver fonts-dejavu-core" ;;
        *)
            echo "setup: $work is not known" >&2
            exit 2
            ;;
    esac
done

missing=""
for package in $packages; do
    case "$(dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null || true)" in
        "install ok installed") ;;
        *) missing="$missing $package" ;;
    esac
done

if [ "${1:-}" != repository ] && [ "${1:-}" != image ] && ! command -v swift >/dev/null 2>&1; then
    echo "setup: the Swift toolchain (6.2 or later) is not on the PATH; see https://www.swift.org/install" >&2
    exit 1
fi
[ -n "$missing" ] || exit 0

# shellcheck disable=SC2086 # a list of words is meant
install() {
    "$@" apt-get -o DPkg::Lock::Timeout=300 update -qq
    "$@" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 \
        install -y -qq --no-install-recommends $missing
}

echo "setup: installing$missing"
if [ "$(id -u)" = 0 ]; then
    install env
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    install sudo
else
    echo "setup: these Debian packages are missing:$missing" >&2
    echo "setup: install them as root:  apt-get install$missing" >&2
    exit 1
fi
