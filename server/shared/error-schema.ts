import { z } from "zod";

/** Every code that a response can carry (specification, Errors; contract, section 1). */
export const ErrorCode = z.enum([
  "BAD_REQUEST",
  "AUTH_REQUIRED",
  "PERMISSION_DENIED",
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "CONFLICT",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "VALIDATION_ERROR",
  "RATE_LIMIT_EXCEEDED",
  "UPSTREAM_ERROR",
  "SERVICE_UNAVAILABLE",
  "STORAGE_FULL",
  "INTERNAL_ERROR",
]);
export type ErrorCode = z.infer<typeof ErrorCode>;

/** Most field errors that one response lists. */
export const MAX_FIELD_ERRORS = 50;
/** Longest path and message of a field error, in characters. */
export const MAX_FIELD_ERROR_LENGTH = 500;
/** Longest `detail` of a response, in characters. */
export const MAX_DETAIL_LENGTH = 4000;

/** One thing that is wrong with a request; `path` is dotted, e.g. `nodes.2.data.timeout`. */
export const FieldError = z.object({ path: z.string(), message: z.string() });
export type FieldError = z.infer<typeof FieldError>;

/** The body of every answer that is not a success. */
export const ErrorBody = z
  .object({
    detail: z.string().meta({ description: "What went wrong and what to do next", example: "There is no such workflow in this project." }),
    error_code: ErrorCode,
    status: z.number().int(),
    errors: z.array(FieldError).max(MAX_FIELD_ERRORS).optional(),
    total: z.number().int().optional().meta({ description: "Number of all errors, where `errors` lists only the first ones" }),
  })
  .meta({ id: "Error", description: "The body of every answer that is not a success" });
export type ErrorBody = z.infer<typeof ErrorBody>;
