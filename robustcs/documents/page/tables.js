// Tables: sorted by a column, filtered, and copied as CSV and LaTeX.

// ------------------------------------------------------------ copies and downloads

const copy = async (text, button) => {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // the clipboard is not allowed here
    const area = make("textarea", { value: text });
    (button.closest("dialog") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "copied";
  setTimeout(() => (button.textContent = label), 1500);
};

// CSV as robustcs writes it: texts that a spreadsheet would run as a formula get an apostrophe in front; numbers do not.
const guarded = (cell) =>
  /^'*[=+\-@\t\r]/.test(cell) && !/^[=+-]?\d*\.?\d+([eE][+-]?\d+)?$/.test(cell) ? `'${cell}` : cell;
const csvCell = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const csv = (rows) => rows.map((row) => row.map((cell) => csvCell(guarded(cell))).join(",")).join("\n") + "\n";

const download = (name, text, type = "text/csv") => {
  const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

// ------------------------------------------------------------ tables

// The number that a cell starts with ("0.45 [0.38, 0.52]", "1,000", "(16)", "−3%"), or NaN.
const number = (text) => {
  const match = /^[<>≥≤=([]*\s*[+−-]?(\d[\d,]*)?(\.\d+)?(?:[eE][+-]?\d+)?/.exec(text);
  return match && /\d/.test(match[0])
    ? Number(match[0].replace(/[<>≥≤=([,\s]/g, "").replace("−", "-"))
    : NaN;
};

const compare = (column, numeric, sign) => (a, b) => {
  const [x, y] = [a.cells[column], b.cells[column]];
  if (!numeric) {
    if (!x || !y) return x ? -1 : y ? 1 : 0;
    return sign * collator.compare(x, y);
  }
  const [p, q] = [number(x), number(y)];
  if (Number.isNaN(p) || Number.isNaN(q)) return Number.isNaN(p) - Number.isNaN(q);
  return sign * (p - q);
};

const LONG = 12; // rows beyond which a table has a filter
const tables = new Map(); // id → the table: show, button

// Sets up a table of rows: their `cells`, all `text`, and the `row` itself.
const setUp = (box) => {
  const table = box.querySelector("table");
  const body = table.tBodies[0];
  const heads = [...table.querySelectorAll(".titles th")];
  const titles = heads.map((head) => head.textContent.trim());
  const spans = [...table.querySelectorAll(".groups > *")].flatMap((head) => Array(head.colSpan).fill(head.textContent.trim()));
  const key = { sort: `sort.${box.id}`, filter: `q.${box.id}` };
  const every = [...body.rows].map((row) => ({
    cells: [...row.cells].map((cell) => cell.textContent.trim()),
    text: row.textContent.toLowerCase(),
    row,
  }));
  let listed = every;
  let input = null;
  let count = null;
  let last = '["",""]'; // the last view: an unchanged one is not drawn again

  const show = () => {
    const now = JSON.stringify([view.params.get(key.sort) ?? "", view.params.get(key.filter) ?? ""]);
    if (now === last) return;
    last = now;
    const sort = /^(-?)(\d+)$/.exec(view.params.get(key.sort) ?? "");
    const column = sort && Number(sort[2]) < heads.length ? Number(sort[2]) : null;
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    table.classList.toggle("sorted", column !== null);
    const wanted = (view.params.get(key.filter) ?? "").toLowerCase();
    listed = every.filter((one) => one.text.includes(wanted));
    if (column !== null) {
      heads[column].setAttribute("aria-sort", sort[1] ? "descending" : "ascending");
      listed.sort(compare(column, heads[column].classList.contains("right"), sort[1] ? -1 : 1));
    }
    body.replaceChildren(...listed.map((one) => one.row));
    if (input) {
      if (input.value.toLowerCase() !== wanted) input.value = wanted;
      count.textContent = wanted ? `${listed.length} of ${every.length} rows` : "";
    }
  };

  heads.forEach((head, column) => {
    const button = make("button", { type: "button" }, ...head.childNodes);
    if (!button.textContent.trim()) button.ariaLabel = "Sort by row name";
    head.append(button);
    button.addEventListener("click", () => {
      const next = { ascending: `-${column}`, descending: "" }[head.getAttribute("aria-sort")] ?? `${column}`;
      put(key.sort, next);
      show();
    });
  });

  const tools = make("p", { className: "tools" });
  const button = (label, said, press) => {
    const made = make("button", { type: "button", title: said }, label);
    made.addEventListener("click", () => press(made));
    tools.append(made);
  };
  button("CSV", "Copy the visible rows as CSV", (made) =>
    copy(csv([titles.map((title, at) => [spans[at], title].filter(Boolean).join(" ")), ...listed.map((one) => one.cells)]), made));
  tools.append(make("a", { href: `#${box.id}`, title: "Link to this table" }, "link"));
  box.querySelector(".caption").after(tools);

  if (every.length > LONG) {
    input = make("input", { type: "search" });
    count = make("output");
    tools.after(make("div", { className: "filter" }, make("label", {}, "Filter rows: ", input), count));
    input.addEventListener("input", () => {
      put(key.filter, input.value);
      show();
    });
  }
  tables.set(box.id, { show, button });
};
// the list takes the place of the first turns
document.querySelectorAll(".table:not(#turns)").forEach(setUp);

// A hint for tables wider than the page.
const cue = (scroll) => {
  const told = make("p", { className: "cue" }, "scroll sideways for more →");
  told.ariaHidden = "true";
  scroll.before(told);
  const look = () => (told.hidden = scroll.scrollWidth <= scroll.clientWidth + 2 || scroll.scrollLeft > 20);
  scroll.addEventListener("scroll", look, { passive: true });
  new ResizeObserver(look).observe(scroll);
};
document.querySelectorAll(".table:not(#turns) .scroll").forEach(cue);
