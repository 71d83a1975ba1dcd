// The filter language of `robustcs turns`: the same texts select the same turns as robustcs/records/filter.py and table.py.

const OPERATORS = ["<=", ">=", "<", ">", "=", ":"];
const SPECIAL = ':@<>=,"';

class FilterError extends Error {}
const refuse = (found, advice) => {
  throw new FilterError(visible(`${found}; ${advice}`));
};

// A text in quotes, as messages of robustcs show it.
const shown = (text) => {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
};

// A name or value as a filter writes it, in quotes if it has special characters.
const quoted = (text) => {
  const plain = text && text[0] !== "-" && ![...text].some((one) => SPECIAL.includes(one) || isSpace(one));
  return plain ? text : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
};

// ------------------------------------------------------------ parsing

class FilterReader {
  constructor(text) {
    this.text = text;
    this.letters = [...text];
    this.place = 0;
  }

  get next() {
    return this.letters[this.place] ?? "";
  }

  // Returns the terms, and measure and threshold of at: (null without it).
  filter() {
    const found = { terms: [], cut: null };
    while (this.skipSpaces()) {
      const term = this.term();
      if (term.cut && found.cut) refuse("the filter has at: twice", "keep one of them");
      if (term.cut) found.cut = term.cut;
      else found.terms.push(term);
    }
    return found;
  }

  // Reads the whole text as FIELD or FIELD@SYSTEM.
  field() {
    const [name] = this.name();
    const system = this.system();
    if (system === "") this.fail("a system is missing");
    if (!name || this.next) this.fail("this is not the name of a field");
    return [name, system ?? ""];
  }

  skipSpaces() {
    while (this.next && isSpace(this.next)) this.place++;
    return this.next !== "";
  }

  term() {
    const excludes = this.next === "-";
    if (excludes) this.place++;
    const [name, inQuotes] = this.name();
    if (folded(name) === "at" && this.next === ":") {
      if (excludes) refuse("at: sets a measure and threshold for all terms", "leave out its -");
      this.place++;
      return { cut: this.cut() };
    }
    const system = this.system();
    if (system !== null && (!system || !this.operator())) this.fail("nothing is asked of the system after @");
    const operator = this.operator();
    if (operator && name) {
      this.place += operator.length;
      return { field: name, operator, values: this.values(name, operator), system: system ?? "", excludes };
    }
    if (this.next && !isSpace(this.next)) this.fail(`${shown(this.next)} is not expected here`);
    if (!name) this.fail(inQuotes || excludes ? "a term is empty" : "a name is missing");
    return { search: name, excludes };
  }

  // The system after @; null without one, empty if its name is missing.
  system() {
    if (this.next !== "@") return null;
    this.place++;
    return this.name()[0];
  }

  operator() {
    const here = this.letters.slice(this.place, this.place + 2).join("");
    return OPERATORS.find((one) => here.startsWith(one)) ?? "";
  }

  cut() {
    const [measure] = this.name();
    const operator = this.operator();
    if (!measure || ![">=", ">", "="].includes(operator)) {
      refuse("the filter has no measure and threshold after at:", "write at:ndcg_cut_3>=0.2");
    }
    this.place += operator.length;
    return { measure, operator, value: this.value() };
  }

  name() {
    if (this.next === '"') return [this.inQuotes(), true];
    return [this.upTo(':@<>="'), false];
  }

  values(field, operator) {
    const values = [this.value()];
    while (this.next === ",") {
      this.place++;
      values.push(this.value());
    }
    if (this.next && !isSpace(this.next)) this.fail(`${shown(this.next)} is not expected in a value`);
    if (operator !== ":" && values.length > 1) this.fail(`${field}${operator} has more than one number`);
    return values;
  }

  value() {
    if (this.next === '"') return this.inQuotes();
    const found = this.upTo(SPECIAL);
    if (!found) this.fail("a value is missing");
    return found;
  }

  upTo(ends) {
    const start = this.place;
    while (this.next && !isSpace(this.next) && !ends.includes(this.next)) this.place++;
    return this.letters.slice(start, this.place).join("");
  }

  inQuotes() {
    const start = this.place++;
    const found = [];
    while (this.next !== '"') {
      if (!this.next) {
        this.place = start;
        this.fail("the quotation mark has no end");
      }
      if (this.next === "\\" && ['"', "\\"].includes(this.letters[this.place + 1])) this.place++;
      found.push(this.next);
      this.place++;
    }
    this.place++;
    return found.join("");
  }

