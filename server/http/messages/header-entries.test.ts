import { createServer, request as httpRequest } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { headerEntries, headersFrom } from "#server/http/messages/read-json.ts";

/** Entries of a request as it came with these headers, and as the front left them. */
async function entriesOf(sent: Record<string, string | string[]>, left: Record<string, string>) {
  const received = Promise.withResolvers<[string, string][]>();
  const server = createServer((incoming, response) => {
    received.resolve([...headerEntries(headersFrom(incoming, new Request("http://localhost/", { headers: left })))]);
    response.end();
  });
  const { url, stop } = await listen(server);
  onTestFinished(() => stop());
  httpRequest(url, { headers: sent }).end();
  return received.promise;
}

test("a repeated header has an entry for each value", async () => {
  expect(await entriesOf({ "X-Tag": ["a", "b, c"], "x-one": "1" }, { "x-tag": "a, b, c", "x-one": "1" })).toEqual([
    ["x-one", "1"],
    ["x-tag", "a"],
    ["x-tag", "b, c"],
  ]);
});

test("a header that was replaced since it came has its new value", async () => {
  expect(await entriesOf({ "x-tag": ["a", "b"] }, { "x-tag": "new" })).toEqual([["x-tag", "new"]]);
});

test("a request that did not come from Node has the entries of its headers", () => {
  expect([...headerEntries(new Request("http://localhost/", { headers: { "x-tag": "a, b" } }))]).toEqual([["x-tag", "a, b"]]);
});
