import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { z } from "zod";

/** Whole numbers from the environment; an empty variable counts as not set. */
const count = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
const flag = z
  .enum(["0", "1", "true", "false"])
  .default("0")
  .transform((value) => value === "1" || value === "true");

/** Every variable of the environment that means something, with its default. The guide lists them: app/docs/settings-list.ts. */
export const Environment = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(3000),
  HOST: z.string().default("0.0.0.0"),
  APP_URL: z.url().optional(),
  DATA_DIR: z.string().default(".treadle"),
  DATABASE_URL: z.string().optional(),
  DATABASE_POOL: z.coerce.number().int().min(2).max(200).default(5),
  AUTH_SECRET: z.string().min(32).optional(),
  ENCRYPTION_KEY: z.string().min(32).optional(),
  ALLOW_SIGNUP: flag,
  BOOTSTRAP_EMAIL: z.email().optional(),
  BOOTSTRAP_PASSWORD: z.string().min(8).max(200).optional(),
  BOOTSTRAP_API_KEY: z
    .string()
    .regex(/^sk-service-[A-Za-z0-9_-]{32,}$/, "must be sk-service- and at least 32 characters after it")
    .optional(),
  PROJECT_STORAGE_BYTES: count(10_000_000_000),
  MAX_BODY_BYTES: count(4 * 1024 * 1024),
  RATE_LIMIT_PER_MINUTE: count(200),
  RATE_LIMIT_BURST: count(30),
  RATE_LIMIT_WEB: count(3000),
  EXECUTIONS_PER_HOUR: count(100),
  EXECUTIONS_PER_HOUR_MAX: count(0),
  ACCOUNTS_PER_HOUR: count(20),
  INVITATIONS_PER_HOUR: count(100),
  PROJECTS_PER_USER: count(100),
  TRUST_PROXY: flag,
  ALLOW_PRIVATE_NETWORK: flag,
  INNGEST_BASE_URL: z.url().optional(),
  /** An Inngest dev server: nothing is signed, either way. */
  INNGEST_DEV: flag,
  INNGEST_EVENT_KEY: z.string().optional(),
  INNGEST_SIGNING_KEY: z.string().optional(),
  INNGEST_SIGNING_KEY_FALLBACK: z.string().optional(),
  // Mail: without both nothing is sent, and the web app shows the links to copy.
  SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
  EMAIL_FROM: z.string().max(320).optional(),
  WORKER_CONCURRENCY: z.coerce.number().int().min(1).max(1000).default(50),
  PROJECT_CONCURRENCY: z.coerce.number().int().min(1).max(1000).default(25),
  SEGMENT_SECONDS: z.coerce.number().min(1).max(3600).default(60),
  // Agents' tools: how long an MCP server may take, and whose search web_search uses when the project has no credential.
  MCP_CONNECT_SECONDS: z.coerce.number().min(0.1).max(120).default(10),
  MCP_CALL_SECONDS: z.coerce.number().min(0.1).max(3600).default(60),
  SEARXNG_URL: z.url({ protocol: /^https?$/ }).optional(),
  BRAVE_API_KEY: z.string().optional(),
  TAVILY_API_KEY: z.string().optional(),
  // Sign-in through others: each appears when its two (OIDC: three) variables are set.
  GOOGLE_CLIENT_ID: z.string().optional(),
  GOOGLE_CLIENT_SECRET: z.string().optional(),
  GITHUB_CLIENT_ID: z.string().optional(),
  GITHUB_CLIENT_SECRET: z.string().optional(),
  OIDC_ISSUER: z.url().optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_NAME: z.string().default("Single sign-on"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  /** Set by server/main.ts while there is no owner: whoever has it may make the first account from anywhere. */
  TREADLE_SETUP_CODE: z.string().optional(),
  /** Set by server/main.ts when it started the database itself. */
  TREADLE_EMBEDDED_DATABASE: flag,
  /** Set by server/main.ts when it alone works in DATA_DIR, on a database of somebody else's: server/boot/predecessor.ts. */
  TREADLE_FOLDER_NAME: z.uuid().optional(),
  /** Set by server/main.ts: proves that a client address came from our own front. */
  TREADLE_FRONT_TOKEN: z.string().optional(),
});

export type Settings = z.infer<typeof Environment>;

/** Settings as they stand in the environment: texts, an empty one counts as not set. */
export type GivenSettings = Partial<Record<keyof Settings, string>>;

let given: GivenSettings | undefined;
let current: Settings | undefined;

const isOurs = (name: string): boolean => name in Environment.shape;
/** By this Node tells a process that it watches to report what it loads, as messages: a child would report to us. */
const OF_WATCHING = "WATCH_REPORT_DEPENDENCIES";
const fromEnvironment = (): GivenSettings => Object.fromEntries(Object.entries(process.env).filter(([name]) => isOurs(name)));

/**
 * Every setting of this process. Nobody else reads process.env.
 * @throws Error with one sentence that names the variable and what is wrong with it
 */
export function settings(): Settings {
  if (current) return current;
  given ??= fromEnvironment();
  const parsed = Environment.safeParse(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "")));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new Error(`The setting ${issue?.path.join(".")} is not usable: ${issue?.message}.`);
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
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs(name) && name !== OF_WATCHING)),
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

/** True when no Inngest server is named, so that the embedded executor carries the runs. */
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