  fail(found) {
    refuse(`filter ${shown(this.text)}: ${found}, at character ${this.place + 1}`, "put values with spaces or : @ < > = , in quotes");
  }
}

// A number as Python reads it; null for other texts.
const numberOf = (text) => {
  const bare = text.replace(new RegExp(`^${SPACES.source}|${SPACES.source}$`, "g"), "");
  const digits = "[0-9](?:_?[0-9])*";
  if (new RegExp(`^[+-]?(?:${digits}\\.?(?:${digits})?|\\.${digits})(?:[eE][+-]?${digits})?$`).test(bare)) {
    return Number(bare.replaceAll("_", ""));
  }
  if (/^[+-]?inf(inity)?$/i.test(bare)) return bare[0] === "-" ? -Infinity : Infinity;
  return /^[+-]?nan$/i.test(bare) ? NaN : null;
};

// ------------------------------------------------------------ the nearest known name, as Python's difflib finds it

const matches = (a, b) => {
  let best = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < b.length; j++) {
      let size = 0;
      while (i + size < a.length && j + size < b.length && a[i + size] === b[j + size]) size++;
      if (size > best[2]) best = [i, j, size];
    }
  }
  const [i, j, size] = best;
  if (!size) return 0;
  return size + matches(a.slice(0, i), b.slice(0, j)) + matches(a.slice(i + size), b.slice(j + size));
};

const nearest = (word, known) => {
  const letters = [...word];
  let found = "";
  let highest = 0.6;
  for (const name of known) {
    const likeness = (2 * matches([...name], letters)) / ([...name].length + letters.length);
    if (likeness > highest || (likeness === highest && name > found)) [found, highest] = [name, likeness];
  }
  return found;
};

// ------------------------------------------------------------ turns with their fields

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

const COMPARE = {
  "<": (value, limit) => value < limit, "<=": (value, limit) => value <= limit, ">": (value, limit) => value > limit,
  ">=": (value, limit) => value >= limit, "=": (value, limit) => value === limit,
};
// Operator of a threshold → whether a score that exceeds it by so much passes; as robustcs/evaluation/thresholds.py.
const TOLERANCE = 1e-9;
const PASSES = {
  ">": (difference) => difference > TOLERANCE, ">=": (difference) => difference >= -TOLERANCE,
  "=": (difference) => Math.abs(difference) <= TOLERANCE,
};
const SEARCHED = 10; // passages of each ranking in which words are searched

class TurnTable {
  // `data`: as robustcs/documents/page/pack.py describes it.
  constructor(data) {
    this.data = data;
    this.places = data.ids.map((_, place) => place);
    this.fields = new Map();
    for (const field of data.fields) {
      for (const name of [field.name, ...field.aliases]) this.fields.set(normalised(name), field);
    }
    this.normalisedWords = new Map();
  }

  // The places of the turns that a filter selects, in their order. Throws FilterError, with the words of `robustcs turns`.
  where(text) {
    const { terms, cut } = new FilterReader(text).filter();
    const at = this.cutOf(cut);
    const tests = terms.map((term) => [this.test(term, at), term.excludes]);
    return this.places.filter((place) => tests.every(([holds, excludes]) => holds(place) !== excludes));
  }

  // The place of a measure and threshold among those of the page; 0, the headline, without one. For a threshold that the page
  // does not have: the measure, the places of its other thresholds, and which scores pass.
  cutOf(asked) {
    if (!asked) return 0;
    const { cuts } = this.data;
    const own = cuts.filter((cut) => cut.names.some((name) => normalised(name) === normalised(asked.measure)));
    if (!own.length) {
      const known = [...new Set(cuts.map((cut) => cut.names[0]))].join(", ");
      refuse(`turns have no scores in ${shown(asked.measure)}`, known ? `choose from ${known}` : "leave out at:");
    }
    const written = `${asked.operator}${asked.value}`;
    const value = /^[0-9]*\.?[0-9]+(?:[eE]-?[0-9]+)?$/.test(asked.value) ? Number(asked.value) : null;
    if (value === null) refuse(`cannot read threshold ${shown(written)}`, "use '>0', '>=0.5', '=1' or a number");
    const found = own.find((cut) => cut.operator === asked.operator && cut.value === value);
    if (found) return cuts.indexOf(found);
    const holds = (score) => PASSES[asked.operator](score - value);
    return { measure: own[0].names[0], cuts: own.map((cut) => cuts.indexOf(cut)), holds, written };
  }

