import { z } from "zod";

// Every setting, said once. server/platform/settings.ts reads them from the environment; the guide and .env.example show them.

/** Whole numbers from the environment; an empty variable counts as not set. */
const count = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
const within = (least: number, most: number) => z.coerce.number().min(least).max(most);
const flag = z
  .enum(["0", "1", "true", "false"])
  .default("0")
  .transform((value) => value === "1" || value === "true");
const text = z.string().optional();

/** By what they are about, as people read them: each with what it means. */
const GROUPS = {
  "Address and data": {
    PORT: within(0, 65_535).int().default(3000).describe("Where it listens; 0 lets the system choose"),
    HOST: z.string().default("0.0.0.0").describe("Network interface; all of them unless set"),
    APP_URL: z.url().optional().describe("Address that people use, for links and sign-in; http://localhost and the port unless set"),
    TRUST_PROXY: flag.describe("1 when a proxy of yours stands in front and sets X-Forwarded-For"),
    DATA_DIR: z
      .string()
      .default(".treadle")
      .describe(
        "Folder of the embedded database and of the generated secrets; with DATABASE_URL it only lets a process that starts again know its own runs",
      ),
    DATABASE_URL: text.describe("A PostgreSQL of yours in place of the embedded one"),
    DATABASE_POOL: within(2, 200).int().default(5).describe("Connections to the database that each process holds, 2 to 200"),
    AUTH_SECRET: z
      .string()
      .min(32)
      .optional()
      .describe("Signs sessions; 32 characters or more, the same for every process. Needed with DATABASE_URL, else generated"),
    ENCRYPTION_KEY: z
      .string()
      .min(32)
      .optional()
      .describe(
        "Encrypts stored secrets; 32 characters or more, the same for every process. Needed with DATABASE_URL, else generated. Lost, they are lost",
      ),
    LOG_LEVEL: z
      .enum(["trace", "debug", "info", "warn", "error", "silent"])
      .default("info")
      .describe("trace, debug, info, warn, error or silent; JSON lines on standard error"),
  },
  Accounts: {
    ALLOW_SIGNUP: flag.describe("1 lets anybody create an account; otherwise accounts come by invitation"),
    BOOTSTRAP_EMAIL: z.email().optional().describe("First owner without a browser; ignored once a user exists"),
    BOOTSTRAP_PASSWORD: z.string().min(8).max(200).optional().describe("Password of the first owner, 8 characters or more"),
    BOOTSTRAP_API_KEY: z
      .string()
      .regex(/^sk-service-[A-Za-z0-9_-]{32,}$/, "must be sk-service- and at least 32 characters after it")
      .optional()
      .describe("API key of the first owner: sk-service- and 32 characters or more"),
    GOOGLE_CLIENT_ID: text.describe("Sign-in with Google, together with the next"),
    GOOGLE_CLIENT_SECRET: text.describe("Its secret"),
    GITHUB_CLIENT_ID: text.describe("Sign-in with GitHub, together with the next"),
    GITHUB_CLIENT_SECRET: text.describe("Its secret"),
    OIDC_ISSUER: z.url().optional().describe("Sign-in with an OpenID Connect provider, together with the next two"),
    OIDC_CLIENT_ID: text.describe("Its client id"),
    OIDC_CLIENT_SECRET: text.describe("Its secret"),
    OIDC_NAME: z.string().default("Single sign-on").describe("What its button says"),
  },
  Limits: {
    PROJECT_STORAGE_BYTES: count(10_000_000_000).describe(
      "Bytes that a project may hold: runs, documents and workflows together. A full one starts no run and takes no document; 0 turns it off",
    ),
    RATE_LIMIT_PER_MINUTE: count(200).describe("API requests of one client address in a minute; 0 turns it off"),
    RATE_LIMIT_BURST: count(30).describe("API requests of one client address in 5 seconds; 0 turns it off"),
    RATE_LIMIT_WEB: count(3000).describe(
      "Requests of pages and calls of the web app of one client address in a minute, of which 300 at sign-in; one person 1,200, who is not signed in 300. Other values change these in step; 0 turns it off",
    ),
    EXECUTIONS_PER_HOUR: count(100).describe(
      "Runs that one project starts in an hour by API, webhooks and schedules, unless its settings say otherwise; 0 turns it off",
    ),
    EXECUTIONS_PER_HOUR_MAX: count(0).describe("The most that a project’s settings may say; 0 leaves that to its admins"),
    ACCOUNTS_PER_HOUR: count(20).describe("Accounts that one client address makes by sign-up in an hour; 0 turns it off"),
    INVITATIONS_PER_HOUR: count(100).describe("Invitations that one person sends in an hour; 0 turns it off"),
    PROJECTS_PER_USER: count(100).describe("Projects that one person may own; 0 turns it off"),
    ASSISTANT_MESSAGES_PER_HOUR: count(60).describe("Messages that one person writes to the assistant in an hour; 0 turns it off"),
    ASSISTANT_MESSAGE_COST: within(0, 1000)
      .default(5)
      .describe(
        "US dollars that one message to the assistant may cost with the runs that it starts; 400,000 tokens of unknown price count as one; 0 turns it off",
      ),
    MAX_BODY_BYTES: count(4 * 1024 * 1024).describe("Largest body of a request, and so the largest file to upload"),
    ALLOW_PRIVATE_NETWORK: flag.describe(
      "1 lets everybody's outgoing requests reach private addresses. Without it, install admins can save endpoints there",
    ),
  },
  Runs: {
    WORKER_CONCURRENCY: within(1, 1000).int().default(50).describe("Runs that one process carries at once"),
    PROJECT_CONCURRENCY: within(1, 1000)
      .int()
      .default(25)
      .describe("Runs of one project that are carried at once; in each process as many again of those without an agent or a review"),
    SEGMENT_SECONDS: within(1, 3600).default(60).describe("After how many seconds a run is handed on between processes"),
    INNGEST_BASE_URL: z.url().optional().describe("An Inngest server to carry runs and background work, in place of this service alone"),
    INNGEST_DEV: flag.describe("1: it is a dev server on this machine (http://localhost:8288 unless named), and nothing is signed"),
    INNGEST_EVENT_KEY: text.describe("Its event key"),
    INNGEST_SIGNING_KEY: text.describe("Its signing key"),
    INNGEST_SIGNING_KEY_FALLBACK: text.describe("The other signing key while keys are changed"),
  },
  "Tools and mail": {
    MCP_CONNECT_SECONDS: within(0.1, 120).default(10).describe("How long connecting an MCP server may take"),
    MCP_CALL_SECONDS: within(0.1, 3600).default(60).describe("How long one call of an MCP tool may take"),
    SEARXNG_URL: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("SearXNG for web_search, where a project has no credential of this name; with none of the three, DuckDuckGo without a key"),
    BRAVE_API_KEY: text.describe("Brave Search for web_search, likewise"),
    TAVILY_API_KEY: text.describe("Tavily for web_search, likewise"),
    SMTP_URL: z
      .url({ protocol: /^smtps?$/ })
      .optional()
      .describe(
        "Mail server: smtp:// or smtps://, with user and password. Without it nothing is sent, and the web app shows the links to copy",
      ),
    EMAIL_FROM: z.string().max(320).optional().describe("Sender of mails, such as Treadle <treadle@example.com>"),
  },
} as const satisfies Record<string, z.ZodRawShape>;

