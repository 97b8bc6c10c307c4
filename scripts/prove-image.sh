#!/bin/bash
# Runs the images with what this machine has, as a cluster would: a user without a name, a read-only root, no
# rights, configuration by files and environment. Says what it could not try.
#
#   scripts/prove-image.sh               the images of `make image`: with podman, crun, and without either
#   scripts/prove-image.sh --quick BIN   an image of the programs in the folder BIN with the libraries that they
#                                        need, without podman and crun (part of CI)
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/prove/checks.sh
. scripts/prove/containers.sh
trap 'stop_containers; rm -rf "$work"' EXIT

if [ "$(id -u)" != 0 ]; then
    loud "images: this takes root"
    exit 1
fi

images=.build-package/image
if [ "${1:-}" = --quick ]; then
    images=$work/images
    mkdir "$images"
    for program in realm-server realm-agent; do
        root=$work/quick-$program
        mkdir -p "$root"/{usr/bin,proc,dev,tmp,etc/$program.d,var/lib/$program,run/$program}
        cp "$2/$program" "$root/usr/bin/"
        strip "$root/usr/bin/$program"
        ldd "$2/$program" | sed -n 's/.* => \(\/[^ ]*\).*/\1/p; s/^\t\(\/[^ ]*\) .*/\1/p' |
            while read -r library; do
                mkdir -p "$root$(dirname "$library")"
                cp -L "$library" "$root$library"
            done
        cp "packaging/images/$program.yaml" "$root/etc/"
        tar -C "$root" --sort=name -cf "$work/$program.tar" .
        check "an image of $program is written" scripts/image/oci.py write "$work/$program.tar" \
            "$images/$program" "$program:test" "packaging/images/$program.json"
    done
fi
if [ ! -d "$images/realm-server" ]; then
    echo "prove-image: there are no images in $images; run: make image" >&2
    exit 1
fi

for program in realm-server realm-agent; do
    check "$program: each digest and size is right" scripts/image/oci.py check "$images/$program"
    if command -v skopeo >/dev/null; then
        check "$program: skopeo reads it" skopeo inspect --raw "oci:$images/$program"
        check "$program: and copies all of it" \
            skopeo copy --insecure-policy --quiet "oci:$images/$program" "dir:$work/skopeo-$program"
    else
        loud "$program: skopeo is not installed"
    fi
    # Changed bytes must not go unseen. (One byte may already be what it is changed to; 32 zeros in a row do not
    # occur in compressed data.)
    cp -a "$images/$program" "$work/damaged"
    layer=$(find "$work/damaged/blobs" -type f -size +100k | head -n 1)
    dd if=/dev/zero of="$layer" bs=1 seek=5000 count=32 conv=notrunc status=none
    refuse "$program: a damaged layer is refused" scripts/image/oci.py unpack "$work/damaged" "$work/nothing"
    rm -rf "$work/damaged" "$work/nothing"
done

# --- what runs in them --------------------------------------------------------------------------------

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# The secret comes from the environment, all else from a mounted file.
export TOKEN_SECRET=a-secret-of-thirty-two-bytes-or-more
token() {
    python3 - <<'PYTHON'
import base64, hashlib, hmac, json, os, time
def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=")
head = text(b'{"alg":"HS256","typ":"JWT"}')
body = text(json.dumps({"aud": "shop", "sub": "till-7", "exp": int(time.time()) + 600}).encode())
mac = hmac.new(os.environ["TOKEN_SECRET"].encode(), head + b"." + body, hashlib.sha256)
print(json.dumps({"token": (head + b"." + body + b"." + text(mac.digest())).decode()}))
PYTHON
}
log_in() {
    token | curl --silent --fail --max-time 30 --header 'content-type: application/json' --data @- \
        "http://127.0.0.1:$clients/api/client/v2.0/app/shop/auth/providers/custom-token/login" \
        | grep -q access_token
}
ready() { curl --silent --fail --max-time 10 "http://127.0.0.1:$1/readyz"; }
synced() { container_exec realm-agent /usr/bin/realm-agent status stock | grep -qw open; }
# The process in the container: its user, its rights, and the root that it sees.
field() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$(container_pid "$2")/status"; }
is_user() { [ "$(field Uid "$1")" = "$2" ]; }
is_without_rights() { [ "$(field CapEff "$1")" = 0000000000000000 ]; }
is_read_only() { awk '$5 == "/" { print $6 }' "/proc/$(container_pid "$1")/mountinfo" | tail -n 1 | grep -q '^ro'; }

