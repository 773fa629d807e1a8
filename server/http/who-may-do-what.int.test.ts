import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import type { KeyScope } from "#server/platform/auth/platform-key-schema.ts";
import type { ErrorCode } from "#server/shared/error-schema.ts";
import { faultsOfError, type Reply } from "#server/testing/api/envelope.ts";
import { openWorld } from "#server/testing/api/open-world.ts";
import type { Operation } from "#server/testing/api/operations.ts";
import type { Sample } from "#server/testing/api/samples.ts";
import { send, told, wireOf } from "#server/testing/api/send.ts";
import type { Person } from "#server/testing/api/world.ts";

// Every operation of the API document, called by everybody who could call it. Who may do what is written down here a second
// time, from the specification's "Role-based access" alone, so that a wrong declaration in a router is found.

// Generous, because a slow machine is no failure.
vi.setConfig({ testTimeout: 180_000 });
const open = openWorld();

type Needed = "public" | "user" | "viewer" | "approver" | "editor" | "admin" | "install_admin";
const ranks: Needed[] = ["public", "user", "viewer", "approver", "editor", "admin", "install_admin"];

/** Without a key: how one gets an account, deliveries, which are signed, questions of senders, and callbacks, whose address is the secret. */
const PUBLIC = [
  "POST /auth/sign-up",
  "POST /auth/password-reset",
  "GET /auth/password-reset/{token}",
  "POST /auth/password-reset/{token}",
  "GET /invitations/{token}",
  "POST /invitations/{token}/accept",
  "POST /webhooks/{workflow_id}",
  "GET /webhooks/{workflow_id}",
  "POST /resume/{token}",
];
/** About oneself, in no project. */
const OWN = /^\/(auth|users|llm-providers|platform-keys|projects$)/;
/** "POST/DELETE on project members, credentials, LLM keys: admin only"; a project's own settings, too. */
const ADMINS = /^\/(credentials|llm-keys|prices|projects\/)/;
/** Who did what, and what may be spent, is for admins to read. */
const READ_BY_ADMINS = /\/(audit(-log)?|budgets)(\/|$)/;

function neededFor({ name, method, path }: Operation): Needed {
  if (PUBLIC.includes(name)) return "public";
  if (READ_BY_ADMINS.test(path)) return "admin";
  if (path.startsWith("/service-accounts") || path.includes("/invitations")) return "admin"; // contract, section 9
  if (path.startsWith("/install/")) return "install_admin"; // contract, section 9
  if (OWN.test(path)) return "user";
  if (path.startsWith("/http/")) return "editor"; // a GET runs the workflow too
  if (method === "GET") return "viewer";
  if (path.endsWith("/approve") || path === "/reviews/decide") return "approver"; // contract, section 9
  return ADMINS.test(path) ? "admin" : "editor";
}

const as = ({ key, project }: Person, projectId = project.id) => ({ authorization: `Bearer ${key}`, "x-project-id": projectId });
/** The cookie of a signed-in browser, as any other site could make it send. */
const sessionOf = ({ browser: { origin: _, ...sent } }: Person): Record<string, string> => sent;

/** What is wrong with an answer that must refuse. */
const refusal = (reply: Reply, status: number, code: ErrorCode) =>
  reply.status === status ? faultsOfError(reply, code) : [`${reply.status} instead of ${status}`];

interface Walked<Request> {
  operation: Operation;
  request: Request;
}

/** What is only refused leaves what it names as it was, so one request of each operation does for all that must be. */
const refusable = new Map<Operation, Promise<Sample>>();
function sampleToRefuse(operation: Operation): Promise<Sample> {
  const made = refusable.get(operation) ?? open.sampleOf(operation);
  refusable.set(operation, made);
  return made;
}

/**
 * Makes a request of every operation that `isMeant`, then sends them all, and wants `send` to find nothing wrong with the
 * answers and the project to be as it was.
 */
async function walkUnchanged<Request>(
  operations: readonly Operation[],
  isMeant: (operation: Operation) => boolean,
  make: (operation: Operation, sample: Sample) => Request,
  check: (walked: Walked<Request>) => Promise<string[]>,
): Promise<void> {
  const all: Walked<Request>[] = [];
  for (const operation of operations.filter(isMeant)) all.push({ operation, request: make(operation, await sampleToRefuse(operation)) });
  const isUnchanged = async (walk: () => Promise<void>) => {
    const before = JSON.stringify(await open.sums());
    await walk();
    return JSON.stringify(await open.sums()) === before;
  };
  const faults: string[] = [];
  const isKept = await isUnchanged(async () => {
    for (const walked of all) faults.push(...(await check(walked)));
  });
  expect(faults).toEqual([]);
  if (isKept) return;
  // Something changed: sent again one by one, so that it has a name.
  const changing: string[] = [];
  for (const walked of all) if (!(await isUnchanged(async () => void (await check(walked))))) changing.push(walked.operation.name);
  expect(changing.length ? changing : "something changed; sent again nothing does", "requests that change something").toEqual([]);
}

