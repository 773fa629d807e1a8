import { initTRPC, TRPCError } from "@trpc/server";
import type { OpenApiMeta } from "trpc-to-openapi";
import { z } from "zod";
import { assertRole, type Principal, type ProjectPrincipal } from "#server/platform/auth/principal.ts";
import type { Visitor } from "#server/platform/auth/request-origin.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { AppError, ERRORS, errorBody, isAppError, outageOf } from "#server/platform/errors.ts";
import { KeyedSemaphore } from "#server/platform/keyed-semaphore.ts";
import { log } from "#server/platform/log.ts";
import { TimeSlice } from "#server/platform/time-slice.ts";
import { type ErrorCode, type FieldError, MAX_FIELD_ERRORS } from "#server/shared/error-schema.ts";
import "#server/shared/messages.ts"; // the texts of field errors, and the bound on unknown keys
import { MOST_CALLS } from "#server/shared/most-calls.ts";
import type { Role } from "#server/shared/primitives-schema.ts";

/** What a procedure gets from whichever door the call came through. */
export interface ApiContext extends Visitor {
  /** Null when nobody is signed in and no key was sent. */
  principal: Principal | null;
  /**
   * The project of this call (specification, Authentication 4), resolved at first use.
   * @throws AppError BAD_REQUEST with several projects and no header, NOT_FOUND for one the user is not in
   */
  project(principal: Principal): Promise<ProjectPrincipal>;
  /** Takes long texts out of the result, where it is sent as JSON; left out, a result has them whole. */
  texts?: DeferredTexts;
}

/** Who may call: anybody, any signed-in user, or a member of the project with at least this role. */
export type Access = "public" | "user" | Role;
/** What the service asks for itself: a role in the project that stands in the path, or a word for the whole install. */
type OwnDemand = Role | "install_admin";

export type ApiMeta = OpenApiMeta & {
  access?: Access;
  /** What the service asks for itself, where that does not follow from a header. */
  role?: OwnDemand;
  /** True on a change that starts, steers or asks something that runs: a platform key needs the scope `run` for it. */
  runs?: boolean;
  /** True on a query that a key with the scope `run` alone may make; see `KeyNeeds.isOpenToRun`. */
  isOpenToRun?: boolean;
  successStatus?: 200 | 201 | 202 | 204;
  sessionOnly?: boolean;
  /** True where the result may be large without its deferred texts: few are made at once for an account. */
  isLarge?: boolean;
  /** False on a POST that changes nothing: there `Idempotency-Key` is not looked at. */
  isIdempotent?: boolean;
};

const t = initTRPC
  .context<ApiContext>()
  .meta<ApiMeta>()
  .create({
    errorFormatter: ({ shape, error }) => ({
      message: errorBody(appErrorOf(error)).detail,
      code: shape.code,
      data: { ...errorBody(appErrorOf(error)), httpStatus: ERRORS[appErrorOf(error).code].status },
    }),
  });

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

/** Zod's issues as `errors` of the envelope, with paths dotted; at most MAX_FIELD_ERRORS of them. */
export function fieldErrors(error: z.ZodError): FieldError[] {
  const errors = error.issues.slice(0, MAX_FIELD_ERRORS).flatMap((issue) => {
    const paths = issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
    return paths.map((path) => ({ path: path.join("."), message: issue.message }));
  });
  return errors.slice(0, MAX_FIELD_ERRORS);
}

/** The AppError behind whatever tRPC carries. Anything unknown is logged here, once, and shown as INTERNAL_ERROR. */
export function appErrorOf(error: unknown): AppError {
  if (isAppError(error)) return error;
  if (error instanceof TRPCError) {
    if (isAppError(error.cause)) return error.cause;
    if (error.code === "BAD_REQUEST" && error.cause instanceof z.ZodError) {
      const errors = fieldErrors(error.cause);
      const first = errors[0];
      return new AppError("VALIDATION_ERROR", first ? `${first.path || "body"}: ${first.message}` : "The request is not valid.", {
        errors,
      });
    }
    if (error.code === "BAD_REQUEST")
      return new AppError("BAD_REQUEST", `The request cannot be read. At most ${MOST_CALLS} calls may come in one.`);
    if (error.code === "PARSE_ERROR") return new AppError("BAD_REQUEST", "The body is not valid JSON.");
    if (error.code === "NOT_FOUND") return new AppError("NOT_FOUND", "There is no such operation.");
    if (error.code === "METHOD_NOT_SUPPORTED") return new AppError("METHOD_NOT_ALLOWED", "This operation needs another method.");
  }
  return outageOf(error) ?? new AppError("INTERNAL_ERROR", "Something went wrong on our side.", { cause: error });
}

/** Codes of errors that need a person; their causes are logged. */
export const FAULTS: ReadonlySet<ErrorCode> = new Set(["SERVICE_UNAVAILABLE", "STORAGE_FULL", "INTERNAL_ERROR"]);

