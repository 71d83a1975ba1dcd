"use strict";
// Makes tables sortable, copyable and (if long) filterable, and opens turns as cards with notes of the reader.
// The fragment of the address, "#ANCHOR?sort.TABLE=±COLUMN&q.TABLE=TEXT", contains the view, so that every view has a link.
// Turns and the LaTeX of tables are unpacked after the page is shown. Without this script, the page has everything but the
// passages and all turns after the first ones.
(() => {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // Creates a DOM element with properties; children are texts or elements.
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  // ------------------------------------------------------------ the address

  const view = { anchor: "", params: new URLSearchParams() };

  const read = () => {
    const hash = location.hash.slice(1);
    const mark = hash.indexOf("?");
    try {
      view.anchor = decodeURIComponent(mark < 0 ? hash : hash.slice(0, mark));
    } catch {
      view.anchor = "";
    }
    // A plain link inside the page keeps sorting and filters.
    if (mark >= 0) view.params = new URLSearchParams(hash.slice(mark + 1));
  };

  const address = (anchor) => `#${anchor}${view.params.size ? `?${view.params}` : ""}`;

  const remember = () => history.replaceState(null, "", address(view.anchor));

  const put = (key, value) => {
    if (value) view.params.set(key, value);
    else view.params.delete(key);
    remember();
  };

  // ------------------------------------------------------------ packed data

  const unpack = async () => {
    const packed = document.getElementById("data")?.textContent;
    if (!packed) return { turns: {}, latex: {} };
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };

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
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const csv = (rows) => rows.map((row) => row.map((cell) => quoted(guarded(cell))).join(",")).join("\n") + "\n";

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

  const PART = 100; // rows of the table of turns that are added at once
  const tables = new Map(); // id → the table: show, listed, button

  // Sets up a table of groups of rows: `cells` of the first row, all `text`, and `lines`, which returns the rows.
  const setUp = (box) => {
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const heads = [...table.querySelectorAll(".titles th")];
    const titles = heads.map((head) => head.textContent.trim());
    const spans = [...table.querySelectorAll(".groups > *")].flatMap((head) => Array(head.colSpan).fill(head.textContent.trim()));
    const key = { sort: `sort.${box.id}`, filter: `q.${box.id}` };
    const long = heads.map((head) => head.classList.contains("long"));
    let groups = [];
    let listed = [];
    let input = null;
    let count = null;
    let last = '["",""]'; // the last view: an unchanged one is not drawn again

    const take = (found) => {
      groups = listed = found;
    };
    take([...body.rows].map((row) => ({
      cells: [...row.cells].map((cell) => cell.textContent.trim()),
      text: row.textContent.toLowerCase(),
      lines: () => [row],
    })));

    let shown = 0;
    const more = make("button", { type: "button", className: "more-rows" });
    const grow = () => {
      const next = listed.slice(shown, shown + PART);
      body.append(...next.flatMap((group) => group.lines()));
      shown += next.length;
      more.textContent = `Show ${Math.min(PART, listed.length - shown)} more of ${listed.length}`;
      more.hidden = shown >= listed.length;
    };
    more.addEventListener("click", grow);
    new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && grow(), { rootMargin: "400px" }).observe(more);

    const show = (again = false) => {
      const now = JSON.stringify([view.params.get(key.sort) ?? "", view.params.get(key.filter) ?? ""]);
      if (now === last && !again) return;
      last = now;
      const sort = /^(-?)(\d+)$/.exec(view.params.get(key.sort) ?? "");
      const column = sort && Number(sort[2]) < heads.length ? Number(sort[2]) : null;
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      table.classList.toggle("sorted", column !== null);
      const wanted = (view.params.get(key.filter) ?? "").toLowerCase();
      listed = wanted ? groups.filter((group) => group.text.includes(wanted)) : [...groups];
      if (column !== null) {
        heads[column].setAttribute("aria-sort", sort[1] ? "descending" : "ascending");
        listed.sort(compare(column, heads[column].classList.contains("right"), sort[1] ? -1 : 1));
      }
      body.replaceChildren();
      shown = 0;
      if (box.id === "turns") grow();
      else {
        body.append(...listed.flatMap((group) => group.lines()));
        more.hidden = true;
      }
      if (input) {
        if (input.value.toLowerCase() !== wanted) input.value = wanted;
        count.textContent = wanted ? `${listed.length} of ${groups.length} rows` : "";
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
    const rows = () => listed.flatMap((group) => group.rows ?? group.lines().map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
    button("CSV", "Copy the visible rows as CSV", (made) =>
      copy(csv([titles.map((title, at) => [spans[at], title].filter(Boolean).join(" ")), ...rows()]), made));
    tools.append(make("a", { href: `#${box.id}`, title: "Link to this table" }, "link"));
    box.querySelector(".caption").after(tools);
    box.querySelector(".scroll").after(more);
    more.hidden = true;

    const filter = () => {
      if (input || groups.length <= 12) return;
      input = make("input", { type: "search" });
      count = make("output");
      tools.after(make("div", { className: "filter" }, make("label", {}, "Filter rows: ", input), count));
      input.addEventListener("input", () => {
        put(key.filter, input.value);
        show();
      });
    };
    filter();
    tables.set(box.id, { show, button, take, filter, long, anchors: () => listed.map((group) => group.anchor), heads });
  };
  document.querySelectorAll(".table").forEach(setUp);

  // A hint for tables wider than the page.
  const cue = (scroll) => {
    const told = make("p", { className: "cue" }, "scroll sideways for more →");
    told.ariaHidden = "true";
    scroll.before(told);
    const look = () => (told.hidden = scroll.scrollWidth <= scroll.clientWidth + 2 || scroll.scrollLeft > 20);
    scroll.addEventListener("scroll", look, { passive: true });
    new ResizeObserver(look).observe(scroll);
  };
  document.querySelectorAll(".table .scroll").forEach(cue);

  // ------------------------------------------------------------ turns

  const dialog = document.getElementById("card");
  let data = { turns: [], runs: [] };
  let turns = new Map();
  const marks = (bin) => [...bin].filter((bit) => bit !== "-").map((bit) => (bit === "1" ? "✓" : "×")).join(" ");

  // The words of two texts, each part marked as in both (0), only in the first (-1) or only in the second (1).
  const difference = (first, second) => {
    const [a, b] = [first, second].map((text) => text.match(/\S+/g) ?? []);
    const parts = [];
    const add = (kind, word) => {
      if (parts.length && parts.at(-1)[0] === kind) parts.at(-1)[1].push(word);
      else parts.push([kind, [word]]);
    };
    if (a.length * b.length > 4e6) {
      if (a.length) parts.push([-1, a]);
      if (b.length) parts.push([1, b]);
      return parts;
    }
    // common[i][j]: length of the longest common subsequence of a from i and b from j
    const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
    for (let i = a.length - 1; i >= 0; i--) {
      for (let j = b.length - 1; j >= 0; j--) {
        common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
      }
    }
    let [i, j] = [0, 0];
    while (i < a.length || j < b.length) {
      if (i < a.length && j < b.length && a[i] === b[j]) add(0, a[(j++, i++)]);
      else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) add(-1, a[i++]);
      else add(1, b[j++]);
    }
    return parts;
  };

  const marked = (first, second) =>
    difference(first, second).flatMap(([kind, words]) => {
      const text = words.join(" ");
      if (kind === 0) return [text, " "];
      const [tag, sign, said] = kind < 0 ? ["del", "−", "removed: "] : ["ins", "+", "added: "];
      return [make(tag, {}, make("span", { className: "said" }, said),
        Object.assign(make("span", { className: "sign" }, sign), { ariaHidden: "true" }), text), " "];
    });

  const row = (label, ...content) => [make("dt", {}, make("bdi", {}, label)), make("dd", { dir: "auto" }, ...content)];

  const grid = (caption, titles, rows) => make("div", { className: "scroll", tabIndex: 0 },
    make("table", {}, make("caption", {}, caption),
      make("thead", {}, make("tr", { className: "titles" },
        ...titles.map((title) => make("th", { scope: "col" }, make("bdi", {}, title))))),
      make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell)))))));

  // Compares Human with Original, and every rewrite with Human.
  const texts = (turn, wanted = () => true) => {
    const last = turn.texts.length - 1;
    return turn.texts.flatMap((text, place) => {
      if (text === null || !wanted(place)) return [];
      const other = place === last ? 0 : last;
      const plain = place === 0 || turn.texts[other] === null;
      const label = data.formulations[place] + (plain ? "" : ` (compared with ${data.formulations[other]})`);
      if (plain) return row(label, text);
      return row(label, ...(turn.texts[other] === text ? [`${text} (no change)`] : marked(turn.texts[other], text)));
    });
  };

  const passage = ([place, grade]) => {
    const [name, text] = data.passages[place];
    const judged = grade === null ? "unjudged" : `grade ${grade}`;
    return make("li", {},
      make("span", { className: grade === null ? "grade hole" : grade >= data.relevant ? "grade relevant" : "grade" }, judged),
      " ", make("bdi", { className: "name" }, name),
      ...(text ? [make("p", { dir: "auto" }, text)] : []));
  };

  const runs = (turn) => data.runs.flatMap((name, place) => {
    const top = turn.top[place];
    return [make("section", {}, make("h4", {}, make("bdi", {}, name)),
      top.length ? make("ol", {}, ...top.map(passage)) : make("p", {}, "(nothing retrieved)"))];
  });

  const before = (turn) => {
    const own = data.turns.filter((other) => other.topic === turn.topic);
    return own.slice(0, own.indexOf(turn)).map((other) =>
      make("li", { dir: "auto" }, make("a", { href: address(other.anchor) }, make("bdi", {}, other.turn)), " ",
        other.texts.find((text) => text !== null) ?? ""));
  };

  // The turns as the table lists them: they determine the neighbours of a card.
  const listed = () => tables.get("turns")?.anchors() ?? [];

  // Notes of the reader stay in this browser. The key identifies the report, since all pages opened from a disk share one
  // storage and may have the same title.
  const NOTES = `robustcs notes: ${document.documentElement.dataset.report}`;
  const notes = new Map();
  try {
    for (const [turn, text] of Object.entries(JSON.parse(localStorage.getItem(NOTES)) ?? {})) {
      if (typeof text === "string") notes.set(turn, text);
    }
  } catch { /* without storage, notes last while the page is open; invalid JSON is not ours */ }

  const write = (turn, text) => {
    if (text.trim()) notes.set(turn, text);
    else notes.delete(turn);
    try {
      localStorage.setItem(NOTES, JSON.stringify(Object.fromEntries(notes)));
    } catch { /* as above */ }
    count();
  };

  const exported = make("button", { type: "button", className: "notes" });
  const count = () => {
    const number = notes.size;
    exported.hidden = number === 0;
    exported.textContent = `Save ${number} ${number === 1 ? "note" : "notes"} as CSV`;
  };
  exported.addEventListener("click", () => download("notes.csv", csv([["turn", "note"], ...notes])));

  const note = (turn) => {
    const area = make("textarea", { value: notes.get(turn.turn) ?? "", rows: 3, id: "note" });
    area.addEventListener("input", () => write(turn.turn, area.value));
    return [make("h3", {}, make("label", { htmlFor: "note" }, "Your note")), area,
      make("p", { className: "note" }, "Notes stay in this browser. The table of turns saves them as CSV.")];
  };

  const card = (turn) => {
    const order = listed();
    const place = order.indexOf(turn.anchor);
    const neighbour = (step, label) => {
      const anchor = place < 0 ? undefined : order[place + step];
      return anchor ? [make("a", { href: address(anchor), rel: step < 0 ? "prev" : "next" }, label)] : [];
    };
    const close = make("button", { type: "button", className: "close" }, "Close");
    close.addEventListener("click", () => dialog.close());
    const link = make("button", { type: "button" }, "copy link");
    link.addEventListener("click", () => copy(location.href, link));
    const parts = [
      make("div", { className: "bar" }, ...neighbour(-1, "← previous (k)"), ...neighbour(1, "next (j) →"), link, close),
      make("h2", { id: "card-title" }, "Turn ", make("bdi", {}, turn.turn)),
    ];
    const earlier = before(turn);
    if (earlier.length) parts.push(make("h3", {}, "Conversation so far"), make("ol", { className: "plain" }, ...earlier));
    const questions = texts(turn);
    if (questions.length) {
      parts.push(make("h3", {}, "The question"),
        make("p", { className: "note" }, "− removed words, + added words"), make("dl", {}, ...questions));
    }
    const answers = (turn.answers ?? []).flatMap((text, at) => (text === null ? [] : row(data.formulations[at], text)));
    const gold = (turn.gold ?? []).flatMap((text) => row("Gold", text));
    if (answers.length + gold.length) parts.push(make("h3", {}, "Answers"), make("dl", {}, ...answers, ...gold));
    const scored = data.measures.map((name, at) => [name, ...turn.scores[at].map((x) => (x === null ? "–" : x.toFixed(4)))]);
    if (turn.scores.some((values) => values.some((value) => value !== null))) {
      const cut = data.cuts.length > 0;
      parts.push(make("h3", {}, cut ? "Scores and bins" : "Scores"), grid("Scores", ["measure", ...data.systems], scored));
      const bins = data.cuts.flatMap((cut, at) =>
        turn.bins[at] ? [[cut.name, marks(turn.bins[at]), data.labels[turn.bins[at]]]] : []);
      if (cut) parts.push(grid(data.cuts[0].formulations.length > 2 ? "Original, QR, Human correct?" : "QR, Human correct?", ["correct if", "bin", "meaning"], bins));
    } else parts.push(make("p", {}, "This turn has no score: it has no judged passage and no gold answer, or no system was scored."));
    if (data.runs.length) {
      parts.push(make("h3", {}, `Top ${data.depth} of every run`), make("div", { className: "runs", tabIndex: 0 }, ...runs(turn)));
    }
    parts.push(...note(turn));
    return parts;
  };

  // ------------------------------------------------------------ from the address to the page

  let place = ""; // the position before a card opened

  const show = () => {
    read();
    tables.forEach((table) => table.show());
    const turn = turns.get(view.anchor);
    if (turn) {
      dialog.replaceChildren(...card(turn));
      if (!dialog.open) dialog.showModal();
      dialog.scrollTop = 0;
      dialog.querySelector(".close").focus();
    } else if (view.anchor === "review" && turns.size) {
      workbench.open();
    } else {
      place = view.anchor;
      if (dialog?.open) dialog.close();
      const target = view.anchor && document.getElementById(view.anchor);
      const folded = target ? target.closest("details") : null;
      for (let fold = folded; fold; fold = fold.parentElement.closest("details")) fold.open = true;
      if (target && (folded || location.hash.includes("?"))) target.scrollIntoView();
    }
    remember();
  };

  dialog?.addEventListener("close", () => {
    if (!turns.has(view.anchor)) return;
    view.anchor = place;
    history.pushState(null, "", address(place));
  });

  let input = null;
  if (dialog) {
    input = make("input", { type: "search", id: "find" });
    const found = make("output");
    const form = make("form", { className: "find", role: "search" },
      make("label", { htmlFor: "find" }, "Find a turn"), input, found);
    document.querySelector("nav").prepend(form);
    const filter = () => {
      put("q.turns", input.value);
      tables.get("turns").show();
      found.textContent = input.value ? `${listed().length} of ${data.turns.length}` : "";
    };
    input.addEventListener("input", filter);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const exact = data.turns.find((turn) => turn.turn === input.value.trim());
      const all = listed();
      location.hash = address(exact ? exact.anchor : all.length === 1 ? all[0] : "turns");
    });
  }

  // ------------------------------------------------------------ contents on a small screen, and keys

  const nav = document.querySelector("nav");
  const contents = make("button", { type: "button", className: "contents" }, "Contents");
  contents.ariaExpanded = "false";
  contents.addEventListener("click", () => (contents.ariaExpanded = String(nav.classList.toggle("open"))));
  nav.addEventListener("click", (event) => event.target.closest("li a") && nav.classList.remove("open"));
  nav.prepend(contents);

  const KEYS = [["j", "next turn"], ["k", "previous turn"], ["/", "search turns"], ["Esc", "close"], ["?", "show this list"]];
  const REVIEW_KEYS = [["1–9", "assign or remove a category"], ["n", "write a category"], ["w", "write a note"],
    ["j k", "next turn, previous turn"], ["s", "of two systems: assign to both or one"], ["d", "only turns where they differ"],
    ["u", "undo"], ["e i", "export, import"], ["o", "options of the sample"]];
  const listOf = (keys) => make("dl", {}, ...keys.flatMap(([key, does]) =>
    [make("dt", {}, ...key.split(" ").flatMap((one) => [make("kbd", {}, one), " "])), make("dd", {}, does)]));
  const help = make("dialog", { id: "help" }, make("h2", {}, "Keys"),
    listOf(dialog ? [["r", "review turns"], ...KEYS] : KEYS),
    ...(dialog ? [make("h2", {}, "While you review"), listOf(REVIEW_KEYS)] : []),
    make("form", { method: "dialog" }, make("button", { className: "close" }, "Close")));
  document.body.append(help);
  const keys = make("button", { type: "button", className: "keys" }, "Keys (?)");
  keys.addEventListener("click", () => help.showModal());
  nav.append(keys);

