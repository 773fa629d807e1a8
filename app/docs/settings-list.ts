/** One variable of the environment, as the guide tells it. */
export interface SettingRow {
  name: string;
  /** What holds when it is not set; null when that is nothing. */
  preset: string | null;
  meaning: string;
}

/** Every setting, by what it is about. A test compares names and defaults with server/platform/settings.ts. */
export const settingGroups: readonly { title: string; rows: readonly SettingRow[] }[] = [
  {
    title: "Address and data",
    rows: [
      { name: "PORT", preset: "3000", meaning: "Where it listens; 0 lets the system choose" },
      { name: "HOST", preset: "0.0.0.0", meaning: "Network interface; all of them unless set" },
      {
        name: "APP_URL",
        preset: null,
        meaning: "Address that people use, for links and sign-in; http://localhost and the port unless set",
      },
      { name: "TRUST_PROXY", preset: "0", meaning: "1 when a proxy of yours stands in front and sets X-Forwarded-For" },
      {
        name: "DATA_DIR",
        preset: ".treadle",
        meaning:
          "Folder of the embedded database and of the generated secrets; with DATABASE_URL it only lets a process that starts again know its own runs",
      },
      { name: "DATABASE_URL", preset: null, meaning: "A PostgreSQL of yours in place of the embedded one" },
      { name: "DATABASE_POOL", preset: "5", meaning: "Connections to the database that each process holds, 2 to 200" },
      { name: "AUTH_SECRET", preset: null, meaning: "Signs sessions; 32 characters or more. Needed with DATABASE_URL, else generated" },
      {
        name: "ENCRYPTION_KEY",
        preset: null,
        meaning: "Encrypts stored secrets; 32 characters or more. Needed with DATABASE_URL, else generated. Lost, they are lost",
      },
      { name: "LOG_LEVEL", preset: "info", meaning: "trace, debug, info, warn, error or silent" },
    ],
  },
  {
    title: "Accounts",
    rows: [
      { name: "ALLOW_SIGNUP", preset: "0", meaning: "1 lets anybody create an account; otherwise accounts come by invitation" },
      { name: "BOOTSTRAP_EMAIL", preset: null, meaning: "First owner without a browser; ignored once a user exists" },
      { name: "BOOTSTRAP_PASSWORD", preset: null, meaning: "Password of the first owner, 8 characters or more" },
      { name: "BOOTSTRAP_API_KEY", preset: null, meaning: "API key of the first owner: sk-service- and 32 characters or more" },
      { name: "GOOGLE_CLIENT_ID", preset: null, meaning: "Sign-in with Google, together with the next" },
      { name: "GOOGLE_CLIENT_SECRET", preset: null, meaning: "Its secret" },
      { name: "GITHUB_CLIENT_ID", preset: null, meaning: "Sign-in with GitHub, together with the next" },
      { name: "GITHUB_CLIENT_SECRET", preset: null, meaning: "Its secret" },
      { name: "OIDC_ISSUER", preset: null, meaning: "Sign-in with an OpenID Connect provider, together with the next two" },
      { name: "OIDC_CLIENT_ID", preset: null, meaning: "Its client id" },
      { name: "OIDC_CLIENT_SECRET", preset: null, meaning: "Its secret" },
      { name: "OIDC_NAME", preset: "Single sign-on", meaning: "What its button says" },
    ],
  },
  {
    title: "Limits",
    rows: [
      {
        name: "PROJECT_STORAGE_BYTES",
        preset: "10000000000",
        meaning:
          "Bytes that a project may hold: runs, documents and workflows together. A full one starts no run and takes no document; 0 turns it off",
      },
      { name: "RATE_LIMIT_PER_MINUTE", preset: "200", meaning: "API requests of one client address in a minute; 0 turns it off" },
      { name: "RATE_LIMIT_BURST", preset: "30", meaning: "API requests of one client address in 5 seconds; 0 turns it off" },
      {
        name: "RATE_LIMIT_WEB",
        preset: "3000",
        meaning:
          "Requests of pages and calls of the web app of one client address in a minute, of which 300 at sign-in; one person 1,200, who is not signed in 300. Other values change these in step; 0 turns it off",
      },
      {
        name: "EXECUTIONS_PER_HOUR",
        preset: "100",
        meaning:
          "Runs that one project starts in an hour by API, webhooks and schedules, unless its settings say otherwise; 0 turns it off",
      },
      { name: "EXECUTIONS_PER_HOUR_MAX", preset: "0", meaning: "The most that a project’s settings may say; 0 leaves that to its admins" },
      { name: "ACCOUNTS_PER_HOUR", preset: "20", meaning: "Accounts that one client address makes by sign-up in an hour; 0 turns it off" },
      { name: "INVITATIONS_PER_HOUR", preset: "100", meaning: "Invitations that one person sends in an hour; 0 turns it off" },
      { name: "PROJECTS_PER_USER", preset: "100", meaning: "Projects that one person may own; 0 turns it off" },
      { name: "MAX_BODY_BYTES", preset: "4194304", meaning: "Largest body of a request, and so the largest file to upload" },
      { name: "ALLOW_PRIVATE_NETWORK", preset: "0", meaning: "1 lets everybody's outgoing requests reach private addresses" },
    ],
  },
  {
    title: "Runs",
    rows: [
      { name: "WORKER_CONCURRENCY", preset: "50", meaning: "Runs that one process carries at once" },
      {
        name: "PROJECT_CONCURRENCY",
        preset: "25",
        meaning: "Runs of one project that are carried at once; in each process as many again of those without an agent or a review",
      },
      { name: "SEGMENT_SECONDS", preset: "60", meaning: "After how many seconds a run is handed on between processes" },
      { name: "INNGEST_BASE_URL", preset: null, meaning: "An Inngest server in place of the embedded executor" },
      {
        name: "INNGEST_DEV",
        preset: "0",
        meaning: "1: it is a dev server on this machine (http://localhost:8288 unless named), and nothing is signed",
      },
      { name: "INNGEST_EVENT_KEY", preset: null, meaning: "Its event key" },
      { name: "INNGEST_SIGNING_KEY", preset: null, meaning: "Its signing key" },
      { name: "INNGEST_SIGNING_KEY_FALLBACK", preset: null, meaning: "The other signing key while keys are changed" },
    ],
  },
  {
    title: "Tools and mail",
    rows: [
      { name: "MCP_CONNECT_SECONDS", preset: "10", meaning: "How long connecting an MCP server may take" },
      { name: "MCP_CALL_SECONDS", preset: "60", meaning: "How long one call of an MCP tool may take" },
      { name: "SEARXNG_URL", preset: null, meaning: "SearXNG for web_search, where a project has no credential of this name" },
      { name: "BRAVE_API_KEY", preset: null, meaning: "Brave Search for web_search, likewise" },
      { name: "TAVILY_API_KEY", preset: null, meaning: "Tavily for web_search, likewise" },
      { name: "SMTP_URL", preset: null, meaning: "Mail server: smtp:// or smtps://, with user and password. Without it nothing is sent" },
      { name: "EMAIL_FROM", preset: null, meaning: "Sender of mails, such as Treadle <treadle@example.com>" },
    ],
  },
];