/** Walks all operations that `isMeant`: sends a request of theirs as `callers` say, who must be refused. */
const walkRefused = (
  isMeant: (operation: Operation) => boolean,
  callers: Record<string, Record<string, string>>,
  [status, code]: [number, ErrorCode],
  operations = open.operations,
): Promise<void> =>
  walkUnchanged(operations, isMeant, wireOf, async ({ operation, request }) => {
    const faults = operation.statuses.includes(status) ? [] : [`${operation.name}: the document does not name ${status}`];
    for (const [caller, headers] of Object.entries(callers)) {
      const reply = await send(open.door, request, headers);
      const found = refusal(reply, status, code);
      if (found.length) faults.push(`${caller}: ${found.join(", ")}: ${told(request, reply)}`);
    }
    return faults;
  });

test("every operation declares the role that the specification gives it", () => {
  const wrong = open.operations.flatMap((operation) => {
    const needed = neededFor(operation);
    return operation.declaredRole === needed ? [] : [`${operation.name}: ${needed}, declared ${operation.declaredRole}`];
  });
  expect(wrong).toEqual([]);
  for (const name of PUBLIC) expect(open.operations.map((operation) => operation.name)).toContain(name);
});

test("nobody, and who sends a wrong key, is refused", async () => {
  const callers = {
    "no key": {},
    "garbage key": { authorization: "Bearer garbage" },
    "a key that never was": { authorization: `Bearer sk-service-${"x".repeat(43)}` },
    "another scheme": { authorization: `Basic ${btoa("owner@example.com:password")}` },
    // A key that is sent and not valid is nobody, even in a browser that is signed in.
    "garbage key in a session": { ...open.world.admin.browser, authorization: "Bearer garbage" },
  };
  await walkRefused((operation) => neededFor(operation) !== "public", callers, [401, "AUTH_REQUIRED"]);
});

for (const role of ["viewer", "approver", "editor", "admin"] as const) {
  test(`what is above a ${role} is refused to one`, async () => {
    const isAbove = (operation: Operation) => ranks.indexOf(neededFor(operation)) > ranks.indexOf(role);
    await walkRefused(isAbove, { [role]: as(open.world[role]) }, [403, "PERMISSION_DENIED"]);
  });
}

test("a session changes nothing without the Origin of our own pages", async () => {
  const session = sessionOf(open.world.admin);
  const callers = {
    "no origin": session,
    "another site": { ...session, origin: "https://evil.example" },
    "another port": { ...session, origin: "http://localhost:1" },
    "null origin": { ...session, origin: "null" },
    "another site by fetch metadata": { ...session, "sec-fetch-site": "cross-site" },
  };
  const isChange = ({ method, path }: Operation) => method !== "GET" || path.startsWith("/http/");
  await walkRefused((operation) => isChange(operation) && neededFor(operation) !== "public", callers, [403, "PERMISSION_DENIED"]);
});

/** "run: starting, cancelling, repeating and deciding runs, asking agents"; reading is what GET does. */
const RUNS =
  /^\/(http\/|agents\/\{agent_id\}\/(test|chat)|workflows\/\{workflow_id\}\/execute|executions\/\{execution_id\}\/(cancel|approve|rerun|fork)|executions\/bulk|bulk-actions\/\{bulk_id\}\/stop|reviews\/decide)/;
const scopeOf = ({ method, path }: Operation): KeyScope => (RUNS.test(path) ? "run" : method === "GET" ? "read" : "write");
/** Open to a key with the scope run as well, which sees only its own runs. */
const OPEN_TO_RUN = /^GET \/(auth\/me|executions(\/\{execution_id\}(\/(logs|stream|nodes\/\{node_id\}\/output))?)?)$/;
const scopes: KeyScope[] = ["read", "run", "write"];

/** A key of the world's admin that has these scopes. */
async function withScopes({ call, project }: Person, wanted: KeyScope[]): Promise<Record<string, string>> {
  const { key } = await call("POST", "/platform-keys", { name: "Limited", scopes: wanted });
  return { authorization: `Bearer ${key}`, "x-project-id": project.id };
}

