import { randomUUID } from "node:crypto";
import {
  type APIRequestContext,
  type Browser,
  type BrowserContext,
  test as base,
  expect as baseExpect,
  type Page,
  request,
} from "@playwright/test";
import { PROJECT_COOKIE } from "#components/shell/project-cookie.ts";
import { join } from "#e2e/api/people.ts";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { type ModelClient, modelClient } from "#e2e/model-client.ts";
import { databaseUrl } from "#e2e/server.ts";
import { until } from "#e2e/until.ts";
import { ownSecrets } from "#server/boot/own-secrets.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { sessionCookieName } from "#server/platform/auth/session.ts";
import { setSettings } from "#server/platform/settings.ts";
import { ExecuteResult, Execution } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { newAccount } from "#server/testing/new-account.ts";

/** Playwright's, so that a spec has one import. */
export const expect = baseExpect;

/** Somebody with an account, a project and a platform key. */
export interface Person {
  id: string;
  email: string;
  password: string;
  /** Signed in as a browser is. */
  browser: APIRequestContext;
  project: { id: string; slug: string; name: string };
  /** The REST API as this person, in this project. */
  api: ApiClient;
}

type AgentFields = { model: string } & Partial<Omit<Agent, "model">>;
type WorkflowFields = Partial<Pick<Workflow, "name" | "description" | "nodes" | "edges" | "enabled">>;

interface Fixtures {
  baseURL: string;
  /** A new person with one new project, of which he or she is admin. */
  person: Person;
  /** The REST API as `person`. It names no project: there is only one. */
  api: ApiClient;
  /** Another person with another project. */
  newProject(): Promise<Person>;
  /** Another person with this role in the project of `person`. */
  newUser(options: { role: Role }): Promise<Person>;
  modelServer: ModelClient;
  /** An LLM key of the project that leads to the model stand-in; the same one each time. */
  llmKey(): Promise<LlmKey>;
  agent(fields: AgentFields): Promise<Agent>;
  workflow(fields: WorkflowFields): Promise<Workflow>;
  /** Starts a run of the workflow. @returns the execution's id */
  execute(workflow: { id: string }, body?: object): Promise<string>;
  /** The execution, once it has ended. */
  finished(executionId: string): Promise<Execution>;
  /** The execution, once it waits for so many reviews, one unless the test says otherwise. */
  waiting(executionId: string, reviews?: number): Promise<Execution>;
  /** A run of the workflow, once it has ended. */
  executed(workflow: { id: string }, body?: object): Promise<Execution>;
  /**
   * A page of a browser in which `person` is signed in. The next test goes on with it: what no test takes back (functions and
   * scripts put into it, sessions of its protocol) belongs into a page of the test's own; a clock, which is in all pages of its
   * window and of those that come, into a window (newWindow).
   */
  signedInPage: Page;
  /** The same for one other person in a test: in the project that is given, or the first; or for nobody, who is signed in nowhere. */
  pageOf(other?: { browser: APIRequestContext; project?: { id: string } }): Promise<Page>;
}

interface WorkerFixtures {
  /** A browser's window for one test after the other: what it has read of our scripts it need not read again. */
  sharedWindow: BrowserContext;
  /** Another, of another person. */
  otherWindow: BrowserContext;
}

const VIEWPORT = { width: 1440, height: 900 };
/** What a test may listen to. Playwright itself listens to the end of a page, and goes on doing so. */
const HEARD = [
  "console",
  "dialog",
  "download",
  "filechooser",
  "pageerror",
  "popup",
  "request",
  "requestfailed",
  "requestfinished",
  "response",
];

/** A window's page, in which somebody is signed in, or nobody. */
async function open(
  window: BrowserContext,
  somebody: { browser: APIRequestContext } | undefined,
  reducedMotion: "reduce" | "no-preference" | null,
): Promise<Page> {
  if (somebody) await window.addCookies((await somebody.browser.storageState()).cookies);
  const [page = await window.newPage()] = window.pages();
  await page.emulateMedia({ reducedMotion });
  return page;
}

/**
 * Leaves nothing in a window of what was done in it, but files that anybody is given. Its page stays: a new one would be a new
 * process, which compiles the same scripts again and so takes twice as long to show anything.
 */
async function empty(window: BrowserContext, url: string): Promise<void> {
  const [page = await window.newPage(), ...others] = window.pages();
  for (const event of HEARD) page.removeAllListeners(event);
  await Promise.all(others.map((open) => open.close()));
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await window.setOffline(false);
  // No script of ours runs here: what they write when their page is left has been written.
  await page.goto(`${url}/icon.svg`);
  const browser = await window.newCDPSession(page);
  await browser.send("DOMStorage.clear", { storageId: { storageKey: `${url}/`, isLocalStorage: false } });
  await browser.send("Storage.clearDataForOrigin", { origin: url, storageTypes: "local_storage,indexeddb,cache_storage" });
  await browser.send("Page.resetNavigationHistory");
  await browser.detach();
  await window.clearCookies();
  await page.emulateMedia({ media: null, colorScheme: null, reducedMotion: null, forcedColors: null, contrast: null });
  await page.setViewportSize(VIEWPORT);
  await page.mouse.move(-1, -1); // beside everything
}

