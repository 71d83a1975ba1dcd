"""``robustcs.toml``: which files a project has, and under which policy they are evaluated."""

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
from robustcs.project.reading import CONFIG_NAME, find_project, read_project

__all__ = [
    "CONFIG_NAME", "FORMULATION_FILES", "ROLES", "AgreementFiles", "ClariqFiles", "CrowdFiles", "Formulation", "Project",
    "Role", "TextSource", "find_project", "parse_role", "parse_text_source", "read_project",
]  # fmt: skip
