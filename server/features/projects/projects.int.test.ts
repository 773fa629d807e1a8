import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { getInvitation } from "#server/features/identity/invitations.ts";
import { getProfile } from "#server/features/identity/profile.ts";
import { createPlatformKey, deletePlatformKey, listPlatformKeys } from "#server/features/platform-keys/service.ts";
import { closeProject, deleteProject } from "#server/features/projects/delete.ts";
import { listMembers, listPendingInvitations, removeMember, withdrawInvitation } from "#server/features/projects/members.ts";
import { createProject, getProject, listProjects, updateProject } from "#server/features/projects/service.ts";
import { resendInvitation, setMember } from "#server/features/projects/set-member.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { projectOf } from "#server/platform/auth/project-of.ts";
import { db } from "#server/platform/db/client.ts";
import { answerOnce } from "#server/platform/rpc/idempotency.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { addMember } from "#server/testing/add-member.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

const page = { page: 1, per_page: 50 };

/** The error code of each attempt, or "done". */
const outcomes = async (...attempts: Promise<unknown>[]) =>
  (await Promise.allSettled(attempts)).map((result) => (result.status === "rejected" ? result.reason.code : "done"));

/** A user with this role in the admin's project. */
async function memberWith(role: Role, admin: ProjectPrincipal): Promise<Principal> {
  const { user, auth } = await database.newAdmin();
  await addMember(admin, user, role);
  return { user, auth };
}

test("a slug is made of the name, and counts up within the owner only", async () => {
  const [ada, bob] = [await database.newAdmin(), await database.newAdmin()];
  const slug = async (principal: Principal, name: string) => (await createProject(principal, { name })).slug;
  expect(await slug(ada, "Équipe – Vente!")).toBe("equipe-vente");
  expect(await slug(ada, "Équipe Vente")).toBe("equipe-vente-2");
  expect(await slug(bob, "Équipe Vente")).toBe("equipe-vente");
  expect(await slug(ada, "日本語")).toBe("project");
  expect((await slug(ada, "x".repeat(120))).length).toBeLessThanOrEqual(60);
});

test("of several projects of one name created at once each has its own slug", async () => {
  const ada = await database.newAdmin();
  const made = await Promise.all(Array.from({ length: 5 }, () => createProject(ada, { name: "Sales" })));
  expect(made.map(({ slug }) => slug).sort()).toEqual(["sales", "sales-2", "sales-3", "sales-4", "sales-5"]);
});

test("a slug that was asked for is taken as it is, or refused", async () => {
  const ada = await database.newAdmin();
  await createProject(ada, { name: "One", slug: "same" });
  await expect(createProject(ada, { name: "Two", slug: "same" })).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(updateProject(ada, { project_id: ada.project.id, slug: "same" })).rejects.toMatchObject({ code: "CONFLICT" });
});

test("another's project is not there, exactly as one that never was", async () => {
  const [ada, bob] = [await database.newAdmin(), await database.newAdmin()];
  const failure = (project_id: string) => getProject(bob, { project_id }).catch((error) => error);
  const [other, never, malformed] = [await failure(ada.project.id), await failure(randomUUID()), await failure("nonsense")];
  for (const error of [other, never, malformed]) expect(error).toMatchObject({ code: "NOT_FOUND", message: never.message });
  const member = { project_id: ada.project.id, email: "x@example.com", role: "viewer" as const };
  expect(
    await outcomes(
      updateProject(bob, { project_id: ada.project.id, name: "Mine" }),
      deleteProject(bob, { project_id: ada.project.id }),
      setMember(bob, member),
      listMembers(bob, { project_id: ada.project.id, ...page }),
    ),
  ).toEqual(Array.from({ length: 4 }, () => "NOT_FOUND"));
  expect((await listProjects(bob, page)).items.map(({ id }) => id)).toEqual([bob.project.id]);
});

test.each(["viewer", "approver", "editor"] as const)("a member who is %s reads the project and changes nothing of it", async (role) => {
  const admin = await database.newAdmin();
  const member = await memberWith(role, admin);
  const project_id = admin.project.id;
  expect(await getProject(member, { project_id })).toMatchObject({ id: project_id, role });
  expect((await listMembers(member, { project_id, ...page })).total).toBe(2);
  expect(
    await outcomes(
      updateProject(member, { project_id, name: "Mine" }),
      deleteProject(member, { project_id }),
      setMember(member, { project_id, email: member.user.email, role: "admin" }),
      removeMember(member, { project_id, email: admin.user.email }),
    ),
  ).toEqual(Array.from({ length: 4 }, () => "PERMISSION_DENIED"));
});

