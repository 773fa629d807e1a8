import { expect, test } from "@playwright/test";
import type { Digest } from "#e2e/api/digest.ts";
import { faultsOfError, type Reply } from "#e2e/api/envelope.ts";
import { type Amount, type Mutation, mutationsOf } from "#e2e/api/mutations.ts";
import { type OpenWorld, openWorld } from "#e2e/api/open-world.ts";
import type { Operation } from "#e2e/api/operations.ts";
import type { Sample } from "#e2e/api/samples.ts";
import { send, told } from "#e2e/api/send.ts";
import type { World } from "#e2e/api/world.ts";
import { until } from "#e2e/until.ts";

// Generated values for every field of every operation of the API document. None may lead to a 5xx, every refusal comes in the
// error envelope, and after a refusal everything is as it was. FUZZ_SEED and FUZZ_SCALE (times as many values) go further,
// FUZZ_ONLY (a part of an operation's name) goes to one place, FUZZ_TALK tells of each operation as it is done.

const scale = Number(process.env.FUZZ_SCALE ?? 1);
// Generous, because a slow machine is no failure: two idle cores need a tenth of it.
test.describe.configure({ timeout: 600_000 * Math.max(1, scale) });

const seed = Number(process.env.FUZZ_SEED ?? 20261121);
const only = process.env.FUZZ_ONLY;
const times = (count: number) => Math.max(1, Math.round(count * scale));
const amount: Amount = { ofField: times(8), ofNestedField: times(3), nestedFields: times(40), ofParameter: times(6) };
/** How many faults of one operation are told. */
const TOLD = 10;
/** Requests under way at a time. */
const WIDTH = 8;

/** What calls a model or another service while the caller waits, so that a 502 tells of that one. */
const CALLS_OUT = /^(POST|PUT) \/(agents|mcp|rags)|^GET \/rags\/\{rag_id\}\/search/;

let url: string;
let world: World;
let operations: Operation[];
let digest: Digest;
let sampleOf: OpenWorld["sampleOf"];
let open: OpenWorld | undefined;

test.beforeAll(async () => {
  open = await openWorld();
  ({ url, world, operations, digest, sampleOf } = open);
});
test.afterAll(() => open?.stop());

/** The sums of the world's project, once nothing in it goes on by itself. */
async function sums() {
  const { id } = world.admin.project;
  await until(() => digest.isQuiet(id), 60_000);
  return digest.of(id);
}

/** Names of the tables that differ. */
const differences = (one: Record<string, string>, other: Record<string, string>) =>
  Object.keys(one).filter((name) => one[name] !== other[name]);

/** What is wrong with an answer, whatever was sent. */
function faultsOf(operation: Operation, { place }: Mutation, reply: Reply): string[] {
  const { status, type, text } = reply;
  if (status < 300) {
    if (status === 204) return text === "" ? [] : ["204 with a body"];
    return /^(application\/json|text\/event-stream)/.test(type) ? [] : [`content-type is ${type || "absent"}`];
  }
  if (status < 400) return ["a redirect"];
  if (status === 502 && CALLS_OUT.test(operation.name)) return faultsOfError(reply, "UPSTREAM_ERROR");
  if (status >= 500) return ["a fault of the service"];
  // With another value in the path it may be another path.
  const isNamed = place.startsWith("path ") || operation.statuses.includes(status);
  return [...faultsOfError(reply), ...(isNamed ? [] : [`the document does not name ${status}`])];
}

async function inWaves<Item, Result>(items: Item[], each: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += WIDTH) results.push(...(await Promise.all(items.slice(at, at + WIDTH).map(each))));
  return results;
}

async function fire(operation: Operation, mutation: Mutation, sample: Sample) {
  const { api, project } = sample.by ?? world.admin;
  const wire = mutation.apply(sample);
  const headers = { authorization: `Bearer ${api.key}`, "x-project-id": project.id, ...wire.headers };
  try {
    const reply = await send(url, wire, headers);
    const faults = faultsOf(operation, mutation, reply).map((fault) => `${fault} (${mutation.place}): ${told(wire, reply)}`);
    return { mutation, status: reply.status, isRefused: reply.status >= 400, faults };
  } catch (error) {
    return {
      mutation,
      status: 0,
      isRefused: false,
      faults: [`no answer (${mutation.place}): ${error} ${wire.method} ${wire.path.slice(0, 200)}`],
    };
  }
}

/** Which of these requests, which are all refused, changes something; sent one by one. */
async function culprits(operation: Operation, refused: Mutation[], sample: Sample): Promise<string[]> {
  for (const mutation of refused) {
    const before = await sums();
    const { isRefused } = await fire(operation, mutation, sample);
    const changes = differences(before, await sums());
    if (isRefused && changes.length)
      return [
        `${operation.name} (${mutation.place}) was refused, and changed ${changes}: ${JSON.stringify(mutation.apply(sample)).slice(0, 600)}`,
      ];
  }
  return [`${operation.name}: a request was refused, and changed something; sent again none does`];
}

/** Sends every mutation; then those that were refused again, to what nobody has touched yet, and compares what is kept. */
async function fuzz(operation: Operation): Promise<{ sent: number; faults: string[] }> {
  let sample = await sampleOf(operation);
  const mutations = mutationsOf(operation, sample, { amount, seed, foreign: world.foreign });
  let before = await sums();
  const outcomes = await inWaves(mutations, (mutation) => fire(operation, mutation, sample));
  const faults = outcomes.flatMap((outcome) => outcome.faults);
  let refused = outcomes.filter(({ isRefused }) => isRefused).map(({ mutation }) => mutation);
  let sent = mutations.length;
  // What was served may have changed things; then the comparison needs a round of refusals alone.
  for (let round = 0, isMixed = refused.length < sent; isMixed && round < 3; round++) {
    sample = await sampleOf(operation);
    before = await sums();
    const again = await inWaves(refused, (mutation) => fire(operation, mutation, sample));
    sent += refused.length;
    isMixed = again.some(({ isRefused }) => !isRefused);
    // Something was served once more; a 409 may only say so.
    refused = again.filter(({ isRefused, status }) => isRefused && !(isMixed && status === 409)).map(({ mutation }) => mutation);
    if (isMixed) before = await sums();
  }
  const changes = differences(before, await sums());
  if (changes.length) faults.push(...(await culprits(operation, refused, await sampleOf(operation))));
  return { sent, faults };
}

for (const half of [0, 1]) {
  test(`no value of any field breaks the API, part ${half + 1}`, async () => {
    const found: string[] = [];
    let sent = 0;
    const mine = operations.filter(({ name }, index) => index % 2 === half && (!only || name.includes(only)));
    for (const operation of mine) {
      const from = performance.now();
      const outcome = await fuzz(operation);
      sent += outcome.sent;
      found.push(...outcome.faults.slice(0, TOLD));
      if (outcome.faults.length > TOLD) found.push(`${operation.name}: and ${outcome.faults.length - TOLD} more`);
      if (process.env.FUZZ_TALK) {
        const ms = Math.round(performance.now() - from);
        process.stdout.write(`${[`${operation.name}: ${outcome.sent} in ${ms} ms`, ...outcome.faults].join("\n  ")}\n`);
      }
    }
    process.stdout.write(`fuzz part ${half + 1}: ${sent} requests, seed ${seed}, ${found.length} faults\n`);
    expect(found).toEqual([]);
    expect(sent).toBeGreaterThan(mine.length);
  });
}
