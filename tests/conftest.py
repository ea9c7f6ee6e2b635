"""What all tests share: no time limits on a single example, since machines are shared."""

from hypothesis import settings

settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")

pytest_plugins = ["browsing"]
