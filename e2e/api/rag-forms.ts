import { type APIRequestContext, request } from "@playwright/test";
import type { Person } from "#e2e/fixtures.ts";
import { until } from "#e2e/until.ts";
import { Rag, type RagDocument, RagDocumentDetail } from "#server/features/knowledge/schema.ts";

// What the specs of knowledge sources share.

export type Api = Person["api"];

/** A new source, of documents unless the fields say otherwise. */
export const newSource = async (api: Api, fields: object = {}): Promise<Rag> =>
  (await api.post("/rags", { name: "Handbook", type: "documents", ...fields }, { schema: Rag, status: 201 })).body;

/** The document, once it is indexed or has failed. */
export const settled = (api: Api, { rag_id, id }: RagDocument): Promise<RagDocumentDetail> =>
  until(async () => {
    const { body } = await api.get(`/rags/${rag_id}/documents/${id}`, { schema: RagDocumentDetail });
    return body.status === "indexing" ? undefined : body;
  });

export interface Part {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** Sends a form, as the form of a browser would. */
export async function upload(api: Api, ragId: string, multipart: Record<string, Part | string>, headers: Record<string, string> = {}) {
  const client: APIRequestContext = await request.newContext({
    baseURL: process.env.BASE_URL ?? "",
    extraHTTPHeaders: { authorization: `Bearer ${api.key}`, ...(api.projectId && { "x-project-id": api.projectId }), ...headers },
  });
  const answer = await client.post(`/api/v1/rags/${ragId}/documents`, { multipart });
  const body: unknown = await answer.json();
  const status = answer.status();
  await client.dispose();
  return { status, body };
}

export const file = (name: string, content: Uint8Array | string, mimeType = "application/octet-stream"): Part => ({
  name,
  mimeType,
  buffer: Buffer.from(content),
});
