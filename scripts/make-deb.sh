#!/bin/sh
# Builds the Debian packages: the programs first, in a folder of their own, then the packaging, which
# needs neither compiler nor network. The packages end up in .build-package/deb.
#
#   scripts/make-deb.sh            both
#   scripts/make-deb.sh --packed   takes the programs as they are in .build-package
set -eu
cd "$(dirname "$0")/.."

for tool in dpkg-buildpackage dh python3; do
    command -v "$tool" >/dev/null || {
        echo "make-deb: $tool is missing; \"make deb\" installs it, or scripts/setup.sh deb" >&2
        exit 1
    }
done

build=.build-package
# The Swift runtime is linked in, Debian's libraries are not. Hardening as Debian does it: position
# independent, relocations resolved at start and then read-only, checked stacks and buffers in C.
# Paths are written relative to this folder, so that code and data are the same in any other; what is
# left to differ are hashes that the compiler makes of its options (.swift_modhash, module caches in the
# debug symbols) and the build id, which follows from them.
flags="--configuration release --static-swift-stdlib --scratch-path $build --disable-local-rpath
    -Xcc -fstack-protector-strong -Xcc -D_FORTIFY_SOURCE=2
    -Xcc -ffile-prefix-map=$PWD=. -Xswiftc -file-prefix-map -Xswiftc $PWD=.
    -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker --build-id=sha1 -Xlinker --as-needed"

if [ "${1:-}" != --packed ]; then
    # shellcheck disable=SC2086 # a list of words is meant
    for product in realm-agent realm-server; do swift build $flags --product "$product"; done
fi
programs=$build/release

version=$(dpkg-parsechangelog --file packaging/debian/changelog --show-field Version)
for program in realm-agent realm-server; do
    stated=$("$programs/$program" --version)
    if [ "$version" != "$stated" ]; then
        echo "make-deb: packaging/debian/changelog says $version, $program says $stated" >&2
        exit 1
    fi
done

# The same programs give the same packages, whoever makes them, where and when.
umask 022
export TZ=UTC LC_ALL=C.UTF-8
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog --file packaging/debian/changelog --show-field Timestamp)
export SOURCE_DATE_EPOCH

# dpkg-buildpackage leaves its products beside the tree that it builds.
rm -rf "$build/deb"
tree=$build/deb/tree
mkdir -p "$tree/programs"
git ls-files -z README.md LICENSE docs etc examples packaging systemd | xargs -0 cp --parents -t "$tree"
mv "$tree/packaging/debian" "$tree/debian"
cp "$programs/realm-agent" "$programs/realm-server" "$tree/programs/"
scripts/make-share.sh "$programs" "$tree/share"

(cd "$tree" && dpkg-buildpackage --build=binary --no-sign)
rm -rf "$tree"
ls -l "$build"/deb/*.deb
