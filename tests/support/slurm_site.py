"""ReFrame's configuration of the Slurm that scripts/local_slurm.sh starts, for tests.

System `slurm` asks squeue how jobs ended, and system `accounting` asks sacct.
"""

PARTITION = {
    "name": "cpu",
    "launcher": "srun",
    "access": ["--partition=cpu"],
    "environs": ["builtin"],
    "max_jobs": 10,
    "sched_options": {"max_sacct_failures": 60},
    # each node has a folder for temporary files, and with it a lock, of its own
    "prepare_cmds": ["mkdir -p $TMPDIR/$SLURMD_NODENAME"],
    "env_vars": [["TMPDIR", "$TMPDIR/$SLURMD_NODENAME"]],
    "extras": {"deepbench_machine": "here"},
}

SCHEDULERS = {"slurm": "squeue", "accounting": "slurm"}

site_configuration = {
    "systems": [
        {
            "name": name,
            "hostnames": [".*"],
            "modules_system": "nomod",
            "partitions": [{**PARTITION, "scheduler": scheduler}],
        }
        for name, scheduler in SCHEDULERS.items()
    ],
    "environments": [{"name": "builtin", "target_systems": [*SCHEDULERS]}],
}
