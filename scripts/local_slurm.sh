#!/usr/bin/env bash
# A Slurm of one controller and three nodes on this machine, for tests: its times are of no
# use, since the nodes share one machine.
#
#     scripts/local_slurm.sh start|stop|status [FOLDER]
#     export SLURM_CONF=FOLDER/slurm.conf        # for sbatch, squeue, scontrol
#
# FOLDER (default: /tmp/deepbench-slurm) holds configuration, key, state and logs. It needs root, and
# slurmctld, slurmd and munged: apt-get install slurm-wlm munge.
set -euo pipefail

folder=${2:-/tmp/deepbench-slurm}
nodes=(node1 node2 node3)
programs=(munged slurmctld slurmd)

fail() {
    echo "local_slurm.sh: $1" >&2
    exit 1
}

demand() {
    [ "$(id -u)" = 0 ] || fail "needs root, since slurmd starts jobs for their users"
    for program in "${programs[@]}"; do
        command -v "$program" >/dev/null || fail "$program is missing: apt-get install slurm-wlm munge"
    done
}

# Two free ports, and one more for each node.
ports() {
    python3 - "$((1 + ${#nodes[@]}))" <<'PYTHON'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))
PYTHON
}

configure() {
    local host port controller
    host=$(hostname -s)
    read -r -a port <<<"$(ports)"
    controller=${port[0]}
    cat >"$folder/slurm.conf" <<CONF
ClusterName=local
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
SlurmdTimeout=10
KillWait=5
MinJobAge=600
SlurmdParameters=config_overrides
CONF
    for place in "${!nodes[@]}"; do
        echo "NodeName=${nodes[$place]} NodeHostname=$host NodeAddr=127.0.0.1" \
            "Port=${port[$((place + 1))]} CPUs=1 RealMemory=500 State=UNKNOWN"
    done >>"$folder/slurm.conf"
    echo "PartitionName=cpu Nodes=$(IFS=,; echo "${nodes[*]}") Default=YES MaxTime=INFINITE State=UP" \
        >>"$folder/slurm.conf"
}

start_munge() {
    head -c 1024 /dev/urandom >"$folder/munge.key"
    chmod 600 "$folder/munge.key"
    munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
        --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
        --seed-file="$folder/munge.seed"
}

start() {
    demand
    running && fail "$folder has a Slurm already: $0 stop $folder"
    mkdir -p "$folder/state" "$folder/spool"
    chmod 755 "$folder"
    configure
    export SLURM_CONF=$folder/slurm.conf
    start_munge
    slurmctld
    for node in "${nodes[@]}"; do
        slurmd -N "$node"
    done
    for _ in $(seq 60); do
        [ "$(sinfo --noheader --Node --states=idle | wc -l)" = "${#nodes[@]}" ] && break
        sleep 0.5
    done
    status
}

pids() {
    cat "$folder"/slurmd-*.pid "$folder/slurmctld.pid" "$folder/munged.pid" 2>/dev/null || true
}

running() {
    local pid
    for pid in $(pids); do
        kill -0 "$pid" 2>/dev/null && return 0
    done
    return 1
}

# Jobs outlive the slurmd of their node.
cancel_jobs() {
    export SLURM_CONF=$folder/slurm.conf
    timeout 10 scancel --user="$(id -un)" 2>/dev/null || return 0
    for _ in $(seq 20); do
        [ -n "$(timeout 10 squeue --noheader 2>/dev/null)" ] || break
        sleep 0.5
    done
}

stop() {
    local pid
    running && cancel_jobs
    for pid in $(pids); do
        kill "$pid" 2>/dev/null || true
    done
    for _ in $(seq 60); do
        running || break
        sleep 0.5
    done
    for pid in $(pids); do
        kill -9 "$pid" 2>/dev/null || true
    done
    rm -rf "$folder"
}

status() {
    running || fail "no Slurm in $folder"
    SLURM_CONF=$folder/slurm.conf sinfo --Node --format "%N %T"
    echo "export SLURM_CONF=$folder/slurm.conf"
}

case "${1:-}" in
    start | stop | status) "$1" ;;
    *) sed -n '2,9p' "$0" | cut -c3- >&2; exit 2 ;;
esac
