import { setTimeout as pause } from "node:timers/promises";
import type { CDPSession, Page } from "@playwright/test";
import { apiClient } from "#e2e/api-client.ts";
import { at, median } from "#e2e/bench/measure.ts";
import { launchBrowser } from "#e2e/browser.ts";
import { largeGraph } from "#e2e/large-graph.ts";
import { scriptBytes } from "#e2e/script-bytes.ts";
import { startTreadle } from "#e2e/server.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";

const ROUNDS = 3;
const MOVE_MS = 5000;
/** A wheel or a pointer tells of itself so often, in milliseconds. */
const INPUT_MS = 16;
const WANTED = { fps: 50, opening_ms: 1500, script_kb: 450 };

/** One stretch of moving about, as the compositor and the page saw it. */
interface Motion {
  /** Frames that reached the screen each second, from the trace. */
  fps: number;
  /** Longest time between two of them, in milliseconds. */
  longest_frame_ms: number;
  /** Longest that an input waited until the page was told of it, in milliseconds. */
  longest_input_ms: number;
  /** Inputs of which the page was never told; those that the browser joins to one event are told. */
  lost_inputs: number;
}

interface TraceEvent {
  name: string;
  ts: number;
  pid: number;
  tid: number;
  args?: { chain?: unknown; frameReporter?: { state?: string } } & Record<string, unknown>;
}

/** Records what Chromium does while `use` runs. */
async function traced(cdp: CDPSession, use: () => Promise<void>): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: unknown[] }) => events.push(...(value as TraceEvent[]));
  cdp.on("Tracing.dataCollected", collect);
  await cdp.send("Tracing.start", {
    transferMode: "ReportEvents",
    traceConfig: { includedCategories: ["disabled-by-default-devtools.timeline.frame", "devtools.timeline.frame"] },
  });
  await use();
  const complete = new Promise<void>((resolve) => cdp.once("Tracing.tracingComplete", () => resolve()));
  await cdp.send("Tracing.end");
  await complete;
  cdp.off("Tracing.dataCollected", collect);
  return events;
}

