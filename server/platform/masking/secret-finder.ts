import { isSkipped, mayEscape, readingsAt } from "#server/platform/masking/character-escapes.ts";
import { foldTable, secretForms } from "#server/platform/masking/secret-forms.ts";

/** Where secrets stand in a text: from the first character up to, and without, the second. */
export type Span = [start: number, end: number];

export interface Found {
  /** In order; secrets that overlap are one span. */
  spans: Span[];
  /** How many characters at the end may be the beginning of a secret. */
  open: number;
}

/**
 * One state of the automaton is one beginning of a form; 0 is the empty one. Only transitions to a longer beginning are kept:
 * a table of all would have as many columns as there are characters, and one long secret could fill the memory.
 */
interface Automaton {
  /** By the code of a character: its column, which is that of its folded one; 0 for one that is in no form. */
  columns: Uint16Array;
  /** By column: the beginning of that one character. */
  first: Int32Array;
  /** By state: one of the beginnings that are longer by one character, a further one of the same, and that character's column. */
  child: Int32Array;
  sibling: Int32Array;
  column: Uint16Array;
  /** By state: where to look for a transition that it does not have itself, the next state that may have another one. */
  back: Int32Array;
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

/** The transition of a state itself; 0 for none. */
function childOf({ first, child, sibling, column }: Automaton, state: number, at: number): number {
  if (state === 0) return first[at] ?? 0;
  for (let next = child[state] ?? 0; next !== 0; next = sibling[next] ?? 0) if (column[next] === at) return next;
  return 0;
}

/** The longest beginning that the text of a state ends with once a character has been read. */
function transition(automaton: Automaton, from: number, at: number): number {
  if (at === 0) return 0;
  for (let state = from; ; state = automaton.back[state] ?? 0) {
    const next = childOf(automaton, state, at);
    if (next !== 0 || state === 0) return next;
  }
}

/** Puts the forms in, and gives the number of states. */
function addForms(automaton: Automaton, forms: readonly string[]): number {
  const { columns, first, child, sibling, column, depth, longest, open } = automaton;
  let states = 1;
  for (const form of forms) {
    let state = 0;
    for (let index = 0; index < form.length; index++) {
      open[state] = index;
      const at = columns[form.charCodeAt(index)] ?? 0;
      const known = childOf(automaton, state, at);
      if (known === 0) {
        depth[states] = index + 1;
        column[states] = at;
        if (state === 0) first[at] = states;
        sibling[states] = child[state] ?? 0;
        child[state] = states;
      }
      state = known || states++;
    }
    longest[state] = form.length;
  }
  return states;
}

function automatonOf(forms: readonly string[]): Automaton {
  const { columns, width } = columnsOf(forms);
  const most = forms.reduce((sum, form) => sum + form.length, 1);
  const of = () => new Int32Array(most);
  const automaton: Automaton = {
    ...{ columns, first: new Int32Array(width), child: of(), sibling: of(), column: new Uint16Array(most) },
    ...{ back: of(), depth: of(), longest: of(), open: of() },
  };
  const states = addForms(automaton, forms);
  const { child, sibling, column, back, longest, open } = automaton;
  // Level by level: what a state falls back to is never as deep, and so it is whole already.
  const fail = new Int32Array(states);
  const order = new Int32Array(states);
  let found = 1;
  for (let done = 0; done < found; done++) {
    const state = order[done] ?? 0;
    const shorter = fail[state] ?? 0;
    longest[state] ||= longest[shorter] ?? 0;
    open[state] ||= open[shorter] ?? 0;
    // One that goes on with the same character only is of no use to whoever did not find another here.
    const next = child[shorter] ?? 0;
    const own = child[state] ?? 0;
    const isSame = shorter !== 0 && own !== 0 && next !== 0 && sibling[next] === 0 && sibling[own] === 0 && column[next] === column[own];
    back[state] = isSame ? (back[shorter] ?? 0) : shorter;
    for (let target = own; target !== 0; target = sibling[target] ?? 0) {
      fail[target] = state === 0 ? 0 : transition(automaton, shorter, column[target] ?? 0);
      order[found++] = target;
    }
  }
  return automaton;
}

/** A step of a reading that was not one character for one: an escape, or a backslash that was left out. */
interface Step {
  from: number;
  to: number;
  /** How many characters had been read with this one, counted as though the text before the first step were read as it stands. */
  read: number;
  /** How many of those it stands for. */
  units: number;
  before: Step | undefined;
  /** One further back, so that a long way back takes few looks. */
  jump: Step | undefined;
  /** How many steps there are up to this one. */
  count: number;
}

const stepAfter = (before: Step | undefined, step: Pick<Step, "from" | "to" | "read" | "units">): Step => {
  const jump = before?.jump;
  // Myers' skip list: two jumps of one length are made one.
  const isPair = before && jump && before.count - jump.count === jump.count - (jump.jump?.count ?? 0);
  return { ...step, before, jump: isPair ? jump.jump : before, count: (before?.count ?? 0) + 1 };
};

/** How many characters a path has read at `end`. */
const readAt = (steps: Step | undefined, end: number): number => (steps ? steps.read + end - steps.to : end);

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
  const target = readAt(steps, end) - units;
  const isBehind = (step: Step) => step.read - step.units > target;
  let step = steps;
  while (step && isBehind(step)) step = step.jump && isBehind(step.jump) ? step.jump : step.before;
  if (!step) return target;
  return target >= step.read ? step.to + target - step.read : step.from;
}

/**
 * Finds secrets in texts, in every form of server/platform/masking/secret-forms.ts and with any of their characters escaped. The text
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
    const { columns, longest } = this.#automaton;
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
        state = transition(this.#automaton, state, columns[code] ?? 0);
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
    return transition(this.#automaton, state, this.#automaton.columns[code] ?? 0);
  }

  /** The path with what an escape stands for. */
  #readAll(path: Path, units: string, from: number, to: number): Path {
    let { state } = path;
    for (let index = 0; index < units.length; index++) state = this.#after(state, units.charCodeAt(index));
    return { ...this.#stepped(path, from, to, units.length), state, skipped: 0 };
  }

  /** The path with a step noted. Steps that lie further back than any secret is long are forgotten now and then. */
  #stepped(path: Path, from: number, to: number, units: number): Path {
    const read = readAt(path.steps, from) + units;
    return { ...path, steps: stepAfter(this.#recent(path), { from, to, read, units }) };
  }

  #recent({ state, steps }: Path): Step | undefined {
    if (!steps || steps.count < 1000) return steps;
    const most = (this.#automaton.depth[state] ?? 0) * (MOST_SKIPPED + 1);
    if (steps.count < 2 * most) return steps;
    const kept: Step[] = [];
    for (let step: Step | undefined = steps; step && kept.length < most; step = step.before) kept.push(step);
    return kept.reduceRight<Step | undefined>(stepAfter, undefined);
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
