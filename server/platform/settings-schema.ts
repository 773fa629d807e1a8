import { z } from "zod";
import { type Cidr, cidrOf } from "#server/shared/cidr.ts";
import { hasScheme, proxyServerOf } from "#server/shared/proxy-address.ts";

// Every setting, said once. server/platform/settings.ts reads them from the environment; the guide and .env.example show them.

// Each message completes "NAME must be …".

/** A number from the environment, bounds included. */
const within = (least: number, most: number) => {
  const error = `a number from ${least} to ${most}`;
  return z.coerce.number(error).min(least, error).max(most, error);
};
/** The same, without decimals. Without `most`, as large as JavaScript counts exactly. */
const whole = (least: number, most = Number.MAX_SAFE_INTEGER) => {
  const error = most === Number.MAX_SAFE_INTEGER ? `a whole number, ${least} or more` : `a whole number from ${least} to ${most}`;
  return z.coerce.number(error).int(error).min(least, error).max(most, error);
};
const count = (fallback: number) => whole(0).default(fallback);
const IS_FLAG = z.enum(["0", "1", "true", "false"], "0 or 1");
const flag = IS_FLAG.default("0").transform((value) => value === "1" || value === "true");
/** Undefined, like an empty variable, leaves the choice to the service. */
const optionalFlag = IS_FLAG.transform((value) => value === "1" || value === "true").optional();
const webAddress = (example: string) => z.url({ protocol: /^https?$/, error: `an address such as ${example}` });
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
const text = z.string().optional();
const listed = (value: string): string[] => value.split(",").flatMap((part) => part.trim() || []);
const POSTGRES = /^postgres(ql)?:\/\//i;
const isOrigin = (value: string): boolean => URL.parse(value)?.origin === value;

/** Names of proxies in the environment, with OUTGOING_PROXY=env. */
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] as const;
const PROXY = "the address of an HTTP proxy, such as http://user:password@proxy.company:3128";

/** Completes "NAME must be …" for a proxy that cannot be used. A scheme is no secret. */
function proxyFault(value: string): string {
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(value) ?? [];
  return `${PROXY}${scheme && !/^https?:/i.test(scheme) ? `; it begins with ${scheme}, which is not supported` : ""}`;
}

