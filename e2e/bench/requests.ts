import { at } from "#e2e/bench/measure.ts";

export interface Requests {
  p50_ms: number;
  p99_ms: number;
  per_second: number;
}

/** Sends `count` requests, so many at once, each of which must be answered with `status`. @returns how long they took */
export async function timeRequests(
  send: (index: number) => Promise<Response>,
  { count, concurrency, status }: { count: number; concurrency: number; status: number },
): Promise<Requests> {
  const took: number[] = [];
  let next = 0;
  const client = async () => {
    for (let index = next++; index < count; index = next++) {
      const from = performance.now();
      const answer = await send(index);
      const text = await answer.text();
      took.push(performance.now() - from);
      if (answer.status !== status) throw new Error(`${answer.url} answered ${answer.status}: ${text.slice(0, 300)}`);
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: concurrency }, client));
  const per_second = count / ((performance.now() - began) / 1000);
  took.sort((a, b) => a - b);
  return { p50_ms: at(took, 0.5), p99_ms: at(took, 0.99), per_second };
}
