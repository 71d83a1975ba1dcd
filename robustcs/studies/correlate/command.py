"""``robustcs correlate``."""

from __future__ import annotations

import click

from robustcs.cli.encoders import encoder_options
from robustcs.cli.options import Options, shared_options
from robustcs.cli.retrieved import load_project_with_runs


@click.command(short_help="Do similar questions get similar answers?")
@click.option("--x", "similarities", multiple=True, metavar="NAME",
              help="Similarity of QR and Human text: rouge1_recall (also rouge2, rougeL; precision, f), use,"
              " sentence_transformer (default: rouge1_f, rouge1_recall, rouge1_precision, rougeL_f and the encoders given).")
@click.option("--y", "measures", multiple=True, metavar="NAME",
              help="Similarity of the answers: overlap_1000, jaccard_10, rbo, answer_jaccard, a column of --scores"
              " answers=FILE; or a measure (QR − Human), or with a threshold whether QR is correct: P_1=1.")
@click.option("--no-stemmer", is_flag=True, help="ROUGE without the Porter stemmer.")
@click.option("--corners", type=float, nargs=4, metavar="A B C D", default=(0.9, 0.4, 0.8, 0.8), show_default=True,
              help="Outliers: similarity > A but answers < B, or similarity < C but answers > D.")
@encoder_options
@shared_options
def correlate(
    options: Options,
    similarities: tuple[str, ...],
    measures: tuple[str, ...],
    no_stemmer: bool,
    corners: tuple[float, float, float, float],
    use: str | None,
    sentence_transformer: str | None,
) -> None:
    """Do similar questions get similar answers? Correlations, and the turns that break them.

    An --output that ends in .png, .svg or .pdf gets the scatter plot of the first --x against the first --y. The first measure
    and threshold say which answers are correct.

    \b
    Examples:
      robustcs correlate
      robustcs correlate --x rouge1_recall --y overlap_1000 --y ndcg_cut_3
      robustcs correlate --rewrites qr=t5.tsv --rewrites human=manual.tsv \\
          --scores answers=overlap.txt --output scatter.pdf
      robustcs correlate --use models/use-4 --output correlate.json
    """
    from robustcs.cli.encoders import load_encoders
    from robustcs.cli.formulations import refuse_runs, thresholds
    from robustcs.cli.output import emit
    from robustcs.cli.progress import track
    from robustcs.project.workspace import Workspace
    from robustcs.similarity.questions import check_similarities
    from robustcs.studies.correlate.analysis import Corners
    from robustcs.studies.correlate.ask import DEFAULT_SIMILARITIES, correlate_questions
    from robustcs.studies.correlate.show import present_correlate

    refuse_runs(options)
    models = {"use": use, "sentence_transformer": sentence_transformer}
    given = [name for name, model in models.items() if model]
    names = tuple(dict.fromkeys(similarities)) or (*DEFAULT_SIMILARITIES, *given)
    check_similarities(names, given)
    project = load_project_with_runs(options)
    workspace = Workspace(project, options.jobs, track)
    encoders = load_encoders(*(model if name in names else None for name, model in models.items()))
    result = correlate_questions(
        workspace, thresholds(project)[0], measures, names, encoders, not no_stemmer, Corners(*corners)
    )
    emit("correlate", result, present_correlate(result), workspace.inputs, options)