  field(name) {
    const found = this.fields.get(normalised(name));
    if (found) return found;
    const near = nearest(normalised(name), [...this.fields.keys()]);
    const known = this.data.fields.map((one) => one.name).join(", ");
    const meant = near ? `did you mean ${this.fields.get(near).name}?` : `fields are ${known}.`;
    refuse(`no turn has a field ${shown(name)}`, `${meant} To search for a text with such characters, write it in quotes ("${name}")`);
  }

  // The (system, values) of a field at a cut.
  columns(field, at = 0) {
    if (typeof at === "object" && field.by_cut) return this.columnsAt(field, at);
    return field.columns[at] ?? field.columns[0];
  }

  // Those at a threshold that the page does not have, from scores and from other thresholds of the measure.
  columnsAt(field, at) {
    const known = at.cuts.map((cut) => new Map(field.columns[cut]));
    const scores = new Map(this.columns(this.fields.get(normalised(at.measure))));
    const wordOf = (values, place) => values?.words[values.of[place]][0] ?? "";
    const column = (system, word) => {
      const values = this.places.map(word);
      const words = [...new Set(values)];
      return [system, { words: words.map((one) => (one ? [one] : [])), of: values.map((one) => words.indexOf(one)) }];
    };
    const words = {
      correct: (system, place) => {
        const score = scores.get(system)[place];
        return score === null ? "" : at.holds(score) ? "yes" : "no";
      },
      cause: (system, place, component) => {
        if (!wordOf(known[0].get(system), place)) return ""; // not scored
        if (!at.holds(scores.get("human")[place])) return component;
        return at.holds(scores.get(system)[place]) ? "correct" : "rewriter";
      },
      bin: (system, place) => {
        if (!wordOf(known[0].get(system), place)) return ""; // not scored
        const digit = (name) => {
          const score = scores.get(name)?.[place] ?? null;
          return score === null ? "-" : at.holds(score) ? "1" : "0";
        };
        return digit("original") + digit(system) + digit("human");
      },
      // the place is the same at every threshold at which the turn is not correct
      place: (system, place) => {
        const score = scores.get(system)?.[place] ?? null;
        if (score === null || at.holds(score)) return "";
        const found = known.map((columns) => wordOf(columns.get(system), place)).find(Boolean);
        if (!found && this.value("judged", place) !== null) this.refuseAt(field, at);
        return found ?? "";
      },
    }[field.name];
    if (["loss", "change"].includes(field.name)) return field.columns[at.cuts[0]]; // depend on the measure only
    if (!words) this.refuseAt(field, at);
    const component = [...known[0].values()].some((values) => values.words?.some(([word]) => word === "reader")) ? "reader" : "ranker";
    return [...known[0].keys()].map((system) => column(system, (place) => words(system, place, component)));
  }

  refuseAt(field, at) {
    const { cuts } = this.data;
    const known = at.cuts.map((cut) => `at:${quoted(at.measure)}${cuts[cut].operator}${cuts[cut].value}`).join(", ");
    refuse(`this page has no ${field.name} at ${at.measure}${at.written}`, `write ${known}, or use robustcs turns, which takes any threshold`);
  }

  // The number of a field that is not per system; null without one.
  value(name, place) {
    return this.fields.get(name)?.columns[0][0]?.[1][place] ?? null;
  }

  // Those of one system; without a system, all.
  columnsOf(field, name, system, at) {
    const every = this.columns(field, at);
    if (!system) return every;
    const found = every.filter(([one]) => one && normalised(one) === normalised(system));
    if (!found.length) {
      const names = every.map(([one]) => one).filter(Boolean).join(", ");
      refuse(`field ${name} has no system ${shown(system)}`, names ? `its systems are ${names}` : `write ${name}:VALUE`);
    }
    return found;
  }

