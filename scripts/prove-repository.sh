#!/bin/bash
# Makes an apt repository and installs from it, as a machine of a user would.
#
#   scripts/prove-repository.sh          of the packages in .build-package/deb; installs them in a Debian 12
#                                        made for it, if this machine has mmdebstrap and root
#   scripts/prove-repository.sh --quick  of two small packages, with apt's own check of signatures (part of CI)
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/prove/checks.sh
trap 'rm -rf "$work"' EXIT

packages=.build-package/deb
if [ "${1:-}" = --quick ]; then
    packages=$work/deb
    mkdir "$packages"
    for name in realm-agent realm-server; do
        mkdir -p "$work/tree/DEBIAN"
        printf 'Package: %s\nVersion: 0.1.0\nArchitecture: amd64\nMaintainer: test <t@example.com>\nDescription: test\n' \
            $name >"$work/tree/DEBIAN/control"
        dpkg-deb --root-owner-group --build "$work/tree" "$packages/${name}_0.1.0_amd64.deb" >/dev/null
        rm -r "$work/tree"
    done
fi

# GnuPG's agent needs a short path.
export REPOSITORY_KEY_DIRECTORY=$work/key
repository=$work/repository
check "the repository is made" scripts/make-repository.sh "$packages" "$repository"
key=$repository/realm-agent-archive-keyring.gpg

# apt with its own state, and no source but the repository.
mkdir -p "$work"/apt/{lists/partial,cache/archives/partial,parts,preferences}
: >"$work/apt/status"
isolated() {
    local tool=$1
    shift
    "$tool" -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts="$work/apt/parts" \
        -o Dir::Etc::PreferencesParts="$work/apt/preferences" -o Dir::State::Lists="$work/apt/lists" \
        -o Dir::State::Status="$work/apt/status" -o Dir::Cache="$work/apt/cache" \
        -o APT::Architecture=amd64 -o APT::Architectures::=amd64 -o APT::Sandbox::User=root \
        -o Debug::NoLocking=1 -o Acquire::Languages=none "$@"
}
source_line() { echo "deb [signed-by=$1] file:$repository stable main" >"$work/apt/sources.list"; }
forget() { rm -rf "$work"/apt/lists/* && mkdir -p "$work/apt/lists/partial"; }
# update: fails also where apt-get only warns.
update() { forget && isolated apt-get update --error-on=any; }
downloads() {
    (cd "$work" && isolated apt-get download realm-server realm-agent) \
        && cmp "$work"/realm-server_*.deb "$packages"/realm-server_*.deb \
        && cmp "$work"/realm-agent_*.deb "$packages"/realm-agent_*.deb
}

source_line "$key"
check "apt accepts its signature" update
check "both packages have a candidate" \
    bash -c "[ \"\$($(declare -f isolated); work=$work isolated apt-cache policy realm-agent realm-server | grep -c 'Candidate: [0-9]')\" = 2 ]"
check "apt downloads the same packages" downloads

# Another key, a changed list, a changed package, no signature: apt must refuse each.
mkdir -m 700 "$work/other"
GNUPGHOME=$work/other gpg --batch --quiet --passphrase '' --quick-generate-key other ed25519 sign 1d \
    >/dev/null 2>&1
GNUPGHOME=$work/other gpg --batch --export other >"$work/other.gpg"
GNUPGHOME=$work/other gpgconf --kill gpg-agent 2>/dev/null || true
source_line "$work/other.gpg"
refuse "apt refuses it with another key" update
source_line "$key"
cp -a "$repository" "$work/whole"
for file in "$repository"/dists/stable/main/binary-amd64/Packages*; do rm "$file"; done
sed 's/^Version: .*/Version: 9.9/' "$work/whole/dists/stable/main/binary-amd64/Packages" \
    >"$repository/dists/stable/main/binary-amd64/Packages"
refuse "apt refuses a changed list of packages" update
rm -rf "$repository" && cp -a "$work/whole" "$repository"
rm "$repository/dists/stable/InRelease" "$repository/dists/stable/Release.gpg"
refuse "apt refuses it without signatures" update
rm -rf "$repository" && cp -a "$work/whole" "$repository"
check "apt accepts it again" update
rm -f "$work"/realm-*.deb "$work"/apt/cache/archives/*.deb
echo x >>"$(ls "$repository"/pool/main/r/realm-agent/realm-server_*.deb)"
refuse "apt refuses a changed package" downloads
rm -rf "$repository" && cp -a "$work/whole" "$repository"

if [ "${1:-}" != --quick ]; then
    if [ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null; then
        root=$work/root
        check "a Debian 12 is made" mmdebstrap --quiet --variant=apt bookworm "$root"
        mkdir -p "$root/srv/repository"
        cp -a "$repository/." "$root/srv/repository/"
        cp "$key" "$root/usr/share/keyrings/"
        printf 'Types: deb\nURIs: file:/srv/repository\nSuites: stable\nComponents: main\nSigned-By: /usr/share/keyrings/%s\n' \
            "$(basename "$key")" >"$root/etc/apt/sources.list.d/realm-agent.sources"
        printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
        chmod +x "$root/usr/sbin/policy-rc.d"
        inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }
        check "its apt reads the repository" inside apt-get update -q
        check "it installs both packages from there" \
            inside apt-get install -y -q --no-install-recommends realm-agent realm-server
        for program in realm-agent realm-server; do
            check "$program runs there" inside $program --version
        done
        check "the packages come from the repository" \
            bash -c "chroot '$root' apt-cache policy realm-server | grep -q 'file:/srv/repository'"
    else
        loud "an installation from the repository: this takes root and mmdebstrap"
    fi
fi

if [ "$failures" = 0 ]; then echo "all of it held"; else
    echo "$failures checks failed" >&2
    exit 1
fi