// workbench

  if (dialog) {
    const review = make("button", { type: "button", className: "keys" }, "Review turns (r)");
    review.addEventListener("click", workbench.open);
    keys.before(review, " ");
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea")) return;
    const step = { j: 1, k: -1 }[event.key];
    if (step && dialog) {
      const order = listed();
      const at = order.indexOf(view.anchor);
      const next = at < 0 ? order[step > 0 ? 0 : order.length - 1] : order[at + step];
      if (next) location.hash = address(next);
    } else if (event.key === "/" && input) {
      if (dialog.open) dialog.close();
      nav.classList.add("open");
      input.focus();
    } else if (event.key === "r" && dialog) {
      if (dialog.open) dialog.close();
      workbench.open();
    } else if (event.key === "?") help.showModal();
    else return;
    event.preventDefault();
  });

  // ------------------------------------------------------------ points of figures

  for (const figure of document.querySelectorAll("figure")) {
    const drawings = [...figure.querySelectorAll("svg")].map((svg) => [...svg.querySelectorAll("a")]);
    if (!drawings.some((points) => points.length)) continue;
    const told = make("p", { className: "pointed" });
    told.ariaLive = "polite";
    const hint = "Point at a mark to see its turn, or use Tab and the arrow keys; click or press Enter to open the turn.";
    told.textContent = figure.closest(".overview") ? "" : hint; // the first screen has no room for it
    figure.querySelector("figcaption").before(told);
    drawings.forEach((points) => points.forEach((point, at) => {
      const name = point.querySelector("title").textContent;
      point.setAttribute("aria-label", name);
      point.setAttribute("tabindex", at ? "-1" : "0"); // one Tab stop per figure
      const tell = () => {
        const here = (point.dataset.turns ?? "").split(" ").flatMap((anchor) => turns.get(anchor) ?? []);
        if (!here.length) return (told.textContent = name);
        const links = here.map((turn) => make("a", { href: address(turn.anchor) }, make("bdi", {}, turn.turn)));
        told.replaceChildren(`${here.length} turns at this point: `, ...links.flatMap((link, at) => (at ? [" · ", link] : [link])));
      };
      for (const event of ["mouseover", "focus"]) point.addEventListener(event, tell);
      point.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        const next = step && points[at + step];
        if (!next) return;
        event.preventDefault();
        point.setAttribute("tabindex", "-1");
        next.setAttribute("tabindex", "0");
        next.focus();
      });
    }));
  }

  addEventListener("hashchange", show);
  addEventListener("popstate", show);
  // Folds stay closed on paper: the appendix of the PDF has their contents.
  addEventListener("beforeprint", () => document.querySelectorAll(".cards details").forEach((part) => (part.open = true)));
  show();

  // ------------------------------------------------------------ once the page is shown

  const start = (unpacked) => {
    for (const [id, text] of Object.entries(unpacked.latex)) {
      tables.get(id)?.button("LaTeX", "Copy the table as LaTeX", (made) => copy(text, made));
    }
    if (dialog) {
      data = unpacked.turns;
      turns = new Map(data.turns.map((turn) => [turn.anchor, turn]));
      const table = tables.get("turns");
      table.take(data.rows.map((cells, at) => {
        const turn = data.turns[at];
        return {
          cells,
          rows: [cells],
          anchor: turn.anchor,
          text: cells.join(" ").toLowerCase(),
          lines: () => [make("tr", { id: turn.anchor }, ...cells.map((cell, column) => {
            const text = make("bdi", {}, cell);
            const kind = table.heads[column].className;
            return make("td", { className: kind }, column ? text : make("a", { href: address(turn.anchor) }, text),
              ...(column || !notes.has(turn.turn) ? [] : [" ✎"]));
          }))],
        };
      }));
      table.filter();
      document.querySelector("#turns .tools").append(exported);
      count();
      table.show(true);
    }
    show();
    document.documentElement.dataset.ready = "yes";
  };
  requestAnimationFrame(() => setTimeout(() => unpack().then(start)));
})();
