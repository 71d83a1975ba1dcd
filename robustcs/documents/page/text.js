// Texts: how they are shown, compared and searched.

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

// Replaced by the pattern of robustcs/documents/text.py when the data are unpacked.
let unsafe = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

const picture = (character) => {
  const code = character.codePointAt(0);
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  if ((code >= 0xd800 && code <= 0xdfff) || code >= 0xfffe) return "\ufffd";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
};

// A text with a symbol for every control or invisible character, as all outputs of robustcs have it.
const visible = (text) =>
  /^[\x20-\x7e\n\t]*$/.test(text) ? text : text.replaceAll("\r\n", "\n").replace(unsafe, picture);

// Creates a DOM element with properties; children are texts, which are made visible, or elements.
const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
};

const counted = (number, what, plural = `${what}s`) => `${number.toLocaleString("en")} ${number === 1 ? what : plural}`;

// ------------------------------------------------------------ comparison

// White space as Python knows it.
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;
const isSpace = (character) => SPACES.test(character);

// Python's casefold: each character in lower case, upper case and lower case again; only ı stays apart from i.
const folded = (text) =>
  /^[\x00-\x7f]*$/.test(text)
    ? text.toLowerCase()
    : text.replace(/[A-Z]+|[^\x00-\x7f]/gu, (part) => (part === "ı" ? part : part.toLowerCase().toUpperCase().toLowerCase()));

// A text as filters compare it: without case, _ and white space as one space.
const normalised = (text) => folded(text.replaceAll("_", " ")).split(SPACES).filter(Boolean).join(" ");

// The words of two texts, each part marked as in both (0), only in the first (-1) or only in the second (1).
// Case and punctuation do not count; a word in both is written as in the second.
const difference = (first, second) => {
  const [a, b] = [first, second].map((text) => text.match(/\S+/g) ?? []);
  const [x, y] = [a, b].map((words) => words.map((word) => folded(word).replace(/[^\p{L}\p{N}]/gu, "")));
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
      common[i][j] = x[i] === y[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && x[i] === y[j]) {
      add(0, b[j++]);
      i++;
    } else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) add(-1, a[i++]);
    else add(1, b[j++]);
  }
  return parts;
};

// `text` with its difference from `other` marked: words that only the other has, and words that only the text has.
const marked = (other, text) =>
  difference(other, text).flatMap(([kind, words]) => {
    const joined = words.join(" ");
    if (kind === 0) return [visible(joined), " "];
    const [tag, sign, said] = kind < 0 ? ["del", "−", "missing: "] : ["ins", "+", "added: "];
    return [make(tag, {}, make("span", { className: "said" }, said),
      Object.assign(make("span", { className: "sign" }, sign), { ariaHidden: "true" }), joined), " "];
  });
