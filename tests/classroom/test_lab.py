"""JupyterLab as labkit starts it: on this machine only, without nbgrader for those who come for the lessons."""

import os
import sys
from pathlib import Path

from labkit.classroom.lab import lab_command, lab_environment


def test_it_listens_on_loopback_and_opens_the_folder(tmp_path):
    command = lab_command(tmp_path, 8899, headless=True)
    assert "--ServerApp.ip=127.0.0.1" in command
    assert f"--ServerApp.root_dir={tmp_path}" in command
    assert "--no-browser" in command
    assert "--no-browser" not in lab_command(tmp_path, 8899, headless=False)


def test_only_a_course_has_nbgrader(monkeypatch):
    from jupyter_server.extension.config import ExtensionConfigManager
    from jupyterlab_server.config import get_static_page_config

    def enabled(*settings):
        path = lab_environment(*settings)["JUPYTER_CONFIG_PATH"].split(os.pathsep)
        extensions = ExtensionConfigManager(read_config_path=[*path, f"{sys.prefix}/etc/jupyter"])
        return {name: on for name, on in extensions.get_jpserver_extensions().items() if "nbgrader" in name}

    assert len(enabled("every")) == 4
    assert all(enabled("every").values())
    assert enabled("lessons", "every") == dict.fromkeys(enabled("every"), False)
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", lab_environment("lessons", "every")["JUPYTER_CONFIG_PATH"])
    assert get_static_page_config(level="all")["disabledExtensions"]["@jupyter/nbgrader"]


def test_this_environments_programs_come_first():
    assert lab_environment()["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)
