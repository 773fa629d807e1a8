import { SHORTEST, secretForms } from "#server/engine/secret-forms.ts";

/** Where secrets stand in a text: from the first character up to, and without, the second. */
export type Span = [start: number, end: number];

export interface Found {
  /** In order; secrets that overlap are one span. */
  spans: Span[];
  /** How many characters at the end may be the beginning of a secret. */
  open: number;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** One state of the automaton is one beginning of a form; 0 is the empty one. */
interface Automaton {
  /** By state and character. */
  next: Map<number, number>;
  /** The longest shorter beginning that the state's text ends with. */
  fail: number[];
  /** Length of the longest form that the state's text ends with; 0 for none. */
  longest: number[];
  /** Length of the longest beginning, to which more belongs, that the state's text ends with. */
  open: number[];
}

const keyOf = (state: number, code: number): number => state * 0x1_0000 + code;

function automatonOf(forms: readonly string[]): Automaton {
  const next = new Map<number, number>();
  const states = [{ parent: 0, code: 0, depth: 0, isForm: false, hasMore: forms.length > 0 }];
  for (const form of forms) {
    let state = 0;
    for (let index = 0; index < form.length; index++) {
      const code = form.charCodeAt(index);
      const at = states[state];
      if (at) at.hasMore = true;
      let target = next.get(keyOf(state, code));
      if (target === undefined) {
        target = states.push({ parent: state, code, depth: index + 1, isForm: false, hasMore: false }) - 1;
        next.set(keyOf(state, code), target);
      }
      state = target;
    }
    const last = states[state];
    if (last) last.isForm = true;
  }
  const fail = new Array<number>(states.length).fill(0);
  const longest = new Array<number>(states.length).fill(0);
  const open = new Array<number>(states.length).fill(0);
  // The shallow ones first: what a state falls back to is never as deep.
  const order = [...states.entries()].filter(([, { depth }]) => depth > 0).sort(([, a], [, b]) => a.depth - b.depth);
  for (const [state, { parent, code, depth, isForm, hasMore }] of order) {
    let back = fail[parent] ?? 0;
    while (back !== 0 && !next.has(keyOf(back, code))) back = fail[back] ?? 0;
    fail[state] = depth === 1 ? 0 : (next.get(keyOf(back, code)) ?? 0);
    longest[state] = isForm ? depth : (longest[fail[state] ?? 0] ?? 0);
    open[state] = hasMore ? depth : (open[fail[state] ?? 0] ?? 0);
  }
  return { next, fail, longest, open };
}

/**
 * Finds secrets in texts, in every spelling of server/engine/secret-forms.ts. Goes through a text once, in time in
 * proportion to its length, whatever the secrets and the text look like (Aho and Corasick); where no secret can begin a
 * regular expression passes over it.
 */
export class SecretFinder {
  readonly #automaton: Automaton;
  readonly #heads: RegExp;

  /** @param secrets at least one of them long enough to be masked */
  constructor(secrets: Iterable<string>) {
    const forms = [...new Set([...secrets].flatMap(secretForms))];
    this.#automaton = automatonOf(forms);
    const heads = new Set(forms.map((form) => escaped(form.slice(0, SHORTEST))));
    this.#heads = new RegExp([...heads].join("|"), "g");
  }

  find(text: string): Found {
    const { next, fail, longest, open } = this.#automaton;
    const spans: Span[] = [];
    let state = 0;
    for (let index = 0; index < text.length; index++) {
      if (state === 0) index = this.#skip(text, index);
      const code = text.charCodeAt(index);
      let target = next.get(keyOf(state, code));
      while (target === undefined && state !== 0) {
        state = fail[state] ?? 0;
        target = next.get(keyOf(state, code));
      }
      state = target ?? 0;
      const length = longest[state] ?? 0;
      if (length > 0) addSpan(spans, index + 1 - length, index + 1);
    }
    return { spans, open: open[state] ?? 0 };
  }

  /** Where the next secret may begin; what is shorter than any secret may still be the beginning of one. */
  #skip(text: string, from: number): number {
    const tail = text.length - SHORTEST + 1;
    if (from >= tail) return from;
    this.#heads.lastIndex = from;
    return this.#heads.exec(text)?.index ?? tail;
  }
}

function addSpan(spans: Span[], start: number, end: number): void {
  let from = start;
  for (let last = spans.at(-1); last && last[1] > start; last = spans.at(-1)) {
    from = Math.min(from, last[0]);
    spans.pop();
  }
  spans.push([from, end]);
}