test("an update changes what it names and leaves the rest", async () => {
  const ada = await database.newAdmin();
  const project_id = ada.project.id;
  await updateProject(ada, { project_id, name: "Renamed", retention_days: 30 });
  expect(await getProject(ada, { project_id })).toMatchObject({ name: "Renamed", slug: ada.project.slug, retention_days: 30 });
  await updateProject(ada, { project_id, retention_days: null });
  expect(await getProject(ada, { project_id })).toMatchObject({ name: "Renamed", retention_days: null });
});

test("a role is changed by setting it again", async () => {
  const admin = await database.newAdmin();
  const { user } = await memberWith("viewer", admin);
  const again = await setMember(admin, { project_id: admin.project.id, email: user.email.toUpperCase(), role: "editor" });
  expect(again).toEqual({ email: user.email, role: "editor", status: "active", user_id: user.id });
  expect((await getProject({ user, auth: { type: "session" } }, { project_id: admin.project.id })).role).toBe("editor");
});

test("the last admin stays, whichever way he would go", async () => {
  const admin = await database.newAdmin();
  const project_id = admin.project.id;
  const { email, id } = admin.user;
  expect(
    await outcomes(
      setMember(admin, { project_id, email, role: "viewer" }),
      removeMember(admin, { project_id, email }),
      removeMember(admin, { project_id, user_id: id }),
    ),
  ).toEqual(Array.from({ length: 3 }, () => "CONFLICT"));
  const second = await memberWith("admin", admin);
  await removeMember(second, { project_id, user_id: id });
  await expect(getProject(admin, { project_id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("two admins who remove each other at once leave one", async () => {
  for (let round = 0; round < 5; round++) {
    const first = await database.newAdmin();
    const second = await memberWith("admin", first);
    const project_id = first.project.id;
    await Promise.allSettled([
      removeMember(first, { project_id, user_id: second.user.id }),
      removeMember(second, { project_id, user_id: first.user.id }),
    ]);
    expect(await db().membership.count({ where: { project_id, role: "admin" } })).toBe(1);
  }
});

test("removing takes a member or an open invitation, and says when there is neither", async () => {
  const admin = await database.newAdmin();
  const project_id = admin.project.id;
  await expect(removeMember(admin, { project_id })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await setMember(admin, { project_id, email: "guest@example.com", role: "viewer" });
  await removeMember(admin, { project_id, email: "Guest@example.com" });
  for (const gone of [{ email: "guest@example.com" }, { user_id: "nonsense" }, { user_id: randomUUID() }]) {
    await expect(removeMember(admin, { project_id, ...gone })).rejects.toMatchObject({ code: "NOT_FOUND" });
  }
});

test("an invitation is sent again with a new link for another week, which ends the old one; withdrawn, nothing opens", async () => {
  const [ada, eve] = [await database.newAdmin(), await database.newAdmin()];
  const project_id = ada.project.id;
  const tokenOf = ({ invite_url = "" }) => invite_url.split("/invite/")[1] ?? "";
  const first = tokenOf(await setMember(ada, { project_id, email: "late@example.com", role: "viewer" }));
  await db().invitation.updateMany({ where: { project_id }, data: { expires_at: new Date(Date.now() - 1000) } });
  const [late] = (await listPendingInvitations(ada, { project_id, ...page })).items;
  expect(late).toMatchObject({ email: "late@example.com", role: "viewer", invited_by: ada.user.email });
  const invitation_id = late?.id ?? "";
  for (const change of [resendInvitation, withdrawInvitation]) {
    const by = (who: Principal, project: string, id: string) => change(who, { project_id: project, invitation_id: id }) as Promise<unknown>;
    const refused = outcomes(by(eve, project_id, invitation_id), by(eve, eve.project.id, invitation_id), by(ada, project_id, "nonsense"));
    expect(await refused).toEqual(["NOT_FOUND", "NOT_FOUND", "NOT_FOUND"]);
    expect(await outcomes(by(await memberWith("editor", ada), project_id, invitation_id))).toEqual(["PERMISSION_DENIED"]);
  }
  // Of two who send it again at once, one does.
  const both = [resendInvitation(ada, { project_id, invitation_id }), resendInvitation(ada, { project_id, invitation_id })];
  expect((await outcomes(...both)).sort()).toEqual(["NOT_FOUND", "done"]);
  const [sent] = (await Promise.allSettled(both)).flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(await outcomes(getInvitation({ token: first }))).toEqual(["NOT_FOUND"]);
  expect(await getInvitation({ token: tokenOf(sent ?? {}) })).toMatchObject({ email: "late@example.com", role: "viewer" });
  const { items, total } = await listPendingInvitations(ada, { project_id, ...page });
  expect(total).toBe(1);
  expect(Date.parse(items[0]?.expires_at ?? "")).toBeGreaterThan(Date.now() + 6 * 24 * 3_600_000);
  await withdrawInvitation(ada, { project_id, invitation_id: items[0]?.id ?? "" });
  expect(await outcomes(getInvitation({ token: tokenOf(sent ?? {}) }))).toEqual(["NOT_FOUND"]);
});

test("lists are pages, newest first", async () => {
  const ada = await database.newAdmin();
  for (const name of ["B", "C", "D"]) await createProject(ada, { name });
  const names = async (number: number) => (await listProjects(ada, { page: number, per_page: 3 })).items.map(({ name }) => name);
  expect(await names(1)).toEqual(["D", "C", "B"]);
  expect(await names(2)).toEqual([ada.project.name]);
  expect(await listProjects(ada, { page: 3, per_page: 3 })).toEqual({ items: [], total: 4, page: 3, per_page: 3 });
});

test("a project goes with everything in it, also what points at each other", async () => {
  const admin = await database.newAdmin();
  const project_id = admin.project.id;
  const key = await db().llmKey.create({ data: { project_id, name: "Key", provider: "openai", sealed_key: "x", masked_key: "x" } });
  await db().agent.create({ data: { project_id, name: "Agent", llm_key_id: key.id, model: "m" } });
  const workflow = await db().workflow.create({ data: { project_id, name: "Flow", snapshot_id: randomUUID(), trigger: "manual" } });
  const snapshot = await db().workflowSnapshot.create({ data: { workflow_id: workflow.id, hash: "h", graph: {} } });
  await db().workflowVersion.create({ data: { workflow_id: workflow.id, version: 1, snapshot_id: snapshot.id } });
  await db().execution.create({ data: { project_id, workflow_id: workflow.id, snapshot_id: snapshot.id, trigger: "manual" } });
  await deleteProject(admin, { project_id });
  expect([
    await db().project.count({ where: { id: project_id } }),
    await db().workflow.count({ where: { project_id } }),
    await db().agent.count({ where: { project_id } }),
  ]).toEqual([0, 0, 0]);
});

test("no secret outlives the moment of the deletion, however long the rows take", async () => {
  const admin = await database.newAdmin();
  const project_id = admin.project.id;
  const [key, server, rag] = [randomUUID(), randomUUID(), randomUUID()];
  await db().llmKey.create({ data: { id: key, project_id, name: "Key", provider: "openai", sealed_key: "x", masked_key: "x" } });
  await db().credential.create({ data: { project_id, name: "TOKEN", sealed_value: "x" } });
  await db().mcpServer.create({ data: { id: server, project_id, name: "Shelf", url: "https://mcp.example.com", sealed_headers: "x" } });
  await db().ragSource.create({ data: { id: rag, project_id, name: "House", type: "http", sealed_secrets: "x" } });
  await db().agent.create({
    data: {
      project_id,
      name: "Scout",
      llm_key_id: key,
      model: "m",
      mcp_servers: { create: { mcp_server_id: server } },
      rag_sources: { create: { rag_source_id: rag } },
    },
  });
  const request = { user_id: admin.user.id, project_id, operation: "POST /things", key: "k", request_hash: "h" };
  await answerOnce(request, async () => ({ status: 201, body: "a new secret" }));
  await db().$transaction((tx) => closeProject(tx, project_id));
  const inProject = { where: { project_id } };
  expect([
    await db().llmKey.count(inProject),
    await db().credential.count(inProject),
    await db().mcpServer.count({ where: { project_id, sealed_headers: { not: null } } }),
    await db().ragSource.count({ where: { project_id, sealed_secrets: { not: null } } }),
    await db().idempotencyKey.count(inProject),
  ]).toEqual([0, 0, 0, 0, 0]);
});

test("API keys are their owner's alone, and every project of the owner hears of them", async () => {
  const [ada, bob] = [await database.newAdmin(), await database.newAdmin()];
  await createProject(ada, { name: "Second" });
  const made = await createPlatformKey(ada, { name: "CI" });
  expect(made.key).toMatch(/^sk-service-[A-Za-z0-9_-]{43}$/);
  const { items } = await listPlatformKeys(ada, page);
  const { key: _, ...shown } = made;
  expect(items).toEqual([shown]);
  expect(shown).toMatchObject({ id: made.id, name: "CI", last_used_at: null });
  expect((await listPlatformKeys(bob, page)).total).toBe(0);
  await expect(deletePlatformKey(bob, { key_id: made.id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(deletePlatformKey(ada, { key_id: "nonsense" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const deletions = await Promise.allSettled([deletePlatformKey(ada, { key_id: made.id }), deletePlatformKey(ada, { key_id: made.id })]);
  expect(deletions.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const entries = await db().auditEntry.findMany({
    where: { resource_id: made.id },
    select: { action: true, resource_name: true, actor_email: true },
  });
  const entry = { resource_name: "CI", actor_email: ada.user.email };
  expect(entries.sort((a, b) => a.action.localeCompare(b.action))).toEqual([
    { action: "platform_key.create", ...entry },
    { action: "platform_key.create", ...entry },
    { action: "platform_key.delete", ...entry },
    { action: "platform_key.delete", ...entry },
  ]);
});

test("a slug is unique within an account, also when one joins a project of the same slug", async () => {
  const [ada, bob] = [await database.newAdmin(), await database.newAdmin()];
  const team = {
    ada: await createProject(ada, { name: "Team", slug: "team" }),
    bob: await createProject(bob, { name: "Team", slug: "team" }),
  };
  const second = await createProject(ada, { name: "Second", slug: "team-2" });
  await addMember({ ...ada, project: team.ada }, bob.user, "admin");
  await addMember({ ...ada, project: second }, bob.user, "editor");
  const slugs = async (of: ProjectPrincipal) =>
    Object.fromEntries((await listProjects(of, page)).items.map(({ id, slug }) => [id, slug] as const));
  const asked = (of: ProjectPrincipal, slug: string) =>
    projectOf(of, new Headers({ "x-project-slug": slug })).then(({ project, role }) => ({ ...project, role }));

  // Bob's own is "team"; Ada's, which he joined, is "team-2"; so the one that she calls so is "team-2-2" to him.
  expect(await slugs(bob)).toMatchObject({ [team.bob.id]: "team", [team.ada.id]: "team-2", [second.id]: "team-2-2" });
  expect(await slugs(ada)).toMatchObject({ [team.ada.id]: "team", [second.id]: "team-2" });
  expect(await asked(bob, "team")).toMatchObject({ id: team.bob.id, slug: "team" });
  expect(await asked(bob, "team-2")).toMatchObject({ id: team.ada.id, slug: "team-2", role: "admin" });
  expect(await asked(ada, "team-2")).toMatchObject({ id: second.id });
  expect(await getProject(bob, { project_id: team.ada.id })).toMatchObject({ slug: "team-2" });
  expect((await getProfile(bob)).projects).toContainEqual({ id: team.ada.id, slug: "team-2", name: "Team", role: "admin" });
  await expect(createProject(bob, { name: "Another", slug: "team-2" })).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await createProject(bob, { name: "Team" })).toMatchObject({ slug: "team-3" });

  // A change of role keeps it, what he reads and sends back renames nothing, and a new slug is everybody's.
  await setMember(ada, { project_id: second.id, email: bob.user.email, role: "admin" });
  await updateProject(bob, { project_id: second.id, name: "Renamed", slug: "team-2-2" });
  expect(await slugs(ada)).toMatchObject({ [second.id]: "team-2" });
  await expect(updateProject(bob, { project_id: second.id, slug: "team" })).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await updateProject(ada, { project_id: second.id, slug: "team-3" })).toMatchObject({ slug: "team-3" });
  expect(await slugs(bob)).toMatchObject({ [second.id]: "team-3-2" });
  expect(await updateProject(ada, { project_id: second.id, slug: "crew" })).toMatchObject({ slug: "crew" });
  expect(await slugs(bob)).toMatchObject({ [second.id]: "crew" });
});

test("joins at the same moment find different slugs", async () => {
  const bob = await database.newAdmin();
  const owners = await Promise.all([1, 2, 3, 4].map(() => database.newAdmin()));
  const projects = await Promise.all(owners.map((owner) => createProject(owner, { name: "Same", slug: "same" })));
  await Promise.all(owners.map((owner, at) => addMember({ ...owner, project: projects[at] ?? owner.project }, bob.user, "viewer")));
  const slugs = (await listProjects(bob, page)).items.map(({ slug }) => slug).filter((slug) => slug.startsWith("same"));
  expect(slugs.sort()).toEqual(["same", "same-2", "same-3", "same-4"]);
});