  // Whether a term holds for the turn at a place, as a function.
  test(term, at) {
    if (term.search !== undefined) return this.contains(normalised(term.search));
    const field = this.field(term.field);
    const columns = this.columnsOf(field, term.field, term.system, at).map(([, values]) => values);
    const any = term.values.length === 1 && term.values[0] === "*";
    if (term.operator !== ":") {
      if (field.kind === "words") refuse(`field ${term.field} of the filter is not a number`, `write ${term.field}:VALUE`);
      const [limit] = this.numbers(term);
      const compare = COMPARE[term.operator];
      return (place) => columns.some((values) => values[place] !== null && compare(values[place], limit));
    }
    if (field.kind === "number") {
      if (any) return (place) => columns.some((values) => values[place] !== null);
      const wanted = new Set(this.numbers(term).filter((one) => !Number.isNaN(one)));
      return (place) => columns.some((values) => values[place] !== null && wanted.has(values[place]));
    }
    const wanted = new Set(term.values.map(normalised));
    const fit = columns.map((values) =>
      this.normalised(values).map((words) => (any ? words.length > 0 : words.some((word) => wanted.has(word)))));
    return (place) => columns.some((values, one) => fit[one][values.of[place]]);
  }

  numbers(term) {
    return term.values.map((value) => {
      const number = numberOf(value);
      if (number === null) {
        refuse(`field ${term.field} of the filter is a number, and ${shown(value)} is none`, `write ${term.field}<0.5 or ${term.field}:3`);
      }
      return number;
    });
  }

  // The different lists of words of a column, as filters compare them.
  normalised(values) {
    let found = this.normalisedWords.get(values);
    if (!found) this.normalisedWords.set(values, (found = values.words.map((words) => words.map(normalised))));
    return found;
  }

  // Whether a turn has a phrase in its texts, answers, passages, labels or notes.
  contains(phrase) {
    this.prepare();
    const { own, passages, tops } = this.searched;
    const hits = passages.map((text) => text !== null && text.includes(phrase));
    return (place) => own[place].includes(phrase) || tops[place].some((passage) => hits[passage]);
  }

  // Collects the texts that are searched, once.
  prepare() {
    this.searched ??= this.texts();
  }

  texts() {
    const { data } = this;
    const own = data.ids.map(() => []);
    for (const [, texts] of [...data.texts, ...data.answers]) {
      texts.forEach((text, place) => text !== null && own[place].push(text));
    }
    for (const [place, , tags, note] of data.labels) own[place].push(...tags, note);
    const tops = data.ids.map(() => []);
    for (const [, rankings] of data.passage_texts.length ? data.rankings : []) {
      rankings.forEach((top, place) => {
        for (let at = 0; top && at < Math.min(top.length, 2 * SEARCHED); at += 2) tops[place].push(top[at]);
      });
    }
    return {
      own: own.map((parts) => parts.map(normalised).join("\0")),
      passages: data.passage_texts.map((text) => (text === null ? null : normalised(text))),
      tops,
    };
  }

  // ---------------------------------------------------------- order

  // Places in an order; those with equal values stay in the order of turns, and those without one come last.
  ordered(places, by, cut = 0) {
    if (!by || by === "id") return places;
    if (by === "random") return shuffled(places, this.data.seed);
    const keys = this.keys(by, cut);
    return [...places].sort((one, other) => {
      const [x, y] = [keys[one], keys[other]];
      return x === null || y === null ? (x === null) - (y === null) : x - y;
    });
  }

  // Per turn the number by which it is ordered, the lowest first; null without one.
  keys(by, cut) {
    const [name, system] = new FilterReader(by).field();
    const disagreement = normalised(name) === "disagreement" && this.data.headline;
    const field = this.field(disagreement ? this.data.headline : name);
    if (field.kind !== "number") {
      refuse(`turns cannot be ordered by ${name}, which is not a number`,
        "order by id, loss, change, first, disagreement, random or a measure");
    }
    const columns = this.columnsOf(field, name, system, cut).map(([, values]) => values);
    const least = (values) => (values.length ? Math.min(...values) : null);
    return this.places.map((place) => {
      const values = columns.map((column) => column[place]).filter((value) => value !== null);
      if (disagreement) return values.length ? Math.min(...values) - Math.max(...values) : null;
      if (field.name === "change") return least(values.map((value) => -Math.abs(value)));
      if (field.name === "loss" || field.name === "first") return least(values.map((value) => -value));
      return least(values);
    });
  }
}
