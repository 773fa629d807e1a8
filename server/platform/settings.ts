import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { z } from "zod";
import { Environment } from "#server/platform/settings-schema.ts";
import { shorten } from "#server/shared/shorten.ts";

export type Settings = z.infer<typeof Environment>;

/** Settings as they stand in the environment: texts, an empty one counts as not set. */
export type GivenSettings = Partial<Record<keyof Settings, string>>;

/** True in the processes of tests: there server/platform/db/held-connection.ts refuses a second connection to a caller that holds one. */
export const areHeldConnectionsChecked = process.env.CHECK_HELD_CONNECTIONS === "1";

let given: GivenSettings | undefined;
let current: Settings | undefined;

const isOurs = (name: string): boolean => name in Environment.shape;
/** By this Node tells a process that it watches to report what it loads, as messages: a child would report to us. */
const OF_WATCHING = "WATCH_REPORT_DEPENDENCIES";
/** Settings that are read in lower case first, as by curl. */
const EITHER_CASE = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] as const satisfies readonly (keyof Settings)[];
const LOWER_CASE: ReadonlySet<string> = new Set(EITHER_CASE.map((name) => name.toLowerCase()));

const fromEnvironment = (): GivenSettings => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => isOurs(name))),
  ...Object.fromEntries(EITHER_CASE.map((name) => [name, process.env[name.toLowerCase()] || process.env[name]])),
});

/** Characters of a refused value that are shown. */
const MAX_SHOWN = 100;
/** True for a value that may hold a secret: that of a key, a password or a server, and any address with a user in it. */
const isSecret = (name: string, value: string): boolean =>
  /SECRET|PASSWORD|KEY|DATABASE_URL|SMTP_URL|(OUTGOING|HTTPS?|ALL)_PROXY/.test(name) || value.includes("@");

/**
 * Every setting of this process. Nobody else reads process.env.
 * @throws Error with one sentence that names the variable and what is wrong with it
 */
export function settings(): Settings {
  if (current) return current;
  given ??= fromEnvironment();
  const parsed = Environment.safeParse(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "")));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0]) as keyof Settings;
    const value = given[name] ?? "";
    const shown = isSecret(name, value) ? "" : ` It is ${JSON.stringify(shorten(value, MAX_SHOWN))}.`;
    throw new Error(`${name} must be ${issue?.message}.${shown} Change it, or remove it for the default.`);
  }
  current = parsed.data;
  return current;
}

/** Sets settings of this process that boot finds out, such as the address of the database, or that a test wants. */
export function setSettings(values: GivenSettings): void {
  given = { ...(given ?? fromEnvironment()), ...values };
  current = undefined;
}

/**
 * Reads the settings from the environment and takes them out of it, for good: most are secrets, and a child process, whoever
 * starts it, gets what is left. What libraries look for there is set. What is left becomes a plain object, because Node's own
 * asks the system at every read, and libraries that copy the whole of it for each request (Inngest's SDK does) then cost more
 * than what they do.
 * @param isDev whether the web app is loaded again whenever its code changes
 */
export function takeSettings(isDev: boolean): void {
  given = fromEnvironment();
  current = undefined;
  process.env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name) && !LOWER_CASE.has(name) && name !== OF_WATCHING)),
    NODE_ENV: isDev ? "development" : "production",
    // next-auth builds its addresses from the x-forwarded headers, which server/http/front/front.ts makes truthful.
    AUTH_TRUST_HOST: "1",
    // Next asks for nothing over the network that the person at the machine did not ask for.
    NEXT_TELEMETRY_DISABLED: "1",
  };
}

/** DATA_DIR as an absolute path. */
export const dataDir = (): string => resolve(settings().DATA_DIR);

/** The address that people use, without a trailing slash: APP_URL, else this machine. */
export const appUrl = (): string => (settings().APP_URL ?? `http://localhost:${settings().PORT}`).replace(/\/$/, "");

/** True when no Inngest server is named, so that our own processes carry runs and jobs. */
export const isEmbeddedExecutor = (): boolean => settings().INNGEST_BASE_URL === undefined && !settings().INNGEST_DEV;

let ownId: string | undefined;

/**
 * Names this process in leases; new at every start, so a dead process never owns anything again. With the name of
 * the data folder, if this process holds it: by that the next one of the same folder knows what its predecessor held.
 */
export function processId(): string {
  const { TREADLE_FOLDER_NAME } = settings();
  ownId ??= [process.pid, ...(TREADLE_FOLDER_NAME ? [TREADLE_FOLDER_NAME] : []), randomUUID()].join("-");
  return ownId;
}