for (const scope of scopes) {
  test(`what is to ${scope} is refused to keys for everything else`, async () => {
    const others = scopes.filter((other) => other !== scope);
    const callers = { "the other scopes": await withScopes(open.world.admin, others) };
    const isMeant = (operation: Operation) =>
      neededFor(operation) !== "public" && scopeOf(operation) === scope && !OPEN_TO_RUN.test(operation.name);
    await walkRefused(isMeant, callers, [403, "PERMISSION_DENIED"]);
  });
}

const UUID = /[0-9a-f]{8}([-_])[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}/g;

/** The same request with its texts changed. */
function rewritten(sample: Sample, change: (text: string) => string): Sample {
  const { path, query, body } = JSON.parse(change(JSON.stringify({ ...sample, by: undefined })));
  return { ...sample, ...(path && { path }), ...(query && { query }), ...(body && { body }) };
}

/** The same request with ids that never existed in place of those of the world. */
function elsewhere(sample: Sample): Sample {
  const ids = new Map<string, string>();
  return rewritten(sample, (text) =>
    text.replace(UUID, (id, dash: string) => {
      const other = ids.get(id) ?? randomUUID().replaceAll("-", dash);
      ids.set(id, other);
      return other;
    }),
  );
}

test("to a member of another project everything is as if it had never been", async () => {
  const { stranger, mark } = open.world;
  const isMeant = (operation: Operation) => !["public", "install_admin"].includes(neededFor(operation));
  // What the stranger sends bears no mark, so none may come back.
  const unmarked = (_: Operation, sample: Sample) => rewritten(sample, (text) => text.replaceAll(mark, "own"));
  await walkUnchanged(open.operations, isMeant, unmarked, async ({ operation, request: sample }) => {
    const faults: string[] = [];
    const [here, nowhere] = [wireOf(operation, sample), wireOf(operation, elsewhere(sample))];
    const reply = await send(open.door, here, as(stranger));
    const blank = await send(open.door, nowhere, as(stranger));
    const say = (fault: string) => faults.push(`${fault}: ${told(here, reply)}`);
    if (reply.text.includes(mark)) say("it tells of another project");
    if (sample.path) {
      if (refusal(reply, 404, "NOT_FOUND").length) say(refusal(reply, 404, "NOT_FOUND").join(", "));
      if (reply.text !== blank.text) say(`differs from what never existed: ${blank.text.slice(0, 300)}`);
    } else if (reply.status !== blank.status) say(`differs from what never existed: ${blank.status} ${blank.text.slice(0, 300)}`);
    // Naming the project makes no difference, but that now the project is what there is not.
    if (neededFor(operation) !== "user") {
      const named = await send(open.door, here, as(stranger, open.world.admin.project.id));
      const unnamed = await send(open.door, here, as(stranger, randomUUID()));
      if (refusal(named, 404, "NOT_FOUND").length || named.text !== unnamed.text)
        faults.push(`by header: ${told(here, named)} / ${unnamed.text}`);
    }
    return faults;
  });
});

/** Operations on runs that the key did not start: they take the scope read as well. */
const OF_OTHERS = /^POST \/(executions\/\{execution_id\}\/(cancel|approve|rerun|fork)|bulk-actions\/\{bulk_id\}\/stop|reviews\/decide)$/;

test("who has the role is served", async () => {
  const faults: string[] = [];
  const reading = await withScopes(open.world.admin, ["read", "run"]);
  const limited = Object.fromEntries(await Promise.all(scopes.map(async (scope) => [scope, await withScopes(open.world.admin, [scope])])));
  for (const operation of open.operations) {
    const needed = neededFor(operation);
    const callers: [string, Record<string, string>][] =
      needed === "public"
        ? [
            ["nobody", {}],
            ["garbage key", { authorization: "Bearer garbage" }],
          ]
        : [];
    for (const role of ["viewer", "approver", "editor", "admin"] as const) {
      if (ranks.indexOf(role) >= ranks.indexOf(needed)) callers.push([role, as(open.world[role])]);
    }
    if (needed !== "public") callers.push(["session", { ...open.world.admin.browser }]);
    if (needed !== "public")
      callers.push(["a key for nothing else", (OF_OTHERS.test(operation.name) ? reading : limited[scopeOf(operation)]) ?? {}]);
    for (const [caller, headers] of callers) {
      // Keys are personal: the one that is there belongs to the admin.
      if (operation.path === "/platform-keys/{key_id}" && ["viewer", "approver", "editor"].includes(caller)) continue;
      // An image on a page could start a run so: a session's GET never does.
      if (operation.name === "GET /http/{workflow_id}" && caller === "session") continue;
      // There is no mail server, and the answer says so.
      if (operation.name === "POST /auth/password-reset") continue;
      const sample = await open.sampleOf(operation);
      const wire = wireOf(operation, sample);
      const reply = await send(open.door, wire, sample.by ? as(sample.by) : headers);
      // The only MCP server there is stands on this machine, where an editor may not send the service by himself.
      if (caller === "editor" && /^POST \/mcp(\/discover)?$/.test(operation.name) && reply.status === 422) continue;
      if (!operation.successes.includes(reply.status)) faults.push(`${caller}: ${told(wire, reply)}`);
      else if (reply.status === 204 ? reply.text !== "" : !/^(application\/json|text\/event-stream|text\/csv|text\/plain)/.test(reply.type))
        faults.push(`${caller}: ${reply.type} ${told(wire, reply)}`);
    }
  }
  expect(faults).toEqual([]);
});

