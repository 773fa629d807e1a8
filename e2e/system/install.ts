import { type APIRequestContext, expect, request } from "@playwright/test";
import type { OwnPostgres } from "#e2e/system/own-postgres.ts";

/** Settings with which an install makes its first user and that user's API key. */
export const firstUser = (key: string) => ({
  BOOTSTRAP_EMAIL: "ada@example.com",
  BOOTSTRAP_PASSWORD: "a good password",
  BOOTSTRAP_API_KEY: key,
});

/** The same for processes that share one database. */
export const onPostgres = ({ url }: Pick<OwnPostgres, "url">, key: string) => ({
  DATABASE_URL: url,
  AUTH_SECRET: "a".repeat(32),
  ENCRYPTION_KEY: "e".repeat(32),
  ...firstUser(key),
});

export const noRateLimit = { RATE_LIMIT_PER_MINUTE: "0", RATE_LIMIT_BURST: "0", RATE_LIMIT_WEB: "0" };
export const noLimits = { ...noRateLimit, EXECUTIONS_PER_HOUR: "0" };

/** What the first user's browser sends to the REST API, the web app's own part of it too. */
export async function signedIn(url: string) {
  const browser: APIRequestContext = await request.newContext({ baseURL: url, extraHTTPHeaders: { origin: url } });
  const { csrfToken } = await (await browser.get("/api/auth/csrf")).json();
  const { BOOTSTRAP_EMAIL: email, BOOTSTRAP_PASSWORD: password } = firstUser("");
  const form = { csrfToken, email, password, json: "true" };
  expect((await browser.post("/api/auth/callback/credentials", { form })).ok()).toBe(true);
  return async (method: string, path: string, data?: object) => {
    const answer = await browser.fetch(`/api/v1${path}`, { method, ...(data && { data }) });
    expect(answer.ok(), `${method} ${path}: ${answer.status()}`).toBe(true);
    return answer.json();
  };
}
