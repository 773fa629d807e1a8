"use client";

import { useQuery } from "@tanstack/react-query";
import { Maximize2, Minimize2, Pencil, Plus, Printer, Unplug } from "lucide-react";
import { type ReactNode, useState } from "react";
import { CanvasGrid } from "#components/canvases/grid.tsx";
import { ShareButton } from "#components/canvases/share-button.tsx";
import { useCanvasData, useInitial } from "#components/canvases/use-canvas-data.ts";
import { useWall } from "#components/canvases/use-wall.ts";
import { WidgetMenu } from "#components/canvases/widget-menu.tsx";
import type { Opening } from "#components/canvases/widgets/opening.ts";
import { RANGE_WORDS } from "#components/canvases/widgets/reader.ts";
import { WidgetView } from "#components/canvases/widgets/widget-view.tsx";
import { AssistantContext } from "#components/shell/assistant.tsx";
import { BackLink } from "#components/shell/back-link.tsx";
import { NotFound } from "#components/shell/not-found.tsx";
import { Page, useTitle } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { isMissing, useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { type Canvas, type CanvasData, type Widget, WidgetRange } from "#server/features/canvases/schema.ts";

// Loaded once somebody asks for them.
const Trail = loadedOnUse(() => import("#components/canvases/trail/trail.tsx").then((module) => module.Trail));
const RenameCanvasDialog = loadedOnUse(() =>
  import("#components/canvases/rename-canvas-dialog.tsx").then((module) => module.RenameCanvasDialog),
);
const CanvasEditing = loadedOnUse(() => import("#components/canvases/editing/canvas-editing.tsx").then((module) => module.CanvasEditing));

const OWN = "own";
const RANGES = [
  { value: OWN, label: "Each its own time" } as const,
  ...WidgetRange.options.map((value) => ({ value, label: RANGE_WORDS[value] })),
];

interface CanvasPageProps {
  canvasId: string;
  /** What the server had when it drew the page; null when there was nothing, and then the browser asks and says why. */
  initial: { canvas: Canvas; data: CanvasData } | null;
}

/** A dashboard: its widgets, each kept new while one looks. */
export function CanvasPage({ canvasId, initial }: CanvasPageProps) {
  const trpc = useTRPC();
  const { canEdit } = useStudio();
  const { query, setQuery } = useUrlQuery();
  const range = WidgetRange.safeParse(query.get("range")).data;
  const options = trpc.canvases.get.queryOptions({ canvas_id: canvasId });
  useInitial(options.queryKey, initial?.canvas);
  const canvas = useQuery(options);
  const data = useCanvasData(canvasId, range, initial?.data);
  const { isWall, setWall } = useWall();
  const [opened, setOpened] = useState<{ widget: Widget; at: Opening } | null>(null);
  const [editing, setEditing] = useState<"arrange" | "add" | null>(null);
  const [isRenaming, setRenaming] = useState(false);
  useTitle(canvas.data?.name);
  if (canvas.isError && isMissing(canvas.error)) return <NotFound what="canvas" href="/canvases" />;
  const widgets = canvas.data?.widgets ?? [];
  // On an empty one there is nothing to look at: who may builds.
  const isEditing = canEdit && canvas.data !== undefined && (editing !== null || widgets.length === 0);
  if (isEditing && editing === null) setEditing("arrange");
  const menu = (widget: Widget, items?: ReactNode) => (
    <WidgetMenu canvasId={canvasId} widget={widget} range={range}>
      {items}
    </WidgetMenu>
  );
  const shown = new Map(data.data?.widgets.map((one) => [one.widget_id, one]));
  return (
    <Page
      width="wide"
      className="in-data-wall:min-h-dvh in-data-wall:py-6 in-data-wall:min-[1900px]:min-h-[calc(100dvh/1.35)] in-data-wall:min-[1900px]:[zoom:1.35] print:p-0"
    >
      {canvas.data && <AssistantContext value={{ canvas: { id: canvasId, name: canvas.data.name } }} />}
      <PageHeader
        title={
          canvas.data ? (
            <span className="flex min-w-0 items-center gap-1.5">
              <span className="min-w-0 sm:truncate">{canvas.data.name}</span>
              {isEditing && <IconButton label="Rename" icon={<Pencil />} onClick={() => setRenaming(true)} className="print:hidden" />}
            </span>
          ) : (
            <Skeleton className="my-1.5 h-4 w-40" />
          )
        }
        back={
          <span className="contents in-data-wall:hidden print:hidden">
            <BackLink href="/canvases">Canvases</BackLink>
          </span>
        }
        actions={
          <div className="flex flex-wrap items-center gap-2 print:hidden">
            {data.line === "reconnecting" && (
              <Badge tone="waiting">
                <Unplug aria-hidden className="size-3" />
                Reconnecting…
              </Badge>
            )}
            <div className="w-44 max-sm:w-43 in-data-wall:hidden">
              <Select
                aria-label="Time"
                value={range ?? OWN}
                options={RANGES}
                onValueChange={(value) => setQuery({ range: value === OWN ? undefined : value })}
              />
            </div>
            {canEdit && !isEditing && (
              <>
                <Button icon={<Plus />} onClick={() => setEditing("add")} className="in-data-wall:hidden">
                  <span>
                    Add<span className="max-sm:sr-only"> widget</span>
                  </span>
                </Button>
                <Button icon={<Pencil />} onClick={() => setEditing("arrange")} className="in-data-wall:hidden max-md:hidden">
                  Edit
                </Button>
              </>
            )}
            {canEdit && canvas.data && (
              <span className="contents in-data-wall:hidden">
                <ShareButton canvas={canvas.data} />
              </span>
            )}
            <IconButton label="Print" icon={<Printer />} size="lg" onClick={() => print()} className="in-data-wall:hidden max-md:hidden" />
            <IconButton
              label={isWall ? "Leave full screen" : "Full screen"}
              icon={isWall ? <Minimize2 /> : <Maximize2 />}
              size="lg"
              onClick={() => setWall(!isWall)}
            />
          </div>
        }
      />
      <LoadFailure query={canvas} />
      <LoadFailure query={data} />
      {canvas.isPending && <Skeleton className="h-96 w-full" />}
      {canvas.data && widgets.length === 0 && !canEdit && <EmptyState title="No widgets yet">Ask an editor to add one.</EmptyState>}
      {isEditing && canvas.data ? (
        <CanvasEditing
          canvas={canvas.data}
          shown={shown}
          range={range}
          isAdding={editing === "add"}
          menu={menu}
          onDone={() => setEditing(null)}
        />
      ) : (
        <CanvasGrid widgets={widgets}>
          {(widget) => (
            <WidgetView
              widget={widget}
              data={shown.get(widget.id)}
              range={range}
              onOpen={(at) => setOpened({ widget, at })}
              actions={menu(widget)}
            />
          )}
        </CanvasGrid>
      )}
      {isRenaming && canvas.data && <RenameCanvasDialog canvas={canvas.data} onClose={() => setRenaming(false)} />}
      {opened && <Trail {...opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}