/** By what they are about, as people read them: each with what it means. */
const GROUPS = {
  "Address and data": {
    PORT: whole(0, 65_535).default(3000).describe("Where it listens; 0 lets the system choose"),
    HOST: text.describe("Address of the network interface where it listens; all of them, over IPv4 and IPv6, unless set"),
    APP_URL: webAddress("https://treadle.example.com")
      .refine(
        (value) => isOrigin(value.replace(/\/$/, "")),
        "an address without a path, such as https://treadle.example.com: pages and files are served from the root, so give the service a host name of its own",
      )
      .optional()
      .describe("Address that people use, without a path, for links and sign-in; http://localhost and the port unless set"),
    TRUST_PROXY: flag.describe("1 when a proxy of yours stands in front and sets X-Forwarded-For"),
    CORS_ORIGINS: z
      .string()
      .refine(
        (value) => listed(value).every(isOrigin),
        "a list of origins such as https://app.example.com, separated by commas, without paths",
      )
      .transform(listed)
      .optional()
      .describe(
        "Origins whose pages may call the API with an API key, separated by commas, such as https://app.example.com; none unless set. Sessions never count across origins",
      ),
    DATA_DIR: z
      .string()
      .default(".treadle")
      .describe(
        "Folder of the embedded database and of the generated secrets; with DATABASE_URL it only lets a process that starts again know its own runs",
      ),
    DATABASE_URL: z
      .string()
      .refine((value) => POSTGRES.test(value), {
        error: ({ input }) => {
          const [kind] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(String(input)) ?? [];
          return `the address of a PostgreSQL, such as postgres://user:password@host:5432/database${kind ? `; it begins with ${kind}` : ""}`;
        },
      })
      .optional()
      .describe("Your own PostgreSQL in place of the embedded one: postgres://user:password@host:5432/database"),
    DATABASE_POOL: whole(2, 200).default(5).describe("Connections to the database that each process holds, 2 to 200"),
    AUTH_SECRET: z
      .string()
      .min(32, "32 characters or more")
      .optional()
      .describe("Signs sessions; 32 characters or more, the same for every process. Needed with DATABASE_URL, else generated"),
    ENCRYPTION_KEY: z
      .string()
      .min(32, "32 characters or more")
      .optional()
      .describe(
        "Encrypts stored secrets; 32 characters or more, the same for every process. Needed with DATABASE_URL, else generated. Lost, they are lost",
      ),
    LOG_LEVEL: z
      .enum(LOG_LEVELS, `one of ${LOG_LEVELS.join(", ")}`)
      .default("info")
      .describe("trace, debug, info, warn, error or silent; JSON lines on standard error"),
    LOG_RUNS: IS_FLAG.default("1")
      .transform((value) => value === "1" || value === "true")
      .describe("1 logs the end of each run at info: its id, workflow, status, duration and cost"),
    LOG_REQUESTS: flag.describe("1 logs each request at info: method, path without its query, status, duration, client address"),
  },
  Accounts: {
    ALLOW_SIGNUP: flag.describe("1 lets anybody create an account; otherwise accounts come by invitation"),
    BOOTSTRAP_EMAIL: z.email("an email address").optional().describe("First owner without a browser; ignored once a user exists"),
    BOOTSTRAP_PASSWORD: z
      .string()
      .min(8, "8 to 200 characters")
      .max(200, "8 to 200 characters")
      .optional()
      .describe("Password of the first owner, 8 characters or more"),
    BOOTSTRAP_API_KEY: z
      .string()
      .regex(/^sk-service-[A-Za-z0-9_-]{32,}$/, "sk-service- and at least 32 letters, digits, - or _ after it")
      .optional()
      .describe("API key of the first owner: sk-service- and 32 characters or more"),
    GOOGLE_CLIENT_ID: text.describe("Sign-in with Google, together with the next"),
    GOOGLE_CLIENT_SECRET: text.describe("Its secret"),
    GITHUB_CLIENT_ID: text.describe("Sign-in with GitHub, together with the next"),
    GITHUB_CLIENT_SECRET: text.describe("Its secret"),
    OIDC_ISSUER: webAddress("https://accounts.example.com")
      .optional()
      .describe("Sign-in with an OpenID Connect provider, together with the next two"),
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
    EMAILS_PER_ADDRESS: count(20).describe(
      "Emails about reviews and notifications to one address in an hour, of all projects together. Further ones come as one summary; 0 turns it off",
    ),
    EMAILS_PER_PROJECT: count(200).describe("The same of one project in an hour, to all addresses together; 0 turns it off"),
    EMAILS_PER_HOUR: count(1000).describe(
      "The same of the whole install in an hour; 0 turns it off. Emails about accounts, such as links to new passwords, count toward none of the three",
    ),
    ASSISTANT_MESSAGES_PER_HOUR: count(60).describe("Messages that one person writes to the assistant in an hour; 0 turns it off"),
    ASSISTANT_MESSAGE_COST: within(0, 1000)
      .default(5)
      .describe(
        "US dollars that one message to the assistant may cost with the runs that it starts, which are cancelled at the limit; 400,000 tokens of unknown price count as one; 0 turns it off",
      ),
    MAX_BODY_BYTES: count(4 * 1024 * 1024).describe("Largest body of a request, and so the largest file to upload"),
    ALLOW_PRIVATE_NETWORK: flag.describe(
      "1 lets everybody's outgoing requests reach private addresses. Without it, install admins can save endpoints there",
    ),
    PRIVATE_NETWORKS: z
      .string()
      .transform(listed)
      .refine((values) => values.every((value) => cidrOf(value)), "a list of ranges such as 203.0.113.0/24, separated by commas")
      .transform((values) => values.flatMap((value) => [cidrOf(value) ?? []] as Cidr[]))
      .optional()
      .describe(
        "Ranges of addresses that count as private beside those that are for everybody, separated by commas, such as 203.0.113.0/24, 2001:db8:1::/48; none unless set",
      ),
    PROJECT_ADMINS_MAY_USE_PRIVATE_ADDRESSES: optionalFlag.describe(
      "1 lets project admins save endpoints on private addresses (LLM keys, MCP servers, knowledge sources, SEARXNG_URL), 0 leaves that to install admins. Unless set: 1 while the install has one project, 0 otherwise",
    ),
  },
  Runs: {
    WORKER_CONCURRENCY: whole(1, 1000).default(50).describe("Runs that one process carries at once"),
    PROJECT_CONCURRENCY: whole(1, 1000)
      .default(25)
      .describe("Runs of one project that are carried at once; in each process as many again of those without an agent or a review"),
    RUN_MEMORY_BYTES: whole(1_000_000, 1_000_000_000_000)
      .optional()
      .describe(
        "Bytes that the runs in the memory of one process may hold together, and the most that one run may hold. Further runs wait until others end. 30 % of the memory that Node allows the process unless set",
      ),
    SEGMENT_SECONDS: within(1, 3600).default(60).describe("After how many seconds a run is handed on between processes"),
    INNGEST_BASE_URL: webAddress("http://inngest:8288")
      .optional()
      .describe("An Inngest server to carry runs and background work, in place of this service alone"),
    INNGEST_RUN_URL: webAddress("https://app.inngest.com/env/production/runs/{id}")
      .refine((url) => url.includes("{id}"), "an address with {id} in place of the run's id")
      .optional()
      .describe("Address for browsers of a run's page there, with {id} for the run's id. /run?runID={id} at INNGEST_BASE_URL unless set"),
    INNGEST_DEV: flag.describe("1: it is a dev server on this machine (http://localhost:8288 unless named), and nothing is signed"),
    INNGEST_EVENT_KEY: text.describe("Its event key"),
    INNGEST_SIGNING_KEY: text.describe("Its signing key"),
    INNGEST_STEP_LABELS: flag.describe("1: its pages name the nodes of a run, by their labels. Without it, labels stay in this service"),
    INNGEST_SIGNING_KEY_FALLBACK: text.describe("The other signing key while keys are changed"),
  },
  "Company network": {
    OUTGOING_PROXY: z
      .string()
      .refine((value) => value === "env" || (hasScheme(value) && proxyServerOf(value) !== undefined), {
        error: ({ input }) => `env, or ${proxyFault(String(input))}`,
      })
      .optional()
      .describe(
        "Proxy for outgoing requests: its address, such as http://user:password@proxy.company:3128, or env to use the next three. Requests go out directly unless set",
      ),
    HTTP_PROXY: text.describe(
      "With OUTGOING_PROXY=env, the proxy for addresses that begin with http://. This and the next three also in lower case, which has precedence",
    ),
    HTTPS_PROXY: text.describe("The same for https://"),
    ALL_PROXY: text.describe("The same for both, where the one above is not set"),
    NO_PROXY: text.describe(
      "With OUTGOING_PROXY, hosts that are called without the proxy, separated by commas: example.com covers its subdomains too, 10.0.0.0/8 the addresses of that range, * alone everything",
    ),
  },
  "Tools and mail": {
    MCP_CONNECT_SECONDS: within(0.1, 120).default(10).describe("How long connecting an MCP server may take"),
    MCP_CALL_SECONDS: within(0.1, 3600).default(60).describe("How long one call of an MCP tool may take"),
    SEARXNG_URL: webAddress("https://searx.example.com")
      .optional()
      .describe("SearXNG for web_search, where a project has no credential of this name; with none of the three, DuckDuckGo without a key"),
    BRAVE_API_KEY: text.describe("Brave Search for web_search, likewise"),
    TAVILY_API_KEY: text.describe("Tavily for web_search, likewise"),
    SMTP_URL: z
      .url({ protocol: /^smtps?$/, error: "an address such as smtp://user:password@mail.example.com:587" })
      .optional()
      .describe(
        "Mail server: smtp:// or smtps://, with user and password. Without it nothing is sent, and the web app shows the links to copy",
      ),
    EMAIL_FROM: z.string().max(320, "at most 320 characters").optional().describe("Sender of mails, such as Treadle <treadle@example.com>"),
  },
} as const satisfies Record<string, z.ZodRawShape>;

