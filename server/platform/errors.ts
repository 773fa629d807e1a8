import type { TRPC_ERROR_CODE_KEY } from "@trpc/server/rpc";
import {
  type ErrorBody,
  type ErrorCode,
  type FieldError,
  MAX_DETAIL_LENGTH,
  MAX_FIELD_ERROR_LENGTH,
  MAX_FIELD_ERRORS,
} from "#server/shared/error-schema.ts";
import { shorten } from "#server/shared/shorten.ts";

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
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    trpc: "UNSUPPORTED_MEDIA_TYPE",
    retryable: false,
    meaning: "The body has a charset or a content encoding that is unknown",
  },
  VALIDATION_ERROR: { status: 422, trpc: "UNPROCESSABLE_CONTENT", retryable: false, meaning: "A field breaks its schema or a rule" },
  RATE_LIMIT_EXCEEDED: { status: 429, trpc: "TOO_MANY_REQUESTS", retryable: true, meaning: "Too many requests or executions" },
  UPSTREAM_ERROR: { status: 502, trpc: "BAD_GATEWAY", retryable: true, meaning: "A model provider or another service failed" },
  SERVICE_UNAVAILABLE: {
    status: 503,
    trpc: "SERVICE_UNAVAILABLE",
    retryable: true,
    meaning: "The database does not answer for the moment; wait as Retry-After says",
  },
  STORAGE_FULL: {
    status: 507,
    trpc: "INTERNAL_SERVER_ERROR",
    retryable: true,
    meaning: "The disk of the service is full; its operator has to free space",
  },
  INTERNAL_ERROR: {
    status: 500,
    trpc: "INTERNAL_SERVER_ERROR",
    retryable: true,
    hidden: "Something went wrong on our side. Nothing was changed; please try again.",
    meaning: "A fault of the service",
  },
} as const satisfies Record<ErrorCode, ErrorRow>;

const boundFieldErrors = (errors: FieldError[]): FieldError[] =>
  errors.slice(0, MAX_FIELD_ERRORS).map(({ path, message, ...rest }) => ({
    ...rest,
    path: shorten(path, MAX_FIELD_ERROR_LENGTH),
    message: shorten(message, MAX_FIELD_ERROR_LENGTH),
  }));

/**
 * An error that a person caused or can act on. Its text is shown, so it says what to do next and holds no secret. Its texts and the
 * number of its field errors are bounded.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly errors: FieldError[] | undefined;
  /** Number of all errors, where `errors` lists the first ones only. */
  readonly total: number | undefined;
  /** Seconds for Retry-After. */
  readonly retryAfter: number | undefined;
  /** How much the limit allows that is used up, for X-RateLimit-Limit; undefined for the limits that the front tells. */
  readonly limit: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: { errors?: FieldError[]; total?: number; retryAfter?: number; limit?: number; cause?: unknown } = {},
  ) {
    super(shorten(message, MAX_DETAIL_LENGTH), { cause: details.cause });
    this.name = "AppError";
    this.code = code;
    this.errors = details.errors && boundFieldErrors(details.errors);
    this.total = details.total;
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
  const known = isAppError(error) ? error : outageOf(error);
  const code = known?.code ?? "INTERNAL_ERROR";
  const row: ErrorRow = ERRORS[code];
  return {
    detail: row.hidden ?? known?.message ?? row.meaning,
    error_code: code,
    status: row.status,
    ...(known?.errors?.length && { errors: known.errors }),
    ...(known?.total !== undefined && { total: known.total }),
  };
}

export const notFound = (what: string) => new AppError("NOT_FOUND", `There is no such ${what} in this project.`);

/** Codes of a full disk: PostgreSQL's and the system's. */
const FULL = /^(53100|ENOSPC)$/;

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

/** True when an error or one of its causes fits. A vendor's words never count. */
function someCause(error: unknown, fits: (code: string, driver: string, message: string) => boolean): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (isAppError(current)) return false;
    if (fits("code" in current ? String(current.code) : "", driverCode(current), current.message)) return true;
  }
  return false;
}

/** Time for which the disk counts as full after a write found it full, in ms. */
const FULL_MS = 60_000;
let fullAt = Number.NEGATIVE_INFINITY;

/** True when an error says that a disk is full: that of the database, or that of this process. Notes when that was. */
export function isStorageFull(error: unknown): boolean {
  const isFull = someCause(
    error,
    (code, driver, message) => FULL.test(code) || FULL.test(driver) || /No space left on device/.test(message),
  );
  if (isFull) fullAt = performance.now();
  return isFull;
}

/** Message of readiness when a write of the last minute found the disk full, else undefined. */
export const storageProblem = (): string | undefined =>
  performance.now() - fullAt < FULL_MS
    ? "The disk is full: writes are refused with STORAGE_FULL. Free space; accepted runs continue then, and this note goes within a minute."
    : undefined;

// ENOENT: the socket of an embedded database that is being started again.
const LOST =
  /Connection terminated|connect ENOENT|timeout exceeded when trying to connect|not queryable|server closed|Can't reach database server/;

/** True when an error says that the database could not be reached or could not store, so that trying again is right. */
export const isDatabaseAway = (error: unknown): boolean =>
  someCause(error, (code, driver, message) => AWAY.test(code) || AWAY.test(driver) || LOST.test(message)) || isStorageFull(error);

/** Seconds for Retry-After while the database does not answer. */
const RETRY_SECONDS = 5;

/** The error that a client gets when the database does not answer or cannot store; undefined for any other error. */
export function outageOf(error: unknown): AppError | undefined {
  // A database that has found its disk full may end, and be away until there is space.
  if (isStorageFull(error) || (storageProblem() !== undefined && isDatabaseAway(error)))
    return new AppError("STORAGE_FULL", "The disk of this service is full. Ask its operator to free space, then try again.", {
      cause: error,
    });
  if (isDatabaseAway(error))
    return new AppError("SERVICE_UNAVAILABLE", `The database does not answer. Try again in ${RETRY_SECONDS} seconds.`, {
      retryAfter: RETRY_SECONDS,
      cause: error,
    });
  return undefined;
}

/** What an error says, whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : undefined);

/** True when a write was refused because another row already has the value of a unique field. */
export const isUniqueViolation = (error: unknown): boolean => codeOf(error) === "P2002";

/** SQLSTATE, also of statements that Prisma only passes on. */
const FOREIGN_KEY_VIOLATION = "23503";

/** True when a write was refused because a row that it names is gone, or is still named by another row. */
export const isForeignKeyViolation = (error: unknown): boolean =>
  codeOf(error) === "P2003" || someCause(error, (code, driver) => code === FOREIGN_KEY_VIOLATION || driver === FOREIGN_KEY_VIOLATION);
