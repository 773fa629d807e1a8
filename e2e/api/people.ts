import { randomUUID } from "node:crypto";
import { type APIRequestContext, request } from "@playwright/test";
import type { Role } from "#server/shared/primitives-schema.ts";

// People of the identity and door specs: clients that act as somebody over HTTP, made by the product's own means.

// Set by the global setup.
const baseURL = process.env.BASE_URL ?? "";
const owner = { email: process.env.OWNER_EMAIL ?? "", password: process.env.OWNER_PASSWORD ?? "" };

/** A client without any proof of who it is. */
export const stranger = (): Promise<APIRequestContext> => request.newContext({ baseURL });

/** Signs in as a browser on our own pages would; the client keeps the session. */
export async function signIn({
  email,
  password,
}: {
  email: string;
  password: string;
}): Promise<{ status: number; browser: APIRequestContext }> {
  const browser = await request.newContext({ baseURL, extraHTTPHeaders: { origin: baseURL } });
  const { csrfToken } = await (await browser.get("/api/auth/csrf")).json();
  const answer = await browser.post("/api/auth/callback/credentials", { form: { csrfToken, email, password, json: "true" } });
  return { status: answer.status(), browser };
}

/** A client with a platform key of whoever `browser` is. */
export async function withNewKey(browser: APIRequestContext): Promise<{ api: APIRequestContext; key: string; key_id: string }> {
  const { key, id } = await (await browser.post("/api/v1/platform-keys", { data: { name: "spec" } })).json();
  const api = await request.newContext({ baseURL, extraHTTPHeaders: { authorization: `Bearer ${key}` } });
  return { api, key, key_id: id };
}

export interface Project {
  id: string;
  slug: string;
  name: string;
}

export async function newProject(api: APIRequestContext): Promise<Project> {
  return (await api.post("/api/v1/projects", { data: { name: `Spec ${randomUUID()}` } })).json();
}

/**
 * Somebody new who makes projects of his own. The owner of the install only invites him, and is left in one project as
 * before, so that specs beside these need no project header.
 */
export async function newHost() {
  const { browser } = await signIn(owner);
  const { projects } = await (await browser.get("/api/v1/users/me")).json();
  return newUser(browser, projects[0], "viewer");
}

/** Somebody new with this role in the project, who came by invitation; in no other project. */
export async function newUser(admin: APIRequestContext, project: Project, role: Role) {
  const email = `${randomUUID()}@example.com`;
  const password = randomUUID();
  const { invite_url } = await (await admin.post(`/api/v1/projects/${project.id}/members`, { data: { email, role } })).json();
  const token = tokenOf(invite_url);
  const accepted = await (await stranger()).post(`/api/v1/invitations/${token}/accept`, { data: { name: "Newcomer", password } });
  const { browser } = await signIn({ email, password });
  return { email, password, token, id: String((await accepted.json()).id), browser, ...(await withNewKey(browser)) };
}

/** The token of an invitation's link. */
export const tokenOf = (inviteUrl: unknown): string => String(inviteUrl).split("/invite/")[1] ?? "";

/** Joins the project of an invitation's link, as somebody who opens it in a browser that is signed in. */
export async function join(browser: APIRequestContext, inviteUrl: unknown): Promise<void> {
  await browser.post(`/api/v1/invitations/${tokenOf(inviteUrl)}/accept`, { data: {}, failOnStatusCode: true });
}
