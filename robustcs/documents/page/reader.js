// The reader of a turn: everything that is known about it. The dialog of a turn and the review show its parts.

const TOP = 10; // passages of a ranking that are shown first
const WHY = {
  rewriter: (system) => `rewriter error: Human is correct, ${system} is not`,
  ranker: () => "ranker error: even Human is not correct",
  reader: () => "reader error: even Human is not correct",
};

const SVG = "http://www.w3.org/2000/svg"; // the name of a namespace; nothing is loaded
const OUTCOMES = ["kind", "outcome", "lost"]; // fields of answers

const turnReader = (turns) => {
  const { data } = turns;

  const heading = (text) => make("h3", {}, text);
  const row = (label, ...content) => [make("dt", {}, make("bdi", {}, label)), make("dd", { dir: "auto" }, ...content)];

  const table = (caption, titles, rows) => {
    const cells = (cell, at) => make(at ? "td" : "th", at ? {} : { scope: "row" }, make("bdi", {}, cell));
    return make("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: caption },
      make("table", {},
        make("thead", {}, make("tr", { className: "titles" },
          ...titles.map((title) => make("th", { scope: "col" }, make("bdi", {}, title))))),
        make("tbody", {}, ...rows.map((line) => make("tr", {}, ...line.map(cells))))));
  };

  // ---------------------------------------------------------- before the turn, and its question

  const history = (place) => {
    const said = data.history[place].map((at) => data.messages[at]);
    if (!said.length) return [];
    const list = make("ol", {}, ...said.map(([who, text]) =>
      make("li", { dir: "auto" }, make("b", {}, make("bdi", {}, who)), " ", make("span", {}, text))));
    const box = make("div", { className: "messages", tabIndex: 0, role: "region", ariaLabel: "Conversation so far" }, list);
    requestAnimationFrame(() => (box.scrollTop = box.scrollHeight)); // the last messages are next to the question
    return [heading("Conversation so far"), box];
  };

  // `wanted`: which formulations are shown.
  const question = (place, wanted = () => true) => {
    const said = turns.said(place).filter(([name]) => wanted(name));
    if (!said.length) return [];
    let compared = false;
    const rows = said.flatMap(([name, text]) => {
      const other = turns.other(name);
      const before = other && turns.texts.get(other)[place];
      if (!before) return row(turns.label(name), text);
      if (before === text) return row(turns.label(name), `${text} (as ${turns.label(other)})`);
      compared = turns.label(other);
      const facts = ["type", "dropped", "added"].flatMap((field) => {
        const words = turns.words(field, name, place);
        return words ? [`${field}: ${words}`] : [];
      });
      return row(turns.label(name), ...marked(before, text),
        ...(facts.length ? [make("span", { className: "note facts" }, facts.join(" · "))] : []));
    });
    const key = compared ? [make("p", { className: "note" }, `− words of ${compared} that are missing, + words that ${compared} does not have`)] : [];
    return [heading("The question"), ...key, make("dl", {}, ...rows)];
  };

  // ---------------------------------------------------------- scores and causes

  // Fields of systems that the table of scores shows after the measures; answers show the last three themselves.
  const COLUMNS = ["first", "unjudged", "loss", "change", "cause", "blame", "place", ...(turns.answers.size ? [] : OUTCOMES)];
  const MOST_ROWS = 6; // systems of the table; the others are folded
  const asText = (field, system, place, cut) => {
    if (field.kind === "words") return turns.words(field.name, system, place, cut);
    const value = turns.value(field.name, system, place, cut);
    if (value === null) return field.name === "first" && turns.value("judged", "", place) !== null ? "none" : "";
    const whole = Number.isInteger(value) && field.place !== "scores" && !["loss", "change"].includes(field.name);
    return whole ? String(value) : value.toFixed(4).replace("-", "−");
  };

  const scores = (place, wanted = () => true) => {
    const fields = [...turns.measures, ...COLUMNS.flatMap((name) => turns.fields.get(name) ?? [])].filter((field) => field.per_system);
    const known = fields.flatMap((field) => turns.systemsOf(field.name));
    const systems = [...new Set([...data.systems.map(([name]) => name), ...known])].filter(wanted);
    const rows = systems.map((system) => [system, ...fields.map((field) =>
      turns.systemsOf(field.name).includes(system) ? asText(field, system, place) : "")]);
    const used = fields.map((_, at) => rows.some((line) => line[at + 1] !== ""));
    const filled = rows.filter((line) => line.slice(1).some((text) => text !== ""));
    if (!filled.length) {
      return [make("p", { className: "note" }, "This turn has no score: it has no judged passage and no gold answer, or no system was scored.")];
    }
    const titles = fields.map((field) => field.aliases[0] ?? { first: "first relevant", lost: "lost by" }[field.name] ?? field.name);
    const part = (line) => line.filter((_, at) => used[at]);
    const lines = (some) => some.map(([system, ...line]) => [turns.label(system), ...part(line).map((text) => text || "–")]);
    const main = filled.filter(([system]) => data.formulations.includes(system));
    const first = main.length ? main : filled.slice(0, MOST_ROWS);
    const others = filled.filter((line) => !first.includes(line));
    const head = ["system", ...part(titles)];
    const parts = [heading("Scores and causes"), table("Scores and causes", head, lines(first))];
    if (others.length) {
      parts.push(make("details", {}, make("summary", {}, counted(others.length, "further system")),
        table("Scores of further systems", head, lines(others))));
    }
    const judged = data.judged[place].map(([grade, number]) => `${number} of grade ${grade}`).join(", ");
    const notes = [...why(place, wanted), ...(judged ? [`Judged passages: ${judged}.`] : [])];
    if (notes.length) parts.push(make("p", { className: "note" }, notes.join(" ")));
    return [...parts, ...thresholds(place, systems)];
  };

  const why = (place, wanted) => turns.systemsOf("cause").filter(wanted).flatMap((system) => {
    const cause = turns.words("cause", system, place);
    return cause in WHY ? [`${turns.label(system)}: ${WHY[cause](turns.label(system))} (correct: ${data.cuts[0].label}).`] : [];
  });

  // Whether each system is correct at every threshold, and the cause.
  const thresholds = (place, systems) => {
    if (data.cuts.length < 2) return [];
    const shown = systems.filter((system) => turns.systemsOf("correct").includes(system));
    const causes = turns.systemsOf("cause").filter((system) => systems.includes(system));
    const rows = data.cuts.map((cut, at) => [
      cut.label,
      ...shown.map((system) => ({ yes: "✓", no: "×" })[turns.words("correct", system, place, at)] ?? "–"),
      ...causes.map((system) => turns.words("cause", system, place, at) || "–"),
    ]);
    const titles = ["correct if", ...shown.map((system) => turns.label(system)),
      ...causes.map((system) => (causes.length > 1 ? `cause, ${turns.label(system)}` : "cause"))];
    return [make("details", {}, make("summary", {}, "At every threshold"), table("At every threshold", titles, rows))];
  };

  // ---------------------------------------------------------- passages

  const grade = (value) => make("span",
    { className: value === null ? "grade hole" : value >= data.relevant ? "grade relevant" : "grade" },
    value === null ? "unjudged" : `grade ${value}`);

  const passage = ({ passage: at, grade: value }, ...facts) => {
    const text = data.passage_texts[at];
    const item = make("li", { className: "passage" }, grade(value), " ", make("bdi", { className: "name" }, data.passages[at]),
      ...facts.flatMap((fact) => [" · ", fact]), ...(text ? [make("p", { dir: "auto" }, text.trim())] : []));
    item.dataset.passage = at;
    return item;
  };

  // ---------------------------------------------------------- answers beside the passages that they were given

  // An answer in which sentences without support are marked.
  const supported = (text, sentences) => {
    const parts = [];
    let start = 0;
    for (const sentence of sentences ?? []) {
      const at = text.indexOf(sentence, start);
      if (at < 0) continue;
      parts.push(text.slice(start, at), make("mark", { title: "No given passage supports this sentence." },
        make("span", { className: "said" }, "(unsupported) "), sentence));
      start = at + sentence.length;
    }
    return [...parts, text.slice(start)].filter((part) => part !== "");
  };

  const answer = (system, place) => {
    const text = turns.answers.get(system)[place];
    const sentences = turns.unsupported.get(system)?.[place];
    const facts = OUTCOMES.flatMap((field) => {
      const words = turns.words(field, system, place);
      return words ? [field === "lost" ? `lost by: ${words}` : words] : [];
    });
    if (sentences?.length) facts.push(counted(sentences.length, "unsupported sentence"));
    return make("section", { className: "answer" },
      make("h4", {}, make("bdi", {}, turns.label(system)), " ", make("span", { className: "note" }, facts.join(" · "))),
      make("p", { dir: "auto" }, ...(text ? supported(text, sentences) : ["(no answer)"])));
  };

  const answers = (place, wanted = () => true) => {
    const systems = [...turns.answers.keys()].filter((system) => wanted(system) && turns.answers.get(system)[place] !== null);
    const gold = data.gold[place].map((text) => make("section", { className: "answer gold" },
      make("h4", {}, "Gold answer"), make("p", { dir: "auto" }, text)));
    if (!systems.length && !gold.length) return [];
    const groups = new Map(); // systems that were given the same passages
    for (const system of systems) {
      const key = JSON.stringify(turns.given.get(system)?.[place] ?? null);
      groups.set(key, [...(groups.get(key) ?? []), system]);
    }
    if (!groups.size) groups.set("null", []);
    const parts = [...groups].map(([key, own], at) => {
      const given = turns.passages(JSON.parse(key));
      const said = [...(at ? [] : gold), ...own.map((system) => answer(system, place))];
      const beside = given.length
        ? [make("section", {}, make("h4", {}, `Given: ${counted(given.length, "passage")}`), make("ol", {}, ...given.map((one) => passage(one))))]
        : [];
      return make("div", { className: beside.length ? "beside" : "" }, make("div", {}, ...said), ...beside);
    });
    const marks = systems.some((system) => turns.unsupported.get(system)?.[place]?.length);
    return [heading("Answers"),
      ...(marks ? [make("p", { className: "note" }, make("mark", {}, "Marked"), " sentences: no given passage supports them.")] : []), ...parts];
  };

  // ---------------------------------------------------------- two rankings side by side

  let pair = null; // the systems that the reader chose
  let allRanks = false;
  let wholePassages = false;

  const standard = () => {
    const known = [...turns.rankings.keys()];
    const liked = known.filter((name) => data.formulations.includes(name));
    return (liked.length > 1 ? liked : known).slice(-2);
  };

  const side = (system, other, place) => {
    const top = turns.passages(turns.rankings.get(system)?.[place]);
    const there = new Map(turns.passages(other === null ? null : turns.rankings.get(other)?.[place]).map((one) => [one.passage, one.rank]));
    const first = turns.value("first", system, place);
    const items = top.slice(0, allRanks ? undefined : TOP).map((one) => {
      const rank = there.get(one.passage);
      const elsewhere = other === null ? [] : [make("span", { className: "elsewhere" },
        rank ? `${turns.label(other)}: rank ${rank}` : `not in ${turns.label(other)}`)];
      const is_first = one.rank === first ? [make("span", { className: "first" }, "first relevant")] : [];
      return passage(one, ...elsewhere, ...is_first);
    });
    const score = data.headline ? turns.value(data.headline, system, place) : null;
    const facts = [
      ...(score === null ? [] : [`${turns.measure(data.headline)} ${score.toFixed(4)}`]),
      ...(first === null ? [] : [`first relevant at ${first}`]),
    ].join(" · ");
    return make("section", {}, make("h4", {}, make("bdi", {}, turns.label(system)), " ", make("span", { className: "note" }, facts)),
      items.length ? make("ol", {}, ...items) : make("p", {}, "(nothing retrieved)"));
  };

  // Lines between the places of equal passages.
  const join = (box) => {
    const [left, right] = box.querySelectorAll("ol");
    const svg = box.querySelector("svg");
    if (!svg) return;
    svg.replaceChildren();
    if (!left || !right || left.getBoundingClientRect().right > right.getBoundingClientRect().left) return;
    const top = svg.getBoundingClientRect().top;
    const middle = (item) => item.getBoundingClientRect().top - top + 12;
    const there = new Map([...right.children].map((item) => [item.dataset.passage, item]));
    for (const item of left.children) {
      const other = there.get(item.dataset.passage);
      if (!other) continue;
      const [from, to] = [middle(item), middle(other)];
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("d", `M0 ${from}C24 ${from} 24 ${to} 48 ${to}`);
      if (item.querySelector(".relevant")) line.setAttribute("class", "relevant-line");
      svg.append(line);
    }
  };

  // `systems`: those that are compared; without them, the reader chooses two.
  const rankings = (place, systems = null) => {
    const known = [...turns.rankings.keys()].filter((name) => turns.rankings.get(name)[place] !== null);
    if (!known.length) return [];
    const box = make("div", { className: "sides" });
    const fill = () => {
      const shown = (systems ?? pair ?? standard()).filter((name) => known.includes(name)).slice(0, 2);
      if (!shown.length) return box.replaceChildren(make("p", {}, "(nothing retrieved)"));
      const [first, second = null] = shown;
      const svg = document.createElementNS(SVG, "svg");
      svg.setAttribute("aria-hidden", "true");
      box.classList.toggle("one", second === null);
      box.classList.toggle("whole", wholePassages);
      box.replaceChildren(side(first, second, place), ...(second === null ? [] : [svg, side(second, first, place)]));
      requestAnimationFrame(() => join(box));
    };
    new ResizeObserver(() => join(box)).observe(box);
    fill();
    const choose = (at, label) => {
      const select = make("select", { ariaLabel: label }, ...known.map((name) =>
        make("option", { value: name, selected: name === (pair ?? standard())[at] }, turns.label(name))));
      select.addEventListener("change", () => {
        const now = [...(pair ?? standard())];
        now[at] = select.value;
        pair = now;
        fill();
      });
      return select;
    };
    const choice = systems || known.length < 2 ? [] : [choose(0, "Ranking on the left"), " next to ", choose(1, "Ranking on the right")];
    const deepest = Math.max(...known.map((name) => turns.rankings.get(name)[place].length / 2));
    const toggle = (name, press) => {
      const button = make("button", { type: "button" }, name());
      button.addEventListener("click", () => {
        press();
        button.textContent = name();
        fill();
      });
      return button;
    };
    const hasTexts = known.some((name) => turns.passages(turns.rankings.get(name)[place], TOP).some((one) => data.passage_texts[one.passage]));
    const buttons = [
      ...(hasTexts ? [toggle(() => (wholePassages ? "Show the beginnings of passages" : "Show whole passages"), () => (wholePassages = !wholePassages))] : []),
      ...(deepest > TOP ? [toggle(() => (allRanks ? `Show the top ${TOP}` : `Show all ${deepest} ranks`), () => (allRanks = !allRanks))] : []),
    ];
    const tools = make("p", { className: "choice" }, ...choice, ...buttons.flatMap((button) => [" ", button]));
    return [heading("Rankings"), ...(tools.childNodes.length ? [tools] : []), box];
  };

  // ---------------------------------------------------------- what else is known

  const properties = (place) => {
    const rows = data.fields.filter((field) => field.place === "slices").flatMap((field) =>
      turns.table.columns(field).flatMap(([system]) => {
        const text = asText(field, system, place);
        return text ? row(system ? `${field.name}, ${turns.label(system)}` : field.name, text) : [];
      }));
    return rows.length ? [make("details", {}, make("summary", {}, "Properties of the texts"), make("dl", {}, ...rows))] : [];
  };

  const labels = (place) => {
    const rows = data.labels.filter(([one]) => one === place).flatMap(([, coder, tags, note]) =>
      row(coder || "(no name)", [tags.join(", ") || "(no category)", note].filter(Boolean).join(" – ")));
    return rows.length ? [heading("Labels"), make("dl", {}, ...rows)] : [];
  };

  // The other turns of the conversation, as links.
  const conversation = (place, link) => {
    const name = turns.conversation(place);
    const own = turns.table.places.filter((one) => turns.conversation(one) === name);
    if (own.length < 2) return [];
    return [make("p", { className: "note" }, "Turns of this conversation: ", ...own.flatMap((one, at) => [
      at ? " · " : "",
      one === place ? make("b", {}, make("bdi", {}, data.ids[one])) : make("a", { href: link(one) }, make("bdi", {}, data.ids[one])),
    ]))];
  };

  return { history, question, scores, answers, rankings, properties, labels, conversation };
};
