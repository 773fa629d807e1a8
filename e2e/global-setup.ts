import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { browserOptions } from "#e2e/browser.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { startTreadle } from "#e2e/server.ts";

const owner = { email: "owner@example.com", password: "the owner's password", key: `sk-service-${"owner".repeat(8)}` };

/** Settings of the server that the `api` and `ui` specs share. */
const env = {
  BOOTSTRAP_EMAIL: owner.email,
  BOOTSTRAP_PASSWORD: owner.password,
  BOOTSTRAP_API_KEY: owner.key,
  ALLOW_SIGNUP: "1",
  RATE_LIMIT_PER_MINUTE: "0",
  RATE_LIMIT_BURST: "0",
  RATE_LIMIT_WEB: "0",
  EXECUTIONS_PER_HOUR: "0",
  ACCOUNTS_PER_HOUR: "0",
  INVITATIONS_PER_HOUR: "0",
  PROJECTS_PER_USER: "0",
  // What tools and sources reach out to here are stand-ins on this machine.
  ALLOW_PRIVATE_NETWORK: "1",
  ...lateAnswers(),
};

/** With LATE_ANSWERS_MS set, its answers to browsers are late by any time up to that (late-answers.ts). */
function lateAnswers(): Record<string, string> {
  const { LATE_ANSWERS_MS } = process.env;
  if (!LATE_ANSWERS_MS) return {};
  return { LATE_ANSWERS_MS, NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, "late-answers.ts"))}` };
}

/**
 * Starts one product and one model stand-in for all workers, which find them in the environment. With BASE_URL set (and
 * OWNER_EMAIL, OWNER_PASSWORD, MODEL_SERVER_URL, SERVER_DATA_DIR), the specs run against a server that is already there.
 */
export default async function globalSetup(): Promise<() => Promise<void>> {
  await browserOptions(); // unpacked once, before workers need it
  const models = process.env.MODEL_SERVER_URL ? undefined : await startModelServer();
  process.env.MODEL_SERVER_URL ??= models?.url ?? "";
  const server = process.env.BASE_URL ? undefined : await startTreadle({ env });
  if (server)
    Object.assign(process.env, {
      BASE_URL: server.url,
      SERVER_DATA_DIR: server.dataDir,
      OWNER_EMAIL: owner.email,
      OWNER_PASSWORD: owner.password,
      OWNER_API_KEY: owner.key,
    });
  return async () => {
    await server?.stop();
    await models?.stop();
    if (server) await writeFile(join(import.meta.dirname, "artifacts/server.log"), server.logs());
  };
}
