import { RagDocument } from "#server/features/knowledge/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

/**
 * Sends a file to a knowledge source. A form with a file is no tRPC call, so it has a route of its own.
 * @throws Error whose text is for people
 */
export async function uploadFile(projectId: string, ragId: string, file: File): Promise<RagDocument> {
  const body = new FormData();
  body.set("file", file);
  const response = await fetch(`/api/v1/bridge/rags/${ragId}/documents`, {
    method: "POST",
    body,
    headers: { "X-Project-ID": projectId },
  }).catch(() => undefined);
  if (!response) throw new Error("The service cannot be reached. Check your connection and try again.");
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return RagDocument.parse(answer);
  throw new Error(ErrorBody.safeParse(answer).data?.detail ?? "The file could not be added. Try again.");
}
