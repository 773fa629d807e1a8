import { join, newHost, newProject, newUser, signIn, stranger, withNewKey } from "#e2e/api/people.ts";
import { expect, test } from "#e2e/fixtures.ts";

test("a new key works at once, is shown once, and ends when it is deleted", async () => {
  const { browser } = await newHost();
  const { api, key, key_id } = await withNewKey(browser);
  expect(key).toMatch(/^sk-service-[A-Za-z0-9_-]{43}$/);
  const me = await (await api.get("/api/v1/auth/me")).json();
  expect(me.auth).toEqual({ type: "platform_key", key_id });
  const list = await (await api.get("/api/v1/platform-keys?per_page=200")).text();
  expect(list).toContain(key_id);
  expect(list).not.toContain(key);
  expect((await api.delete(`/api/v1/platform-keys/${key_id}`)).status()).toBe(204);
  const gone = await api.get("/api/v1/auth/me");
  expect([gone.status(), (await gone.json()).error_code]).toEqual([401, "AUTH_REQUIRED"]);
});

test("a session is known as such, and cannot be used from another site", async () => {
  const { browser } = await newHost();
  expect((await (await browser.get("/api/v1/auth/me")).json()).auth).toEqual({ type: "session" });
  const foreign = await browser.post("/api/v1/platform-keys", { data: { name: "stolen" }, headers: { origin: "https://evil.example" } });
  expect([foreign.status(), (await foreign.json()).error_code]).toEqual([403, "PERMISSION_DENIED"]);
});

test("a wrong password does not sign in", async () => {
  const { status, browser } = await signIn({ email: "nobody@example.com", password: "not the password" });
  expect(status).toBe(401);
  expect((await browser.get("/api/v1/auth/me")).status()).toBe(401);
});

test("an invitation can be read without a key, is accepted once, and leads into its project", async () => {
  const { api } = await newHost();
  const project = await newProject(api);
  const email = `Guest-${project.id}@Example.com`;
  const member = await api.post(`/api/v1/projects/${project.id}/members`, { data: { email, role: "editor" } });
  expect(member.status()).toBe(201);
  const { invite_url, ...result } = await member.json();
  expect(result).toEqual({ email: email.toLowerCase(), role: "editor", status: "invited" });
  const path = `/api/v1/invitations/${String(invite_url).split("/invite/")[1]}`;
  const anyone = await stranger();
  const { expires_at, ...invitation } = await (await anyone.get(path)).json();
  expect(invitation).toEqual({ email: email.toLowerCase(), project: { name: project.name, slug: project.slug }, role: "editor" });
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
  const accept = () => anyone.post(`${path}/accept`, { data: { name: "Guest", password: "a good password" } });
  expect((await accept()).status()).toBe(201);
  expect((await accept()).status()).toBe(409);
  expect((await anyone.get(path)).status()).toBe(409);
  expect((await anyone.get("/api/v1/invitations/unknown")).status()).toBe(404);
  const { browser } = await signIn({ email, password: "a good password" });
  const profile = await (await browser.get("/api/v1/users/me")).json();
  expect(profile.projects).toEqual([{ id: project.id, slug: project.slug, name: project.name, role: "editor" }]);
});

test("with one project no header is needed; with several one is, and the slug wins", async () => {
  const { api } = await newHost();
  const [first, second] = [await newProject(api), await newProject(api)];
  const { api: member, browser, email } = await newUser(api, first, "viewer");
  expect((await member.get("/api/v1/workflows")).status()).toBe(200);
  const added = await api.post(`/api/v1/projects/${second.id}/members`, { data: { email, role: "editor" } });
  // Nobody is made a member unasked.
  expect((await member.get("/api/v1/workflows")).status()).toBe(200);
  await join(browser, (await added.json()).invite_url);
  const ambiguous = await member.get("/api/v1/workflows");
  expect([ambiguous.status(), (await ambiguous.json()).error_code]).toEqual([400, "BAD_REQUEST"]);
  const create = (headers: Record<string, string>) => member.post("/api/v1/workflows", { headers, data: { name: "Flow" } });
  expect((await create({ "x-project-id": first.id })).status()).toBe(403);
  expect((await create({ "x-project-id": first.id, "x-project-slug": second.slug })).status()).toBe(201);
});

test("a project of others is 404 in the header and in the path, like one that never was", async () => {
  const { api } = await newHost();
  const [mine, other] = [await newProject(api), await newProject(api)];
  const { api: member } = await newUser(api, mine, "admin");
  const never = "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10";
  const bodies = [];
  for (const id of [other.id, never, "nonsense"]) {
    const inHeader = await member.get("/api/v1/workflows", { headers: { "x-project-id": id } });
    const inPath = await member.get(`/api/v1/projects/${id}`);
    expect([inHeader.status(), inPath.status()]).toEqual([404, 404]);
    bodies.push(await inPath.text());
  }
  expect(new Set(bodies).size).toBe(1);
  expect((await member.get("/api/v1/workflows", { headers: { "x-project-slug": other.slug } })).status()).toBe(404);
});

test("roles: a viewer reads, an editor writes, only an admin manages members and keys", async () => {
  const { api } = await newHost();
  const project = await newProject(api);
  for (const [role, read, write, manage] of [
    ["viewer", 200, 403, 403],
    ["approver", 200, 403, 403],
    ["editor", 200, 201, 403],
    ["admin", 200, 201, 201],
  ] as const) {
    const { api: member } = await newUser(api, project, role);
    const members = `/api/v1/projects/${project.id}/members`;
    expect((await member.get(members)).status()).toBe(read);
    expect((await member.post("/api/v1/workflows", { data: { name: "Flow" } })).status()).toBe(write);
    expect((await member.post(members, { data: { email: `friend-of-${role}-${project.id}@example.com`, role: "viewer" } })).status()).toBe(
      manage,
    );
    const key = await member.post("/api/v1/llm-keys", {
      data: { name: `Key of ${role}`, provider: "openai", api_key: "sk-not-a-real-key" },
    });
    expect(key.status() === 403).toBe(manage === 403);
  }
});

test("the last admin of a project stays", async () => {
  const { api } = await newHost();
  const project = await newProject(api);
  const members = `/api/v1/projects/${project.id}/members`;
  const { email } = await (await api.get("/api/v1/auth/me")).json();
  expect((await api.post(members, { data: { email, role: "viewer" } })).status()).toBe(409);
  expect((await api.delete(`${members}?email=${encodeURIComponent(email)}`)).status()).toBe(409);
  const second = await newUser(api, project, "admin");
  expect((await second.api.delete(members, { data: { email } })).status()).toBe(204);
  expect((await api.get(members)).status()).toBe(404);
});

test("a new password ends the sessions opened under the old one", async () => {
  const { api } = await newHost();
  const { browser, email, password } = await newUser(api, await newProject(api), "viewer");
  const change = (current_password: string) =>
    browser.post("/api/trpc/identity.changePassword", { data: { current_password, new_password: "a new good password" } });
  expect((await change("wrong")).status()).toBe(422);
  expect((await change(password)).status()).toBe(200);
  expect((await browser.get("/api/v1/auth/me")).status()).toBe(401);
  expect((await signIn({ email, password })).status).toBe(401);
  expect((await signIn({ email, password: "a new good password" })).status).toBe(200);
});

test("an install that has an owner is not set up again", async () => {
  const answer = await (await stranger()).post("/api/trpc/identity.setUp", {
    data: { email: "second@example.com", name: "Second", password: "a good password" },
  });
  expect([answer.status(), (await answer.json()).error.data.error_code]).toEqual([409, "CONFLICT"]);
});
