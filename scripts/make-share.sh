#!/bin/sh
# Makes what ships beside the programs and follows from them: shell completions, manual pages and the
# JSON Schemas of the configurations.
#
#   scripts/make-share.sh PROGRAMS DIRECTORY
set -eu
cd "$(dirname "$0")/.."
programs=$1
out=$2

mkdir -p "$out/completions" "$out/manual" "$out/schemas"
for program in realm-agent realm-server; do
    for shell in bash zsh fish; do
        # Sourced, never run: a first line that names a shell has no place there.
        "$programs/$program" --generate-completion-script "$shell" | sed '1{/^#!/d}' \
            >"$out/completions/$program.$shell"
    done
    "$programs/$program" config schema | python3 scripts/manual/schema.py "$program" \
        >"$out/schemas/$program.schema.json"
done
python3 scripts/manual/manual.py "$programs" "$out/manual"
