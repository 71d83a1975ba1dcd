  // ------------------------------------------------------------ the workbench: read a random sample of turns, and tag them

  // Reviews stay in this browser, as notes do; every change is stored at once. A session is one sample of one or two systems by
  // one coder. Its turns are shown in random order and one after the other, so that the turns read so far are a random sample.
  const REVIEWS = `robustcs review: ${document.documentElement.dataset.report}`;
  const LONGEST = 100; // characters of a category
  const workbench = (() => {
    let state = { categories: [], settings: { turns: "", systems: [], differ: false, size: 30, seed: 0, coder: "" }, sessions: [] };
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
      try {
        localStorage.setItem(REVIEWS, JSON.stringify({ ...state, sessions: state.sessions.map((one) => ({ ...one, turns: [...one.turns] })) }));
        stored = true;
      } catch {
        stored = false;
      }
    };

    // ---------------------------------------------------------- samples

    // Mulberry32: the same order of the same turns in every browser.
    const random = (seed) => () => {
      seed = (seed + 0x6d2b79f5) >>> 0;
      let t = Math.imul(seed ^ (seed >>> 15), seed | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    const shuffled = (items, seed) => {
      const [order, next] = [[...items], random(seed >>> 0)];
      for (let i = order.length - 1; i > 0; i--) {
        const j = Math.floor(next() * (i + 1));
        [order[i], order[j]] = [order[j], order[i]];
      }
      return order;
    };

    const system = (name) => data.readable.find((one) => one.name === name);
    const label = (name) => system(name)?.label ?? name;
    const answer = (one, turn) =>
      (one.response === null ? null : turn.responses[one.response]) || (one.text === null ? null : turn.answers?.[one.text]) || "";

    // Two systems differ if any score does; without scores, if passages or answers do.
    const differ = (turn, first, second) => {
      const [a, b] = [system(first), system(second)];
      const scores = turn.scores.map((values) => [values[a.score], values[b.score]]).filter(([x, y]) => x != null && y != null);
      if (scores.length) return scores.some(([x, y]) => x !== y);
      const top = ({ run }) => (run === null ? "" : turn.top[run].map(([place]) => place).join());
      return top(a) !== top(b) || answer(a, turn) !== answer(b, turn);
    };

    // The turns that a sample can be drawn from: words → test.
    const populations = (systems) => {
      const found = new Map([["", () => true]]);
      data.cuts.forEach((cut, at) => {
        if (!cut.main) return;
        for (const bin of [...new Set(data.turns.map((turn) => turn.bins[at]))].filter(Boolean).sort()) {
          found.set(`where ${cut.name} gives ${marks(bin)}`, (turn) => turn.bins[at] === bin);
        }
      });
      const one = system(systems[0]);
      if (one && one.score !== null && !data.cuts.length && data.measures.length) {
        const of = (turn) => turn.scores[data.headline][one.score];
        found.set(`where ${data.measures[data.headline]} of ${one.label} is 0`, (turn) => of(turn) === 0);
        found.set(`where ${data.measures[data.headline]} of ${one.label} is below 0.5`, (turn) => of(turn) !== null && of(turn) < 0.5);
      }
      const text = view.params.get("q.turns");
      if (text) {
        const listed = new Set(tables.get("turns").anchors());
        found.set(`that contain "${text}"`, (turn) => listed.has(turn.anchor));
      }
      return found;
    };

    const drawn = (settings) => {
      const known = populations(settings.systems);
      const test = known.get(settings.turns) ?? known.get("");
      const both = settings.differ && settings.systems.length > 1;
      const words = [known.has(settings.turns) ? settings.turns : "", both ? `where ${settings.systems.map(label).join(" and ")} differ` : ""];
      // the turns of a part are in the order of all turns
      const every = shuffled(data.turns, settings.seed).filter((turn) => test(turn) && (!both || differ(turn, ...settings.systems)));
      const where = words.filter(Boolean).join(" and ");
      return { where, of: every.length, size: Math.min(settings.size, every.length), order: every.slice(0, settings.size) };
    };

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
      const open = sample.order.findIndex((turn) => !session.turns.get(turn.turn)?.done);
      return open < 0 ? sample.order.length : open;
    };

    const begin = () => {
      sample = drawn(state.settings);
      const { systems, seed, coder } = state.settings;
      session = sessionOf({ systems: [...systems], where: sample.where, seed, coder });
      Object.assign(session, { of: sample.of, size: sample.size });
      const left = sample.order.findIndex((turn) => turn.turn === session.at); // where the reader left
      at = left >= 0 && left <= front() ? left : Math.min(front(), Math.max(0, sample.order.length - 1));
      side = "both";
      save();
    };

    const entry = () => session.turns.get(sample.order[at].turn) ?? { categories: [], note: "", done: false };
    const change = (next, undoable = true) => {
      const turn = sample.order[at].turn;
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

    // ---------------------------------------------------------- export and import

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

    // ---------------------------------------------------------- the page of the workbench

    const box = make("dialog", { id: "review", tabIndex: -1 });
    box.setAttribute("aria-labelledby", "review-title");
    const status = make("output", { className: "status" });
    const tell = (text) => (status.textContent = stored ? text : `${text} · this browser stores nothing: export your reviews`);
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
      set.systems = set.systems.filter(system);
      if (!set.systems.length && data.readable.length) set.systems = [(data.readable.find((one) => one.label === "QR") ?? data.readable[0]).name];
      const field = (name, input) => make("label", {}, name, input);
      const choose = (items, value) => {
        const made = make("select", {}, ...items.map(([key, text]) => make("option", { value: key, selected: key === value }, text)));
        return made;
      };
      const names = data.readable.map((one) => [one.name, one.label]);
      const first = choose(names, set.systems[0]);
      const second = choose([["", "none"], ...names], set.systems[1] ?? "");
      const turns = choose([], "");
      const differs = make("input", { type: "checkbox", checked: set.differ });
      const size = make("input", { type: "number", min: 1, step: 1, required: true, value: set.size });
      const seed = make("input", { type: "number", min: 0, max: 4294967295, step: 1, required: true, value: set.seed });
      const coder = make("input", { value: set.coder, maxLength: 100, autocomplete: "off" });
      const told = make("p", { className: "note" });
      const look = () => {
        const systems = [...new Set([first.value, second.value].filter(Boolean))];
        const wanted = turns.options.length ? turns.value : set.turns;
        turns.replaceChildren(...[...populations(systems)].map(([words]) =>
          make("option", { value: words, selected: words === wanted }, words ? `turns ${words}` : "all turns")));
        differs.disabled = systems.length < 2;
        Object.assign(set, { systems, turns: turns.value, differ: differs.checked && systems.length > 1, size: Math.max(1, Math.floor(Number(size.value) || 1)),
          seed: Math.max(0, Math.floor(Number(seed.value) || 0)), coder: coder.value.trim() });
        const found = drawn(set);
        told.textContent = `${found.size} of ${found.of} turns, in random order. To read all of them, set the sample size to ${found.of}.`;
      };
      const form = make("form", { className: "options" },
        field("Coder (your name)", coder), field("System", first), field("Compared with", second), field("Turns", turns),
        make("label", { className: "check" }, differs, " only where they differ"), field("Sample size", size), field("Random seed", seed), told,
        make("p", {}, make("button", { className: "start" }, "Start (Enter)")));
      form.addEventListener("input", look);
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        look();
        if (!drawn(set).of) return tell("no turn fits");
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

    const shown = (name, turn) => {
      const one = system(name);
      const parts = [make("h4", {}, make("bdi", {}, one.label))];
      const scores = one.score === null ? [] : data.measures.flatMap((measure, place) =>
        turn.scores[place][one.score] == null ? [] : [`${measure} ${turn.scores[place][one.score].toFixed(2)}`]);
      if (scores.length) parts.push(make("p", { className: "note" }, scores.join(" · ")));
      if (one.run !== null) {
        const top = turn.top[one.run];
        parts.push(top.length ? make("ol", {}, ...top.map(passage)) : make("p", {}, "(nothing retrieved)"));
      }
      const said = answer(one, turn);
      if (said) parts.push(make("p", { className: "answer", dir: "auto" }, said));
      return make("section", { className: side === name ? "mine" : "" }, ...parts);
    };

    const counts = () => {
      const times = new Map(state.categories.map((name) => [name, 0]));
      const reviewed = [...session.turns.values()].filter((own) => own.done);
      for (const own of reviewed) for (const name of new Set(own.categories.map(([name]) => name))) times.set(name, (times.get(name) ?? 0) + 1);
      return [reviewed.length, [...times].filter(([, number]) => number).sort((a, b) => b[1] - a[1])];
    };

    const draw = (told = "") => {
      const turn = sample.order[at];
      if (!turn) return options();
      if (session.at !== turn.turn) {
        session.at = turn.turn;
        save();
      }
      const own = entry();
      const [reviewed, times] = counts();
      const last = front();
      const bar = make("progress", { max: sample.size, value: Math.min(last, sample.size) });
      bar.ariaLabel = "Reviewed turns";
      const population = `${sample.where ? "the" : "all"} ${sample.of} turns ${sample.where}`.trim();
      const about = [`${last} of ${sample.size} turns reviewed`, `random sample of ${population}`, `seed ${session.seed}`, session.coder].filter(Boolean).join(" · ");
      const list = make("ol", { className: "plain" }, ...sample.order.slice(0, last + 1).map((one, place) => {
        const mark = session.turns.get(one.turn)?.categories.length ? "✓" : session.turns.get(one.turn)?.done ? "–" : "…";
        const button = make("button", { type: "button" }, make("bdi", {}, one.turn), make("span", {}, mark));
        if (place === at) button.setAttribute("aria-current", "true");
        button.addEventListener("click", () => {
          at = place;
          draw();
        });
        return make("li", {}, button);
      }));
      const places = session.systems.map((name) => system(name)?.text);
      const wanted = (place) => ["Original", "Human"].includes(data.formulations[place]) || places.includes(place);
      const earlier = before(turn);
      // bins of the rewriters shown; of all, if none is shown
      const ofRewriter = (cut) => cut.formulations.at(-2);
      const main_cuts = data.cuts.map((cut, place) => [cut, turn.bins[place]]).filter(([cut, bin]) => cut.main && bin);
      const mine = main_cuts.filter(([cut]) => places.includes(ofRewriter(cut)));
      const bins = (mine.length ? mine : main_cuts).map(([cut, bin]) => `${cut.name}: ${marks(bin)} ${data.labels[bin]}`);
      const gold = (turn.gold ?? []).flatMap((text) => row("Gold", text));
      const main = make("section", { className: "turn", tabIndex: 0 },
        ...(earlier.length ? [make("ol", { className: "plain earlier" }, ...earlier)] : []),
        make("h3", {}, "Turn ", make("bdi", {}, turn.turn)), make("dl", {}, ...texts(turn, wanted), ...gold),
        ...(bins.length ? [make("p", { className: "note" }, bins.join(" · "))] : []),
        make("div", { className: session.systems.length > 1 ? "runs two" : "runs" }, ...session.systems.filter(system).map((name) => shown(name, turn))));
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
      remark.addEventListener("focus", () => undos.push([session, turn.turn, session.turns.get(turn.turn), at]));
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
      const anywhere = { e: save_file, i: () => file.click(), o: () => options(), "?": () => help.showModal() };
      const two = session && session.systems.length > 1;
      const inSession = { j: () => go(1), k: () => go(-1), u: undo, z: undo, n: () => box.querySelector("#category").focus(),
        w: () => box.querySelector("#remark").focus(), ...(two ? { s: turnSide, d: onlyDiffering } : {}) };
      const name = /^[1-9]$/.test(event.key) ? state.categories[event.key - 1] : null;
      const does = session && name ? () => toggle(name) : anywhere[event.key] ?? (session ? inSession[event.key] : null);
      if (!does || (event.key === "z" && !undoing)) return;
      event.preventDefault();
      does();
    });
    box.addEventListener("close", () => {
      if (view.anchor === "review") view.anchor = "";
      remember();
    });
    addEventListener("storage", (event) => {
      if (event.key !== REVIEWS) return;
      load(); // another tab of this report changed it
      session = null;
      if (box.open) options();
    });

    const open = () => {
      if (box.open || !data.turns.length) return;
      load();
      view.anchor = "review";
      remember();
      const set = state.settings;
      const known = set.systems.length > 0 && set.systems.every(system) && state.sessions.some((one) => one.systems.join("\n") === set.systems.join("\n"));
      box.showModal();
      if (known) {
        begin();
        draw();
      } else options();
    };
    if (dialog) document.body.append(box);
    return { open, box };
  })();
