// The review: read a random sample of the turns that a filter selects, and assign categories to them.

// Reviews stay in this browser, as notes do; every change is stored at once. A session is one sample of one or two systems by
// one coder. Its turns are shown in random order and one after the other, so that the turns read so far are a random sample.
const REVIEWS = `robustcs review: ${document.documentElement.dataset.report}`;
const LONGEST = 100; // characters of a category

// `reader`: the parts of a turn. `view`: the filter of the list. `changed`: called with the labels when they change.
const turnReview = (turns, reader, view, { help, changed, closed }) => {
  const { data } = turns;
  let state = { categories: [], settings: { where: null, systems: [], differ: false, size: 30, seed: 0, coder: "" }, sessions: [] };
  let stored = true;
  const isText = (value) => typeof value === "string";

  const load = () => {
    try {
      const kept = JSON.parse(localStorage.getItem(REVIEWS));
      if (!kept || !Array.isArray(kept.categories) || !Array.isArray(kept.sessions)) return;
      const sound = kept.sessions.filter((one) => Array.isArray(one.systems) && Array.isArray(one.turns));
      state = { categories: kept.categories.filter(isText), settings: { ...state.settings, ...kept.settings },
        sessions: sound.map((one) => ({ ...one, turns: new Map(one.turns) })) };
    } catch { /* invalid JSON is not ours */ }
  };
  const save = () => {
    changed(labels());
    try {
      localStorage.setItem(REVIEWS, JSON.stringify({ ...state, sessions: state.sessions.map((one) => ({ ...one, turns: [...one.turns] })) }));
      stored = true;
    } catch {
      stored = false;
    }
  };

  // ---------------------------------------------------------- samples

  const hasScore = (name) => turns.measures.some((field) => turns.systemsOf(field.name).includes(name));
  const readable = (() => {
    const every = [...new Set([...data.systems.map(([name]) => name), ...turns.texts.keys()])];
    const some = every.filter((name) => hasScore(name) || turns.rankings.has(name) || turns.answers.has(name));
    return some.length ? some : every; // their texts
  })();
  const label = (name) => turns.label(name);

  // The scored turns; without scores those with an outcome, else all.
  const standard = data.headline ? `${quoted(data.headline)}:*` : turns.fields.has("outcome") ? "outcome:*" : "";

  // Two systems differ if any score does; without scores, if passages or answers do.
  const differ = (place, first, second) => {
    const scores = turns.measures.map((field) => [first, second].map((name) => turns.value(field.name, name, place)));
    const both = scores.filter(([x, y]) => x !== null && y !== null);
    if (both.length) return both.some(([x, y]) => x !== y);
    const top = (name) => turns.passages(turns.rankings.get(name)?.[place]).map((one) => one.passage).join();
    const said = (name) => turns.answers.get(name)?.[place] ?? "";
    return top(first) !== top(second) || said(first) !== said(second);
  };

  // A sample: which turns it is drawn from, their number, and the places in random order. Throws FilterError.
  const drawn = (settings) => {
    const chosen = new Set(turns.table.where(settings.where));
    const both = settings.differ && settings.systems.length > 1;
    const words = [
      chosen.size < turns.size ? `selected by ${settings.where.trim()}` : "",
      both ? `where ${settings.systems.map(label).join(" and ")} differ` : "",
    ];
    // the turns of a part are in the order of all turns
    const every = shuffled(turns.table.places, settings.seed)
      .filter((place) => chosen.has(place) && (!both || differ(place, ...settings.systems)));
    const size = Math.min(settings.size, every.length);
    return { where: words.filter(Boolean).join(" and "), of: every.length, size, order: every.slice(0, settings.size) };
  };
  const idOf = (place) => data.ids[place];

  // ---------------------------------------------------------- the session, and changes to it

  let sample = null; // what was drawn: where, of, size and the order of turns
  let session = null;
  let at = 0; // place in the order
  let side = "both"; // of two systems: what a category is assigned to
  const undos = [];

  const same = (one, other) =>
    ["where", "seed", "coder"].every((key) => one[key] === other[key]) && one.systems.join("\n") === other.systems.join("\n");
  const sessionOf = (wanted) => {
    let found = state.sessions.find((one) => same(one, wanted));
    if (!found) state.sessions.push((found = { ...wanted, turns: new Map() }));
    return found;
  };
  // The first turn that is not reviewed: turns behind it cannot be read yet.
  const front = () => {
    const open = sample.order.findIndex((place) => !session.turns.get(idOf(place))?.done);
    return open < 0 ? sample.order.length : open;
  };

  const begin = () => {
    sample = drawn(state.settings);
    const { systems, seed, coder } = state.settings;
    session = sessionOf({ systems: [...systems], where: sample.where, seed, coder });
    Object.assign(session, { of: sample.of, size: sample.size });
    const left = sample.order.findIndex((place) => idOf(place) === session.at); // where the reader left
    at = left >= 0 && left <= front() ? left : Math.min(front(), Math.max(0, sample.order.length - 1));
    side = "both";
    save();
  };

  const entry = () => session.turns.get(idOf(sample.order[at])) ?? { categories: [], note: "", done: false };
  const change = (next, undoable = true) => {
    const turn = idOf(sample.order[at]);
    if (undoable) undos.push([session, turn, session.turns.get(turn), at]);
    session.turns.set(turn, next);
    save();
  };
  const undo = () => {
    const [of, turn, before, place] = undos.pop() ?? [];
    if (!of) return tell("nothing to undo");
    if (before) of.turns.set(turn, before);
    else of.turns.delete(turn);
    if (of === session) at = place;
    save();
    draw("undone");
  };
  const toggle = (name) => {
    const now = entry();
    const has = now.categories.some(([own, of]) => own === name && of === side);
    const others = now.categories.filter(([own, of]) => own !== name || (of !== side && of !== "both" && side !== "both"));
    change({ ...now, done: true, categories: has ? others : [...others, [name, side]] });
    draw(`${name} ${has ? "removed" : "assigned"}`);
  };
  const go = (step) => {
    if (step > 0 && !entry().done) change({ ...entry(), done: true });
    at = Math.max(0, Math.min(at + step, front(), sample.order.length - 1));
    draw();
  };

  // ---------------------------------------------------------- labels, export and import

  // What was assigned in this browser: (turn, coder, categories, note).
  const labels = () => state.sessions.flatMap((one) => [...one.turns].flatMap(([turn, own]) =>
    own.done ? [[turn, one.coder, [...new Set(own.categories.map(([name]) => name))], own.note]] : []));

  const lines = () => state.sessions.flatMap((one) => [...one.turns].filter(([, own]) => own.done).flatMap(([turn, own]) => {
    const drawn = { kind: "random", seed: one.seed, of: one.of, size: one.size, ...(one.where ? { where: one.where } : {}) };
    const record = (systems, of, note) => ({ turn, systems, categories: own.categories.filter(([, whose]) => whose === of).map(([name]) => name),
      note, coder: one.coder, sample: drawn });
    // first what holds for all systems, then what holds for one
    const sides = one.systems.map((name) => record([name], name, "")).filter((line) => one.systems.length > 1 && line.categories.length);
    return [record(one.systems, "both", own.note), ...sides];
  }));

  const take = (text) => {
    const records = [];
    for (const line of text.split("\n")) {
      try {
        const one = JSON.parse(line);
        const whole = { where: "", seed: 0, of: 0, size: 0, kind: "", ...one.sample };
        const sound = ["string", "number"].includes(typeof one.turn) && Array.isArray(one.categories) && one.categories.every(isText) &&
          Array.isArray(one.systems) && one.systems.every(isText) && whole.kind === "random";
        if (sound) records.push({ ...one, turn: String(one.turn), sample: whole });
      } catch { /* counted below */ }
    }
    records.sort((a, b) => b.systems.length - a.systems.length); // what holds for all systems comes first
    for (const { turn, systems, categories, note = "", coder = "", sample: of } of records) {
      const wanted = { systems, where: of.where, seed: of.seed, coder };
      const pair = systems.length === 1 && state.sessions.find((one) => one.systems.length > 1 && one.systems.includes(systems[0]) &&
        same({ ...wanted, systems: one.systems }, one) && one.turns.has(turn));
      const into = pair || sessionOf(wanted);
      Object.assign(into, { of: of.of, size: Math.max(into.size ?? 0, of.size) });
      const known = into.turns.get(turn) ?? { categories: [], note: "" };
      const added = categories.map((name) => [name.slice(0, LONGEST), pair ? systems[0] : "both"]);
      const own = [...known.categories, ...added.filter(([name, whose]) => !known.categories.some((one) => one[0] === name && one[1] === whose))];
      into.turns.set(turn, { categories: own, note: known.note || note, done: true });
      for (const [name] of added) if (!state.categories.includes(name)) state.categories.push(name);
    }
    save();
    const all = text.split("\n").filter((line) => line.trim()).length;
    return `${records.length} of ${all} lines imported`;
  };

  // ---------------------------------------------------------- the page of the review

  const box = make("dialog", { id: "review", tabIndex: -1 });
  box.setAttribute("aria-labelledby", "review-title");
  const status = make("output", { className: "status" });
  const tell = (text) => (status.textContent = stored ? text : `${text} · this browser cannot store reviews: export them`);
  const file = make("input", { type: "file", accept: ".jsonl", hidden: true });
  file.addEventListener("change", async () => {
    if (!file.files.length) return;
    const told = take(await file.files[0].text());
    file.value = "";
    if (session) {
      begin();
      draw(told);
    } else {
      options();
      tell(told);
    }
  });
  const press = (key, text, does, more = {}) => {
    const button = make("button", { type: "button", ...more }, make("kbd", {}, key), ` ${text}`);
    button.addEventListener("click", does);
    return button;
  };
  const save_file = () => {
    const every = lines();
    download("review.jsonl", every.map((line) => JSON.stringify(line) + "\n").join(""), "application/jsonl");
    tell(`review.jsonl has ${every.length} ${every.length === 1 ? "line" : "lines"}`);
  };
  const head = (...parts) => make("header", {}, make("h2", { id: "review-title" }, "Review"), ...parts,
    press("e", "export", save_file), press("i", "import", () => file.click()), press("o", "options", () => options()),
    press("Esc", "close", () => box.close()));

  const options = () => {
    session = null;
    const set = state.settings;
    set.systems = set.systems.filter((name) => readable.includes(name));
    if (!set.systems.length && readable.length) set.systems = [readable.find((name) => label(name) === "QR") ?? readable[0]];
    if (set.where === null || view.where) set.where = view.where || standard;
    const field = (name, input) => make("label", {}, name, input);
    const choose = (items, value) =>
      make("select", {}, ...items.map(([key, text]) => make("option", { value: key, selected: key === value }, text)));
    const names = readable.map((name) => [name, label(name)]);
    const first = choose(names, set.systems[0]);
    const second = choose([["", "none"], ...names], set.systems[1] ?? "");
    const causes = turns.systemsOf("cause").length ? ["rewriter", "ranker", "reader"].map((cause) => `cause:${cause}`) : [];
    const filters = make("datalist", { id: "filters" },
      ...[...new Set([standard, view.where, ...causes])].filter(Boolean).map((value) => make("option", { value })));
    const where = make("input", { value: set.where, autocomplete: "off", spellcheck: false, placeholder: "all turns" });
    where.setAttribute("list", "filters");
    const differs = make("input", { type: "checkbox", checked: set.differ });
    const size = make("input", { type: "number", min: 1, step: 1, required: true, value: set.size });
    const seed = make("input", { type: "number", min: 0, max: 4294967295, step: 1, required: true, value: set.seed });
    const coder = make("input", { value: set.coder, maxLength: 100, autocomplete: "off" });
    const told = make("p", { className: "note" });
    told.setAttribute("role", "status");
    // Takes over what the form says; returns the number of turns from which it draws, 0 for a wrong filter.
    const look = () => {
      const systems = [...new Set([first.value, second.value].filter(Boolean))];
      differs.disabled = systems.length < 2;
      Object.assign(set, { systems, where: where.value, differ: differs.checked && systems.length > 1,
        size: Math.max(1, Math.floor(Number(size.value) || 1)), seed: Math.max(0, Math.floor(Number(seed.value) || 0)), coder: coder.value.trim() });
      try {
        const found = drawn(set);
        told.textContent = `${found.size} of ${counted(found.of, "turn")}, in random order.${found.size < found.of ? ` To read all of them, set the sample size to ${found.of}.` : ""}`;
        return found.of;
      } catch (problem) {
        if (!(problem instanceof FilterError)) throw problem;
        told.textContent = problem.message;
        return 0;
      }
    };
    const form = make("form", { className: "options" },
      field("Coder (your name)", coder), field("System", first), field("Compared with", second), field("Turns (a filter)", where), filters,
      make("label", { className: "check" }, differs, " only where they differ"), field("Sample size", size), field("Random seed", seed), told,
      make("p", {}, make("button", { className: "start" }, "Start (Enter)")));
    form.addEventListener("input", look);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!look()) return tell("there is no turn to draw: change the filter");
      begin();
      draw();
      box.focus();
    });
    look();
    const before = state.sessions.reduce((sum, one) => sum + [...one.turns.values()].filter((own) => own.done).length, 0);
    box.replaceChildren(head(), form, make("footer", {}, status), file);
    tell(before ? `${before} reviewed turns are kept in this browser` : "");
    coder.focus();
  };

  const counts = () => {
    const times = new Map(state.categories.map((name) => [name, 0]));
    const reviewed = [...session.turns.values()].filter((own) => own.done);
    for (const own of reviewed) for (const name of new Set(own.categories.map(([name]) => name))) times.set(name, (times.get(name) ?? 0) + 1);
    return [reviewed.length, [...times].filter(([, number]) => number).sort((a, b) => b[1] - a[1])];
  };

  const draw = (told = "") => {
    const place = sample.order[at];
    if (place === undefined) return options();
    const turn = idOf(place);
    if (session.at !== turn) {
      session.at = turn;
      save();
    }
    const own = entry();
    const [reviewed, times] = counts();
    const last = front();
    const bar = make("progress", { max: sample.size, value: Math.min(last, sample.size) });
    bar.ariaLabel = "Reviewed turns";
    const population = `${sample.where ? "the" : "all"} ${sample.of} turns ${sample.where}`.trim();
    const about = [`${last} of ${sample.size} turns reviewed`, `random sample of ${population}`, `seed ${session.seed}`, session.coder].filter(Boolean).join(" · ");
    const list = make("ol", { className: "plain" }, ...sample.order.slice(0, last + 1).map(idOf).map((one, number) => {
      const known = session.turns.get(one);
      const mark = known?.categories.length ? "✓" : known?.done ? "–" : "…";
      const button = make("button", { type: "button" }, make("bdi", {}, one), make("span", {}, mark));
      if (number === at) button.setAttribute("aria-current", "true");
      button.addEventListener("click", () => {
        at = number;
        draw();
      });
      return make("li", {}, button);
    }));
    const shown = (name) => session.systems.includes(name);
    const main = make("section", { className: "turn", tabIndex: 0 },
      make("h3", {}, "Turn ", make("bdi", {}, turn)),
      ...reader.history(place), ...reader.question(place, (name) => ["original", "human"].includes(name) || shown(name)),
      ...reader.scores(place, shown), ...reader.answers(place, shown),
      ...reader.rankings(place, session.systems.filter((name) => turns.rankings.has(name))));
    const chips = state.categories.map((name, place) => {
      const whose = own.categories.filter(([one]) => one === name).map(([, of]) => of);
      const sides = whose.filter((of) => of !== "both").map((of) => ` (${label(of)})`).join("");
      const chip = make("button", { type: "button", className: "chip" }, ...(place < 9 ? [make("kbd", {}, String(place + 1)), " "] : []), make("bdi", {}, name), sides);
      chip.ariaPressed = String(whose.length > 0);
      chip.addEventListener("click", () => toggle(name));
      return chip;
    });
    const known = make("datalist", { id: "known-categories" }, ...state.categories.map((name) => make("option", { value: name })));
    const add = make("input", { id: "category", maxLength: LONGEST, placeholder: "n: category", autocomplete: "off" });
    add.setAttribute("list", "known-categories");
    add.ariaLabel = "New category";
    add.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !add.value.trim()) return;
      event.preventDefault();
      const text = add.value.trim().replace(/\s+/g, " ");
      const name = state.categories.find((one) => one.toLowerCase() === text.toLowerCase()) ?? text;
      if (!state.categories.includes(name)) state.categories.push(name);
      toggle(name);
      box.focus();
    });
    const remark = make("input", { id: "remark", value: own.note, placeholder: "w: note", autocomplete: "off" });
    remark.ariaLabel = "Note";
    remark.addEventListener("focus", () => undos.push([session, turn, session.turns.get(turn), at]));
    remark.addEventListener("input", () => change({ ...entry(), note: remark.value, done: true }, false));
    const two = session.systems.length > 1;
    const footer = make("footer", {}, ...chips, add, known, remark,
      ...(two ? [press("s", `for ${side === "both" ? "both" : label(side)}`, turnSide), press("d", state.settings.differ ? "all turns" : "only where they differ", onlyDiffering)] : []),
      press("k", "back", () => go(-1)), press("j", "next", () => go(1)), press("u", "undo", undo), status);
    const done = last >= sample.order.length ? " · all turns are reviewed: press e to export" : "";
    box.replaceChildren(
      head(make("span", { className: "about" }, about), bar),
      make("main", {}, make("nav", {}, make("h3", {}, "Sample"), list, make("h3", {}, "So far"),
        make("ul", { className: "plain so-far" }, ...times.map(([name, number]) => make("li", {}, make("bdi", {}, name), make("span", {}, `${number} of ${reviewed}`)))),
        make("p", { className: "note" }, "robustcs review estimates the shares of all turns.")), main), footer, file);
    list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    if (box.open) box.focus();
    tell(`${told}${done}`.replace(/^ · /, ""));
  };

  const turnSide = () => {
    const order = ["both", ...session.systems];
    side = order[(order.indexOf(side) + 1) % order.length];
    draw(side === "both" ? "categories are assigned to both systems" : `categories are assigned to ${label(side)}`);
  };
  const onlyDiffering = () => {
    const here = sample.order[at];
    state.settings.differ = !state.settings.differ;
    if (!drawn(state.settings).of) {
      state.settings.differ = !state.settings.differ;
      return tell("the two systems differ on none of these turns");
    }
    begin();
    const place = sample.order.indexOf(here);
    if (place >= 0 && place <= front()) at = place;
    draw(state.settings.differ ? "only turns where the two systems differ" : "all turns of the sample");
  };

  box.addEventListener("keydown", (event) => {
    event.stopPropagation(); // the keys of the page do something else
    const typing = event.target.closest("input, select, textarea");
    if (typing) {
      if (session && (event.key === "Escape" || event.key === "Enter")) {
        event.preventDefault();
        if (typing.id === "remark") draw();
        box.focus();
      }
      return;
    }
    const undoing = (event.ctrlKey || event.metaKey) && event.key === "z";
    if ((event.ctrlKey || event.metaKey || event.altKey) && !undoing) return;
    const anywhere = { e: save_file, i: () => file.click(), o: () => options(), "?": help };
    const two = session && session.systems.length > 1;
    const inSession = { j: () => go(1), k: () => go(-1), u: undo, z: undo, n: () => box.querySelector("#category").focus(),
      w: () => box.querySelector("#remark").focus(), ...(two ? { s: turnSide, d: onlyDiffering } : {}) };
    const name = /^[1-9]$/.test(event.key) ? state.categories[event.key - 1] : null;
    const does = session && name ? () => toggle(name) : anywhere[event.key] ?? (session ? inSession[event.key] : null);
    if (!does || (event.key === "z" && !undoing)) return;
    event.preventDefault();
    does();
  });
  box.addEventListener("close", closed);
  addEventListener("storage", (event) => {
    if (event.key !== REVIEWS) return;
    load(); // another tab of this report changed it
    changed(labels());
    session = null;
    if (box.open) options();
  });

  const open = () => {
    if (box.open || !turns.size) return;
    load();
    box.showModal();
    if (view.where || !continues()) return options();
    begin();
    draw();
  };
  // Whether the settings of this browser are those of a session that was begun.
  const continues = () => {
    const set = state.settings;
    if (!isText(set.where)) set.where = null;
    if (!Array.isArray(set.systems)) set.systems = [];
    const known = set.systems.length > 0 && set.systems.every((name) => readable.includes(name));
    try {
      return known && set.where !== null && drawn(set).of > 0
        && state.sessions.some((one) => one.systems.join("\n") === set.systems.join("\n"));
    } catch {
      return false; // the filter was one of another page
    }
  };
  document.body.append(box);
  load();
  return { open, box, labels };
};
