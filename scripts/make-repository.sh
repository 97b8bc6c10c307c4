#!/bin/bash
# Makes a signed apt repository of the Debian packages: .build-package/repository, to be put on any web
# server. Each run replaces it as a whole.
#
#   scripts/make-repository.sh               of the packages in .build-package/deb (make deb)
#   scripts/make-repository.sh DEBS TARGET   of and to other folders
#
# Environment: REPOSITORY_KEY, the id of a secret key in your GnuPG keyring. Without it a key is made at the
# first run, and kept in .build-package/repository-key: who has that folder can sign packages.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=${1:-.build-package/deb}
target=${2:-.build-package/repository}

for tool in apt-ftparchive gpg; do
    command -v $tool >/dev/null || {
        echo "make-repository: $tool is missing; install apt-utils and gpg" >&2
        exit 1
    }
done
if ! ls "$packages"/*.deb >/dev/null 2>&1; then
    echo "make-repository: there are no packages in $packages; run: make deb" >&2
    exit 1
fi
umask 022

key=${REPOSITORY_KEY:-}
if [ -z "$key" ]; then
    export GNUPGHOME=${REPOSITORY_KEY_DIRECTORY:-$PWD/.build-package/repository-key}
    (umask 077 && mkdir -p "$GNUPGHOME")
    key='realm-agent packages <realm-agent@packages.invalid>'
    gpg --batch --quiet --list-secret-keys "$key" >/dev/null 2>&1 \
        || gpg --batch --quiet --passphrase '' --quick-generate-key "$key" ed25519 sign 5y
fi

new=$target.new
rm -rf "$new"
pool=pool/main/r/realm-agent
mkdir -p "$new/$pool"
cp "$packages"/*.deb "$new/$pool/"
gpg --batch --export "$key" >"$new/realm-agent-archive-keyring.gpg"
(
    cd "$new"
    for architecture in amd64 arm64; do
        folder=dists/stable/main/binary-$architecture
        mkdir -p "$folder"
        apt-ftparchive --arch "$architecture" packages pool >"$folder/Packages"
        gzip --keep --no-name --best "$folder/Packages"
    done
    apt-ftparchive \
        -o APT::FTPArchive::Release::Origin=realm-agent -o APT::FTPArchive::Release::Label=realm-agent \
        -o APT::FTPArchive::Release::Suite=stable -o APT::FTPArchive::Release::Codename=stable \
        -o APT::FTPArchive::Release::Architectures="amd64 arm64" \
        -o APT::FTPArchive::Release::Components=main \
        release dists/stable >Release
    mv Release dists/stable/Release
    gpg --batch --yes --local-user "$key" --clearsign --output dists/stable/InRelease dists/stable/Release
    gpg --batch --yes --local-user "$key" --armor --detach-sign --output dists/stable/Release.gpg \
        dists/stable/Release
)
rm -rf "$target"
mv "$new" "$target"
gpgconf --kill gpg-agent 2>/dev/null || true
echo "make-repository: $target, signed by $(gpg --batch --with-colons --show-keys \
    "$target/realm-agent-archive-keyring.gpg" | awk -F: '$1 == "fpr" { print $10; exit }')"
