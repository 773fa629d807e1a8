import type { MaskedValue } from "#server/features/workflow-files/schema.ts";
import { MASK, type Masker } from "#server/platform/masking/masker.ts";
import { finished } from "#server/platform/time-slice.ts";

/** Characters of a text that is worked on in several steps. */
const LONG = 10_000;

const OF_PROJECT = "secret of the project";
const BY_NAME = "value with a secret's name";

/** As long as the file's schema lets a list and the names in it be. */
const MOST_TOLD = 2000;
const LONGEST_NAME = 200;

/** Where in a file a value stands. */
type Place = Pick<MaskedValue, "of" | "name">;

/**
 * Masks the texts of a file, and remembers where: the secrets of the project, and what looks like one of another service. Works in
 * steps, between which other work may have its turn: a file has megabytes, and each text is looked at for some forty kinds of secret.
 */
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
  *fields<Value extends object>(value: Value, place: Place): Generator<void, Value> {
    const entries: [string, unknown][] = [];
    for (const [field, item] of Object.entries(value)) entries.push(yield* this.#entry(field, item, { ...place, field }));
    return Object.fromEntries(entries) as Value;
  }

  *text(text: string, place: Omit<MaskedValue, "what">): Generator<void, string> {
    const known = this.#known.text(text);
    if (known !== text) this.#tell(place, OF_PROJECT);
    yield;
    const { text: masked, found } = yield* foreignTakenOut(known);
    for (const what of found) this.#tell(place, what);
    return masked;
  }

  #tell({ of, name, field }: Omit<MaskedValue, "what">, what: string): void {
    const shown = (text: string) => withoutForeign(this.#known.text(text)).text.slice(0, LONGEST_NAME);
    const entry = { of, name: shown(name), field: shown(field), what };
    this.#found.set(JSON.stringify(entry), entry);
  }

  *#entry(key: string, value: unknown, place: Omit<MaskedValue, "what">): Generator<void, [string, unknown]> {
    if (typeof value === "string" && isNamedSecret(key, value)) {
      this.#tell(place, BY_NAME);
      return [key, MASK];
    }
    return [yield* this.text(key, place), yield* this.#deep(value, place)];
  }

  *#deep(value: unknown, place: Omit<MaskedValue, "what">): Generator<void, unknown> {
    if (typeof value === "string") return yield* this.text(value, place);
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(yield* this.#deep(item, place));
      return items;
    }
    if (typeof value !== "object" || value === null) return value;
    const { name, value: held } = value as { name?: unknown; value?: unknown };
    // A header or a field in a list of names and values.
    const isNamed = typeof name === "string" && typeof held === "string" && isNamedSecret(name, held);
    if (isNamed) this.#tell(place, BY_NAME);
    const entries: [string, unknown][] = [];
    for (const [key, item] of Object.entries(value)) if (!isNamed || key !== "value") entries.push(yield* this.#entry(key, item, place));
    return { ...Object.fromEntries(entries), ...(isNamed && { value: MASK }) };
  }
}

/** What kind of secret a text looks like, and how it is recognised; with a group named `keep`, only what comes after it goes. */
interface Look {
  what: string;
  pattern: RegExp;
  /** Whether words of a text could look like it too: then only what holds both letters and digits counts. */
  isLoose?: boolean;
}

/** A beginning that no longer word holds, and what must follow it. */
const begins = (start: string, rest: string, flags = "g") => new RegExp(`(?<![A-Za-z0-9])(?:${start})${rest}`, flags);

