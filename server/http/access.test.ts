import { expect, test } from "vitest";
import { appRouter, createCaller } from "#server/http/trpc/root.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { type Access, type ApiContext, type ApiMeta, appErrorOf } from "#server/platform/rpc/trpc.ts";
import type { ErrorCode } from "#server/shared/error-schema.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { testKeyAuth } from "#server/testing/test-key-auth.ts";

// Every procedure, those of the web UI too: who is let in is proved by calling it. The services are never reached, because the
// input is nonsense, and who may not call learns so before the input is looked at.

interface ProcedureDefinition {
  _def: { type: "query" | "mutation" | "subscription"; meta?: ApiMeta; inputs: unknown[] };
}
const procedures = Object.entries(appRouter._def.procedures as unknown as Record<string, ProcedureDefinition>);
const roles: Role[] = ["viewer", "approver", "editor", "admin"];

/** Who may call what the REST API does not have, where it is not as usual: reading for viewers, changing for editors. */
const EXCEPTIONS: Record<string, Access> = {
  "identity.status": "public",
  "identity.setUp": "public",
  "identity.openInvitation": "public",
  "identity.invitations": "user",
  "identity.identities": "user",
  "identity.declineInvitation": "user",
  "identity.resumeMemberships": "user",
  "security.safety": "user",
  "security.endOtherSessions": "user",
  "security.beginSecondFactor": "user",
  "security.confirmSecondFactor": "user",
  "security.renewRecoveryCodes": "user",
  "security.turnOffSecondFactor": "user",
  // A person's own views of a list that they may read.
  "executions.saveView": "viewer",
  "executions.deleteView": "viewer",
  "projects.hour": "user",
  "identity.accountDeletion": "user",
  "identity.updateProfile": "user",
  "identity.changePassword": "user",
  "audit.actors": "admin",
  "install.proxy": "user",
  "notifications.markRead": "viewer",
  "emails.byLink": "public",
  "emails.changeByLink": "public",
  "reviews.byLink": "public",
  "reviews.decideByLink": "public",
  "canvases.shared": "public",
};

const user = { id: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10", email: "ada@example.com", name: "Ada" };
const project = { id: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a11", slug: "p", name: "P" };

function contextOf(role: Role | null, auth: Principal["auth"] = { type: "session" }): ApiContext {
  return {
    principal: role && { user, auth },
    address: "unknown",
    isOnThisMachine: false,
    project: async (principal) => ({ ...principal, project, role: role ?? "viewer" }),
  };
}

/** How a call with an input that no schema takes ends. */
async function outcome(path: string, context: ApiContext): Promise<ErrorCode | "served"> {
  const procedure = path.split(".").reduce<unknown>((at, name) => Reflect.get(Object(at), name), createCaller(context));
  try {
    await (procedure as (input: unknown) => Promise<unknown>)({ "no such field": true });
    return "served";
  } catch (error) {
    return appErrorOf(error).code;
  }
}

test("every procedure was made with one of the access procedures, and takes an input", () => {
  for (const [path, { _def }] of procedures) {
    expect(_def.meta?.access, `${path} declares nobody: start it with publicProcedure, userProcedure, viewerProcedure, …`).toMatch(
      /^(public|user|viewer|approver|editor|admin)$/,
    );
    expect(_def.inputs, `${path} takes no input: give it the schema Nothing`).not.toEqual([]);
  }
});

test("what the REST API does not have is for viewers to read and for editors to change, but for what is listed here", () => {
  const wrong = procedures.flatMap(([path, { _def }]) => {
    if (_def.meta?.openapi) return [];
    const expected = EXCEPTIONS[path] ?? (_def.type === "query" ? "viewer" : "editor");
    return _def.meta?.access === expected ? [] : [`${path}: ${_def.meta?.access}, by the rule ${expected}`];
  });
  expect(wrong).toEqual([]);
  for (const path of Object.keys(EXCEPTIONS)) expect(procedures.map(([name]) => name)).toContain(path);
});

test("each does what it declares: nobody is refused, then every role below, and only then the input is read", async () => {
  for (const [path, { _def }] of procedures) {
    const access = _def.meta?.access ?? "public";
    expect(await outcome(path, contextOf(null)), `${path} for nobody`).toBe(access === "public" ? "VALIDATION_ERROR" : "AUTH_REQUIRED");
    const needed = access === "public" || access === "user" ? "viewer" : access;
    for (const role of roles) {
      const isLetIn = roles.indexOf(role) >= roles.indexOf(needed);
      expect(await outcome(path, contextOf(role)), `${path} for ${role}`).toBe(isLetIn ? "VALIDATION_ERROR" : "PERMISSION_DENIED");
    }
  }
});

test("what is for the web app only refuses a key", async () => {
  const own = procedures.filter(([, procedure]) => procedure._def.meta?.sessionOnly);
  expect(own.length).toBeGreaterThan(10);
  for (const [path] of own) expect(await outcome(path, contextOf("admin", testKeyAuth())), path).toBe("PERMISSION_DENIED");
});

test("the assistant asks itself nothing, and does nothing with accounts, members, keys and settings", async () => {
  for (const [path, { _def }] of procedures) {
    const { access, sessionOnly } = _def.meta ?? {};
    const isRefused = sessionOnly || access === "user" || access === "admin";
    if (access !== "public")
      expect(await outcome(path, contextOf("admin", { type: "assistant" })), path).toBe(
        isRefused ? "PERMISSION_DENIED" : "VALIDATION_ERROR",
      );
  }
});
