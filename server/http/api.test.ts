import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { answerApi } from "#server/http/api.ts";

const id = randomUUID();
const ask = (method: string, path: string) => answerApi(new Request(`http://localhost${path}`, { method }));

test("a method that a path does not take is told those that it takes", async () => {
  const allowed = async (method: string, path: string) => {
    const { status, headers } = await ask(method, path);
    return `${status} ${headers.get("allow")}`;
  };
  expect(await allowed("POST", "/api/health")).toBe("405 GET, HEAD, OPTIONS");
  expect(await allowed("OPTIONS", "/api/health/ready")).toBe("204 GET, HEAD, OPTIONS");
  expect(await allowed("PATCH", `/api/v1/webhooks/${id}`)).toBe("405 GET, HEAD, POST, OPTIONS");
  expect(await allowed("OPTIONS", `/api/v1/http/${id}`)).toBe("204 GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  expect(await allowed("PATCH", "/api/v1/agents")).toBe("405 GET, HEAD, POST, OPTIONS");
});

test("HEAD has the headers of GET and no body", async () => {
  const { status, headers, body } = await ask("HEAD", "/api/health");
  expect([status, headers.get("content-type"), body]).toEqual([200, "application/json", null]);
});

test("a path that is not there is told so", async () => {
  for (const path of ["/api/nothing", "/api/trpc", "/api/trpc/a/b", "/api/v1", `/api/v1/webhooks/%E0%A4%A`]) {
    const answer = await ask("GET", path);
    expect([path, answer.status, await answer.json()]).toEqual([path, 404, expect.objectContaining({ error_code: "NOT_FOUND" })]);
  }
});
