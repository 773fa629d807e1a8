import { isSkipped, mayEscape, type Reading, readingsAt } from "#server/platform/masking/character-escapes.ts";
import { foldTable, secretForms } from "#server/platform/masking/secret-forms.ts";

/** Where secrets stand in a text: from the first character up to, and without, the second. */
export type Span = [start: number, end: number];

/**
 * Automaton of Aho and Corasick over all forms. A state is one beginning of a form; 0 is the empty one. States are numbered
 * by length, so the children of a state are adjacent and sorted by column.
 *
 * A state without a transition of its own takes that of the nearest state on its chain of suffixes that has one. Such a chain can
 * be as long as a secret, and reading escapes walks it again and again. So the suffix tree is numbered in preorder: the
 * transitions for one column are then intervals inside each other, and the innermost one is found by binary search.
 */
interface Automaton {
  /** By the code of a character: its column, which is that of its folded one; 0 for one that is in no form. */
  columns: Uint16Array;
  /** By column: the beginning of that one character. */
  first: Int32Array;
  /** By state: its place in the preorder of the suffix tree. */
  place: Int32Array;
  /** By column: where its entries in `from` and `target` begin. */
  entries: Int32Array;
  /** By entry, ascending in each column: the place from which on the transition leads to `target`. */
  from: Int32Array;
  target: Int32Array;
  /** By state: length of the longest form that the state's text ends with; 0 for none. */
  longest: Int32Array;
  /** By state: length of the longest beginning, to which more belongs, that the state's text ends with. */
  open: Int32Array;
}

/** The columns of the characters that are in the forms, in the order of their codes. */
function columnsOf(forms: readonly string[]): { columns: Uint16Array; width: number } {
  const ofFolded = new Uint16Array(0x1_0000);
  for (const form of forms) for (let index = 0; index < form.length; index++) ofFolded[form.charCodeAt(index)] = 1;
  let width = 1;
  for (let code = 0; code < ofFolded.length; code++) if (ofFolded[code] === 1) ofFolded[code] = width++;
  return { columns: foldTable().map((code) => ofFolded[code] ?? 0), width };
}

/** The forms as a tree. */
interface Trie {
  states: number;
  /** By state: the column of its last character. */
  column: Uint16Array;
  /** By state: the first of its children, which end where those of the next state begin. */
  children: Int32Array;
  longest: Int32Array;
  open: Int32Array;
}

/** Steps of building an automaton between two places where it may be interrupted. */
const STEPS = 4096;

function* trieOf(forms: readonly string[], columns: Uint16Array): Generator<void, Trie> {
  const most = forms.reduce((sum, form) => sum + form.length, 1);
  const [longest, open] = [new Int32Array(most), new Int32Array(most)];
  const [column, children] = [new Uint16Array(most), new Int32Array(most + 1)];
  // Sorted, the forms that begin alike are adjacent.
  let growing = forms.toSorted((a, b) => (a < b ? -1 : 1)).map((form) => ({ form, state: 0 }));
  let states = 1;
  let level = 0;
  let steps = 0;
  for (let depth = 0; growing.length > 0; depth++) {
    let parent = -1;
    for (const one of growing) {
      const at = columns[one.form.charCodeAt(depth)] ?? 0;
      if (parent !== one.state || column[states - 1] !== at) {
        for (; level <= one.state; level++) children[level] = states;
        parent = one.state;
        open[parent] = depth;
        column[states++] = at;
      }
      one.state = states - 1;
      if (++steps % STEPS === 0) yield;
      if (one.form.length === depth + 1) longest[one.state] = depth + 1;
    }
    growing = growing.filter(({ form }) => form.length > depth + 1);
  }
  for (; level <= states; level++) children[level] = states;
  return { states, column, children, longest, open };
}

/** The child of a state by a character; 0 for none. */
function childOf({ column, children }: Trie, state: number, at: number): number {
  let low = children[state] ?? 0;
  let high = children[state + 1] ?? 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = column[middle] ?? 0;
    if (found === at) return middle;
    if (found < at) low = middle + 1;
    else high = middle;
  }
  return 0;
}

