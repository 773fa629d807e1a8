import { addFile, type UploadedFile } from "#server/features/knowledge/documents.ts";
import { AddRagDocumentInput } from "#server/features/knowledge/schema.ts";
import { readBytes } from "#server/http/messages/read-json.ts";
import { errorResponse, jsonResponse } from "#server/http/messages/respond.ts";
import { withIdempotency } from "#server/http/rest/idempotency.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import { type ApiRouteOptions, apiRoute } from "#server/http/streams/api-route.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { AppError, invalidField, isAppError } from "#server/platform/errors.ts";
import { settings } from "#server/platform/settings.ts";

type Params = { rag_id: string };

const refused = (path: string, message: string) => invalidField(path, message, `${path}: ${message}`);

function fileTooLarge(): AppError {
  const most = Number((settings().MAX_BODY_BYTES / 1024 / 1024).toFixed(1));
  return new AppError(
    "PAYLOAD_TOO_LARGE",
    `The file is larger than ${most} MiB. Split it up or add it by its address, or have the operator raise MAX_BODY_BYTES.`,
  );
}

/** The form's only file, and its title if it has one. */
async function readForm(bytes: Uint8Array, type: string): Promise<UploadedFile> {
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData();
  } catch (cause) {
    throw new AppError(
      "BAD_REQUEST",
      "The form cannot be read. Send multipart/form-data with a boundary and the file in the field `file`.",
      { cause },
    );
  }
  const stray = [...form.keys()].find((name) => name !== "file" && name !== "title");
  if (stray !== undefined) throw refused(stray.slice(0, 80), "There is no such field.");
  const [file, ...more] = form.getAll("file");
  if (!(file instanceof File)) throw refused("file", "Send the file in the field `file`, with its name.");
  if (more.length) throw refused("file", "Send one file at a time.");
  const title = AddRagDocumentInput.shape.title.safeParse(form.get("title") ?? undefined);
  if (!title.success) throw refused("title", title.error.issues[0]?.message ?? "The title is not valid.");
  return {
    name: cleanText(file.name).slice(0, 500),
    type: file.type,
    bytes: new Uint8Array(await file.arrayBuffer()),
    title: title.data === undefined ? undefined : cleanText(title.data),
  };
}

const upload = (door: ApiRouteOptions) =>
  apiRoute<Params>(
    async (request, { principal, params }) => {
      const bytes = await readBytes(request).catch((error: unknown) => {
        throw isAppError(error) && error.code === "PAYLOAD_TOO_LARGE" ? fileTooLarge() : error;
      });
      const type = request.headers.get("content-type") ?? "";
      const file = await readForm(bytes, type);
      const asked = {
        principal,
        project_id: principal.project.id,
        operation: "POST /rags/{rag_id}/documents",
        // The boundary of a form differs each time it is sent.
        content: () => [JSON.stringify([params.rag_id, file.name, file.type, file.title ?? null]), file.bytes],
      };
      return withIdempotency(request.headers, asked, () =>
        addFile(principal, params.rag_id, file).then(
          (document) => jsonResponse(document, 201),
          (error: unknown) => {
            if (isAppError(error) && error.code !== "INTERNAL_ERROR") return errorResponse(error);
            throw error;
          },
        ),
      );
    },
    { ...door, role: "editor" },
  );

const isForm = (request: Request) => /^multipart\/form-data\b/i.test(request.headers.get("content-type")?.trim() ?? "");

const overApi = upload({ keyNeeds: { scope: "write" } });

/** `POST /rags/{rag_id}/documents`: a file as multipart/form-data, else JSON, which is the procedure's. */
export const addRagDocument = (request: Request, context: { params: Params }): Promise<Response> =>
  isForm(request) ? overApi(request, context) : handleRest(request);

/** The same for files that the web app sends, with the browser's session. */
export const uploadRagDocument = upload({ sessionOnly: true });

export { handleRest as restOfRagDocuments };
