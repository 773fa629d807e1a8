import { readBytes } from "#server/http/messages/read-json.ts";
import { jsonResponse, loggedErrorResponse } from "#server/http/messages/respond.ts";
import { AppError } from "#server/platform/errors.ts";
import { resolveCallback } from "#server/runs/waits/resolve-callback.ts";

/** The JSON text of a body; one that is absent counts as `{}`. @throws AppError BAD_REQUEST for what is no JSON */
function jsonText(bytes: Uint8Array): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.trim() === "") return "{}";
    JSON.parse(text);
    return text;
  } catch (cause) {
    throw new AppError("BAD_REQUEST", "The body is not JSON. Check its commas and quotes.", { cause });
  }
}

/** `POST …/resume/{token}`: no key and no session, the token is the secret. */
export async function resume(request: Request, { params }: { params: { token: string } }): Promise<Response> {
  try {
    await resolveCallback(params.token, async () => jsonText(await readBytes(request)));
    return jsonResponse({ status: "resumed" }, 200);
  } catch (error) {
    return loggedErrorResponse(error, request);
  }
}