/** By state: the longest shorter beginning that its text ends with. Completes `longest` and `open`. */
function* suffixesOf(trie: Trie): Generator<void, Int32Array> {
  const { states, column, children, longest, open } = trie;
  const suffix = new Int32Array(states);
  for (let state = 0; state < states; state++) {
    if (state % STEPS === 0) yield;
    const shorter = suffix[state] ?? 0;
    longest[state] ||= longest[shorter] ?? 0;
    open[state] ||= open[shorter] ?? 0;
    for (let child = children[state] ?? 0; child < (children[state + 1] ?? 0); child++) {
      if (state === 0) continue;
      let from = shorter;
      let found = childOf(trie, from, column[child] ?? 0);
      while (found === 0 && from !== 0) {
        from = suffix[from] ?? 0;
        found = childOf(trie, from, column[child] ?? 0);
      }
      suffix[child] = found;
    }
  }
  return suffix;
}

function* automatonOf(forms: readonly string[]): Generator<void, Automaton> {
  const { columns, width } = columnsOf(forms);
  const trie = yield* trieOf(forms, columns);
  const { states, column, children, longest, open } = trie;
  const suffix = yield* suffixesOf(trie);
  const first = new Int32Array(width);
  const deep = children[1] ?? states;
  for (let state = 1; state < deep; state++) first[column[state] ?? 0] = state;
  // Each state below the first level gives two entries: its own transition, and the one that holds again after its interval.
  const entries = new Int32Array(width + 1);
  for (let state = deep; state < states; state++) entries[(column[state] ?? 0) + 1] = (entries[(column[state] ?? 0) + 1] ?? 0) + 2;
  for (let at = 0; at < width; at++) entries[at + 1] = (entries[at + 1] ?? 0) + (entries[at] ?? 0);
  const size = 2 * (states - deep);
  const [from, target, place] = [new Int32Array(size), new Int32Array(size), new Int32Array(states)];
  const [inner, sibling] = [new Int32Array(states), new Int32Array(states)];
  for (let state = states - 1; state > 0; state--) {
    const shorter = suffix[state] ?? 0;
    sibling[state] = inner[shorter] ?? 0;
    inner[shorter] = state;
  }
  const free = entries.slice();
  let count = 0;
  const add = (state: number, isEntered: boolean) => {
    for (let child = children[state] ?? 0; child < (children[state + 1] ?? 0); child++) {
      const at = column[child] ?? 0;
      const entry = free[at] ?? 0;
      from[entry] = count;
      target[entry] = isEntered ? child : (suffix[child] ?? 0);
      free[at] = entry + 1;
    }
  };
  for (let state = inner[0] ?? 0; state !== 0; ) {
    place[state] = ++count;
    if (count % STEPS === 0) yield;
    add(state, true);
    const below = inner[state] ?? 0;
    if (below !== 0) {
      state = below;
      continue;
    }
    count++;
    for (add(state, false); sibling[state] === 0 && suffix[state] !== 0; add(state, false)) state = suffix[state] ?? 0;
    state = sibling[state] ?? 0;
  }
  return { columns, first, place, entries, from, target, longest, open };
}

/** The longest beginning that the text of a state ends with once a character has been read. */
function transition({ first, place, entries, from, target }: Automaton, state: number, at: number): number {
  if (at === 0) return 0;
  if (state !== 0) {
    const here = place[state] ?? 0;
    const begin = entries[at] ?? 0;
    let low = begin;
    let high = entries[at + 1] ?? 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((from[middle] ?? 0) <= here) low = middle + 1;
      else high = middle;
    }
    if (low > begin) return target[low - 1] ?? 0;
  }
  return first[at] ?? 0;
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
 * Finds secrets in texts, in every form of server/platform/masking/secret-forms.ts and with any of their characters escaped.
 * @see SecretScan
 */
export class SecretFinder {
  readonly #automaton: Automaton;

  private constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  /** @param secrets at least one of them long enough to be masked */
  static *build(secrets: Iterable<string>): Generator<void, SecretFinder> {
    const forms = new Set<string>();
    for (const secret of secrets) {
      for (const form of secretForms(secret)) forms.add(form);
      yield;
    }
    return new SecretFinder(yield* automatonOf([...forms]));
  }

  /** Begins to read a text. */
  scan(): SecretScan {
    return new SecretScan(this.#automaton);
  }
}

/**
 * Reads one text piece by piece, each character once. The text is read in all ways side by side, each character as it stands
 * and as what it may stand for, by one automaton: so what stands before a secret can never hide it. Takes time in proportion to
 * the text and the logarithm of the secrets' length.
 */
export class SecretScan {
  readonly #automaton: Automaton;
  /** Spans found, by their places in the whole text, in order; secrets that overlap are one. The caller may remove those before `open`. */
  readonly spans: Span[] = [];
  /** State after reading each character literally, while no escape allows another reading. */
  #state = 0;
  #paths: Path[] = [];
  /** Paths that an escape leads past the next character. */
  readonly #ahead = new Map<number, Path[]>();
  /** The end of the text so far, where it may be the beginning of an escape; not yet read. */
  #rest = "";
  /** Number of characters read. */
  #read = 0;

