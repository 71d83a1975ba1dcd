"use strict";
// Tables become sortable and, when long, filterable; turns open as cards. What is shown stands in the fragment of the
// address, "#ANCHOR?sort.TABLE=±COLUMN&q.TABLE=TEXT", so that every view can be linked to. Without this script everything
// is there but the passages, in the order of the file.
(() => {
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  // A DOM element: properties are set as such, children are texts or elements.
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
    // A plain link inside the page leaves sorting and filters as they are.
    if (mark >= 0) view.params = new URLSearchParams(hash.slice(mark + 1));
  };

  const address = (anchor) => `#${anchor}${view.params.size ? `?${view.params}` : ""}`;

  const remember = () => history.replaceState(null, "", address(view.anchor));

  const put = (key, value) => {
    if (value) view.params.set(key, value);
    else view.params.delete(key);
    remember();
  };

  // ------------------------------------------------------------ tables

  // The number that a cell starts with ("0.45 [0.38, 0.52]", "1,000", "(16)", "−3 %"), or NaN.
  const number = (text) => {
    const match = /^[<>≥≤=([]*\s*[+−-]?(\d[\d,]*)?(\.\d+)?(?:[eE][+-]?\d+)?/.exec(text);
    return match && /\d/.test(match[0])
      ? Number(match[0].replace(/[<>≥≤=([,\s]/g, "").replace("−", "-"))
      : NaN;
  };

  const compare = (column, numeric, sign) => ([a], [b]) => {
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

  const tables = new Map(); // id → a function that shows the table as the address says

  for (const box of document.querySelectorAll(".table")) {
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const original = []; // a row and those that continue it go together
    for (const row of body.rows) {
      if (row.classList.contains("more") && original.length) original.at(-1).push(row);
      else original.push([row]);
    }
    const heads = [...table.querySelectorAll(".titles th")];
    const key = { sort: `sort.${box.id}`, filter: `q.${box.id}` };
    let input = null;
    let count = null;

    let last = ""; // what was shown, so that nothing is done where nothing changed

    const show = () => {
      const now = JSON.stringify([view.params.get(key.sort) ?? "", view.params.get(key.filter) ?? ""]);
      if (now === (last || '["",""]')) return;
      last = now;
      const sort = /^(-?)(\d+)$/.exec(view.params.get(key.sort) ?? "");
      const column = sort && Number(sort[2]) < heads.length ? Number(sort[2]) : null;
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      table.classList.toggle("sorted", column !== null);
      let rows = original;
      if (column !== null) {
        heads[column].setAttribute("aria-sort", sort[1] ? "descending" : "ascending");
        const numeric = heads[column].classList.contains("right");
        rows = [...original].sort(compare(column, numeric, sort[1] ? -1 : 1));
      }
      body.append(...rows.flat());
      const wanted = (view.params.get(key.filter) ?? "").toLowerCase();
      let shown = 0;
      for (const group of original) {
        const hidden = wanted !== "" && !group.some((row) => row.textContent.toLowerCase().includes(wanted));
        for (const row of group) row.hidden = hidden;
        shown += hidden ? 0 : 1;
      }
      if (input) {
        if (input.value.toLowerCase() !== wanted) input.value = wanted;
        count.textContent = wanted ? `${shown} of ${original.length} rows` : "";
      }
    };
    tables.set(box.id, show);

    heads.forEach((head, column) => {
      const button = make("button", { type: "button" }, ...head.childNodes);
      if (!button.textContent.trim()) button.ariaLabel = "Sort by the names of the rows";
      head.append(button);
      button.addEventListener("click", () => {
        const next = { ascending: `-${column}`, descending: "" }[head.getAttribute("aria-sort")] ?? `${column}`;
        put(key.sort, next);
        show();
      });
    });

    if (original.length > 12) {
      input = make("input", { type: "search" });
      count = make("output");
      box.querySelector(".scroll").before(
        make("div", { className: "filter" }, make("label", {}, "Filter rows: ", input), count));
      input.addEventListener("input", () => {
        put(key.filter, input.value);
        show();
      });
    }
  }

  // ------------------------------------------------------------ turns

  const dialog = document.getElementById("card");
  const data = dialog ? JSON.parse(document.getElementById("turn-data").textContent) : { turns: [] };
  const turns = new Map(data.turns.map((turn) => [turn.anchor, turn]));
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

  // What each text is compared with: Human with Original, every rewrite with Human.
  const texts = (turn) => {
    const last = turn.texts.length - 1;
    return turn.texts.flatMap((text, place) => {
      if (text === null) return [];
      const other = place === last ? 0 : last;
      const plain = place === 0 || turn.texts[other] === null;
      const label = data.formulations[place] + (plain ? "" : ` (against ${data.formulations[other]})`);
      if (plain) return row(label, text);
      return row(label, ...(turn.texts[other] === text ? [`${text} (the same)`] : marked(turn.texts[other], text)));
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

  // The turns as the table shows them now: the neighbours of a card are those of the list one came from.
  const listed = () => [...document.querySelectorAll("#turns tbody tr:not([hidden])")].map((line) => line.id);

  const card = (turn) => {
    const order = listed();
    const place = order.indexOf(turn.anchor);
    const neighbour = (step, label) => {
      const anchor = place < 0 ? undefined : order[place + step];
      return anchor ? [make("a", { href: address(anchor), rel: step < 0 ? "prev" : "next" }, label)] : [];
    };
    const close = make("button", { type: "button", className: "close" }, "Close");
    close.addEventListener("click", () => dialog.close());
    const parts = [
      make("div", { className: "bar" }, ...neighbour(-1, "← previous"), ...neighbour(1, "next →"), close),
      make("h2", { id: "card-title" }, "Turn ", make("bdi", {}, turn.turn)),
    ];
    const earlier = before(turn);
    if (earlier.length) parts.push(make("h3", {}, "Conversation so far"), make("ol", { className: "plain" }, ...earlier));
    const questions = texts(turn);
    if (questions.length) {
      parts.push(make("h3", {}, "The question"),
        make("p", { className: "note" }, "− words that the text lacks, + words that it adds"), make("dl", {}, ...questions));
    }
    const answers = (turn.answers ?? []).flatMap((text, at) => (text === null ? [] : row(data.formulations[at], text)));
    const gold = (turn.gold ?? []).flatMap((text) => row("Gold", text));
    if (answers.length + gold.length) parts.push(make("h3", {}, "Answers"), make("dl", {}, ...answers, ...gold));
    const scored = data.measures.map((name, at) => [name, ...turn.scores[at].map((x) => (x === null ? "–" : x.toFixed(4)))]);
    if (turn.scores.some((values) => values.some((value) => value !== null))) {
      const cut = data.cuts.length > 0;
      parts.push(make("h3", {}, cut ? "Scores and bins" : "Scores"), grid("Scores", ["measure", ...data.formulations], scored));
      const bins = data.cuts.flatMap((cut, at) =>
        turn.bins[at] ? [[cut.name, marks(turn.bins[at]), data.labels[turn.bins[at]]]] : []);
      if (cut) parts.push(grid(data.cuts[0].formulations.length > 2 ? "Original, QR, Human correct?" : "QR, Human correct?", ["correct if", "bin", "which means"], bins));
    } else parts.push(make("p", {}, "This turn is not scored: nobody judged a passage or an answer for it."));
    if (data.runs.length) {
      parts.push(make("h3", {}, `Top ${data.depth} of every run`), make("div", { className: "runs", tabIndex: 0 }, ...runs(turn)));
    }
    return parts;
  };

  // ------------------------------------------------------------ from the address to the page

  let place = ""; // where one was before a card opened

  const show = () => {
    read();
    tables.forEach((showTable) => showTable());
    const turn = turns.get(view.anchor);
    if (turn) {
      dialog.replaceChildren(...card(turn));
      if (!dialog.open) dialog.showModal();
      dialog.scrollTop = 0;
      dialog.querySelector(".close").focus();
    } else {
      place = view.anchor;
      if (dialog?.open) dialog.close();
      const target = view.anchor && document.getElementById(view.anchor);
      if (target instanceof HTMLDetailsElement) target.open = true;
      if (target && location.hash.includes("?")) target.scrollIntoView();
    }
    remember();
  };

  dialog?.addEventListener("close", () => {
    if (!turns.has(view.anchor)) return;
    view.anchor = place;
    history.pushState(null, "", address(place));
  });

  if (dialog) {
    const input = make("input", { type: "search", id: "find" });
    const found = make("output");
    const form = make("form", { className: "find", role: "search" },
      make("label", { htmlFor: "find" }, "Find a turn"), input, found);
    document.querySelector("nav").prepend(form);
    const filter = () => {
      put("q.turns", input.value);
      tables.get("turns")();
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

  // ------------------------------------------------------------ points of figures

  for (const figure of document.querySelectorAll("figure")) {
    const points = [...figure.querySelectorAll("svg a")];
    if (!points.length) continue;
    const told = make("p", { className: "pointed" });
    told.ariaLive = "polite";
    told.textContent = "Point at a mark, or reach it by Tab and the arrow keys, to see its turn; Enter opens the turn.";
    figure.querySelector(".scroll").after(told);
    points.forEach((point, at) => {
      const name = point.querySelector("title").textContent;
      point.setAttribute("aria-label", name);
      point.setAttribute("tabindex", at ? "-1" : "0"); // one stop on the way through the page
      const here = (point.dataset.turns ?? "").split(" ").flatMap((anchor) => turns.get(anchor) ?? []);
      const tell = () => {
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
    });
  }

  addEventListener("hashchange", show);
  addEventListener("popstate", show);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));
  show();
})();
