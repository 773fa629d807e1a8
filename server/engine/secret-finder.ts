import { isSkipped, mayEscape, readingsAt } from "#server/engine/character-escapes.ts";
import { foldTable, secretForms } from "#server/engine/secret-forms.ts";

/** Where secrets stand in a text: from the first character up to, and without, the second. */
export type Span = [start: number, end: number];

export interface Found {
  /** In order; secrets that overlap are one span. */
  spans: Span[];
  /** How many characters at the end may be the beginning of a secret. */
  open: number;
}

/** One state of the automaton is one beginning of a form; 0 is the empty one. */
interface Automaton {
  /** By the code of a character: its column in the table, which is that of its folded one; 0 for one that is in no form. */
  columns: Uint16Array;
  width: number;
  /** By state and column: the state of the longest beginning that the text ends with then. */
  next: Int32Array;
  depth: Int32Array;
  /** Length of the longest form that the state's text ends with; 0 for none. */
  longest: Int32Array;
  /** Length of the longest beginning, to which more belongs, that the state's text ends with. */
  open: Int32Array;
}

/** The columns of the characters that are in the forms. */
function columnsOf(forms: readonly string[]): { columns: Uint16Array; width: number } {
  const ofFolded = new Uint16Array(0x1_0000);
  let width = 1;
  for (const form of forms)
    for (let index = 0; index < form.length; index++) {
      const code = form.charCodeAt(index);
      ofFolded[code] ||= width++;
    }
  return { columns: foldTable().map((code) => ofFolded[code] ?? 0), width };
}

function automatonOf(forms: readonly string[]): Automaton {
  const { columns, width } = columnsOf(forms);
  const most = forms.reduce((sum, form) => sum + form.length, 1);
  const next = new Int32Array(most * width);
  const depth = new Int32Array(most);
  const longest = new Int32Array(most);
  const open = new Int32Array(most);
  let states = 1;
  for (const form of forms) {
    let state = 0;
    for (let index = 0; index < form.length; index++) {
      open[state] = index;
      const at = state * width + (columns[form.charCodeAt(index)] ?? 0);
      if (!next[at]) {
        depth[states] = index + 1;
        next[at] = states++;
      }
      state = next[at] ?? 0;
    }
    longest[state] = form.length;
  }
  // Level by level: what a state falls back to is never as deep, and so it is whole already.
  const fail = new Int32Array(states);
  const order = [0];
  for (const state of order) {
    const back = fail[state] ?? 0;
    longest[state] ||= longest[back] ?? 0;
    open[state] ||= open[back] ?? 0;
    for (let column = 1; column < width; column++) {
      const at = state * width + column;
      const target = next[at] ?? 0;
      const other = state === 0 ? 0 : (next[back * width + column] ?? 0);
      if (target === 0) next[at] = other;
      else {
        fail[target] = other;
        order.push(target);
      }
    }
  }
  return { columns, width, next, depth, longest, open };
}

/** A step of a reading that was not one character for one: an escape, or a backslash that was left out. */
interface Step {
  from: number;
  to: number;
  /** Characters that were read. */
  units: number;
  before: Step | undefined;
  /** How many steps there are up to this one. */
  count: number;
}

/** A way in which the text so far can be read, as far as that may be a beginning of a secret. */
interface Path {
  state: number;
  steps: Step | undefined;
  /** Backslashes left out one after the other. */
  skipped: number;
}

/** Backslashes before one character: JSON within JSON within JSON has seven. */
const MOST_SKIPPED = 8;
/** Ways in which a text is read side by side; a real one has one or two. */
const MOST_PATHS = 16;

/** Where what `path` read last, so many characters of it, begins; the path is at `end`. */
function startOf({ steps }: Path, units: number, end: number): number {
  let at = end;
  let left = units;
  for (let step = steps; step; step = step.before) {
    if (left <= at - step.to) break;
    left -= at - step.to + step.units;
    at = step.from;
    if (left <= 0) return at;
  }
  return at - left;
}

/**
 * Finds secrets in texts, in every form of server/engine/secret-forms.ts and with any of their characters escaped. The text
 * is read in all ways side by side, each character as it stands and as what it may stand for, by one automaton (Aho and
 * Corasick): so what stands before a secret can never hide it. A text without escapes is gone through once, in a table.
 */
export class SecretFinder {
  readonly #automaton: Automaton;

  /** @param secrets at least one of them long enough to be masked */
  constructor(secrets: Iterable<string>) {
    this.#automaton = automatonOf([...new Set([...secrets].flatMap(secretForms))]);
  }

