#!/bin/sh
# Builds the Debian packages: the programs first, in a folder of their own, then the packaging, which
# needs neither compiler nor network. The packages end up in .build-package/deb.
#
#   scripts/make-deb.sh            both
#   scripts/make-deb.sh --packed   takes the programs as they are in .build-package
set -eu
cd "$(dirname "$0")/.."

for tool in dpkg-buildpackage dh; do
    command -v "$tool" >/dev/null || {
        echo "make-deb: $tool is missing; install dpkg-dev and debhelper" >&2
        exit 1
    }
done

build=.build-package
# The Swift runtime is linked in, Debian's libraries are not. Hardening as Debian does it: position
# independent, relocations resolved at start and then read-only, checked stacks and buffers in C.
flags="--configuration release --static-swift-stdlib --scratch-path $build --disable-local-rpath
    -Xcc -fstack-protector-strong -Xcc -D_FORTIFY_SOURCE=2
    -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now -Xlinker --build-id=sha1 -Xlinker --as-needed"

if [ "${1:-}" != --packed ]; then
    # shellcheck disable=SC2086 # a list of words is meant
    for product in realm-agent realm-server; do swift build $flags --product "$product"; done
fi
programs=$build/release

# dpkg-buildpackage leaves its products beside the tree that it builds.
rm -rf "$build/deb"
tree=$build/deb/tree
mkdir -p "$tree/programs" "$tree/completions"
git ls-files -z README.md LICENSE docs etc examples packaging systemd | xargs -0 cp --parents -t "$tree"
mv "$tree/packaging/debian" "$tree/debian"
cp "$programs/realm-agent" "$programs/realm-server" "$tree/programs/"
for program in realm-agent realm-server; do
    for shell in bash zsh fish; do
        # Sourced, never run: a first line that names a shell has no place there.
        "$programs/$program" --generate-completion-script "$shell" | sed '1{/^#!/d}' \
            >"$tree/completions/$program.$shell"
    done
done

version=$(dpkg-parsechangelog --file packaging/debian/changelog --show-field Version)
stated=$("$programs/realm-agent" --version)
if [ "$version" != "$stated" ]; then
    echo "make-deb: packaging/debian/changelog says $version, the programs say $stated" >&2
    exit 1
fi

(cd "$tree" && dpkg-buildpackage --build=binary --no-sign)
rm -rf "$tree"
ls -l "$build"/deb/*.deb