/** A browser's window with nobody signed in, as tests have it. Who opens one closes it. */
export async function newWindow(browser: Browser): Promise<BrowserContext> {
  const window = await browser.newContext({ baseURL: process.env.BASE_URL ?? "", viewport: VIEWPORT });
  // Against a development server: a page that reloads itself because a file was saved is no test.
  await window.routeWebSocket(/_next\/.*hmr/, (socket) => {
    socket.connectToServer().onMessage((message) => {
      if (!/"type":"(reloadPage|restart|serverComponentChanges)"/.test(String(message))) socket.send(message);
    });
  });
  // Less than a test has: what is not to be done, or does not come, is named with its place.
  window.setDefaultTimeout(30_000);
  return window;
}

async function withWindow(browser: Browser, use: (window: BrowserContext) => Promise<void>): Promise<void> {
  const window = await newWindow(browser);
  await use(window);
  await window.close();
}

/** Somebody who might have signed up and in just now, with a platform key, in the shared server's database. */
export async function newPerson(url: string): Promise<Person> {
  const { auth_secret: secret, encryption_key } = ownSecrets(process.env.SERVER_DATA_DIR ?? "");
  setSettings({ DATABASE_URL: databaseUrl(), AUTH_SECRET: secret, ENCRYPTION_KEY: encryption_key });
  const { key, session, ...account } = await newAccount();
  const cookie = { name: sessionCookieName(false), value: session, domain: new URL(url).hostname };
  const cookies = [{ ...cookie, path: "/", expires: -1, httpOnly: true, secure: false, sameSite: "Lax" as const }];
  const browser = await request.newContext({ baseURL: url, extraHTTPHeaders: { origin: url }, storageState: { cookies, origins: [] } });
  return { ...account, browser, api: apiClient({ url, key }) };
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are used
  baseURL: async ({}, use) => use(process.env.BASE_URL ?? ""),
  person: async ({ newProject }, use) => use(await newProject()),
  api: async ({ person }, use) => use(person.api),
  newProject: async ({ baseURL }, use) => {
    const people: Person[] = [];
    await use(async () => {
      const person = await newPerson(baseURL);
      people.push(person);
      return person;
    });
    // Playwright goes through every client that is left over, before and after each test that comes.
    await Promise.all(people.map(({ browser }) => browser.dispose()));
  },
  newUser: async ({ baseURL, person, newProject }, use) =>
    use(async ({ role }) => {
      const { project } = person;
      const user = await newProject();
      const { body } = await person.api.post(`/projects/${project.id}/members`, { email: user.email, role }, { status: 201 });
      await join(user.browser, body.invite_url);
      return { ...user, project, api: apiClient({ url: baseURL, key: user.api.key, projectId: project.id }) };
    }),
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of the fixtures that are used
  modelServer: async ({}, use) => use(modelClient(process.env.MODEL_SERVER_URL ?? "")),
  llmKey: async ({ api, modelServer }, use) => {
    let key: Promise<LlmKey> | undefined;
    const create = async () => {
      const fields = { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: modelServer.url };
      return (await api.post("/llm-keys", fields, { schema: LlmKey, status: 201 })).body;
    };
    await use(() => {
      key ??= create();
      return key;
    });
  },
  agent: async ({ api, llmKey }, use) =>
    use(async (fields) => {
      const { id } = await llmKey();
      return (await api.post("/agents", { name: `Agent ${randomUUID()}`, llm_key_id: id, ...fields }, { schema: Agent, status: 201 })).body;
    }),
  workflow: async ({ api }, use) =>
    use(async (fields) => (await api.post("/workflows", { name: "Workflow", ...fields }, { schema: Workflow, status: 201 })).body),
  execute: async ({ api }, use) =>
    use(async ({ id }, body) => {
      const { body: started } = await api.post(`/workflows/${id}/execute`, body, { schema: ExecuteResult, status: 202 });
      return started.execution_id;
    }),
  finished: async ({ api }, use) =>
    use((executionId) =>
      until(async () => {
        const { body } = await api.get(`/executions/${executionId}`, { schema: Execution });
        return isFinal(body.status) ? body : undefined;
      }),
    ),
  waiting: async ({ api }, use) =>
    use((executionId, reviews = 1) =>
      until(async () => {
        const { body } = await api.get(`/executions/${executionId}`, { schema: Execution });
        return body.status === "paused" && body.reviews.length === reviews ? body : undefined;
      }),
    ),
  executed: async ({ execute, finished }, use) => use(async (workflow, body) => finished(await execute(workflow, body))),
  sharedWindow: [({ browser }, use) => withWindow(browser, use), { scope: "worker" }],
  otherWindow: [({ browser }, use) => withWindow(browser, use), { scope: "worker" }],
  signedInPage: async ({ sharedWindow, person, baseURL, contextOptions: { reducedMotion = null } }, use, info) => {
    const page = await open(sharedWindow, person, reducedMotion);
    await use(page);
    // Told now, since Playwright looks at a test that has run out of time only when its page is empty.
    if (info.status === "timedOut") process.stdout.write(`${await page.locator("body").ariaSnapshot().catch(String)}\n`);
    await empty(sharedWindow, baseURL);
  },
  pageOf: async ({ otherWindow, baseURL, contextOptions: { reducedMotion = null } }, use) => {
    await use(async (other) => {
      if (other?.project) await otherWindow.addCookies([{ name: PROJECT_COOKIE, value: other.project.id, url: baseURL }]);
      return open(otherWindow, other, reducedMotion);
    });
    await empty(otherWindow, baseURL);
  },
});
