#!/usr/bin/env bash
# A Slurm of one controller and three nodes on this machine, for tests: its times are of no
# use, since the nodes share one machine.
#
#     scripts/local_slurm.sh start [--accounting] [FOLDER]
#     scripts/local_slurm.sh stop|status [FOLDER]
#     export SLURM_CONF=FOLDER/slurm.conf        # for sbatch, squeue, scontrol, sacct
#
# FOLDER (default: /tmp/deepbench-slurm) holds configuration, key, state and logs; stop removes it, and
# no folder that start has not filled. It needs root, and slurmctld, slurmd and munged: apt-get install
# slurm-wlm munge. With --accounting sacct answers too, from slurmdbd and a database of its own in FOLDER:
# apt-get install slurmdbd mariadb-server-core mariadb-client-core.
set -euo pipefail

command=${1:-}
accounting=
if [ "$command" = start ] && [ "${2:-}" = --accounting ]; then
    accounting=yes
    shift
fi
folder=${2:-/tmp/deepbench-slurm}
nodes=(node1 node2 node3)
programs=(munged slurmctld slurmd)
accounting_programs=(slurmdbd mariadbd mariadb-install-db my_print_defaults)
accounting_packages="slurmdbd mariadb-server-core mariadb-client-core"

fail() {
    echo "local_slurm.sh: $1" >&2
    exit 1
}

demand() {
    [ "$(id -u)" = 0 ] || fail "needs root, since slurmd starts jobs for their users"
    for program in "${programs[@]}"; do
        command -v "$program" >/dev/null || fail "$program is missing: apt-get install slurm-wlm munge"
    done
    [ -n "$accounting" ] || return 0
    for program in "${accounting_programs[@]}"; do
        command -v "$program" >/dev/null ||
            fail "$program is missing: apt-get install $accounting_packages"
    done
}

# Free ports, as many as asked for.
ports() {
    python3 - "$1" <<'PYTHON'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for each in sockets:
    each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in sockets))
PYTHON
}

configure() {
    local host port
    host=$(hostname -s)
    read -r -a port <<<"$(ports "$((1 + ${#nodes[@]}))")"
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
            "Port=${port[$((place + 1))]} CPUs=2 RealMemory=500 State=UNKNOWN"
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

# A database that root alone can use, since it listens on the loopback interface with a random password.
start_accounting() {
    local database accounts password
    read -r database accounts <<<"$(ports 2)"
    password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    mariadb-install-db --no-defaults --user=root --datadir="$folder/database" \
        --auth-root-authentication-method=normal --skip-test-db >"$folder/mariadb-install.log" 2>&1
    chmod 700 "$folder/database"
    (
        umask 077
        cat >"$folder/accounts.sql" <<SQL
CREATE DATABASE IF NOT EXISTS slurm_acct_db;
CREATE OR REPLACE USER slurm@'127.0.0.1' IDENTIFIED BY '$password';
GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';
SQL
        cat >"$folder/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$accounts
SlurmUser=root
LogFile=$folder/slurmdbd.log
PidFile=$folder/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$database
StorageUser=slurm
StoragePass=$password
StorageLoc=slurm_acct_db
CONF
    )
    cat >>"$folder/slurm.conf" <<CONF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$accounts
AccountingStoragePass=$folder/munge.socket
CONF
    mariadbd --no-defaults --user=root --datadir="$folder/database" --bind-address=127.0.0.1 \
        --port="$database" --socket="$folder/mariadb.socket" --pid-file="$folder/mariadb.pid" \
        --skip-name-resolve --init-file="$folder/accounts.sql" \
        --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 \
        >"$folder/mariadb.log" 2>&1 </dev/null &
    disown
    wait_for "mariadbd does not listen: $folder/mariadb.log" listens "$database"
    slurmdbd
    wait_for "slurmdbd does not listen: $folder/slurmdbd.log" listens "$accounts"
}

# Wait half a minute until a command is true: MESSAGE COMMAND...
wait_for() {
    local message=$1
    shift
    for _ in $(seq 60); do
        "$@" && return 0
        sleep 0.5
    done
    fail "$message"
}

listens() {
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# A folder of another user could hold links and process numbers of that user's choice.
demand_folder() {
    [ -O "$folder" ] && [ ! -L "$folder" ] && [ -z "$(find "$folder" -maxdepth 0 -perm /022)" ] ||
        fail "$folder is not a folder that only you can write to: name another one"
}

is_own() {
    grep -qs '^ClusterName=local$' "$folder/slurm.conf"
}

start() {
    demand
    if [ -e "$folder" ] || [ -L "$folder" ]; then
        demand_folder
        running && fail "$folder has a Slurm already: $0 stop $folder"
        is_own || [ -z "$(ls -A "$folder")" ] || fail "$folder has other files: name an empty folder"
    fi
    mkdir -p "$folder/state" "$folder/spool"
    chmod 755 "$folder"
    configure
    export SLURM_CONF=$folder/slurm.conf
    start_munge
    [ -z "$accounting" ] || start_accounting
    slurmctld
    wait_for "slurmctld does not listen: $folder/slurmctld.log" listens "$controller"
    for node in "${nodes[@]}"; do
        slurmd -N "$node"
    done
    for _ in $(seq 60); do
        [ "$(sinfo --noheader --Node --states=idle | wc -l)" = "${#nodes[@]}" ] && break
        sleep 0.5
    done
    status
}

# The numbers of this Slurm's processes that still run; a number may have gone to another program since.
pids() {
    local file pid
    for file in "$folder"/slurmd-*.pid "$folder"/{slurmctld,slurmdbd,mariadb,munged}.pid; do
        pid=$(cat "$file" 2>/dev/null) || continue
        case $(cat "/proc/$pid/comm" 2>/dev/null) in
            slurmd* | slurmctld | mariadbd | munged) echo "$pid" ;;
        esac
    done
}

# Whether one of these processes is there, of the folder's unless named.
running() {
    local pid
    for pid in ${*:-$(pids)}; do
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

# The numbers are read once: a slurmd removes its file first, and may then wait for its controller.
stop() {
    local pid all
    [ -e "$folder" ] || return 0
    is_own || fail "$folder has no Slurm of this script, and stays as it is"
    demand_folder
    running && cancel_jobs
    all=$(pids)
    for pid in $all; do
        kill "$pid" 2>/dev/null || true
    done
    for _ in $(seq 60); do
        [ -n "$all" ] && running $all || break
        sleep 0.5
    done
    for pid in $all; do
        kill -9 "$pid" 2>/dev/null || true
    done
    rm -rf "$folder"
}

status() {
    running || fail "no Slurm in $folder"
    SLURM_CONF=$folder/slurm.conf sinfo --Node --format "%N %T"
    echo "export SLURM_CONF=$folder/slurm.conf"
}

case "$command" in
    start | stop | status) "$command" ;;
    *) sed -n '2,12p' "$0" | cut -c3- >&2; exit 2 ;;
esac
