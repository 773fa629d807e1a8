import { expect, test } from "vitest";
import { faultsOfAnswer } from "#server/testing/api/envelope.ts";
import { type HostileValues, hostileValues } from "#server/testing/api/hostile.ts";
import { type Amount, type Mutation, mutationsOf } from "#server/testing/api/mutations.ts";
import { openWorld } from "#server/testing/api/open-world.ts";
import type { Operation } from "#server/testing/api/operations.ts";
import type { Sample } from "#server/testing/api/samples.ts";
import { send, told } from "#server/testing/api/send.ts";
import { times } from "#server/testing/times.ts";

// Generated values for every field of every operation of the API document, and of the web app's own. None may lead to a 5xx, every refusal comes in the
// error envelope, and after a refusal everything is as it was. FUZZ_SEED and TEST_SCALE (times as many values) go further,
// FUZZ_ONLY (a part of an operation's name) goes to one place, FUZZ_TALK tells of each operation as it is done.

/** Milliseconds. Generous, because a slow machine is no failure: two idle cores need a tenth of it. */
const PATIENCE_MS = times(150_000);
const seed = Number(process.env.FUZZ_SEED ?? 20261121);
const only = process.env.FUZZ_ONLY;
const amount: Amount = { ofField: times(2), ofNestedField: times(1), nestedFields: times(10), ofParameter: times(1), ofDoor: times(1) };
/** How many faults of one operation are told. */
const TOLD = 10;
/** Requests under way at a time. */
const WIDTH = 8;

/** Names of the tables that differ. */
const differences = (one: Record<string, string>, other: Record<string, string>) =>
  Object.keys(one).filter((name) => one[name] !== other[name]);

async function inWaves<Item, Result>(items: Item[], each: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += WIDTH) results.push(...(await Promise.all(items.slice(at, at + WIDTH).map(each))));
  return results;
}

/** The tests of every `parts`-th operation, from the `part`-th on, counted from 1: several files, so that they run side by side. */
export function testFuzz(part: number, parts: number): void {
  const open = openWorld();

  async function fire(operation: Operation, mutation: Mutation, sample: Sample) {
    const { key, project, browser } = sample.by ?? open.world.admin;
    const wire = mutation.apply(sample);
    const as = operation.sessionOnly ? browser : { authorization: `Bearer ${key}`, "x-project-id": project.id };
    const headers = { ...as, ...wire.headers };
    try {
      const reply = await send(open.door, wire, headers);
      const faults = faultsOfAnswer(operation, mutation.place, reply).map((fault) => `${fault} (${mutation.place}): ${told(wire, reply)}`);
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
      const before = await open.sums();
      const { isRefused } = await fire(operation, mutation, sample);
      const changes = differences(before, await open.sums());
      if (isRefused && changes.length)
        return [
          `${operation.name} (${mutation.place}) was refused, and changed ${changes}: ${JSON.stringify(mutation.apply(sample)).slice(0, 600)}`,
        ];
    }
    return [`${operation.name}: a request was refused, and changed something; sent again none does`];
  }

  /** Sends every mutation; then those that were refused again, to what nobody has touched yet, and compares what is kept. */
  async function fuzz(operation: Operation, values: HostileValues): Promise<{ sent: number; faults: string[] }> {
    let sample = await open.sampleOf(operation);
    const mutations = mutationsOf(operation, sample, { amount, seed, values });
    let before = await open.sums();
    const outcomes = await inWaves(mutations, (mutation) => fire(operation, mutation, sample));
    const faults = outcomes.flatMap((outcome) => outcome.faults);
    let refused = outcomes.filter(({ isRefused }) => isRefused).map(({ mutation }) => mutation);
    let sent = mutations.length;
    let isMixed = refused.length < sent;
    // Where even what was served has changed nothing, as reading does, nothing that was refused has.
    if (isMixed && operation.method === "GET" && differences(before, await open.sums()).length === 0) return { sent, faults };
    // What was served may have changed things; then the comparison needs a round of refusals alone.
    for (let round = 0; isMixed && round < 3; round++) {
      sample = await open.sampleOf(operation);
      before = await open.sums();
      const again = await inWaves(refused, (mutation) => fire(operation, mutation, sample));
      sent += refused.length;
      isMixed = again.some(({ isRefused }) => !isRefused);
      // Something was served once more; a 409 may only say so.
      refused = again.filter(({ isRefused, status }) => isRefused && !(isMixed && status === 409)).map(({ mutation }) => mutation);
      if (isMixed) before = await open.sums();
    }
    const changes = differences(before, await open.sums());
    if (changes.length) faults.push(...(await culprits(operation, refused, await open.sampleOf(operation))));
    return { sent, faults };
  }

  test(`no value of any field breaks the API, part ${part} of ${parts}`, { timeout: PATIENCE_MS }, async () => {
    const found: string[] = [];
    let sent = 0;
    const all = [...open.operations, ...open.own];
    const values = hostileValues(open.world.foreign);
    const mine = all.filter(({ name }, index) => index % parts === part - 1 && (!only || name.includes(only)));
    for (const operation of mine) {
      const from = performance.now();
      const outcome = await fuzz(operation, values);
      sent += outcome.sent;
      found.push(...outcome.faults.slice(0, TOLD));
      if (outcome.faults.length > TOLD) found.push(`${operation.name}: and ${outcome.faults.length - TOLD} more`);
      if (process.env.FUZZ_TALK) {
        const ms = Math.round(performance.now() - from);
        process.stdout.write(`${[`${operation.name}: ${outcome.sent} in ${ms} ms`, ...outcome.faults].join("\n  ")}\n`);
      }
    }
    process.stdout.write(`fuzz part ${part}: ${sent} requests, seed ${seed}, ${found.length} faults\n`);
    expect(found).toEqual([]);
    expect(sent).toBeGreaterThan(mine.length);
  });
}
