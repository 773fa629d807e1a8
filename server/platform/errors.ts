import type { TRPC_ERROR_CODE_KEY } from "@trpc/server/rpc";
import type { ErrorBody, ErrorCode, FieldError } from "#server/shared/error-schema.ts";

interface ErrorRow {
  status: number;
  trpc: TRPC_ERROR_CODE_KEY;
  /** Whether a background step that met it may try again. */
  retryable: boolean;
  /** Text for the client where the error's own text must stay inside. */
  hidden?: string;
  /** Shown in the API document. */
  meaning: string;
}

/** The one table from error code to everything else. */
export const ERRORS = {
  BAD_REQUEST: {
    status: 400,
    trpc: "BAD_REQUEST",
    retryable: false,
    meaning: "The request cannot be read, or several projects and no project header",
  },
  AUTH_REQUIRED: { status: 401, trpc: "UNAUTHORIZED", retryable: false, meaning: "Missing or invalid API key, session or signature" },
  PERMISSION_DENIED: { status: 403, trpc: "FORBIDDEN", retryable: false, meaning: "The role in this project is not enough" },
  NOT_FOUND: { status: 404, trpc: "NOT_FOUND", retryable: false, meaning: "No such resource in this project" },
  METHOD_NOT_ALLOWED: { status: 405, trpc: "METHOD_NOT_SUPPORTED", retryable: false, meaning: "The path exists, but not with this method" },
  CONFLICT: { status: 409, trpc: "CONFLICT", retryable: false, meaning: "The state of the resource does not allow it" },
  PAYLOAD_TOO_LARGE: { status: 413, trpc: "PAYLOAD_TOO_LARGE", retryable: false, meaning: "The body is larger than the limit" },
  VALIDATION_ERROR: { status: 422, trpc: "UNPROCESSABLE_CONTENT", retryable: false, meaning: "A field breaks its schema or a rule" },
  RATE_LIMIT_EXCEEDED: { status: 429, trpc: "TOO_MANY_REQUESTS", retryable: true, meaning: "Too many requests or executions" },
  UPSTREAM_ERROR: { status: 502, trpc: "BAD_GATEWAY", retryable: true, meaning: "A model provider or another service failed" },
  INTERNAL_ERROR: {
    status: 500,
    trpc: "INTERNAL_SERVER_ERROR",
    retryable: true,
    hidden: "Something went wrong on our side. Nothing was changed; please try again.",
    meaning: "A fault of the service",
  },
} as const satisfies Record<ErrorCode, ErrorRow>;

/** An error that a person caused or can act on. Its text is shown, so it says what to do next and holds no secret. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: FieldError[] | undefined;
  /** Seconds for Retry-After. */
  readonly retryAfter: number | undefined;
  /** How much the limit allows that is used up, for X-RateLimit-Limit; undefined for the limits that the front tells. */
  readonly limit: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: { errors?: FieldError[]; retryAfter?: number; limit?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = "AppError";
    this.code = code;
    this.errors = details.errors;
    this.retryAfter = details.retryAfter;
    this.limit = details.limit;
  }
}

/**
 * The refusal of a request in which one field is wrong.
 * @param detail the sentence for whoever looks at no fields, where it is another
 */
export const invalidField = (path: string, message: string, detail = message): AppError =>
  new AppError("VALIDATION_ERROR", detail, { errors: [{ path, message }] });

export const isAppError = (error: unknown): error is AppError => error instanceof AppError;

/** The body that a client gets for an error of any kind. */
export function errorBody(error: unknown): ErrorBody {
  const known = isAppError(error) ? error : undefined;
  const code = known?.code ?? "INTERNAL_ERROR";
  const row: ErrorRow = ERRORS[code];
  return {
    detail: row.hidden ?? known?.message ?? row.meaning,
    error_code: code,
    status: row.status,
    ...(known?.errors?.length && { errors: known.errors }),
  };
}

export const notFound = (what: string) => new AppError("NOT_FOUND", `There is no such ${what} in this project.`);

/**
 * Codes of lost connections and shutdowns: PostgreSQL's class 08, 57P and 53300 (no connection free), Node's socket and
 * name errors, Prisma's counterparts.
 */
const AWAY = /^(08|57P|53300|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN|P1001$|P1002$|P1008$|P1017$|P2024$)/;

/** What the server itself said, of an error that Prisma has no name for (P2039). */
function driverCode(error: Error): string {
  const meta: unknown = Reflect.get(error, "meta");
  const cause: unknown = Reflect.get(Object(Reflect.get(Object(meta), "driverAdapterError")), "cause");
  return String(Reflect.get(Object(cause), "originalCode") ?? "");
}

/** True when an error says that the database could not be reached, so that trying again is right. A vendor's words never count. */
export function isDatabaseAway(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isAppError(current)) return false;
    const code = "code" in current ? String(current.code) : "";
    if (
      AWAY.test(code) ||
      AWAY.test(driverCode(current)) ||
      /Connection terminated|timeout exceeded when trying to connect|not queryable|server closed|Can't reach database server/.test(
        current.message,
      )
    )
      return true;
  }
  return false;
}

/** What an error says, whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);

/** True when a write was refused because another row already has the value of a unique field. */
export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === "P2002";

/** True when a write was refused because a row that it names is gone, or is still named by another row. */
export const isForeignKeyViolation = (error: unknown): boolean => codeOf(error) === "P2003";