  constructor(automaton: Automaton) {
    this.#automaton = automaton;
  }

  /** Place from which on the text so far may be the beginning of a secret. */
  get open(): number {
    let open = this.#read;
    for (const path of this.#current()) open = Math.min(open, this.#openAt(path, this.#read));
    // Matches completed by an earlier escape are not among the spans yet.
    for (const [end, paths] of this.#ahead) for (const path of paths) open = Math.min(open, startOf(path, this.#depth(path.state), end));
    return open;
  }

  /** Reads on. */
  push(piece: string): void {
    this.#go(this.#rest + piece, false);
  }

  /** Ends the text: what looked like the beginning of an escape was none. Returns the text's length. */
  end(): number {
    this.#go(this.#rest, true);
    return this.#read;
  }

  /** Reads a text that begins at `#read`, up to an escape that may go on behind its end. */
  #go(text: string, isLast: boolean): void {
    const { columns, longest } = this.#automaton;
    const base = this.#read;
    let at = 0;
    for (; at < text.length; at++) {
      if (this.#paths.length === 0 && this.#ahead.size === 0) {
        let state = this.#state;
        for (; at < text.length; at++) {
          const code = text.charCodeAt(at);
          if (mayEscape(code)) break;
          state = transition(this.#automaton, state, columns[code] ?? 0);
          const length = longest[state] ?? 0;
          if (length > 0) addSpan(this.spans, base + at + 1 - length, base + at + 1);
        }
        this.#state = state;
        if (at === text.length) break;
      }
      const code = text.charCodeAt(at);
      const isEscape = mayEscape(code);
      const found = isEscape ? readingsAt(text, at, code) : undefined;
      if (found?.isOpen && !isLast) break;
      this.#step(code, base + at, found?.readings);
    }
    this.#rest = text.slice(at);
    this.#read = base + at;
  }

  /** Reads one character in every way. @param readings what it may stand for, with ends relative to the character */
  #step(code: number, index: number, readings: readonly Reading[] | undefined): void {
    const { longest } = this.#automaton;
    const here = this.#current();
    const paths = this.#ahead.get(index + 1) ?? [];
    this.#ahead.delete(index + 1);
    for (const path of here) this.#join(paths, { ...path, state: this.#after(path.state, code), skipped: 0 });
    for (const path of readings ? here : []) {
      if (isSkipped(code) && path.state !== 0 && path.skipped < MOST_SKIPPED)
        this.#join(paths, { ...this.#stepped(path, index, index + 1, 0), skipped: path.skipped + 1 });
      for (const { units, length } of readings ?? []) {
        const end = index + length;
        const there = length === 1 ? paths : (this.#ahead.get(end) ?? []);
        this.#join(there, this.#readAll(path, units, index, end));
        if (there !== paths && there.length) this.#ahead.set(end, there);
      }
    }
    for (const path of paths) {
      // A backslash behind a secret is none of it.
      const length = path.skipped === 0 ? (longest[path.state] ?? 0) : 0;
      if (length > 0) addSpan(this.spans, startOf(path, length, index + 1), index + 1);
    }
    const plain = this.#plainState(paths, index + 1);
    this.#state = plain ?? this.#state;
    this.#paths = plain === undefined ? paths : [];
  }

  #current(): readonly Path[] {
    return this.#paths.length ? this.#paths : [{ state: this.#state, steps: undefined, skipped: 0 }];
  }

  #depth(state: number): number {
    // A state to which nothing belongs any more is a whole form.
    return Math.max(this.#automaton.open[state] ?? 0, this.#automaton.longest[state] ?? 0);
  }

  /** The state of the only path, when it has read as it stands all that counts; undefined when there is more to know. */
  #plainState(paths: readonly Path[], index: number): number | undefined {
    const [path] = paths;
    if (!path) return 0;
    const isPlain = !path.steps || index - path.steps.to >= this.#depth(path.state);
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
    const most = this.#depth(state) * (MOST_SKIPPED + 1);
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
