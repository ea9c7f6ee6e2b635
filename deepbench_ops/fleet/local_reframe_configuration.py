"""ReFrame's configuration for this machine without a scheduler: jobs run one after the other."""

site_configuration = {
    "systems": [
        {
            "name": "here",
            "descr": "this machine",
            "hostnames": [".*"],
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "local",
                    "descr": "no scheduler",
                    "scheduler": "local",
                    "launcher": "local",
                    "environs": ["builtin"],
                    "max_jobs": 1,
                }
            ],
        }
    ],
    "environments": [{"name": "builtin", "features": [], "target_systems": ["here"]}],
}
