import { convertText, templateOf } from "#server/features/workflow-files/n8n/expressions.ts";
import type { Find, Place, Reading } from "#server/features/workflow-files/n8n/javascript.ts";
import { givesItsInput } from "#server/features/workflow-files/n8n/kinds.ts";
import { splitPath } from "#server/features/workflow-files/n8n/lists.ts";
import { at, type Link, type Source, type SourceNode, wordOf } from "#server/features/workflow-files/n8n/source.ts";
import { credentialName, type Kind, type Step } from "#server/features/workflow-files/n8n/step.ts";
import type { TriggerKind } from "#server/features/workflow-files/n8n/triggers.ts";
import { CREDENTIALS, type PathPart } from "#server/workflow/expressions.ts";

// What the nodes of a workflow of n8n read of each other: each finds what came to it by the connections, as n8n does.

/** What becomes of a node. */
export type Role =
  | { is: "trigger"; kind: TriggerKind }
  | { is: "node"; kind: Kind }
  /** It does nothing here, or is in an agent: what leads to it leads on to what follows. */
  | { is: "gone" }
  /** A Split Out that the loop behind it does itself. */
  | { is: "split"; loop: string }
  | { is: "sticky" }
  /** It is not known here: a note keeps it, and what leads to it leads on. */
  | { is: "note" };

/** How often names of other nodes are looked up; a file that is made for it could ask for ever. */
const MOST_LOOKS = 200_000;

/** A workflow as it is carried over. */
interface Whole {
  source: Source;
  roles: ReadonlyMap<string, Role>;
  /** What a node is called here. */
  label(name: string): string;
  /** The connections to each node, without those that lead back. */
  incoming: ReadonlyMap<string, readonly Link[]>;
  toDo(name: string, message: string, field: string | null): void;
}

/** The ways out here that stand for one of n8n's. */
export function waysOf(node: SourceNode, role: Role | undefined, output: number): readonly string[] {
  const ways = role?.is === "node" ? role.kind.ways : undefined;
  if (ways) return ways(node, output);
  if (role?.is === "node" && role.kind.type === "terminateNode") return [];
  return output === 0 ? [""] : [];
}

/** The steps by which each node is carried over, with what it reads of the others. */
export class Steps {
  readonly #whole: Whole;
  readonly #nodes: ReadonlyMap<string, SourceNode>;
  readonly #hasTrigger: boolean;
  #looks = MOST_LOOKS;

  constructor(whole: Whole) {
    this.#whole = whole;
    this.#nodes = new Map(whole.source.nodes.map((node) => [node.name, node]));
    this.#hasTrigger = [...whole.roles.values()].some(({ is }) => is === "trigger");
  }

