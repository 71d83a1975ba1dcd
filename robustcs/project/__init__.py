"""``robustcs.toml``: which files a project has, and under which policy they are evaluated."""

from robustcs.project.files import input_files, protect_inputs
from robustcs.project.model import (
    FORMULATION_FILES,
    ROLES,
    AgreementFiles,
    ClariqFiles,
    CrowdFiles,
    Formulation,
    Project,
    Role,
    TextSource,
    parse_role,
    parse_text_source,
)
from robustcs.project.reading import find_project, read_project
from robustcs.protected import CONFIG_NAME

__all__ = [
    "CONFIG_NAME", "FORMULATION_FILES", "ROLES", "AgreementFiles", "ClariqFiles", "CrowdFiles", "Formulation", "Project",
    "Role", "TextSource", "find_project", "input_files", "parse_role", "parse_text_source", "protect_inputs", "read_project",
]  # fmt: skip
