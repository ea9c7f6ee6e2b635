"""ReFrame's configuration of the Slurm that scripts/local_slurm.sh starts, for tests."""

site_configuration = {
    "systems": [
        {
            "name": "slurm",
            "hostnames": [".*"],
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "cpu",
                    "scheduler": "squeue",
                    "launcher": "srun",
                    "access": ["--partition=cpu"],
                    "environs": ["builtin"],
                    "max_jobs": 10,
                    # each node has a folder for temporary files, and with it a lock, of its own
                    "prepare_cmds": ["mkdir -p $TMPDIR/$SLURMD_NODENAME"],
                    "env_vars": [["TMPDIR", "$TMPDIR/$SLURMD_NODENAME"]],
                    "extras": {"deepbench_machine": "here"},
                }
            ],
        }
    ],
    "environments": [{"name": "builtin", "target_systems": ["slurm"]}],
}
