// The turns of the page: what is known about each, and which of them the address selects.

const MOST_SYSTEMS = 5; // systems with a column in the list

class Turns {
  constructor(data) {
    this.data = data;
    this.table = new TurnTable(data);
    this.anchors = new Map(data.anchors.map((anchor, place) => [anchor, place]));
    this.labels = new Map(data.systems);
    for (const key of ["texts", "answers", "rankings", "given", "unsupported"]) this[key] = new Map(data[key]);
    this.fields = new Map(data.fields.map((field) => [field.name, field]));
    this.measures = data.fields.filter((field) => field.place === "scores");
    this.lastSelection = {};
    this.ownLabels = data.labels;
  }

  get size() {
    return this.data.ids.length;
  }

  // The name of a system for people.
  label(system) {
    return this.labels.get(system) ?? { original: "Original", qr: "QR", human: "Human" }[system] ?? system;
  }

  measure(name) {
    return this.fields.get(name)?.aliases[0] ?? name;
  }

  // The systems that have values of a field; all of [""] for a field of turns.
  systemsOf(name, cut = 0) {
    const field = this.fields.get(name);
    return field ? this.table.columns(field, cut).map(([system]) => system) : [];
  }

  // A number or null, or a list of words, of a turn.
  value(name, system, place, cut = 0) {
    const field = this.fields.get(name);
    const values = field && this.table.columns(field, cut).find(([one]) => one === system)?.[1];
    if (!values) return field?.kind === "number" || !field ? null : [];
    return field.kind === "number" ? values[place] : values.words[values.of[place]];
  }

  // The words of a field for people; empty without any.
  words(name, system, place, cut = 0) {
    const words = this.value(name, system, place, cut);
    return Array.isArray(words) ? words.join(", ").replaceAll("_", " ") : "";
  }

  conversation(place) {
    return this.words("conversation", "", place);
  }

  // The texts of a turn: (formulation, text), in the order Original, rewriters, Human.
  said(place) {
    return [...this.texts].flatMap(([name, texts]) => (texts[place] === null ? [] : [[name, texts[place]]]));
  }

  // What a text of a formulation is compared with: Human, or of two states the old one; null without either.
  other(name) {
    const old = name.endsWith(", new") ? `${name.slice(0, -5)}, old` : null;
    if (old && this.texts.has(old)) return old;
    return name !== "human" && this.texts.has("human") ? "human" : null;
  }

  // Adds what was assigned in this browser, (turn, coder, tags, note), to labels, tags and coders; returns whether it changed.
  addLabels(found) {
    const { data, table } = this;
    const places = new Map(data.ids.map((id, place) => [id, place]));
    const added = found.filter(([turn]) => places.has(turn)).map(([turn, ...label]) => [places.get(turn), ...label]);
    const labels = [...this.ownLabels, ...added];
    if (JSON.stringify(labels) === JSON.stringify(data.labels)) return false;
    data.labels = labels;
    const column = (values) => {
      const words = values.map((own) => [...new Set(own)]);
      return [[["", { words, of: words.map((_, place) => place) }]]];
    };
    const by = (words) => {
      const values = data.ids.map(() => []);
      for (const label of labels) values[label[0]].push(...words(label));
      return column(values);
    };
    const says = { tag: "categories that coders assigned", coder: "coders who reviewed the turn" };
    for (const [name, words] of [["tag", ([, , tags]) => tags], ["coder", ([, coder]) => [coder]]]) {
      const field = this.fields.get(name) ?? { name, aliases: [], kind: "words", says: says[name], per_system: false,
        by_cut: false, several: true, place: "none" };
      field.columns = by(words);
      if (!this.fields.has(name)) data.fields.push(field);
      this.fields.set(name, field);
      table.fields.set(name, field);
    }
    table.searched = undefined;
    this.lastSelection = { places: this.lastSelection.places };
    return true;
  }

  // The passages of a ranking: {passage, grade, rank}.
  passages(flat, most = Infinity) {
    const found = [];
    for (let at = 0; at < (flat?.length ?? 0) && found.length < most; at += 2) {
      found.push({ passage: flat[at], grade: flat[at + 1], rank: at / 2 + 1 });
    }
    return found;
  }

  // The selected places in order, and what is wrong with the filter or the order. A wrong filter leaves the last selection.
  select(where, sort) {
    const key = JSON.stringify([where, sort]);
    if (this.lastSelection.key === key) return this.lastSelection;
    let { places = this.table.places } = this.lastSelection;
    let error = "";
    try {
      const cut = this.table.cutOf(new FilterReader(where).filter().cut);
      places = this.table.where(where);
      places = this.table.ordered(places, sort, cut);
    } catch (problem) {
      if (!(problem instanceof FilterError)) throw problem;
      error = problem.message;
    }
    return (this.lastSelection = { key, places, error });
  }
}
