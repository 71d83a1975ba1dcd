"""The report: every question that the inputs allow, as one document and one folder.

A study's ``question.py`` says which questions it answers; :data:`robustcs.studies.registry.STUDIES` gives their order. The
folder is not called ``report``, because ``robustcs.report`` is the function that makes one.
"""
