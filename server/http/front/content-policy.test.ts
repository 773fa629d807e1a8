import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { createFront } from "#server/http/front/front.ts";

test("each page has a policy with a nonce of its own, which Next is told; what is no page may do nothing", async () => {
  const handle = ({ headers }: IncomingMessage, response: ServerResponse) => void response.end(JSON.stringify(headers));
  const off = { TRUST_PROXY: false, RATE_LIMIT_PER_MINUTE: 0, RATE_LIMIT_BURST: 0, RATE_LIMIT_WEB: 0, INNGEST_DEV: false };
  const front = createFront({ handle, settings: { ...off, MAX_BODY_BYTES: 1024, TREADLE_FRONT_TOKEN: "front-token" } });
  const base = `http://127.0.0.1:${await front.listen(0, "127.0.0.1")}`;
  onTestFinished(() => front.drain(0));

  const nonces = new Set<string>();
  for (const path of ["/", "/docs", "/sign-in?next=/", "/apis", "/api"]) {
    const answer = await fetch(`${base}${path}`, { headers: { "content-security-policy": "script-src 'nonce-mine'", "x-nonce": "mine" } });
    const policy = answer.headers.get("content-security-policy") ?? "";
    const nonce = /script-src 'nonce-([\w+/]{24})' 'strict-dynamic';/.exec(policy)?.[1] ?? "";
    expect(policy).not.toContain("unsafe-eval");
    expect(await answer.json()).toMatchObject({ "content-security-policy": policy, "x-nonce": nonce });
    nonces.add(nonce);
  }
  expect(nonces.size).toBe(5);
  for (const path of ["/api/v1/agents", "/api/trpc/x", "/_next/static/x.js", `/webhooks/${"0".repeat(36)}`])
    expect((await fetch(`${base}${path}`)).headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
});
