"""The report: one document and one folder with an answer to every question that the inputs allow.

Each study declares its questions in ``QUESTIONS`` (``questions.py``), and :data:`robustcs.studies.registry.STUDIES` gives their
order. The folder is not called ``report``, because ``robustcs.report`` is a function.
"""
