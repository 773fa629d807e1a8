import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";

const SIGNING_KEY = "00112233445566778899aabbccddeeff";

/** An Inngest server that knows nothing but to note which address is registered with it. */
async function startServer(): Promise<{ url: string; registered: string[] }> {
  const registered: string[] = [];
  const server = createServer(async (request, response) => {
    const body: Buffer[] = await request.toArray();
    if (request.url?.startsWith("/fn/register")) registered.push(JSON.parse(Buffer.concat(body).toString()).url);
    response.setHeader("content-type", "application/json").end('{"ok":true,"modified":true}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, registered };
}

/** The route as it stands after a start with these settings. */
async function routeWith(settings: Record<string, string>): Promise<(request: Request) => Promise<Response>> {
  for (const [name, value] of Object.entries({ NODE_ENV: "production", ...settings })) vi.stubEnv(name, value);
  vi.resetModules();
  return (await import("#server/http/inngest.ts")).answerInngest;
}

const BODY = "{}";
/** As an Inngest server signs what it sends. */
function signature(): string {
  const now = Math.round(Date.now() / 1000);
  return `t=${now}&s=${createHmac("sha256", SIGNING_KEY).update(BODY).update(String(now)).digest("hex")}`;
}
const askToRegister = (host: string, headers: Record<string, string> = {}) =>
  new Request(`http://${host}/api/inngest`, {
    method: "PUT",
    headers: { host, "content-type": "application/json", ...headers },
    body: BODY,
  });

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test("only the Inngest server can have an address registered, or anybody could send all runs to one of theirs", async () => {
  const { url, registered } = await startServer();
  const answer = await routeWith({ INNGEST_BASE_URL: url, INNGEST_EVENT_KEY: "e1", INNGEST_SIGNING_KEY: SIGNING_KEY });

  expect((await answer(askToRegister("elsewhere.example"))).status).toBe(401);
  expect(registered).toEqual([]);

  expect((await answer(askToRegister("app:3000", { "x-inngest-signature": signature() }))).status).toBe(200);
  expect(registered).toEqual(["http://app:3000/api/inngest"]);
});

test("with an Inngest dev server nothing is signed, and only when that is asked for", async () => {
  const { url, registered } = await startServer();
  const strict = await routeWith({ INNGEST_BASE_URL: url });
  expect((await strict(askToRegister("localhost:3000"))).status).toBeGreaterThanOrEqual(400);
  expect(registered).toEqual([]);

  const answer = await routeWith({ INNGEST_BASE_URL: url, INNGEST_DEV: "1" });
  expect((await answer(askToRegister("localhost:3000"))).status).toBe(200);
  expect(registered).toEqual(["http://localhost:3000/api/inngest"]);
});