prove_with() {
    local runtime=$1
    clients=$(port) metrics=$(port) agent_metrics=$(port)
    mkdir -p "$work/server.d" "$work/agent.d"
    cat >"$work/server.d/10-test.yaml" <<YAML
server: { listen: "127.0.0.1:$clients", metrics: { listen: "127.0.0.1:$metrics" } }
apps:
  shop:
    sync: { mode: partition, partition_key: store, partition_type: string }
    development_mode: true
    providers: { jwt: { algorithm: HS256, secret: { env: TOKEN_SECRET } }, anonymous: true }
YAML
    cat >"$work/agent.d/10-test.yaml" <<YAML
agent: { metrics: { listen: "127.0.0.1:$agent_metrics" } }
apps: { shop: { app_id: shop, base_url: "http://127.0.0.1:$clients" } }
users: { till: { app: shop, provider: anonymous } }
realms:
  stock:
    user: till
    partition: { string: "\${env.STORE}" }
    schema: { classes: { Item: { primary_key: _id, properties: { _id: int, name: string } } } }
YAML
    chmod -R a+rX "$work/server.d" "$work/agent.d" "$work"
    if ! container_run "$runtime" realm-server 10001 "$work/server.d" "TOKEN_SECRET=$TOKEN_SECRET" serve; then
        loud "$runtime: it cannot run a container on this machine"
        sed 's/^/        /' "$work/$runtime-realm-server.log" | tail -n 5 >&2
        return
    fi
    eventually "$runtime: the server is ready" ready "$metrics"
    check "$runtime: its health check succeeds" container_exec realm-server /usr/bin/realm-server health
    check "$runtime: a log-in uses the secret of the environment" log_in
    check "$runtime: it runs as a user without a name" is_user realm-server 10001
    check "$runtime: without rights" is_without_rights realm-server
    check "$runtime: on a read-only root" is_read_only realm-server
    if ! container_run "$runtime" realm-agent 10002 "$work/agent.d" "STORE=store-42" run; then
        fail "$runtime: the agent starts"
        tail -n 5 "$work/$runtime-realm-agent.log" >&2
        return
    fi
    eventually "$runtime: the agent is ready" ready "$agent_metrics"
    check "$runtime: its health check succeeds" container_exec realm-agent /usr/bin/realm-agent status
    eventually "$runtime: its realm is open" synced
    check "$runtime: the partition comes from the environment" container_exec realm-server \
        /usr/bin/realm-server realms inspect --app shop '"store-42"'
    check "$runtime: the agent ends in order" container_stop realm-agent
    check "$runtime: the server ends in order" container_stop realm-server
}

# Without certificate authorities an app that is reached with TLS ends the start, with a remedy.
names_authorities() {
    local root status=0
    root=$(unpacked realm-agent)
    cat >"$root/tmp/secure.yaml" <<'YAML'
version: 1
apps: { shop: { app_id: shop, base_url: "https://127.0.0.1:1" } }
YAML
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount bash -euc '
        if [ -d "$1/etc/ssl" ]; then mount -t tmpfs none "$1/etc/ssl"; fi
        mount --rbind /dev "$1/dev"
        mount -t proc none "$1/proc"
        for place in var/lib run; do mount -t tmpfs none "$1/$place"; done
        exec env -i PATH=/usr/bin LANG=C.UTF-8 \
            unshare --root="$1" --wd=/ /usr/bin/realm-agent run --config /tmp/secure.yaml
    ' start "$root" >"$work/secure.log" 2>&1 || status=$?
    cat "$work/secure.log"
    [ $status = 2 ] && grep -q 'install the package ca-certificates.*config.no_authorities' "$work/secure.log"
}

prove_with unshare
check "without certificate authorities the agent says so" names_authorities
if [ "${1:-}" = --quick ]; then
    loud "podman, crun and the images of the packages: make prove-image"
else
    for runtime in crun podman; do
        if command -v $runtime >/dev/null; then prove_with $runtime; else
            loud "$runtime: it is not installed"
        fi
    done
    loud "docker, a Kubernetes cluster, other architectures"
fi

if [ "$failures" = 0 ]; then echo "all of it held"; else
    echo "$failures checks failed" >&2
    exit 1
fi
