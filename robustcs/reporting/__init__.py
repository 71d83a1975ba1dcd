"""The report: every analysis that the inputs allow, as one document and one folder that answer the user's questions.

A question is a :class:`~robustcs.reporting.question.Question`; :data:`robustcs.reporting.questions.QUESTIONS` lists them in
the order of the report, and that is where a new analysis joins it.
"""