/** Every variable of the environment that means something, with its default. */
export const Environment = z
  .object({
    ...GROUPS["Address and data"],
    ...GROUPS.Accounts,
    ...GROUPS.Limits,
    ...GROUPS.Runs,
    ...GROUPS["Company network"],
    ...GROUPS["Tools and mail"],
    // Not for operators: server/main.ts sets them.
    /** Setup code: its bearer can create the first account from any address while there is no owner. */
    TREADLE_SETUP_CODE: text,
    /** The database was started by the service itself. */
    TREADLE_EMBEDDED_DATABASE: flag,
    /** Set while this process holds DATA_DIR alone, with an external database: server/boot/predecessor.ts. */
    TREADLE_FOLDER_NAME: z.uuid().optional(),
    /** Proves that a client address came from our own front. */
    TREADLE_FRONT_TOKEN: text,
  })
  .superRefine((env, { addIssue }) => {
    if (env.OUTGOING_PROXY !== "env") return;
    for (const name of PROXIES)
      if (env[name] !== undefined && !proxyServerOf(env[name]))
        addIssue({ code: "custom", path: [name], message: `${proxyFault(env[name])}, since OUTGOING_PROXY is env` });
    if (!PROXIES.some((name) => env[name] !== undefined))
      addIssue({
        code: "custom",
        path: ["OUTGOING_PROXY"],
        message: `${PROXY}, or env together with HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, of which none is set`,
      });
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
