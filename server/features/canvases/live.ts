import { createHash } from "node:crypto";
import { readCanvasData } from "#server/features/canvases/data.ts";
import type { CanvasEvent, WidgetData, WidgetRange } from "#server/features/canvases/schema.ts";
import { toCanvas } from "#server/features/canvases/service.ts";
import { Bell } from "#server/platform/bell.ts";
import { db } from "#server/platform/db/client.ts";
import { subscribe } from "#server/platform/db/notify.ts";
import { log } from "#server/platform/log.ts";
import { TimeSlice } from "#server/platform/time-slice.ts";

// A canvas is worked out once for all who look at it in this process, when something that its widgets read has changed, and
// each viewer is sent what differs from what that viewer has. So nothing is kept for a viewer, however slowly it reads, and
// nothing of what happened in between: only what it shows now counts. Nothing is stored either: the id of an event says, by a
// short hash for each widget, what a viewer has, in whichever process it comes back to.

/** From the beginning of one reading to that of the next, in milliseconds, however often something changes. */
const PAUSE_MS = 800;
/** When it is read again though nobody said that something changed: ranges move on, and runs that fail change no value. */
const LOOK_AGAIN_MS = 30_000;
/** How long it is kept up when nobody looks at it: browsers come back within seconds. */
const LINGER_MS = 10_000;

interface ShownWidget {
  hash: string;
  data: WidgetData;
  /** Of the data as JSON. */
  characters: number;
}

/** What a canvas shows. */
interface Shown {
  /** Of its name and widgets. */
  version: string;
  updated_at: string;
  /** By widget. */
  widgets: ReadonlyMap<string, ShownWidget>;
}

const HASH_CHARACTERS = 8;
function shownWidget(data: WidgetData): ShownWidget {
  const text = JSON.stringify(data);
  return { hash: createHash("sha256").update(text).digest("base64url").slice(0, HASH_CHARACTERS), data, characters: text.length };
}

class LiveCanvas {
  shown: Shown | undefined;
  /** All of `shown` is at least as new as this, in milliseconds of this process. */
  allReadAt = 0;
  /** The canvas has been deleted. */
  isGone = false;
  /** Settles when it has been read for the first time. */
  readonly ready: Promise<void>;
  readonly #id: string;
  readonly #range: WidgetRange | undefined;
  readonly #viewers = new Set<Bell>();
  /** How to stop listening, by what is listened for: the canvas itself and the workflows that it reads. */
  readonly #stops = new Map<string, () => void>();
  readonly #bell = new Bell();
  /** The workflows whose values may have changed; null for all. */
  #changed: Set<string> | null = null;
  #lingering: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;
  readonly #onOver: () => void;

  constructor(id: string, range: WidgetRange | undefined, onOver: () => void) {
    this.#id = id;
    this.#range = range;
    this.#onOver = onOver;
    this.#linger();
    this.ready = this.#read();
    this.ready.then(
      () => void this.#keepUp(),
      () => this.#end(),
    );
  }

  /** Reads all of it again soon. */
  readAgain(): void {
    this.#changed = null;
    this.#bell.ring();
  }