  #look(): boolean {
    this.#looks -= 1;
    return this.#looks > 0;
  }

  readonly #waysIn = new Map<string, Link | undefined>();

  /** The connection by which something comes to a node; what comes from a trigger that is left out comes last. */
  #wayIn(name: string): Link | undefined {
    if (this.#waysIn.has(name)) return this.#waysIn.get(name);
    const rank = ({ from, input }: Link) => input + (this.#whole.roles.get(from)?.is === "note" ? 1000 : 0);
    const [first] = (this.#whole.incoming.get(name) ?? []).toSorted((a, b) => rank(a) - rank(b));
    this.#waysIn.set(name, first);
    return first;
  }

  #input(name: string, path: readonly PathPart[]): Reading | undefined {
    const link = this.#wayIn(name);
    if (link) return this.#read(link.from, path, link.output);
    return !this.#hasTrigger ? { head: "trigger", field: "output", path } : undefined;
  }

  #read(name: string, path: readonly PathPart[], output?: number): Reading | undefined {
    const node = this.#nodes.get(name);
    const role = this.#whole.roles.get(name);
    if (!node || !role || !this.#look()) return undefined;
    if (role.is === "trigger") return role.kind.reads ? role.kind.reads(node, path) : { head: "trigger", field: "output", path };
    if (role.is === "gone" || (role.is === "note" && givesItsInput(node))) return this.#input(name, path);
    if (role.is === "split") return output === undefined ? this.#read(role.loop, path) : this.#input(name, [...splitPath(node), ...path]);
    const label = this.#whole.label(name);
    if (role.is !== "node") return { head: label, field: "output", path };
    const { kind } = role;
    if (kind.reads) return kind.reads(this.of(node), path, output ?? (node.version >= 3 ? 1 : 0));
    return kind.passes ? this.#input(name, path) : { head: label, field: "output", path };
  }

  /** The loops whose bodies or ends lead to a node, the nearest first. */
  #loops(name: string): string[] {
    const seen = new Set([name]);
    const found: string[] = [];
    for (const at of seen) {
      if (!this.#look()) break;
      for (const { from } of this.#whole.incoming.get(at) ?? []) {
        const role = this.#whole.roles.get(from);
        if (role?.is === "node" && role.kind.type === "loopNode" && !seen.has(from)) found.push(from);
        seen.add(from);
      }
    }
    return found;
  }

  #finder(name: string): Find {
    return (place: Place, path: readonly PathPart[]): Reading | undefined => {
      switch (place.of) {
        case "input":
          return this.#input(name, path);
        case "node":
          return this.#read(place.name, path);
        case "run":
          return path.length ? undefined : { head: "execution", field: "id", path: [] };
        case "secret":
          return path.length ? undefined : { head: CREDENTIALS, field: credentialName(place.name), path: [] };
        case "resume": {
          const isCall = ({ type, parameters }: SourceNode) =>
            type.endsWith(".wait") && ["webhook", "form"].includes(wordOf(at(parameters, "resume")));
          const waits = this.#whole.source.nodes.filter(isCall);
          const [only] = waits;
          return waits.length === 1 && only && path.length === 0
            ? { head: this.#whole.label(only.name), field: "resume_url", path: [] }
            : undefined;
        }
        default: {
          const [loop] = this.#loops(name);
          return loop === undefined || path.length ? undefined : { head: this.#whole.label(loop), field: "index", path: [] };
        }
      }
    };
  }

  /** The loop whose item comes right to a node, past what has no node of its own. */
  #itemOf(name: string): string | undefined {
    let link = this.#wayIn(name);
    for (const seen = new Set<string>(); link && !seen.has(link.from); link = this.#wayIn(link.from)) {
      seen.add(link.from);
      const role = this.#whole.roles.get(link.from);
      const node = this.#nodes.get(link.from);
      if (role?.is === "node" && node)
        return role.kind.type === "loopNode" && waysOf(node, role, link.output).includes("body") ? this.#whole.label(link.from) : undefined;
      if (role?.is !== "gone" && role?.is !== "note" && role?.is !== "split") return undefined;
    }
    return undefined;
  }

  readonly #steps = new Map<string, Step>();

  /** The step of a node. */
  of(source: SourceNode): Step {
    const known = this.#steps.get(source.name) ?? this.#newStep(source);
    this.#steps.set(source.name, known);
    return known;
  }

  #newStep(source: SourceNode): Step {
    const { name } = source;
    const find = this.#finder(name);
    const isNote = (label: string) => this.#noteLabels.has(label);
    return {
      source,
      label: this.#whole.label(name),
      find,
      findHere: (place, path) => {
        const reading = find(place, path);
        return reading && isNote(reading.head) ? undefined : reading;
      },
      itemOf: this.#itemOf(name),
      text: (value, field) => {
        const { text, left } = convertText(value, find);
        // What has braces inside does not look like an expression here, and no check would find it.
        for (const code of left)
          if (/[{}]/.test(code))
            this.#whole.toDo(name, `n8n computed this value. It was copied unchanged; rewrite it: ${code.slice(0, 300)}`, field ?? null);
        return text;
      },
      toDo: (message, field) => this.#whole.toDo(name, message, field ?? null),
      input: (path) => this.#input(name, path),
      parts: this.#whole.source.parts.flatMap(({ from, to }) => (to === name ? (this.#nodes.get(from) ?? []) : [])),
      inputs: () => {
        const links = (this.#whole.incoming.get(name) ?? []).toSorted((a, b) => a.input - b.input);
        // Of what is only a note, what came to it: that is what goes on here.
        const whole = ({ from, output }: Link) =>
          this.#whole.roles.get(from)?.is === "note" ? this.#input(from, []) : this.#read(from, [], output);
        const texts = links.flatMap((link) => templateOf(whole(link)) ?? []);
        return [...new Set(texts)].slice(0, 50);
      },
      loop: () => {
        const [loop] = this.#loops(name);
        return loop === undefined ? undefined : templateOf({ head: this.#whole.label(loop), field: "output", path: [] });
      },
    };
  }

  #noteLabelsFound: ReadonlySet<string> | undefined;
  get #noteLabels(): ReadonlySet<string> {
    this.#noteLabelsFound ??= new Set(
      [...this.#whole.roles].flatMap(([name, { is }]) => (is === "note" || is === "sticky" ? [this.#whole.label(name)] : [])),
    );
    return this.#noteLabelsFound;
  }
}
