"""``robustcs unjudged``."""

from __future__ import annotations

import click

from robustcs.studies.slicing import slices_option
from robustcs.studies.study import BY, MOST, SEED, SYSTEMS, UNIT, Command

COMMAND = Command(
    """How much of the top K did nobody judge, and how far could scores move if somebody did?

    Here --depth K is the depth of the judged shares (default 3); measures go as deep as their own cut-off. Every measure gets
    the lowest and the highest value that any grades of the unjudged passages of the --scope could give. All runs of the project
    count: those of the formulations and every --run; more than 50 are compared with each other only with --table pairs.
    An --output that ends in .png, .svg or .pdf gets the figure.

    \b
    Examples:
      robustcs unjudged
      robustcs unjudged --depth 10 --metric ndcg_cut_10 --metric map --scope pool
      robustcs unjudged --expected --table drops
      robustcs unjudged --table tipping
      robustcs unjudged --new-judgments new.txt --output unjudged.pdf
      robustcs unjudged --qrels docs.txt --run ance=passages.trec --documents
    """,
    uses=(
        *SYSTEMS, "new_judgments", "judges", "metric", "relevance_level", "missing", "order", "documents", "jobs", "dask",
        *BY, *UNIT, *SEED,
    ),
    on_request=("pairs", "tipping"),
    parameters=(
        click.Option(["--depth", "top"], type=click.IntRange(1, MOST), metavar="K",
                     help="Depth of the judged shares (default 3)."),
        click.Option(["--scope"], type=click.Choice(["cutoff", "run", "pool"]), default="cutoff", show_default=True,
                     help="Which unjudged passages could get a grade: those inside the measure's cut-off, all of the run, or"
                     " all of any run here, which enter ideal rankings too."),
        click.Option(["--max-grade"], type=click.IntRange(0, 1000), metavar="N",
                     help="Highest grade that an unjudged passage could get (default: the highest in the qrels)."),
        click.Option(["--expected"], is_flag=True,
                     help="Fill in the unjudged passages of every top 10 by the hole model: expected differences, with one"
                     " interval for sampling and unjudged passages, and how far the model may be off."),
        slices_option(),
    ),
)  # fmt: skip