  #linger(): void {
    clearTimeout(this.#lingering);
    this.#lingering = setTimeout(() => this.#end(), LINGER_MS).unref();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#lingering);
    for (const stop of this.#stops.values()) stop();
    this.#stops.clear();
    this.#bell.ring();
    this.#onOver();
  }

  /** @returns how to leave */
  join(bell: Bell): () => void {
    clearTimeout(this.#lingering);
    this.#viewers.add(bell);
    return () => {
      this.#viewers.delete(bell);
      if (this.#viewers.size === 0) this.#linger();
    };
  }

  async #listen(wanted: Iterable<string>): Promise<void> {
    for (const payload of wanted) {
      if (this.#stops.has(payload)) continue;
      const stop = await subscribe("treadle_canvas", payload, () => {
        if (payload === this.#id) return this.readAgain();
        this.#changed?.add(payload);
        this.#bell.ring();
      });
      if (this.#isOver) stop();
      else this.#stops.set(payload, stop);
    }
  }

  #listenNoMore(wanted: ReadonlySet<string>): void {
    for (const [payload, stop] of this.#stops) {
      if (wanted.has(payload)) continue;
      stop();
      this.#stops.delete(payload);
    }
  }

  /** Reads what may have changed since the last time. What is told meanwhile, of the canvas or a workflow, counts for the next. */
  async #read(): Promise<void> {
    const began = performance.now();
    const known = this.#changed;
    this.#changed = new Set();
    try {
      await this.#listen([this.#id]);
      const row = await db().canvas.findUnique({ where: { id: this.#id } });
      if (!row) {
        this.isGone = true;
        return;
      }
      const { widgets, updated_at } = toCanvas(row);
      const sources = new Set([this.#id, ...widgets.map(({ workflow_id }) => workflow_id)]);
      this.#listenNoMore(sources);
      await this.#listen(sources);
      const version = row.updated_at.getTime().toString(36);
      const changed = this.shown?.version === version ? known : null;
      const wanted = widgets.filter(({ workflow_id }) => !changed || changed.has(workflow_id)).map(({ id }) => id);
      const canvas = { id: row.id, project_id: row.project_id, widgets };
      const range = this.#range && { range: this.#range };
      const read = wanted.length ? (await readCanvasData(canvas, { widget_ids: wanted, ...range })).widgets : [];
      const kept = changed ? (this.shown?.widgets ?? []) : [];
      const fresh = read.map((data): [string, ShownWidget] => [data.widget_id, shownWidget(data)]);
      this.shown = { version, updated_at, widgets: new Map([...kept, ...fresh]) };
      if (!changed) this.allReadAt = began;
    } catch (error) {
      this.#changed = null;
      throw error;
    }
  }

  async #keepUp(): Promise<void> {
    while (!this.#isOver && !this.isGone) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
      await this.#bell.rung(Math.max(0, this.allReadAt + LOOK_AGAIN_MS - performance.now()));
      if (this.#isOver) return;
      if (performance.now() - this.allReadAt >= LOOK_AGAIN_MS) this.#changed = null;
      await this.#read().catch((err: unknown) => {
        log.warn({ err, canvas_id: this.#id }, "an open canvas could not be read; retrying");
      });
      for (const bell of this.#viewers) bell.ring();
    }
    this.#end();
  }
}

const canvases = new Map<string, LiveCanvas>();

function liveCanvas(id: string, range: WidgetRange | undefined): LiveCanvas {
  const key = `${id} ${range ?? ""}`;
  const there = canvases.get(key);
  if (there) return there;
  const made: LiveCanvas = new LiveCanvas(id, range, () => {
    if (canvases.get(key) === made) canvases.delete(key);
  });
  canvases.set(key, made);
  return made;
}

/** What somebody has of a canvas. */
interface Known {
  version: string;
  hashes: ReadonlySet<string>;
}

const idOf = ({ version, hashes }: Known): string => `${version}.${[...hashes].join("")}`;

/** Of an id that says nothing, nothing is known: everything is sent then. */
function knownOf(id: string): Known {
  const [, version = "", hashes = ""] = /^([0-9a-z]{1,12})\.([\w-]*)$/.exec(id) ?? [];
  return { version, hashes: new Set(hashes.match(new RegExp(`.{${HASH_CHARACTERS}}`, "g"))) };
}

const allOf = ({ version, widgets }: Shown): Known => ({ version, hashes: new Set([...widgets.values()].map(({ hash }) => hash)) });

interface SentEvent {
  seq: string;
  /** Of its widgets as JSON. */
  characters: number;
  type: CanvasEvent["type"];
  data: CanvasEvent;
}

/** Characters of an event that is written in a turn of the event loop of its own. */
const LARGE_CHARACTERS = 50_000;
const isLarge = ({ characters }: SentEvent): boolean => characters >= LARGE_CHARACTERS;

/** What has to be told to somebody who has this much. */
function eventsFor(canvas_id: string, shown: Shown, known: Known): SentEvent[] {
  const { version, updated_at } = shown;
  const changed = [...shown.widgets.values()].filter(({ hash }) => !known.hashes.has(hash));
  const events: SentEvent[] = [];
  const characters = changed.reduce((sum, widget) => sum + widget.characters, 0);
  const add = (has: Known, data: CanvasEvent) => events.push({ seq: idOf(has), characters, type: data.type, data });
  if (known.version !== version) add({ version, hashes: known.hashes }, { type: "canvas_changed", canvas_id, updated_at });
  if (changed.length) add(allOf(shown), { type: "canvas_data", canvas_id, widgets: changed.map(({ data }) => data) });
  return events;
}

/**
 * What a canvas shows from now on: the widgets that changed, and that somebody has changed the canvas itself. Yields "idle" when
 * nothing came for `heartbeatMs`, and ends when the canvas is deleted.
 * @param last the id of the last event that the viewer has; undefined for a first connection, which is told of nothing old
 */
export async function followCanvas(
  { canvas_id, range }: { canvas_id: string; range?: WidgetRange | undefined },
  last: string | undefined,
  signal: AbortSignal,
  heartbeatMs: number,
): Promise<AsyncGenerator<SentEvent | "idle">> {
  // Somebody who comes back may have it from a process that had heard of more by then than this one has.
  const newerThan = last === undefined ? 0 : performance.now();
  // Read before the answer begins: whoever asks for the data once it has begun gets no older ones.
  const canvas = liveCanvas(canvas_id, range);
  await canvas.ready;
  const known = last === undefined ? canvas.shown && allOf(canvas.shown) : knownOf(last);
  return known ? follow(canvas_id, range, { known, newerThan }, signal, heartbeatMs) : nothing();
}

async function* nothing(): AsyncGenerator<never> {}

async function* follow(
  canvas_id: string,
  range: WidgetRange | undefined,
  { known, newerThan }: { known: Known; newerThan: number },
  signal: AbortSignal,
  heartbeatMs: number,
): AsyncGenerator<SentEvent | "idle"> {
  const bell = new Bell(signal);
  const canvas = liveCanvas(canvas_id, range);
  const leave = canvas.join(bell);
  try {
    await canvas.ready;
    while (!signal.aborted && !canvas.isGone) {
      const { shown } = canvas;
      const events = shown ? eventsFor(canvas_id, shown, known) : [];
      if (shown && (events.length === 0 || canvas.allReadAt >= newerThan)) {
        // All viewers are sent the same at the same time, and it is written for each of them.
        if (events.some(isLarge)) await new TimeSlice().next();
        yield* events;
        [known, newerThan] = [allOf(shown), 0];
        if (canvas.shown !== shown) continue;
      } else if (shown) canvas.readAgain();
      const started = Date.now();
      await bell.rung(heartbeatMs);
      if (!signal.aborted && Date.now() - started >= heartbeatMs) yield "idle";
    }
  } finally {
    leave();
  }
}