/** Every variable of the environment that means something, with its default. */
export const Environment = z.object({
  ...GROUPS["Address and data"],
  ...GROUPS.Accounts,
  ...GROUPS.Limits,
  ...GROUPS.Runs,
  ...GROUPS["Tools and mail"],
  // Nobody's to choose: server/main.ts sets them.
  /** While there is no owner: whoever has it may make the first account from anywhere. */
  TREADLE_SETUP_CODE: text,
  /** The database was started by the service itself. */
  TREADLE_EMBEDDED_DATABASE: flag,
  /** It alone works in DATA_DIR, on a database of somebody else's: server/boot/predecessor.ts. */
  TREADLE_FOLDER_NAME: z.uuid().optional(),
  /** Proves that a client address came from our own front. */
  TREADLE_FRONT_TOKEN: text,
});

/** One setting, as people read about it. */
interface SettingRow {
  name: string;
  /** What holds when it is not set, as it would stand in the environment; null when that is nothing. */
  preset: string | null;
  meaning: string;
}

/** A value as it would stand in the environment. */
const written = (value: unknown): string | null =>
  value === undefined ? null : String(typeof value === "boolean" ? Number(value) : value);

/** Every setting that is anybody's to choose, by what it is about. */
export const settingGroups: readonly { title: string; rows: readonly SettingRow[] }[] = Object.entries(GROUPS).map(([title, group]) => ({
  title,
  rows: Object.entries<z.ZodType>(group).map(([name, schema]) => ({
    name,
    preset: written(schema.parse(undefined)),
    meaning: schema.description ?? "",
  })),
}));
