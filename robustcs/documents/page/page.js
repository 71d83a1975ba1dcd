// The page: lists turns and opens them in the reader, once the packed data are unpacked after the page is shown.
// Without scripts, the page has everything but the passages and all turns after the first ones.

// ------------------------------------------------------------ packed data

const unpack = async () => {
  const packed = document.getElementById("data")?.textContent;
  if (!packed) return { turns: {}, latex: {} };
  const bytes = Uint8Array.fromBase64?.(packed) ?? Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
};

// ------------------------------------------------------------ turns

const dialog = document.getElementById("reader");
let turns = null;
let list = null;
let reader = null;
let review = null;

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
  exported.hidden = notes.size === 0;
  exported.textContent = `Save ${counted(notes.size, "note")} as CSV`;
};
exported.addEventListener("click", () => download("notes.csv", csv([["turn", "note"], ...notes])));

const note = (turn) => {
  const area = make("textarea", { value: notes.get(turn) ?? "", rows: 3, id: "note" });
  area.addEventListener("input", () => write(turn, area.value));
  return [make("h3", {}, make("label", { htmlFor: "note" }, "Your note")), area,
    make("p", { className: "note" }, "Notes stay in this browser. The list of turns saves them as CSV.")];
};

// The filter and the order of the list of turns.
const chosen = {
  get where() {
    return view.params.get("where") ?? "";
  },
  get sort() {
    return view.params.get("sort") ?? "";
  },
  address,
  change(where, sort) {
    put("where", where);
    put("sort", sort);
    list.show();
  },
};

// The anchors of the list, in its order: the reader never leaves it.
const listed = () => list.places().map((place) => turns.data.anchors[place]);

// Where the reader is in the list, and how to go on.
const bar = (anchor) => {
  const order = listed();
  const place = order.indexOf(anchor);
  const neighbour = (step, label) => {
    const next = place < 0 ? undefined : order[place + step];
    return next ? [make("a", { href: address(next), rel: step < 0 ? "prev" : "next" }, label)] : [];
  };
  const close = make("button", { type: "button", className: "close" }, "Close");
  close.addEventListener("click", () => dialog.close());
  const link = make("button", { type: "button" }, "copy link");
  link.addEventListener("click", () => copy(location.href, link));
  const filter = [chosen.where, chosen.sort && `order ${chosen.sort}`].filter(Boolean).join(" · ");
  const where = place < 0 ? `not among the ${counted(order.length, "listed turn")}` : `${place + 1} of ${counted(order.length, "turn")}`;
  return make("div", { className: "bar" }, ...neighbour(-1, "← previous (k)"), ...neighbour(1, "next (j) →"),
    make("span", { className: "where" }, [where, filter].filter(Boolean).join(" · ")), link, close);
};

const opened = (place) => {
  const turn = turns.data.ids[place];
  return [
    bar(turns.data.anchors[place]),
    make("h2", { id: "reader-title" }, "Turn ", make("bdi", {}, turn)),
    ...reader.conversation(place, (one) => address(turns.data.anchors[one])),
    ...reader.history(place), ...reader.question(place), ...reader.scores(place), ...reader.answers(place),
    ...reader.rankings(place), ...reader.properties(place), ...reader.labels(place), ...note(turn),
  ];
};

// ------------------------------------------------------------ from the address to the page

let place = ""; // the position before the reader opened

const show = () => {
  read();
  tables.forEach((table) => table.show());
  list?.show();
  const turn = turns?.anchors.get(view.anchor);
  if (turn !== undefined) {
    dialog.replaceChildren(...opened(turn));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    dialog.querySelector(".close").focus();
  } else if (view.anchor === "review" && turns) {
    review.open();
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
  list.show(true); // notes are marked there
  if (!turns.anchors.has(view.anchor)) return;
  view.anchor = place;
  history.pushState(null, "", address(place));
});

const openReview = () => {
  if (!turns) return;
  if (dialog.open) dialog.close();
  view.anchor = "review";
  remember();
  review.open();
};

  // ------------------------------------------------------------ contents on a small screen, and keys

  const nav = document.querySelector("nav");
  const contents = make("button", { type: "button", className: "contents" }, "Contents");
  contents.ariaExpanded = "false";
  contents.addEventListener("click", () => (contents.ariaExpanded = String(nav.classList.toggle("open"))));
  nav.addEventListener("click", (event) => {
    if (event.target.closest("li a")) nav.classList.remove("open");
    if (event.target.closest("a[data-all]") && list) chosen.change("", ""); // all turns, whatever was chosen before
  });
  nav.prepend(contents);

  const KEYS = [["j", "next turn"], ["k", "previous turn"], ["/", "filter turns"], ["Esc", "close"], ["?", "show this list"]];
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

if (dialog) {
  const button = make("button", { type: "button", className: "keys" }, "Review turns (r)");
  button.addEventListener("click", openReview);
  keys.before(button, " ");
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const step = { j: 1, k: -1 }[event.key];
  if (step && list) {
    const order = listed();
    const at = order.indexOf(view.anchor);
    const next = at < 0 ? order[step > 0 ? 0 : order.length - 1] : order[at + step];
    if (next) location.hash = address(next);
  } else if (event.key === "/" && list) {
    if (dialog.open) dialog.close();
    list.where.focus();
    list.where.select();
  } else if (event.key === "r" && list) openReview();
  else if (event.key === "?") help.showModal();
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
        const here = (point.dataset.turns ?? "").split(" ").filter((anchor) => turns?.anchors.has(anchor));
        if (!here.length) return (told.textContent = name);
        const links = here.map((anchor) =>
        make("a", { href: address(anchor) }, make("bdi", {}, turns.data.ids[turns.anchors.get(anchor)])));
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
    unsafe = new RegExp(unpacked.unsafe, "gus");
    turns = new Turns(unpacked.turns);
    reader = turnReader(turns);
    list = turnList(turns, document.getElementById("turns"), chosen, notes);
    const relabel = (labels) => {
      if (turns.addLabels(labels)) list.show();
    };
    const closed = () => {
      if (view.anchor === "review") view.anchor = "";
      remember();
    };
    review = turnReview(turns, reader, chosen, { help: () => help.showModal(), changed: relabel, closed });
    relabel(review.labels());
    const button = (label, said, press) => {
      const made = make("button", { type: "button", title: said }, label);
      made.addEventListener("click", () => press(made));
      return made;
    };
    list.tools.append(
      button("CSV", "Copy the listed turns as CSV", (made) => copy(csv(list.cells()), made)),
      button("copy link", "Copy the address of this list", (made) => {
        view.anchor = "turns";
        remember();
        copy(location.href, made);
      }),
      exported);
    count();
  }
  show();
  document.documentElement.dataset.ready = "yes";
  // so that the first search of a word is as fast as the next
  (window.requestIdleCallback ?? setTimeout)(() => turns?.table.prepare());
};
requestAnimationFrame(() => setTimeout(() => unpack().then(start)));
