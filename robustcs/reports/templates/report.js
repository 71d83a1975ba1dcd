"use strict";
// Tables become sortable and, when long, filterable. Without this script everything is there, in the order of the file.
(() => {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // The number that a cell starts with ("0.45 [0.38, 0.52]", "1,000", "(16)", "−3 %"), or NaN.
  const number = (text) => {
    const match = /^[<>≥≤=([]*\s*[+−-]?(\d[\d,]*)?(\.\d+)?(?:[eE][+-]?\d+)?/.exec(text);
    return match && /\d/.test(match[0])
      ? Number(match[0].replace(/[<>≥≤=([,\s]/g, "").replace("−", "-"))
      : NaN;
  };

  const compare = (column, numeric, sign) => (a, b) => {
    const x = a.cells[column].textContent.trim();
    const y = b.cells[column].textContent.trim();
    if (!numeric) {
      if (!x || !y) return x ? -1 : y ? 1 : 0;
      return sign * collator.compare(x, y);
    }
    const [p, q] = [number(x), number(y)];
    if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
    return sign * (p - q);
  };

  for (const table of document.querySelectorAll(".table table")) {
    const body = table.tBodies[0];
    const original = [...body.rows];
    const heads = [...table.querySelectorAll(".titles th")];

    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: "descending", descending: "" }[head.getAttribute("aria-sort")] ?? "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (next) head.setAttribute("aria-sort", next);
        table.classList.toggle("sorted", next !== "");
        const numeric = head.classList.contains("right");
        const rows = next
          ? [...original].sort(compare(column, numeric, next === "ascending" ? 1 : -1))
          : original;
        body.append(...rows);
      });
    });

    if (original.length > 12) {
      const bar = document.createElement("div");
      const label = document.createElement("label");
      const input = document.createElement("input");
      const count = document.createElement("output");
      bar.className = "filter";
      input.type = "search";
      label.append("Filter rows: ", input);
      bar.append(label, count);
      table.closest(".scroll").before(bar);
      input.addEventListener("input", () => {
        const wanted = input.value.toLowerCase();
        let shown = 0;
        for (const row of original) {
          row.hidden = !row.textContent.toLowerCase().includes(wanted);
          shown += row.hidden ? 0 : 1;
        }
        count.textContent = wanted ? `${shown} of ${original.length} rows` : "";
      });
    }
  }

  // A link to a card opens it; printing opens all.
  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", open);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((card) => (card.open = true)));
  open();
})();
