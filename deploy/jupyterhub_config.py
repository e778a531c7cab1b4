"""JupyterHub on one machine: the course is a folder that all can read, everybody works in a copy of their own."""

import os
import subprocess
from pathlib import Path

LABKIT = Path(os.environ.get("LABKIT_HOME", "/opt/labkit"))  # the clone, with its .venv; nobody but root writes there
RELEASE = Path(os.environ.get("LABKIT_RELEASE", "/srv/course/release"))  # what students get: no source/, no solutions/


def private_copy(release: Path, home: Path, **rights: int) -> None:
    """Give a student the notebooks that are not there yet; what they have begun is never written over (cp -n)."""
    command = ["cp", "-rn", "--no-preserve=mode", f"{release}/.", str(home / "course")]
    subprocess.run(command, umask=0o077, check=True, **rights)


def before_start(spawner) -> None:
    """Copy as the student, not as root: a link in the home folder then leads nowhere that the student may not go."""
    import pwd

    user = pwd.getpwnam(spawner.user.name)
    private_copy(RELEASE, Path(user.pw_dir), user=user.pw_uid, group=user.pw_gid)


c = get_config()  # noqa: F821
c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # a web server with a certificate stands before it
c.JupyterHub.authenticator_class = "pam"  # accounts of the machine
c.Authenticator.allow_all = True
c.Spawner.cmd = [str(LABKIT / ".venv" / "bin" / "jupyterhub-singleuser")]
c.Spawner.notebook_dir = "~/course"
c.Spawner.default_url = "/lab"
c.Spawner.pre_spawn_hook = before_start
