import { getCanvasCsv } from "#server/features/canvases/csv.ts";
import { CanvasCsvInput } from "#server/features/canvases/schema.ts";
import { projectOfCanvas } from "#server/features/canvases/service.ts";
import { textResponse } from "#server/http/messages/text-response.ts";
import { type ApiRouteOptions, apiRoute, inItsProject } from "#server/http/streams/api-route.ts";
import { AppError } from "#server/platform/errors.ts";
import { fieldErrors } from "#server/platform/rpc/trpc.ts";

/** `GET …/canvases/{canvas_id}/data.csv`: a file, which no procedure can answer with. */
export const canvasCsv = (options: ApiRouteOptions) =>
  inItsProject<{ canvas_id: string }>(
    apiRoute(async (request, { principal, params }) => {
      const input = CanvasCsvInput.safeParse({ ...Object.fromEntries(new URL(request.url).searchParams), ...params });
      if (!input.success) {
        const errors = fieldErrors(input.error);
        throw new AppError("VALIDATION_ERROR", errors.map(({ path, message }) => `${path}: ${message}`).join(" "), { errors });
      }
      const text = await getCanvasCsv(principal, input.data);
      const name = encodeURIComponent(input.data.widget_id);
      const described = { "content-type": "text/csv; charset=utf-8", "content-disposition": `attachment; filename="${name}.csv"` };
      return textResponse(text, 200, described, { account: principal.user.id, signal: request.signal });
    }, options),
    ({ canvas_id }) => projectOfCanvas(canvas_id),
  );
