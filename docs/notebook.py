"""Run docs/python.ipynb and update its outputs, for docs/update.py and the tests.

The cells run in order in one namespace, as in Jupyter but without its kernel. The printed text of a cell and the value of its
last line become its outputs. Magic commands are not supported.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

NOTEBOOK = Path(__file__).parent / "python.ipynb"
#: Resolution of figures in dots per inch.
_DOTS = 100


def executed(text: str) -> str:
    """Return the notebook with the current outputs of its cells, run in the working folder."""
    notebook = json.loads(text)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    # the width of Jupyter, independent of the terminal
    with pd.option_context("display.max_columns", 20, "display.width", 80):
        for number, cell in enumerate(cells, 1):
            cell["execution_count"] = number
            cell["outputs"] = _run("".join(cell["source"]), namespace, number)
    return as_text(notebook)


def as_text(notebook: dict[str, Any]) -> str:
    """Return the text of the file in Jupyter's format."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def without_images(text: str) -> str:
    """Return the notebook without the bytes of its figures, which depend on the fonts of the system."""
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if "image/png" in output.get("data", {}):
                output["data"]["image/png"] = ""
    return as_text(notebook)


def _run(source: str, namespace: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())}
        )
    if value is not None:
        data = _shown(value)
        outputs.append(
            {
                "data": data,
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def _shown(value: Any) -> dict[str, Any]:
    """Return a value in Jupyter's formats: its text, and HTML or an image if available."""
    data: dict[str, Any] = {"text/plain": _lines(repr(value))}
    if isinstance(value, Figure):
        image = io.BytesIO()
        value.savefig(image, format="png", dpi=_DOTS, metadata={"Software": None})
        data["image/png"] = base64.b64encode(image.getvalue()).decode() + "\n"
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = _lines(value._repr_html_())
    return data


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
