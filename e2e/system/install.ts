import type { OwnPostgres } from "#e2e/system/own-postgres.ts";

/** Settings with which an install makes its first user and that user's API key. */
export const firstUser = (key: string) => ({
  BOOTSTRAP_EMAIL: "ada@example.com",
  BOOTSTRAP_PASSWORD: "a good password",
  BOOTSTRAP_API_KEY: key,
});

/** The same for processes that share one database. */
export const onPostgres = ({ url }: OwnPostgres, key: string) => ({
  DATABASE_URL: url,
  AUTH_SECRET: "a".repeat(32),
  ENCRYPTION_KEY: "e".repeat(32),
  ...firstUser(key),
});

export const noRateLimit = { RATE_LIMIT_PER_MINUTE: "0", RATE_LIMIT_BURST: "0", RATE_LIMIT_WEB: "0" };
export const noLimits = { ...noRateLimit, EXECUTIONS_PER_HOUR: "0" };
