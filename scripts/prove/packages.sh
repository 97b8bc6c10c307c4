# shellcheck shell=bash
# The packages as files: what is in them, and whether the same programs give the same bytes.

holds() { dpkg-deb --contents "$1" | awk '{ print $6 }' | grep -qxF "./$2"; }

prove_packages() {
    local file package
    for file in usr/share/man/man1/realm-agent.1.gz usr/share/man/man8/realm-agent.8.gz \
        usr/share/man/man5/realm-agent.yaml.5.gz usr/share/realm-agent/realm-agent.schema.json \
        usr/share/bash-completion/completions/realm-agent usr/share/zsh/vendor-completions/_realm-agent \
        usr/share/fish/vendor_completions.d/realm-agent.fish etc/realm-agent.d/ \
        etc/realm-agent.credentials/ usr/share/doc/realm-agent/examples/realm-agent.yaml \
        usr/share/doc/realm-agent/examples/realm-agent.cron usr/share/doc/realm-agent/examples/plugins/; do
        check "realm-agent has /$file" holds "$agent" "$file"
    done
    for file in usr/share/man/man8/realm-server.8.gz usr/share/man/man5/realm-server.yaml.5.gz \
        usr/share/realm-server/realm-server.schema.json etc/realm-server.d/ \
        usr/share/bash-completion/completions/realm-server usr/share/zsh/vendor-completions/_realm-server \
        usr/share/fish/vendor_completions.d/realm-server.fish \
        usr/share/doc/realm-server/examples/realm-server.yaml; do
        check "realm-server has /$file" holds "$server" "$file"
    done
    if command -v lintian >/dev/null; then
        for package in "$agent" "$server"; do
            check "lintian has nothing against $(basename "$package")" \
                lintian --allow-root --fail-on error,warning "$package"
        done
    else
        loud "lintian is not installed"
    fi
    for package in "$agent" "$server"; do
        dpkg-deb --extract "$package" "$work/programs"
    done
    # shellcheck disable=SC2016 # the inner shell's
    refuse "no path of the build is left in the programs" \
        sh -c 'cat "$0"/usr/bin/realm-* | strings -a | grep -F "$PWD/"' "$work/programs"
    if command -v hardening-check >/dev/null; then
        # The stack protector and fortified functions are those of C code; control-flow protection is
        # not in Debian 12's default flags, nor its name on ARM known to every version of the tool.
        local known=--nocfprotection
        ! hardening-check --help | grep -q nobranchprotection || known="$known --nobranchprotection"
        # shellcheck disable=SC2086 # a list of words is meant
        check "the programs are hardened" hardening-check $known "$work"/programs/usr/bin/realm-*
    else
        loud "hardening-check (devscripts) is not installed"
    fi
    rm -rf "$work/programs"
    prove_reproducible
}

# Packed again in another time zone and language, from the same programs.
prove_reproducible() {
    mkdir "$work/first"
    cp "$packages"/*.deb "$work/first/"
    check "packing a second time" \
        env TZ=Pacific/Kiritimati LC_ALL=C LANGUAGE=de scripts/make-deb.sh --packed
    for package in "$work"/first/*.deb; do
        check "gives the same bytes: $(basename "$package")" \
            cmp "$package" "$packages/$(basename "$package")"
    done
}