  find(text: string): Found {
    const { columns, width, next, longest } = this.#automaton;
    const spans: Span[] = [];
    let open = text.length;
    /** Where reading every character as it stands has led to, while there is no other way to read what lies behind. */
    let state = 0;
    let paths: Path[] = [];
    /** Paths that an escape leads past the next character. */
    const ahead = new Map<number, Path[]>();
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      const isEscape = mayEscape(code);
      if (paths.length === 0 && ahead.size === 0 && !isEscape) {
        state = next[state * width + (columns[code] ?? 0)] ?? 0;
        const length = longest[state] ?? 0;
        if (length > 0) addSpan(spans, index + 1 - length, index + 1);
        continue;
      }
      const here = paths.length ? paths : [{ state, steps: undefined, skipped: 0 }];
      paths = ahead.get(index + 1) ?? [];
      ahead.delete(index + 1);
      for (const path of here) this.#join(paths, { ...path, state: this.#after(path.state, code), skipped: 0 });
      if (isEscape) {
        const { readings, isOpen } = readingsAt(text, index, code);
        for (const path of here) {
          if (isSkipped(code) && path.state !== 0 && path.skipped < MOST_SKIPPED)
            this.#join(paths, { ...this.#stepped(path, index, index + 1, 0), skipped: path.skipped + 1 });
          for (const { units, end } of readings) {
            const there = end === index + 1 ? paths : (ahead.get(end) ?? []);
            this.#join(there, this.#readAll(path, units, index, end));
            if (there !== paths && there.length) ahead.set(end, there);
          }
          if (isOpen) open = Math.min(open, index, this.#openAt(path, index));
        }
      }
      for (const path of paths) {
        // A backslash behind a secret is none of it.
        const length = path.skipped === 0 ? (longest[path.state] ?? 0) : 0;
        if (length > 0) addSpan(spans, startOf(path, length, index + 1), index + 1);
      }
      const plain = this.#plainState(paths, index + 1);
      if (plain !== undefined) {
        state = plain;
        paths = [];
      }
    }
    for (const path of paths.length ? paths : [{ state, steps: undefined, skipped: 0 }])
      open = Math.min(open, this.#openAt(path, text.length));
    return { spans, open: text.length - open };
  }

  /** The state of the only path, when it has read as it stands all that counts; undefined when there is more to know. */
  #plainState(paths: readonly Path[], index: number): number | undefined {
    const [path] = paths;
    if (!path) return 0;
    const isPlain = !path.steps || index - path.steps.to >= (this.#automaton.depth[path.state] ?? 0);
    return paths.length === 1 && isPlain ? path.state : undefined;
  }

  /** Where the longest beginning of a secret that the path ends with begins. */
  #openAt(path: Path, index: number): number {
    const length = this.#automaton.open[path.state] ?? 0;
    return length > 0 ? startOf(path, length, index) : index;
  }

  #after(state: number, code: number): number {
    const { columns, width, next } = this.#automaton;
    return next[state * width + (columns[code] ?? 0)] ?? 0;
  }

  /** The path with what an escape stands for. */
  #readAll(path: Path, units: string, from: number, to: number): Path {
    let { state } = path;
    for (let index = 0; index < units.length; index++) state = this.#after(state, units.charCodeAt(index));
    return { ...this.#stepped(path, from, to, units.length), state, skipped: 0 };
  }

  /** The path with a step noted. Steps that lie further back than any secret is long are forgotten now and then. */
  #stepped(path: Path, from: number, to: number, units: number): Path {
    const { before, count } = this.#recent(path);
    return { ...path, steps: { from, to, units, before, count: count + 1 } };
  }

  #recent({ state, steps }: Path): { before: Step | undefined; count: number } {
    const count = steps?.count ?? 0;
    if (count < 1000) return { before: steps, count };
    const most = (this.#automaton.depth[state] ?? 0) * (MOST_SKIPPED + 1);
    if (count < 2 * most) return { before: steps, count };
    const kept: Step[] = [];
    for (let step = steps; step && kept.length < most; step = step.before) kept.push(step);
    let before: Step | undefined;
    for (const step of kept.reverse()) before = { ...step, before, count: (before?.count ?? 0) + 1 };
    return { before, count: before?.count ?? 0 };
  }

  /** Adds a path that may go on to a secret. Of two that are equally far one is enough: both go on alike. */
  #join(paths: Path[], path: Path): void {
    if (path.state === 0 || paths.length >= MOST_PATHS || paths.some(({ state }) => state === path.state)) return;
    paths.push(path);
  }
}

function addSpan(spans: Span[], start: number, end: number): void {
  let from = start;
  for (let last = spans.at(-1); last && last[1] > from; last = spans.at(-1)) {
    from = Math.min(from, last[0]);
    spans.pop();
  }
  spans.push([from, end]);
}