/** Watches inputs and frames inside the page; the numbers are read with `read`. */
async function watch(page: Page) {
  await page.evaluate(() => {
    const seen = { moves: 0, wheel: 0, longestInput: 0, frames: [] as number[], isOver: false };
    Object.assign(window, { seen });
    const note = (event: Event) => {
      if (event instanceof WheelEvent) seen.wheel += event.deltaY;
      else if (event instanceof PointerEvent) seen.moves += Math.max(1, event.getCoalescedEvents().length);
      seen.longestInput = Math.max(seen.longestInput, performance.now() - event.timeStamp);
    };
    for (const type of ["wheel", "pointermove"]) addEventListener(type, note, { capture: true, passive: true });
    const frame = (time: number) => {
      seen.frames.push(time);
      if (!seen.isOver) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  return () =>
    page.evaluate(() => {
      const { seen } = window as unknown as {
        seen: { moves: number; wheel: number; longestInput: number; frames: number[]; isOver: boolean };
      };
      seen.isOver = true;
      return seen;
    });
}

/** Frames per second and the longest gap, from the times at which frames were drawn, in milliseconds. */
function pace(times: readonly number[]): Pick<Motion, "fps" | "longest_frame_ms"> {
  const first = times[0];
  const last = times.at(-1);
  if (first === undefined || last === undefined || times.length < 2) return { fps: 0, longest_frame_ms: Number.POSITIVE_INFINITY };
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
  return { fps: ((times.length - 1) * 1000) / (last - first), longest_frame_ms: Math.max(...gaps) };
}

type Input = Parameters<CDPSession["send"]>[1] & { type: "mouseWheel" | "mouseMoved"; deltaY?: number };

/** Moves about for five seconds, as steadily as a hand does, whether or not the page keeps up. */
async function moving(page: Page, cdp: CDPSession, inputAt: (step: number) => Input): Promise<Motion> {
  const read = await watch(page);
  const sent = { moves: 0, wheel: 0, step: 1 };
  const events = await traced(cdp, async () => {
    const began = performance.now();
    const arrived: Promise<unknown>[] = [];
    for (let step = 0; performance.now() < began + MOVE_MS; step++) {
      const input = inputAt(step);
      if (input.type === "mouseMoved") sent.moves++;
      else sent.step = Math.abs(input.deltaY ?? 1);
      sent.wheel += input.deltaY ?? 0;
      arrived.push(cdp.send("Input.dispatchMouseEvent", input as never));
      await pause(Math.max(0, began + (step + 1) * INPUT_MS - performance.now()));
    }
    await Promise.all(arrived);
  });
  const seen = await read();
  // DrawFrame is what the compositor put on the screen; builds without it in their trace are judged by the page's own frames.
  const drawn = events.filter(({ name }) => name === "DrawFrame").map(({ ts }) => ts / 1000);
  const times = drawn.length > seen.frames.length / 4 ? drawn.sort((a, b) => a - b) : seen.frames;
  const lost_inputs = Math.max(0, sent.moves - seen.moves) + Math.round(Math.abs(sent.wheel - seen.wheel) / sent.step);
  return { ...pace(times), longest_input_ms: seen.longestInput, lost_inputs };
}

/** Pan by wheel, pan by drag, zoom by wheel: each from the whole workflow in view, and from near. */
async function measureMotion(page: Page): Promise<Record<string, Motion>> {
  const cdp = await page.context().newCDPSession(page);
  const box = await page.getByRole("region", { name: "Workflow canvas" }).boundingBox();
  if (!box) throw new Error("The canvas is not there.");
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  await page.mouse.move(middle.x, middle.y);
  const CTRL = 2;
  const turn = (step: number, size: number) => (Math.floor(step / 40) % 2 ? -size : size);
  const wheel = (deltaX: number, deltaY: number, modifiers = 0): Input => ({ type: "mouseWheel", ...middle, deltaX, deltaY, modifiers });
  const ways: Record<string, (step: number) => Input> = {
    "pan by wheel": (step) => wheel(turn(step, 30), turn(step, 12)),
    "zoom by wheel": (step) => wheel(0, turn(step, 6), CTRL),
    "pan by drag": (step) => {
      const place = { x: middle.x + 250 * Math.sin(step / 15), y: middle.y + 120 * Math.cos(step / 11) };
      return { type: "mouseMoved", ...place, button: "left", buttons: 1 };
    },
  };
  const results: Record<string, Motion> = {};
  for (const [view, prepare] of [
    ["whole workflow in view", () => page.getByRole("button", { name: "Fit to screen" }).click()],
    ["at 100 %", () => page.getByRole("button", { name: /^Zoom \d+ %/ }).click()],
  ] as const)
    for (const [name, move] of Object.entries(ways)) {
      await prepare();
      // The zoom to it is animated.
      await page.waitForTimeout(500);
      await page.mouse.move(middle.x, middle.y);
      const isDrag = name === "pan by drag";
      if (isDrag) await dragFrom(page, middle);
      results[`${name}, ${view}`] = await moving(page, cdp, move);
      if (isDrag) await page.mouse.up();
    }
  return results;
}

/** Presses where no node is, so that the view is dragged and not a node. */
async function dragFrom(page: Page, near: { x: number; y: number }): Promise<void> {
  const place = await page.evaluate(({ x, y }) => {
    for (let radius = 0; radius < 300; radius += 8)
      for (let angle = 0; angle < 12; angle++) {
        const spot = { x: x + radius * Math.cos(angle), y: y + radius * Math.sin(angle) };
        if (document.elementFromPoint(spot.x, spot.y)?.classList.contains("react-flow__pane")) return spot;
      }
    return null;
  }, near);
  if (!place) throw new Error("There is no free place on the canvas to drag from.");
  await page.mouse.move(place.x, place.y);
  await page.mouse.down();
}

const firstNode = (page: Page) => page.getByRole("region", { name: "Workflow canvas" }).getByRole("group", { name: "Trigger Start" });

/** From the navigation until a node can be focused and a click on it has opened its panel, in milliseconds. */
async function measureOpening(page: Page, address: string): Promise<number> {
  const began = performance.now();
  await page.goto(address, { waitUntil: "commit" });
  const node = firstNode(page);
  await node.waitFor();
  await node.focus();
  await node.click();
  await page.getByRole("complementary", { name: "Nodes and settings" }).getByLabel("Node name").waitFor();
  return performance.now() - began;
}

interface CanvasBench {
  env: Record<string, string>;
  key: string;
  /** Base URL for an LLM key; nothing is asked of it. */
  modelUrl: string;
  /** A server that runs already, e.g. one for development; its figures say nothing of the product's speed. */
  server?: { url: string };
}

/** The editor on large workflows: 500 nodes in motion, 200 nodes opened, and what its first load costs. */
export async function measureCanvas({ env, key, modelUrl, server }: CanvasBench) {
  const treadle = server ? undefined : await startTreadle({ env });
  const url = server?.url ?? treadle?.url ?? "";
  const browser = await launchBrowser();
  try {
    const api = apiClient({ url, key });
    const fields = { name: `Canvas ${Date.now()}`, provider: "openai_compatible", api_key: "bench", base_url: modelUrl };
    const llm = (await api.post("/llm-keys", fields, { schema: LlmKey, status: 201 })).body;
    const agent = (await api.post("/agents", { name: fields.name, llm_key_id: llm.id, model: "zero" }, { schema: Agent, status: 201 }))
      .body;
    const make = async (size: number) =>
      (await api.post("/workflows", { name: `${size} nodes`, ...largeGraph(size, agent.id) }, { schema: Workflow, status: 201 })).body.id;
    const [small, large] = [await make(200), await make(500)];
    const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: 900 } });
    const { csrfToken } = (await (await context.request.get("/api/auth/csrf")).json()) as { csrfToken: string };
    const form = { csrfToken, email: env.BOOTSTRAP_EMAIL ?? "", password: env.BOOTSTRAP_PASSWORD ?? "", json: "true" };
    await context.request.post("/api/auth/callback/credentials", { form, headers: { origin: url } });

    const weighed = await browser.newContext({
      baseURL: url,
      viewport: { width: 1440, height: 900 },
      storageState: await context.storageState(),
    });
    const scale = await weighed.newPage();
    await scale.clock.install();
    const script_kb = (await scriptBytes(scale, async () => void (await measureOpening(scale, `/workflows/${small}`)))) / 1000;
    await weighed.close();
    const page = await context.newPage();
    const openings: number[] = [];
    for (let round = 0; round < ROUNDS + 1; round++) {
      const fresh = await context.newPage();
      const took = await measureOpening(fresh, `/workflows/${small}`);
      await fresh.close();
      // The first warms the server up.
      if (round > 0) openings.push(took);
    }
    await page.goto(`/workflows/${large}`);
    await firstNode(page).waitFor();
    const motion = await measureMotion(page);

    const opening_ms = median(openings);
    const line = (name: string, { fps, longest_frame_ms, longest_input_ms, lost_inputs }: Motion) =>
      `  ${name.padEnd(40)}${fps.toFixed(1).padStart(6)} fps, longest frame ${longest_frame_ms.toFixed(0)} ms, longest wait of an input ${longest_input_ms.toFixed(0)} ms, lost inputs ${lost_inputs}`;
    process.stdout.write(
      [
        `editor with 500 nodes (wanted: ${WANTED.fps} fps or more)`,
        ...Object.entries(motion).map(([name, figures]) => line(name, figures)),
        `slowest: ${at(
          Object.values(motion)
            .map(({ fps }) => fps)
            .sort((a, b) => a - b),
          0,
        ).toFixed(1)} fps`,
        `editor with 200 nodes, from the navigation to a panel that a click opened: ${opening_ms.toFixed(0)} ms (${openings
          .map((took) => took.toFixed(0))
          .join(", ")}; wanted: under ${WANTED.opening_ms})`,
        `JavaScript of its first load: ${script_kb.toFixed(0)} kB over the line (wanted: under ${WANTED.script_kb})`,
        "",
      ].join("\n"),
    );
    return { motion, opening_ms, openings, script_kb };
  } finally {
    await browser.close();
    await treadle?.stop();
  }
}
