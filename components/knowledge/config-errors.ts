import { TRPCClientError } from "@trpc/client";
import { ErrorBody } from "#server/shared/error-schema.ts";

/** Makes the server's `config.url` the form's `url`, so that what it says stands at the field. */
export async function withoutConfigPrefix<Result>(call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    const body = error instanceof TRPCClientError ? ErrorBody.safeParse(error.data) : undefined;
    if (!body?.success || !body.data.errors) throw error;
    const errors = body.data.errors.map(({ path, message }) => ({ path: path.replace(/^config\./, ""), message }));
    (error as { data: unknown }).data = { ...body.data, errors };
    throw error;
  }
}
