# shellcheck shell=bash
# Containers of the images, with the network of this machine. Sourced by prove-image.sh.

declare -A runtime_of=() pid_of=() shell_of=() root_of=()

# unpacked PROGRAM: the root of its image.
unpacked() {
    local root=$work/root-$1
    [ -d "$root" ] || scripts/image/oci.py unpack "$images/$1" "$root" || return 1
    mkdir -p "$root"/{proc,dev,tmp}
    echo "$root"
}

# container_run RUNTIME PROGRAM USER DIRECTORY VARIABLE=VALUE VERB: DIRECTORY becomes /etc/PROGRAM.d.
container_run() {
    local runtime=$1 program=$2 root
    shift
    root=$(unpacked "$program") || return 1
    runtime_of[$program]=$runtime root_of[$program]=$root
    "start_$runtime" "$@" "$root" >"$work/$runtime-$program.log" 2>&1 &
    shell_of[$program]=$!
    local end=$((SECONDS + 60))
    until pid_of[$program]=$(find_pid "$runtime" "$program") && [ -n "${pid_of[$program]}" ]; do
        if [ $SECONDS -ge $end ] || ! kill -0 "${shell_of[$program]}" 2>/dev/null; then return 1; fi
        sleep 0.1
    done
}

# The oldest process of the program below the shell that runs the container, or of podman's record.
find_pid() {
    case $1 in
        podman) podman_here inspect --format '{{.State.Pid}}' "$2" 2>/dev/null | grep -vx 0 || true ;;
        *)
            local pids=${shell_of[$2]} pid
            while [ -n "$pids" ]; do
                for pid in $pids; do
                    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ]; then
                        echo "$pid"
                        return
                    fi
                done
                pids=$(pgrep -P "$(tr ' ' , <<<"$pids")" | tr '\n' ' ' | sed 's/ $//') || true
            done
            ;;
    esac
}
container_pid() { echo "${pid_of[$1]}"; }

container_exec() {
    local program=$1
    shift
    case ${runtime_of[$program]} in
        unshare)
            local user=10001
            [ "$program" = realm-server ] || user=10002
            nsenter --target "${pid_of[$program]}" --mount --pid \
                unshare --root="${root_of[$program]}" --wd=/ --setgid=$user --setuid=$user "$@"
            ;;
        crun) crun --root "$work/crun" exec "$program-$$" "$@" ;;
        podman) podman_here exec "$program" "$@" ;;
    esac
}

# The container's program gets SIGTERM, and ends with 0.
container_stop() {
    local program=$1 status=0
    kill -TERM "${pid_of[$program]}" || return 1
    wait "${shell_of[$program]}" || status=$?
    unset "pid_of[$program]"
    return $status
}
stop_containers() {
    local program
    for program in "${!pid_of[@]}"; do
        [ -z "${pid_of[$program]}" ] || kill -KILL "${pid_of[$program]}" 2>/dev/null || true
    done
    for program in "${!shell_of[@]}"; do wait "${shell_of[$program]}" 2>/dev/null || true; done
    [ ! -d "$work/podman" ] || podman_here rm --all --force >/dev/null 2>&1 || true
    find "$work" -maxdepth 3 -name overlay -exec umount {} + 2>/dev/null || true
}

# Without a runtime: namespaces of mounts and processes, and another root.
start_unshare() { # PROGRAM USER DIRECTORY VARIABLE VERB ROOT
    # shellcheck disable=SC2016 # the inner shell's
    exec unshare --mount bash -euc '
        program=$1 user=$2 directory=$3 variable=$4 verb=$5 root=$6
        mount --bind "$root" "$root"
        mount --rbind /dev "$root/dev"
        for place in var/lib/$program run/$program; do
            mount -t tmpfs -o uid=$user,gid=$user,mode=0750 none "$root/$place"
        done
        mount -t tmpfs none "$root/tmp"
        mount -t proc none "$root/proc"
        mount --bind "$directory" "$root/etc/$program.d"
        mount -o remount,bind,ro "$root/etc/$program.d"
        mount -o remount,bind,ro "$root"
        exec env -i PATH=/usr/bin LANG=C.UTF-8 "$variable" \
            unshare --root="$root" --wd=/ --setgid=$user --setuid=$user "/usr/bin/$program" "$verb"
    ' start "$@"
}

# The bundle that an OCI runtime takes, made from the image's configuration.
start_crun() { # PROGRAM USER DIRECTORY VARIABLE VERB ROOT
    local bundle=$work/bundle-$1
    mkdir -p "$bundle"
    (cd "$bundle" && rm -f config.json && crun spec)
    python3 - "$bundle/config.json" "$@" <<'PYTHON'
import json, sys
path, program, user, directory, variable, verb, root = sys.argv[1:]
spec = json.load(open(path))
user = int(user)
process = spec["process"]
process.update(
    terminal=False, user={"uid": user, "gid": user}, args=[f"/usr/bin/{program}", verb], cwd="/",
    env=["PATH=/usr/bin", "LANG=C.UTF-8", variable], noNewPrivileges=True,
)
process["capabilities"] = {}
spec["root"] = {"path": root, "readonly": True}
for place in (f"/var/lib/{program}", f"/run/{program}"):
    spec["mounts"].append({
        "destination": place, "type": "tmpfs", "source": "tmpfs",
        "options": ["nosuid", "nodev", f"uid={user}", f"gid={user}", "mode=0750"],
    })
spec["mounts"].append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev"]})
spec["mounts"].append({
    "destination": f"/etc/{program}.d", "type": "bind", "source": directory, "options": ["rbind", "ro"],
})
# The network is this machine's, and its control groups are left alone.
spec["mounts"] = [m for m in spec["mounts"] if m["destination"] not in ("/sys", "/sys/fs/cgroup")]
linux = spec["linux"]
linux["namespaces"] = [n for n in linux["namespaces"] if n["type"] not in ("network", "cgroup")]
linux.pop("resources", None)
json.dump(spec, open(path, "w"))
PYTHON
    exec crun --root "$work/crun" --cgroup-manager=disabled run --bundle "$bundle" "$1-$$"
}

podman_here() {
    podman --root "$work/podman/root" --runroot "$work/podman/run" --storage-driver=vfs \
        --cgroup-manager=cgroupfs --events-backend=none "$@"
}
start_podman() { # PROGRAM USER DIRECTORY VARIABLE VERB ROOT
    mkdir -p "$work/podman"
    local owner="uid=$2,gid=$2,mode=0750"
    podman_here run --name "$1" --rm --read-only --network=host --cgroups=disabled --cap-drop=ALL \
        --security-opt=no-new-privileges --tmpfs "/var/lib/$1:$owner" --tmpfs "/run/$1:$owner" --tmpfs /tmp \
        --volume "$3:/etc/$1.d:ro" --env "$4" "oci:$(realpath "$images")/$1" "$5"
}
