import { listSources, previewWidget, readProposals } from "#server/features/canvases/building.ts";
import {
  Canvas,
  CanvasData,
  CanvasDataInput,
  CanvasPage,
  CanvasProposals,
  CanvasProposalsQuery,
  CanvasRef,
  CanvasSources,
  CanvasSourcesQuery,
  CreateCanvasInput,
  ShareCanvasInput,
  SharedCanvas,
  SharedCanvasInput,
  SharedLink,
  UpdateCanvasInput,
  WidgetData,
  WidgetPreviewInput,
} from "#server/features/canvases/schema.ts";
import { createCanvas, deleteCanvas, getCanvas, getCanvasData, listCanvases, updateCanvas } from "#server/features/canvases/service.ts";
import { readSharedCanvas, shareCanvas, unshareCanvas } from "#server/features/canvases/share.ts";
import { editorProcedure, endpoint, publicProcedure, router, unvalidated, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ListInput, NoContent } from "#server/shared/primitives-schema.ts";

const tag = "Canvases";

export const canvasesRouter = router({
  list: viewerProcedure
    .meta(endpoint("GET", "/canvases", { tag, summary: "List the canvases", description: "Without their widgets." }))
    .input(ListInput)
    .output(CanvasPage)
    .query(({ ctx, input }) => listCanvases(ctx.principal, input)),
  create: editorProcedure
    .meta(
      endpoint("POST", "/canvases", {
        tag,
        summary: "Create a canvas",
        description: "A dashboard of widgets, each over the output of a workflow.",
        status: 201,
      }),
    )
    .input(CreateCanvasInput)
    .output(Canvas)
    .mutation(({ ctx, input }) => createCanvas(ctx.principal, input)),
  get: viewerProcedure
    .meta(endpoint("GET", "/canvases/{canvas_id}", { tag, summary: "Read a canvas" }))
    .input(CanvasRef)
    .output(Canvas)
    .query(({ ctx, input }) => getCanvas(ctx.principal, input)),
  data: viewerProcedure
    .meta(
      endpoint("GET", "/canvases/{canvas_id}/data", {
        tag,
        summary: "Read what the widgets of a canvas show",
        description:
          "One entry for each widget: a number, the points of a chart, the rows of a table or a text, each with the execution that it comes from. Values that are no numbers are left out and counted in `problem`.",
      }),
    )
    .input(CanvasDataInput)
    .output(unvalidated(CanvasData))
    .query(({ ctx, input }) => getCanvasData(ctx.principal, input)),
  update: editorProcedure
    .meta(
      endpoint("PUT", "/canvases/{canvas_id}", {
        tag,
        summary: "Change a canvas",
        description: "Fields left out keep their value; `widgets` replaces all of them.",
      }),
    )
    .input(UpdateCanvasInput)
    .output(Canvas)
    .mutation(({ ctx, input }) => updateCanvas(ctx.principal, input)),
  delete: editorProcedure
    .meta(endpoint("DELETE", "/canvases/{canvas_id}", { tag, summary: "Delete a canvas", status: 204 }))
    .input(CanvasRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteCanvas(ctx.principal, input)),
  share: editorProcedure
    .meta(
      endpoint("POST", "/canvases/{canvas_id}/share", {
        tag,
        summary: "Share a canvas",
        description:
          "Creates a link to a page that shows the widgets to anyone with the link, without sign-in, and nothing else of the project. A canvas has one link: another call replaces it, and the one before ends.",
        status: 201,
      }),
    )
    .input(ShareCanvasInput)
    .output(SharedLink)
    .mutation(({ ctx, input }) => shareCanvas(ctx.principal, input)),
  unshare: editorProcedure
    .meta(
      endpoint("DELETE", "/canvases/{canvas_id}/share", {
        tag,
        summary: "End the link of a canvas",
        description: "At once, also for pages that are open.",
        status: 204,
      }),
    )
    .input(CanvasRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => unshareCanvas(ctx.principal, input)),
  // The page that the link leads to, and no other.
  shared: publicProcedure
    .input(SharedCanvasInput)
    .output(unvalidated(SharedCanvas))
    .query(({ input }) => readSharedCanvas(input)),
  // What the web app needs while a canvas is built.
  sources: viewerProcedure
    .input(CanvasSourcesQuery)
    .output(CanvasSources)
    .query(({ ctx, input }) => listSources(ctx.principal, input)),
  proposals: viewerProcedure
    .input(CanvasProposalsQuery)
    .output(CanvasProposals)
    .query(({ ctx, input }) => readProposals(ctx.principal, input)),
  preview: viewerProcedure
    .input(WidgetPreviewInput)
    .output(WidgetData)
    .query(({ ctx, input }) => previewWidget(ctx.principal, input)),
});