const LOOKS: readonly Look[] = [
  {
    what: "private key",
    pattern: /-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----[\s\S]{40,}?(?:-----END[ A-Z0-9_-]{0,60}-----|$)/g,
  },
  { what: "API key", pattern: begins("sk-", "[A-Za-z0-9_-]{20,}"), isLoose: true },
  { what: "API key", pattern: begins("gsk_|xai-|pplx-|r8_|tvly-|fw_|nvapi-", "[A-Za-z0-9_-]{20,}"), isLoose: true },
  { what: "Hugging Face token", pattern: begins("hf_|api_org_", "[A-Za-z0-9]{30,}") },
  { what: "AWS access key", pattern: begins("A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA", "[A-Z0-9]{16}(?![A-Z0-9])") },
  { what: "Amazon Bedrock key", pattern: begins("ABSK|bedrock-api-key-", "[A-Za-z0-9+/]{40,}={0,2}") },
  { what: "Google key", pattern: begins("AIza|GOCSPX-|ya29\\.", "[\\w-]{20,}") },
  { what: "Azure client secret", pattern: /(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![\w~-])/g },
  { what: "GitHub token", pattern: begins("gh[opusr]_|github_pat_", "\\w{30,}") },
  { what: "GitLab token", pattern: begins("gl(?:pat|ptt|dt|rt|ft|oas|soat|cbt|imt|agent)-", "[\\w.-]{20,}") },
  { what: "Slack token", pattern: begins("xox[abeoprs][-.]|xapp-", "[A-Za-z0-9.-]{10,}") },
  { what: "Slack webhook", pattern: /(?<keep>hooks\.slack\.com\/(?:services|workflows|triggers)\/)[A-Za-z0-9+/]{20,}/g },
  { what: "Discord webhook", pattern: /(?<keep>discord(?:app)?\.com\/api\/webhooks\/)\d+\/[\w-]{20,}/g },
  { what: "Telegram token", pattern: /(?<![\w-])\d{5,16}:A[\w-]{34}(?![\w-])/g },
  { what: "Stripe key", pattern: begins("[sr]k_(?:test|live|prod)_|whsec_", "[A-Za-z0-9+/=]{10,}") },
  { what: "SendGrid key", pattern: begins("SG\\.", "[\\w-]{16,}\\.[\\w-]{16,}") },
  { what: "Twilio key", pattern: begins("SK", "[0-9a-fA-F]{32}(?![0-9a-zA-Z])") },
  { what: "package registry token", pattern: begins("npm_|pypi-|rubygems_", "[\\w-]{36,}") },
  { what: "Shopify token", pattern: begins("shp(?:at|ca|pa|ss)_", "[a-fA-F0-9]{32}") },
  { what: "Notion token", pattern: begins("ntn_|secret_", "[A-Za-z0-9]{40,}") },
  {
    what: "service token",
    pattern: begins(
      "do[opr]_v1_|dapi|lin_api_|PMAK-|hv[bs]\\.|dp\\.pt\\.|gls?[ac]_|glc_|HRKU-|pscale_[a-z]+_|sntry[su]_|sq0atp-|fo1_|fm[12][ar]?_",
      "[\\w+/=.-]{30,}",
    ),
    isLoose: true,
  },
  {
    // Read from the beginning of a word that ends as a token does: begun at each "ey", reading on takes the square of its length.
    what: "signed token",
    pattern: /(?<![\w-])(?=[\w-]{17,}\.ey[\w-]{15})(?<keep>[\w-]*?)(?<![A-Za-z0-9])ey[\w-]{15,}\.ey[\w-]{15,}(?:\.[\w-]*)?/g,
  },
  { what: "authorization", pattern: /(?<keep>\b(?:Bearer|Basic)\s+)[A-Za-z0-9+/=_~.-]{16,}/gi, isLoose: true },
  { what: "password in an address", pattern: /(?<keep>\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"'{}]{0,80}:)[^\s/@"'{}]{3,}(?=@)/gi },
  {
    what: "value with a secret's name",
    pattern:
      /(?<keep>(?:api[-_ ]?key|access[-_ ]?key|secret|token|passw(?:or)?d|passphrase|authorization)["'`]?\s{0,3}(?:=>|:=|[:=])\s{0,3}["'`]?)(?:[A-Za-z]+\s)?[A-Za-z0-9+/=_~.!@#$%^*-]{12,}/gi,
    isLoose: true,
  },
];

const holdsBoth = (text: string): boolean => /[A-Za-z]/.test(text) && /\d/.test(text);

/**
 * A text without what looks like a secret of some other service, and what each looked like. The beginnings are those that the
 * services document, as the rules of gitleaks keep them together (github.com/gitleaks/gitleaks, config/gitleaks.toml); lengths are
 * taken wider, since a word too much costs less than a key that leaves. What has no such look, such as a bare password in a
 * sentence, cannot be told from other text.
 */
export const withoutForeign = (text: string): { text: string; found: string[] } => finished(foreignTakenOut(text));

/** The same in steps. */
function* foreignTakenOut(text: string): Generator<void, { text: string; found: string[] }> {
  const found: string[] = [];
  let result = text;
  for (const { what, pattern, isLoose = false } of LOOKS) {
    result = result.replace(pattern, (...match) => {
      const whole = String(match[0]);
      const keep = (match.at(-1) as { keep?: string } | undefined)?.keep ?? "";
      if (isLoose && !holdsBoth(whole.slice(keep.length))) return whole;
      found.push(what);
      return keep + MASK;
    });
    if (result.length >= LONG) yield;
  }
  return { text: result, found };
}

const SECRET_NAME =
  /^(?:x[-_])?(?:[a-z]+[-_])?(?:api[-_ ]?key|apikey|access[-_ ]?key|private[-_ ]?key|secret[-_ ]?key|secret|token|password|passwd|passphrase|authorization)$/i;
/** One word, with the name of a scheme before it or none; an expression reads its secret elsewhere. */
const ONE_WORD = /^(?:[A-Za-z-]{1,12}\s+)?[^\s{}•]{8,}$/;

/** True for a text under a name such as `api_key` or `Authorization` that is itself the secret. */
export const isNamedSecret = (name: string, text: string): boolean => SECRET_NAME.test(name) && ONE_WORD.test(text.trim());