/**
 * Marks an output schema whose values are not validated: the server builds them, and they are so large that a validation would hold
 * the process for longer than their computation.
 * @returns the same schema, which still gives the types and the API document
 */
export function unvalidated<Schema extends z.ZodType>(schema: Schema): Schema {
  // tRPC validates an output by this method alone.
  schema.parseAsync = async (value) => value as never; // cast: the type of the schema's output
  return schema;
}

const logged = t.middleware(async ({ next, path }) => {
  const result = await next();
  if (!result.ok) {
    const known = appErrorOf(result.error);
    if (FAULTS.has(known.code)) log.error({ err: result.error.cause ?? result.error, path }, "procedure failed");
  }
  return result;
});

/** Large results that are made at once for one account, or for one address of anonymous clients. */
const MAX_LARGE_AT_ONCE = 2;
const MAX_LARGE_WAITING = 500;

const largeResults = new KeyedSemaphore(
  MAX_LARGE_AT_ONCE,
  MAX_LARGE_WAITING,
  "Too many large results are being read for this account. Wait a few seconds and try again.",
);

const limitLargeResults = t.middleware(({ ctx, meta, next }) => {
  if (!meta?.isLarge) return next();
  return largeResults.run(ctx.principal?.user.id ?? ctx.address, async () => {
    const slice = new TimeSlice();
    const result = await next();
    // A result of megabytes is parsed and checked at once: others have their turn before it is sent.
    if (slice.isUp) await slice.next();
    return result;
  });
});

/** What a user may do outside of projects, or as an admin of one, the assistant does for nobody: members, keys, accounts. */
const forPeople = t.middleware(({ ctx, next }) => {
  if (ctx.principal?.auth.type === "assistant")
    throw new AppError("PERMISSION_DENIED", "The assistant does not do this for anybody. Do it in the web app.");
  return next();
});

const signedIn = t.middleware(({ ctx, next, meta }) => {
  if (!ctx.principal) throw new AppError("AUTH_REQUIRED", "Send a valid API key as `Authorization: Bearer sk-service-…`.");
  if (meta?.sessionOnly && ctx.principal.auth.type !== "session")
    throw new AppError("PERMISSION_DENIED", "This part is for the web app only; API keys cannot use it.");
  return next({ ctx: { ...ctx, principal: ctx.principal } });
});

const inProject = (needed: Role) =>
  t.middleware(async ({ ctx, next }) => {
    if (!ctx.principal) throw new AppError("AUTH_REQUIRED", "Send a valid API key as `Authorization: Bearer sk-service-…`.");
    const principal = await ctx.project(ctx.principal);
    assertRole(principal, needed);
    return next({ ctx: { ...ctx, principal } });
  });

const base = t.procedure.use(logged).use(limitLargeResults);

/** Anybody, without a key. */
export const publicProcedure = base.meta({ access: "public" });
/** Any signed-in user or key; `ctx.principal` is a Principal. */
export const userProcedure = base.meta({ access: "user" }).use(forPeople).use(signedIn);
/** Any member of the project; `ctx.principal` is a ProjectPrincipal. */
export const viewerProcedure = base.meta({ access: "viewer" }).use(signedIn).use(inProject("viewer"));
/** Whoever may decide reviews. */
export const approverProcedure = base.meta({ access: "approver" }).use(signedIn).use(inProject("approver"));
export const editorProcedure = base.meta({ access: "editor" }).use(signedIn).use(inProject("editor"));
export const adminProcedure = base.meta({ access: "admin" }).use(forPeople).use(signedIn).use(inProject("admin"));

interface EndpointDetails {
  tag: string;
  summary: string;
  description?: string;
  /** Success status; 200 unless the contract says otherwise (create 201, execute 202, delete 204). */
  status?: 200 | 201 | 202 | 204;
  /** What the service asks for itself; see `ApiMeta`. */
  role?: OwnDemand;
  /** Whether it starts, steers or asks something that runs; see `ApiMeta`. */
  runs?: boolean;
  /** See `ApiMeta`. */
  isOpenToRun?: boolean;
  /** See `ApiMeta`. */
  isLarge?: boolean;
  /** Whether a POST honours `Idempotency-Key`; true unless it only asks for something, such as a test of a connection. */
  isIdempotent?: boolean;
  /** Takes the browser's session only, below `/bridge`; not in the API document. */
  sessionOnly?: boolean;
}

/** The metadata that puts a procedure on the REST API: `.meta(endpoint("POST", "/agents", {…}))`. */
export function endpoint(method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: `/${string}`, details: EndpointDetails): ApiMeta {
  const { tag, summary, description, status = 200, isIdempotent = true, role, runs, isOpenToRun, isLarge, sessionOnly } = details;
  const openapi = { method, path, tags: [tag], summary, ...(description && { description }) };
  return {
    openapi,
    successStatus: status,
    isIdempotent,
    ...(role && { role }),
    ...(runs && { runs }),
    ...(isOpenToRun && { isOpenToRun }),
    ...(isLarge && { isLarge }),
    ...(sessionOnly && { sessionOnly }),
  };
}
