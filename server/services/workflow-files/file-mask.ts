import { MASK, type Masker } from "#server/engine/masker.ts";
import type { MaskedValue } from "#server/schemas/workflow-file.ts";
import { isNamedSecret, withoutForeign } from "#server/services/workflow-files/foreign-secrets.ts";

const OF_PROJECT = "secret of the project";
const BY_NAME = "value with a secret's name";

/** As long as the file's schema lets a list and the names in it be. */
const MOST_TOLD = 2000;
const LONGEST_NAME = 200;

/** Where in a file a value stands. */
type Place = Pick<MaskedValue, "of" | "name">;

/** Masks the texts of a file, and remembers where: the secrets of the project, and what looks like one of another service. */
export class FileMask {
  readonly #known: Masker;
  readonly #found = new Map<string, MaskedValue>();

  constructor(known: Masker) {
    this.#known = known;
  }

  /** What was masked, each place once; itself without secrets. */
  get found(): MaskedValue[] {
    return [...this.#found.values()].slice(0, MOST_TOLD);
  }

  /** An object with its texts masked at any depth; its own keys are the fields that are told. */
  fields<Value extends object>(value: Value, place: Place): Value {
    return Object.fromEntries(Object.entries(value).map(([field, item]) => this.#entry(field, item, { ...place, field }))) as Value;
  }

  text(text: string, place: Omit<MaskedValue, "what">): string {
    const known = this.#known.text(text);
    if (known !== text) this.#tell(place, OF_PROJECT);
    const { text: masked, found } = withoutForeign(known);
    for (const what of found) this.#tell(place, what);
    return masked;
  }

  #tell({ of, name, field }: Omit<MaskedValue, "what">, what: string): void {
    const shown = (text: string) => withoutForeign(this.#known.text(text)).text.slice(0, LONGEST_NAME);
    const entry = { of, name: shown(name), field: shown(field), what };
    this.#found.set(JSON.stringify(entry), entry);
  }

  #entry(key: string, value: unknown, place: Omit<MaskedValue, "what">): [string, unknown] {
    if (typeof value === "string" && isNamedSecret(key, value)) {
      this.#tell(place, BY_NAME);
      return [key, MASK];
    }
    return [this.text(key, place), this.#deep(value, place)];
  }

  #deep(value: unknown, place: Omit<MaskedValue, "what">): unknown {
    if (typeof value === "string") return this.text(value, place);
    if (Array.isArray(value)) return value.map((item) => this.#deep(item, place));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => this.#entry(key, item, place)));
  }
}
