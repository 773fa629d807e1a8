import { randomBytes } from "node:crypto";
import { cleanText, parseApiJson } from "#server/platform/clean-text.ts";
import { AnswerTooLong } from "#server/platform/net/read-up-to.ts";

/** A tool call as a model asked for it. */
export interface WireToolCall {
  /** Unique in the answer; ours when the server sent none. */
  id: string;
  name: string;
  /** What was read from the arguments; `{input: …}` for what is no JSON object. */
  args: Record<string, unknown>;
  /** True when the arguments were no JSON object, so that the tool must not be called with them. */
  isMalformed: boolean;
  /** Google's thought signature and the like: must go back with the call, as it came. */
  extra?: unknown;
}

/** A tool call on the line: whole, or a piece of it. Nothing in it is sure to be there. */
interface Piece {
  index?: unknown;
  id?: unknown;
  function?: { name?: unknown; arguments?: unknown } | null;
  extra_content?: unknown;
}

interface Gathered {
  index: number | undefined;
  id: string;
  name: string;
  args: string;
  extra?: unknown;
}

/** Most characters of arguments in one answer. */
const MOST_ARGUMENTS = 4 * 1024 * 1024;
/** Most calls in one answer: more are no answer of a model, and each is kept and told. */
const MOST_CALLS = 128;

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

/** Nine letters and digits: the strictest form of an id that a vendor asks for (Mistral). */
const newId = (): string => randomBytes(8).toString("hex").slice(0, 9);

/** Escapes control characters within the strings of a JSON text: models break lines in them. */
function escapeControls(text: string): string {
  const parts: string[] = [];
  let from = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') isInText = !isInText;
    else if (isInText && letter === "\\") at += 1;
    else if (isInText && text.charCodeAt(at) < 0x20) {
      parts.push(text.slice(from, at), JSON.stringify(letter).slice(1, -1));
      from = at + 1;
    }
  }
  return parts.join("") + text.slice(from);
}

function tryParse(text: string): unknown {
  try {
    return parseApiJson(text);
  } catch {
    return undefined;
  }
}

/** Parses an object without the characters that no row can hold; undefined for any other text. */
function parseObject(text: string): Record<string, unknown> | undefined {
  const value = tryParse(text) ?? tryParse(escapeControls(text));
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}

/** Where the JSON object at the beginning of the text ends; undefined when it does not. */
function endOfObject(text: string): number | undefined {
  let depth = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (isInText) {
      if (letter === "\\") at += 1;
      else if (letter === '"') isInText = false;
    } else if (letter === '"') isInText = true;
    else if (letter === "{") depth += 1;
    else if (letter === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** The arguments in a text: usually one object; several where a server runs parallel calls together (Gemini does). */
function objectsIn(text: string): Record<string, unknown>[] | undefined {
  const whole = parseObject(text.trim() || "{}");
  if (whole) return [whole];
  const found: Record<string, unknown>[] = [];
  for (let rest = text.trim(); rest !== ""; ) {
    const end = rest.startsWith("{") ? endOfObject(rest) : undefined;
    const object = end === undefined ? undefined : parseObject(rest.slice(0, end));
    if (end === undefined || !object) return undefined;
    if (found.push(object) > MOST_CALLS) return undefined;
    rest = rest.slice(end).trim();
  }
  return found;
}

/**
 * Collects the tool calls of one answer, whole or in pieces. Servers disagree on how pieces belong together: an id, when
 * there is one, decides; then the index; a piece without either goes on with the last call, unless it bears another name.
 */
export class ToolCallGatherer {
  readonly #calls: Gathered[] = [];
  #length = 0;

  /** A call of an answer that came in one piece. */
  addWhole(call: unknown): void {
    this.#begin((call ?? {}) as Piece);
  }

  /** A piece of a streamed answer. */
  addPiece(piece: unknown): void {
    const part = (piece ?? {}) as Piece;
    const known = this.#callOf(part);
    if (!known) {
      this.#begin(part);
      return;
    }
    known.name ||= textIn(part.function?.name);
    known.id ||= textIn(part.id);
    known.args += this.#argumentsOf(part);
    if (part.extra_content !== undefined) known.extra = part.extra_content;
  }

  #callOf({ index, id, function: called }: Piece): Gathered | undefined {
    if (textIn(id)) {
      const same = this.#calls.find((call) => call.id === id);
      if (same) return same;
    }
    const known = typeof index === "number" ? this.#calls.findLast((call) => call.index === index) : this.#calls.at(-1);
    if (!known) return undefined;
    // An id that is new begins a call, but some servers make one up for every piece: those come without a name.
    if (textIn(id) && known.id && textIn(called?.name)) return undefined;
    // Without index and id only a name tells where a call begins; with an index, a repeated name goes on with it.
    const name = textIn(called?.name);
    const isOther = name !== "" && (typeof index !== "number" || (known.name !== "" && name !== known.name));
    return isOther ? undefined : known;
  }

  #argumentsOf({ function: called }: Piece): string {
    const given = called?.arguments;
    const text = typeof given === "object" && given !== null ? JSON.stringify(given) : textIn(given);
    this.#length += text.length;
    if (this.#length > MOST_ARGUMENTS) throw new AnswerTooLong(`${MOST_ARGUMENTS / 1024 / 1024} MiB of arguments for tools`);
    return text;
  }

  #begin(piece: Piece): void {
    if (this.#calls.length >= MOST_CALLS) throw new AnswerTooLong(`${MOST_CALLS} tool calls`);
    this.#calls.push({
      index: typeof piece.index === "number" ? piece.index : undefined,
      id: textIn(piece.id),
      name: textIn(piece.function?.name),
      args: this.#argumentsOf(piece),
      ...(piece.extra_content !== undefined && { extra: piece.extra_content }),
    });
  }

  /** The calls in the order in which they began, each with an id of its own, and nothing in them that no row can keep. */
  calls(): WireToolCall[] {
    const ids = new Set<string>();
    const ownId = (id: string): string => {
      const own = id && !ids.has(id) ? id : newId();
      ids.add(own);
      return own;
    };
    return this.#calls.flatMap(({ id, name, args, extra }) => {
      const objects = objectsIn(args);
      return (objects ?? [{ input: cleanText(args) }]).map((object) => ({
        id: ownId(cleanText(id)),
        name: cleanText(name),
        args: object,
        isMalformed: !objects,
        ...(extra !== undefined && { extra }),
      }));
    });
  }
}
