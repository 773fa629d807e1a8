import { assertHttpTrigger, readCall, runHttpTrigger } from "#server/features/http-trigger/service.ts";
import { type SavedWorkflow, savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import { headerEntries, readBytes } from "#server/http/messages/read-json.ts";
import { authRequired, errorResponse, jsonResponse, loggedErrorResponse } from "#server/http/messages/respond.ts";
import { withIdempotency } from "#server/http/rest/idempotency.ts";
import { createContext, isReading } from "#server/http/trpc/context.ts";
import { assertRole, type Principal, type ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { opensProject } from "#server/platform/auth/rights.ts";
import { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import type { ApiContext } from "#server/platform/rpc/trpc.ts";

/**
 * The caller in the workflow's project. Without a project header the workflow says which project is meant; a workflow of
 * a project that the caller is not in, or did not name, does not exist.
 */
async function callerIn(
  { headers }: Request,
  context: ApiContext,
  principal: Principal,
  workflow?: SavedWorkflow,
): Promise<ProjectPrincipal> {
  const [slug, id] = [headers.get("x-project-slug"), headers.get("x-project-id")];
  const isMeant = slug === null && (id === null || id === workflow?.project_id);
  if (isMeant && workflow?.membership && opensProject(principal, workflow.project_id)) return { ...principal, ...workflow.membership };
  const named = slug !== null || id !== null ? await context.project(principal) : undefined;
  if (!named || named.project.id !== workflow?.project_id) throw notFound("workflow");
  return named;
}

async function answer(request: Request, workflow_id: string): Promise<Response> {
  const context = await createContext(request, { keyNeeds: { scope: "run" } });
  if (!context.principal) throw authRequired();
  // Any picture or link of a page, ours too, has a browser send a GET; that of other methods is checked as everywhere.
  if (context.principal.auth.type === "session" && isReading(request.method))
    throw new AppError("PERMISSION_DENIED", `A browser’s session starts no run by ${request.method}. Use an API key, or POST.`);
  // Before anything else is asked, so that it is known as it is when all has come.
  const body = await readBytes(request);
  const workflow = await savedWorkflow(workflow_id, context.principal.user.id);
  const principal = await callerIn(request, context, context.principal, workflow);
  if (!workflow) throw notFound("workflow");
  assertRole(principal, "editor");
  assertHttpTrigger(principal, workflow);
  const allow = workflow.trigger.allowed_methods.join(", ");
  if (!workflow.trigger.allowed_methods.some((method) => method === request.method))
    return errorResponse(new AppError("METHOD_NOT_ALLOWED", `This workflow's trigger takes ${allow || "no method yet"}.`), { allow });
  const { method, url, headers } = request;
  const { input, raw } = await readCall({ method, url, headers, headerEntries: headerEntries(request) }, body);
  const run = async () => {
    const texts = new DeferredTexts();
    const result = await runHttpTrigger(principal, workflow, input, { signal: request.signal, texts, raw });
    if ("run_status" in result) return jsonResponse(result, result.status);
    const sending = { account: principal.user.id, texts, signal: request.signal, isOutcome: true };
    return jsonResponse(result, result.output === undefined ? 202 : 200, sending);
  };
  const { pathname, search } = new URL(request.url);
  const asked = {
    principal,
    project_id: principal.project.id,
    operation: `${request.method} /http/{workflow_id}`,
    content: () => [`${pathname}${search}\n`, body],
  };
  // An error releases the Idempotency-Key, so that repeating the call starts what was refused.
  return withIdempotency(request.headers, asked, run);
}

/**
 * `/api/v1/http/{workflow_id}`, any method that the workflow's trigger allows, with a platform key, or with the
 * session for methods that change something. Each method starts a run, so each honours `Idempotency-Key`.
 */
export async function httpTrigger(request: Request, { params }: { params: { workflow_id: string } }): Promise<Response> {
  try {
    return await answer(request, params.workflow_id);
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}
