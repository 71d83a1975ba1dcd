// The list of turns: the filter, the order, and rows of which only the visible ones are made.

const MOST_VALUES = 12; // values of a field that are offered
const CAUSES = { correct: "correct", rewriter: "qr", ranker: "qa", reader: "qa" }; // cause → its colour

// `box`: where the list stands. `view`: where, sort, address(anchor) and change(where, sort).
const turnList = (turns, box, view, notes) => {
  const { data } = turns;
  const where = make("input", { type: "search", id: "where", autocomplete: "off", spellcheck: false,
    placeholder: 'cause:rewriter first>10 "a phrase"' });
  const order = make("select", { id: "order" });
  const count = make("output", { htmlFor: "where" });
  const told = make("p", { className: "wrong" });
  told.setAttribute("role", "status");
  const rows = make("ol", { className: "rows" });
  const scroll = make("div", { className: "turn-rows", tabIndex: 0, role: "region", ariaLabel: "List of turns" }, rows);
  let places = [];
  let height = 0; // of a row
  let drawn = "";

  // ---------------------------------------------------------- what a row shows

  const rewriters = turns.systemsOf("cause");
  const rewriter = rewriters[0] ?? [...turns.texts.keys()].find((name) => turns.other(name)) ?? [...turns.texts.keys()].at(-1);
  const outcomes = turns.systemsOf("outcome");
  const scored = data.headline ? turns.systemsOf(data.headline) : [];
  const known = [...new Set([...scored, ...outcomes])];
  const parts = known.filter((name) => data.formulations.includes(name));
  const changed = turns.systemsOf("change"); // of two states, a column has the change and both scores of a run
  const shownSystems = (changed.length ? changed : parts.length ? parts : known).slice(0, MOST_SYSTEMS);
  rows.style.setProperty("--systems", shownSystems.length);

  // The shown rewriter: the one that the order names, if there are several.
  const chosen = () => rewriters.find((name) => view.sort.endsWith(`@${quoted(name)}`)) ?? rewriter;

  const question = (place) => {
    const name = chosen();
    const text = turns.texts.get(name)?.[place] ?? turns.said(place)[0]?.[1] ?? "";
    const other = turns.other(name ?? "");
    const compared = other && turns.texts.get(other)[place];
    return compared && turns.texts.get(name)?.[place] ? marked(compared, text) : [text];
  };

  const cause = (place) => {
    const name = rewriters.length ? chosen() : "";
    const found = turns.words("cause", name, place);
    if (found) return make("span", { className: `cause ${CAUSES[found] ?? ""}` }, found === "correct" ? found : `${found} error`);
    return null;
  };

  const facts = (place) => {
    const parts = [];
    const named = cause(place);
    if (named) parts.push(named);
    for (const system of turns.systemsOf("blame").slice(0, 2)) {
      const blame = turns.words("blame", system, place);
      if (blame) parts.push(`${turns.label(system)}: ${blame}`);
    }
    const changes = turns.systemsOf("change").flatMap((system) => {
      const change = turns.value("change", system, place);
      return change === null ? [] : [`${turns.label(system)} ${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(2)}`];
    });
    if (changes.length) parts.push(changes.join(", "));
    const kinds = new Set(outcomes.map((system) => turns.words("kind", system, place)).filter(Boolean));
    if (!named && kinds.size) parts.push([...kinds].join(", "));
    const firsts = turns.systemsOf("first").filter((system) => !shownSystems.length || shownSystems.includes(system)).slice(-2);
    const ranks = firsts.flatMap((system) => {
      const rank = turns.value("first", system, place);
      return turns.value("judged", "", place) === null ? [] : [`${turns.label(system)} ${rank ?? "none"}`];
    });
    if (ranks.length) parts.push(make("span", { className: "quiet" }, `first relevant: ${ranks.join(", ")}`));
    const tags = new Set(data.labels.filter(([one]) => one === place).flatMap(([, , own]) => own));
    if (tags.size) parts.push(make("span", { className: "quiet" }, [...tags].join(", ")));
    if (notes.has(data.ids[place])) parts.push("✎");
    return parts.flatMap((part, at) => (at ? [make("br"), part] : [part]));
  };

  const change = (system, place) => {
    const value = turns.value("change", system, place);
    if (value === null) return [];
    const both = [`${system}, old`, system].map((name) => turns.value(data.headline, name, place)?.toFixed(2) ?? "–");
    const size = Math.abs(value).toFixed(2);
    return [Number(size) ? `${value < 0 ? "−" : "+"}${size}` : size, both.join(" → ")];
  };

  // What the lines of a value are.
  const values = [data.headline ? turns.measure(data.headline) : "", data.headline && outcomes.length ? "answer" : ""];
  const cell = (system, place) => {
    if (changed.length) return change(system, place);
    const score = data.headline ? turns.value(data.headline, system, place) : null;
    const outcome = turns.words("outcome", system, place);
    return [score === null ? "" : score.toFixed(2), outcome].filter(Boolean);
  };

  const row = (at) => {
    const place = places[at];
    const line = make("li", {},
      make("a", { href: view.address(data.anchors[place]), className: "turn-id" }, make("bdi", {}, data.ids[place])),
      make("span", { className: "question", dir: "auto" }, ...question(place)),
      make("span", { className: "facts" }, ...facts(place)),
      ...shownSystems.map((system) => {
        const texts = cell(system, place).map((text) => make("span", {}, text));
        const made = make("span", { className: "value" }, ...(texts.length ? texts : ["–"]));
        made.dataset.system = visible(turns.label(system));
        if (values[1] && texts[1] && !changed.length) texts[1].className = "beside"; // a phone has no heads to explain it
        return made;
      }));
    line.style.top = `${at * height}px`;
    line.dataset.turn = data.ids[place];
    line.ariaSetSize = String(places.length);
    line.ariaPosInSet = String(at + 1);
    return line;
  };

  const heads = make("div", { className: "row-heads", ariaHidden: "true" },
    make("span", {}, "Turn"),
    make("span", {}, rewriter ? turns.label(rewriter) : ""),
    make("span", {}, ""),
    ...shownSystems.map((system) => make("span", { className: "value" }, make("bdi", {}, turns.label(system)),
      ...values.filter(Boolean).map((name) => make("span", { className: "quiet" }, name)))));
  heads.style.setProperty("--systems", shownSystems.length);

  // ---------------------------------------------------------- the visible rows

  const MARGIN = 6; // rows made above and below the visible ones
  const lines = new Map(); // index → row
  const draw = () => {
    if (!height) return;
    const first = Math.max(0, Math.floor(scroll.scrollTop / height) - MARGIN);
    const last = Math.min(places.length, Math.ceil((scroll.scrollTop + scroll.clientHeight) / height) + MARGIN);
    for (const [at, line] of lines) {
      if (at >= first && at < last) continue;
      line.remove();
      lines.delete(at);
    }
    for (let at = first; at < last; at++) {
      if (lines.has(at)) continue;
      const line = row(at);
      lines.set(at, line);
      const after = [...lines.keys()].filter((one) => one > at).sort((a, b) => a - b)[0];
      rows.insertBefore(line, after === undefined ? null : lines.get(after));
    }
  };

  const again = () => {
    lines.clear();
    rows.replaceChildren();
    const probe = make("li", {}, "x");
    rows.append(probe);
    height = probe.offsetHeight;
    probe.remove();
    rows.style.height = `${places.length * height}px`;
    draw();
  };
  scroll.addEventListener("scroll", draw, { passive: true });
  let width = 0;
  new ResizeObserver(() => {
    if (scroll.clientWidth !== width) again();
    else draw();
    width = scroll.clientWidth;
  }).observe(scroll);

  // Shows what the address selects.
  const show = (force = false) => {
    const { places: found, error } = turns.select(view.where, view.sort);
    if (where.value !== view.where) where.value = view.where;
    orders();
    const exact = data.ids.includes(view.where.trim()) ? ` Enter opens turn ${view.where.trim()}.` : "";
    told.textContent = visible(error + exact);
    count.textContent = error ? "" : `${found.length.toLocaleString("en")} of ${counted(turns.size, "turn")}`;
    const now = `${turns.lastSelection.key} ${error}`;
    if (now === drawn && !force) return;
    if (!error || !places.length) {
      places = found;
      if (!force) scroll.scrollTop = 0;
    }
    drawn = now;
    heads.children[1].textContent = visible(chosen() ? turns.label(chosen()) : "");
    again();
  };

  // ---------------------------------------------------------- filter and order

  const orders = () => {
    const found = new Map([["", changed.length ? "largest change first" : "by conversation"]]);
    const of = (name, system) => `${quoted(name)}@${quoted(system)}`;
    const add = (name, words) => {
      const systems = turns.systemsOf(name);
      if (systems.length > 1) found.set(name, words("any system"));
      for (const system of systems.slice(0, MOST_SYSTEMS + 3)) found.set(of(name, system), words(turns.label(system)));
    };
    add("loss", (system) => `largest loss first: ${system}`);
    add("change", (system) => `largest change first: ${system}`);
    if (data.headline) add(data.headline, (system) => `lowest ${turns.measure(data.headline)} first: ${system}`);
    add("first", (system) => `first relevant passage deepest: ${system}`);
    if (scored.length > 1) found.set("disagreement", "largest difference between systems");
    found.set("random", "random");
    if (!found.has(view.sort)) found.set(view.sort, view.sort);
    if (order.options.length !== found.size || order.value !== view.sort) {
      order.replaceChildren(...[...found].map(([value, text]) => make("option", { value, selected: value === view.sort }, text)));
    }
  };
  order.addEventListener("change", () => view.change(view.where, order.value));
  where.addEventListener("input", () => view.change(where.value, view.sort));

  // Fields with their values; a press adds a term to the filter.
  const fields = () => {
    const add = (term) => {
      view.change([view.where.trim(), term].filter(Boolean).join(" "), view.sort);
      where.focus();
    };
    const entry = (field) => {
      const columns = turns.table.columns(field);
      const words = field.kind === "words" ? [...new Set(columns.flatMap(([, values]) => values.words.flat()))] : [];
      const few = words.length <= MOST_VALUES && field.name !== "conversation" ? words.sort(collator.compare) : [];
      const systems = columns.map(([system]) => system).filter(Boolean);
      return [
        make("dt", {}, make("code", {}, quoted(field.aliases[0] ?? field.name))),
        make("dd", {}, field.says.replaceAll("`", ""), systems.length > 1 ? ` (@${systems.map(quoted).slice(0, 8).join(", @")})` : "", " ",
          ...few.flatMap((word) => {
            const button = make("button", { type: "button" }, `${quoted(field.name)}:${quoted(word)}`);
            button.addEventListener("click", () => add(button.textContent));
            return [button, " "];
          })),
      ];
    };
    const box = make("details", { className: "fields" }, make("summary", {}, "Fields of filters"),
      make("p", { className: "note" },
        "All terms must hold. -TERM excludes turns. FIELD@SYSTEM tests one system. FIELD:A,B means A or B, FIELD:* any value. Numbers: <, <=, >, >= and =."));
    // made when it is opened, also because a review may have added fields
    box.addEventListener("toggle", () => {
      box.querySelector("dl")?.remove();
      if (box.open) box.append(make("dl", {}, ...data.fields.flatMap(entry)));
    });
    return box;
  };

  const form = make("form", { className: "filter", role: "search" },
    make("span", { className: "field" }, make("label", { htmlFor: "where" }, "Filter"), where),
    make("span", { className: "field" }, make("label", { htmlFor: "order" }, "Order"), order), count);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const exact = data.ids.indexOf(view.where.trim());
    const place = exact >= 0 ? exact : places.length === 1 ? places[0] : undefined;
    if (place !== undefined) location.hash = view.address(data.anchors[place]);
  });

  // The rows as texts, for CSV.
  const cells = () => {
    const texts = [...turns.texts.keys()];
    const titles = ["turn", ...texts.map((name) => turns.label(name)), ...(rewriters.length ? ["cause"] : []),
      ...shownSystems.map((system) => turns.label(system))];
    return [titles, ...places.map((place) => [data.ids[place], ...texts.map((name) => turns.texts.get(name)[place] ?? ""),
      ...(rewriters.length ? [turns.words("cause", chosen(), place)] : []), ...shownSystems.map((system) => cell(system, place).join(" "))])];
  };

  const tools = make("p", { className: "tools" });
  box.className = "turn-list";
  box.replaceChildren(
    make("p", { className: "caption", id: "turns-caption" }, `All ${counted(turns.size, "turn")}`), tools,
    form, told, fields(), ...data.left_out.map((text) => make("p", { className: "note" }, text)), heads, scroll);
  return { show, where, tools, cells, places: () => places };
};
