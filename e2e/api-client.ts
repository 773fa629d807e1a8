import { expect } from "@playwright/test";
import type { z } from "zod";

/** What JSON gives when nobody says what it should be. */
type Json = ReturnType<typeof JSON.parse>;

export interface CallOptions<Schema extends z.ZodType = z.ZodType> {
  /** The production schema that the body must follow exactly, no field more. */
  schema?: Schema;
  /** The status that must come; with a schema and no status, any success. */
  status?: number;
  headers?: Record<string, string>;
}

export interface Answer<Body> {
  status: number;
  body: Body;
  headers: Headers;
}

type BodyOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Json;

/** A client of the REST API: paths below /api/v1, JSON both ways. */
export interface ApiClient {
  /** The platform key that it sends. */
  key: string;
  /** The project that it names in each request, if any. */
  projectId: string | undefined;
  get<Schema extends z.ZodType | undefined = undefined>(path: string, options?: Options<Schema>): Promise<Answer<BodyOf<Schema>>>;
  post<Schema extends z.ZodType | undefined = undefined>(
    path: string,
    body?: unknown,
    options?: Options<Schema>,
  ): Promise<Answer<BodyOf<Schema>>>;
  put<Schema extends z.ZodType | undefined = undefined>(
    path: string,
    body?: unknown,
    options?: Options<Schema>,
  ): Promise<Answer<BodyOf<Schema>>>;
  del<Schema extends z.ZodType | undefined = undefined>(
    path: string,
    options?: Options<Schema> & { body?: unknown },
  ): Promise<Answer<BodyOf<Schema>>>;
}

type Options<Schema> = Omit<CallOptions, "schema"> & { schema?: Schema };

export function apiClient({ url, key, projectId }: { url: string; key: string; projectId?: string | undefined }): ApiClient {
  async function call<Schema extends z.ZodType | undefined>(
    method: string,
    path: string,
    body: unknown,
    { schema, status, headers }: Options<Schema> = {},
  ): Promise<Answer<BodyOf<Schema>>> {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(projectId && { "x-project-id": projectId }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const what = `${method} ${path} answered ${response.status}: ${text.slice(0, 1000)}`;
    if (status !== undefined) expect(response.status, what).toBe(status);
    else if (schema) expect(response.ok, what).toBe(true);
    const isJson = response.headers.get("content-type")?.includes("json");
    const answer: Json = isJson ? JSON.parse(text) : text || undefined;
    if (schema) expect(schema.parse(answer), "the body has no field beyond its schema").toEqual(answer);
    return { status: response.status, body: answer, headers: response.headers };
  }
  return {
    key,
    projectId,
    get: (path, options) => call("GET", path, undefined, options),
    post: (path, body, options) => call("POST", path, body, options),
    put: (path, body, options) => call("PUT", path, body, options),
    del: (path, options) => call("DELETE", path, options?.body, options),
  };
}
