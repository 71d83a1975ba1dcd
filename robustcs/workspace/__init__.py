"""From the files of a project to what an analysis takes; one module per kind of input, around :class:`Workspace`."""

from robustcs.workspace.workspace import DEFAULT_ANSWER_METRICS, DEFAULT_METRICS, Track, Workspace, parse_measures

__all__ = ["DEFAULT_ANSWER_METRICS", "DEFAULT_METRICS", "Track", "Workspace", "parse_measures"]