/** Of the web app's own: reading and talking for everybody, changing workflows for editors, settings for admins. */
const neededForOwn = ({ name }: Operation): Needed =>
  name === "PUT /bridge/settings" ? "admin" : /\/proposals\/.+\/(accept|reject)$/.test(name) ? "editor" : "viewer";

test("the assistant's operations declare their roles, and refuse nobody's, a key's and another site's requests", async () => {
  expect(open.own.length).toBeGreaterThan(10);
  for (const operation of open.own) expect([operation.name, operation.declaredRole]).toEqual([operation.name, neededForOwn(operation)]);
  const { admin } = open.world;
  const every = () => true;
  const nobody = { "no session": {}, "a garbage key": { ...admin.browser, authorization: "Bearer garbage" } };
  await walkRefused(every, nobody, [401, "AUTH_REQUIRED"], open.own);
  const keys = { "a key": as(admin), "a key in a session": { ...admin.browser, ...as(admin) } };
  await walkRefused(every, keys, [403, "PERMISSION_DENIED"], open.own);
  const session = sessionOf(admin);
  const elsewhere = { "no origin": session, "another site": { ...session, origin: "https://evil.example" } };
  await walkRefused(({ method }) => method !== "GET", elsewhere, [403, "PERMISSION_DENIED"], open.own);
});

test("the assistant's operations are refused below their roles, and threads to everybody but whose they are", async () => {
  const { viewer, approver, editor, stranger } = open.world;
  for (const [role, person] of [["viewer", viewer] as const, ["approver", approver] as const, ["editor", editor] as const]) {
    const isAbove = (operation: Operation) => ranks.indexOf(neededForOwn(operation)) > ranks.indexOf(role);
    await walkRefused(isAbove, { [role]: person.browser }, [403, "PERMISSION_DENIED"], open.own);
  }
  const isOfThread = ({ path }: Operation) => /\{(thread|question|confirmation|proposal)_id\}/.test(path);
  await walkRefused(isOfThread, { colleague: editor.browser, stranger: stranger.browser }, [404, "NOT_FOUND"], open.own);
});

test("whose session it is, is served by the assistant's operations", async () => {
  const faults: string[] = [];
  for (const operation of open.own) {
    const wire = wireOf(operation, await open.sampleOf(operation));
    const reply = await send(open.door, wire, open.world.admin.browser);
    if (!operation.successes.includes(reply.status)) faults.push(told(wire, reply));
  }
  expect(faults).toEqual([]);
});

test("the assistant's interface takes sessions only", async () => {
  const key = as(open.world.admin);
  const session = sessionOf(open.world.admin);
  const { execution, thread, canvas } = open.world.ids;
  const streams = [`/bridge/executions/${execution}/stream`, `/bridge/threads/${thread}/stream`, `/bridge/canvases/${canvas}/stream`];
  for (const path of ["/bridge", "/bridge/nothing", "/bridge/agents/x", ...streams]) {
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      const call = (headers: Record<string, string>) => send(open.door, { method, path, headers: {} }, headers);
      const none = await call({});
      // A path may say that it does not have the method; it says nothing else.
      if (none.status === 405) {
        expect(faultsOfError(none, "METHOD_NOT_ALLOWED"), `${method} ${path}`).toEqual([]);
        continue;
      }
      expect(refusal(none, 401, "AUTH_REQUIRED"), `${method} ${path}`).toEqual([]);
      expect(refusal(await call(key), 403, "PERMISSION_DENIED"), `${method} ${path}`).toEqual([]);
      expect(refusal(await call({ ...session, authorization: key.authorization }), 403, "PERMISSION_DENIED"), path).toEqual([]);
      if (method !== "GET") expect(refusal(await call(session), 403, "PERMISSION_DENIED"), `${method} ${path}`).toEqual([]);
    }
  }
});
