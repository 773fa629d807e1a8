"use client";

import type { QueryKey } from "@tanstack/react-query";
import { Check, Copy, Move, MoveDiagonal2, Plus, Redo2, SlidersHorizontal, Trash2, Undo2 } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { AutosaveText } from "#components/autosave-text.tsx";
import { freePlace, without } from "#components/canvases/editing/arrange.ts";
import { createEditingSession } from "#components/canvases/editing/editing-session.ts";
import { SourceList } from "#components/canvases/editing/source-list.tsx";
import { useGesture } from "#components/canvases/editing/use-gesture.ts";
import { nameOf, newWidgetId } from "#components/canvases/editing/words.ts";
import { CanvasGrid } from "#components/canvases/grid.tsx";
import { WidgetView } from "#components/canvases/widgets/widget-view.tsx";
import { UnsavedGuard } from "#components/forms/unsaved-guard.tsx";
import type { CanvasSourceChoice as Source } from "#components/shell/add-to-canvas.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { MOD } from "#components/ui/kbd.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Canvas, Widget, WidgetData, WidgetRange } from "#server/features/canvases/schema.ts";

const AddWidgetDialog = loadedOnUse(() =>
  import("#components/canvases/editing/widget-dialog.tsx").then((module) => module.AddWidgetDialog),
);
const ChangeWidgetDialog = loadedOnUse(() =>
  import("#components/canvases/editing/widget-dialog.tsx").then((module) => module.ChangeWidgetDialog),
);

export interface CanvasEditingProps {
  canvas: Canvas;
  /** What the widgets show, by their ids. */
  shown: ReadonlyMap<string, WidgetData>;
  /** Of which time that is, in place of the widgets' own. */
  range: WidgetRange | undefined;
  /** Opens with the question what to add. */
  isAdding?: boolean;
  /** The menu of a widget, with more items in it. */
  menu: (widget: Widget, items: ReactNode) => ReactNode;
  onDone: () => void;
}

const MAX_WIDGETS = 50;

/** What a widget is taken hold of by. */
const HANDLES = [
  { gesture: "move", label: "Move", icon: <Move />, className: "cursor-grab" },
  {
    gesture: "resize",
    label: "Resize",
    icon: <MoveDiagonal2 />,
    className: "absolute right-0.5 bottom-0.5 z-1 cursor-nwse-resize bg-surface",
  },
] as const;

/** A canvas while it is arranged: what is changed is saved by itself, and can be taken back. */
export function CanvasEditing({ canvas, shown, range, isAdding = false, menu, onDone }: CanvasEditingProps) {
  const { trpc, client, cache } = useApi();
  const [session] = useState(() =>
    createEditingSession({
      canvas,
      api: {
        read: () => client.canvases.get.query({ canvas_id: canvas.id }),
        save: (widgets, unchanged_since) => client.canvases.update.mutate({ canvas_id: canvas.id, widgets, unchanged_since }),
        errorOf: errorBodyOf,
      },
      onSaved(saved) {
        const key: QueryKey = trpc.canvases.get.queryKey({ canvas_id: canvas.id });
        cache.setQueryData(key, saved);
        void cache.invalidateQueries(trpc.canvases.data.pathFilter());
        void cache.invalidateQueries(trpc.canvases.list.pathFilter());
      },
    }),
  );
  const { widgets, history, autosave, merges } = useStore(session.store);
  const [announced, say] = useState("");
  const [adding, setAdding] = useState<{ source?: Source } | null>(isAdding ? {} : null);
  const [changing, setChanging] = useState<Widget | null>(null);
  /** What new ones show until they are saved. */
  const [previews, setPreviews] = useState<ReadonlyMap<string, WidgetData>>(new Map());
  const gesture = useGesture({ widgets, onEdit: session.edit, onSay: say });

  useEffect(() => {
    session.start();
    if (session.isRestored) toast.info("What had not been saved the last time is back.");
    return () => session.stop();
  }, [session]);
  useEffect(() => session.take(canvas), [session, canvas]);
  useEffect(() => {
    if (merges > 0) toast.info("Someone else changed this dashboard too. Both changes are shown.");
  }, [merges]);

  const back = useCallback(() => say(`Undone: ${session.undo() ?? "nothing"}`), [session]);
  const forth = useCallback(() => say(`Done again: ${session.redo() ?? "nothing"}`), [session]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (!(event.metaKey || event.ctrlKey) || event.altKey || event.defaultPrevented) return;
      if (target instanceof Element && target.closest("input, textarea, [contenteditable], [role=dialog]")) return;
      const letter = key.toLowerCase();
      const act = letter === "z" ? (event.shiftKey ? forth : back) : letter === "y" ? forth : null;
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [back, forth]);

  const add = (added: readonly Widget[], data?: WidgetData) => {
    // Of a whole canvas each has its own place already.
    const isWhole = added.length > 1;
    let next = [...widgets];
    const ids: string[] = [];
    for (const widget of added) {
      const id = newWidgetId();
      ids.push(id);
      next = [...next, { ...widget, id, layout: isWhole ? widget.layout : freePlace(next, widget.layout) }];
    }
    const [first] = ids;
    if (data && first) setPreviews(new Map([...previews, [first, { ...data, widget_id: first }]]));
    session.edit(isWhole ? "add widgets" : `add ${nameOf(added[0] as Widget)}`, next);
    setAdding(null);
    say(`Added ${added.map(nameOf).join(", ")}`);
    requestAnimationFrame(() => first && document.querySelector(`[data-widget="${first}"]`)?.scrollIntoView({ block: "nearest" }));
  };
  const duplicate = (widget: Widget) =>
    session.edit(`duplicate ${nameOf(widget)}`, [...widgets, { ...widget, id: newWidgetId(), layout: freePlace(widgets, widget.layout) }]);
  const remove = (widget: Widget) => {
    session.edit(`delete ${nameOf(widget)}`, without(widgets, widget.id));
    say(`Deleted ${nameOf(widget)}`);
  };
  const done = async () => {
    if (await session.flush()) onDone();
  };
  const byId = useMemo(() => new Map([...previews, ...shown]), [previews, shown]);
  const isFull = widgets.length >= MAX_WIDGETS;
  return (
    <div className="flex flex-col gap-4">
      <UnsavedGuard isDirty={autosave.kind === "retrying" || autosave.kind === "refused"} />
      <div
        role="toolbar"
        aria-label="Editing"
        className="sticky top-0 z-20 -mx-2 flex flex-wrap items-center gap-2 rounded-lg border bg-raised px-2 py-1.5 shadow-sm"
      >
        <IconButton
          label="Undo"
          title={stepLabel("Undo", history.past.at(-1)?.name)}
          icon={<Undo2 />}
          shortcut={[MOD, "Z"]}
          disabled={history.past.length === 0}
          onClick={back}
        />
        <IconButton
          label="Redo"
          title={stepLabel("Redo", history.future[0]?.name)}
          icon={<Redo2 />}
          shortcut={[MOD, "⇧", "Z"]}
          disabled={history.future.length === 0}
          onClick={forth}
        />
        <AutosaveText state={autosave} />
        <span className="flex-1" />
        <Button icon={<Plus />} disabled={isFull} onClick={() => setAdding({})}>
          Add widget
        </Button>
        {widgets.length > 0 && (
          <Button variant="primary" icon={<Check />} onClick={() => void done()}>
            Done
          </Button>
        )}
      </div>
      {isFull && <p className="text-12 text-ink-faint">A canvas holds {MAX_WIDGETS} widgets. Delete one, or start another canvas.</p>}
      <p role="status" className="sr-only">
        {announced}
      </p>
      {widgets.length === 0 && (
        <EmptyState title="What do you want to see?" className="[&>div]:max-w-none">
          <div className="flex max-w-180 flex-col gap-4">
            <p>Choose an Output; you are shown what fits what it gave last.</p>
            <SourceList onChoose={(source) => setAdding({ source })} />
          </div>
        </EmptyState>
      )}
      <CanvasGrid widgets={gesture.shown}>
        {(widget) => (
          // Dragging by the header is the mouse's way; the button "Move" does the same.
          <div
            data-widget={widget.id}
            onPointerDown={(event) => {
              const { target } = event;
              if (event.pointerType === "mouse" && target instanceof Element && target.closest("header") && !target.closest("button, a"))
                gesture.startDrag(event, widget.id, "move");
            }}
            className={cn(
              "flex min-h-0 min-w-0 flex-1 rounded-lg [&_header]:cursor-grab [&_header]:select-none",
              gesture.dragged === widget.id && "outline-2 outline-thread outline-offset-2 [&_header]:cursor-grabbing",
            )}
          >
            <WidgetView
              widget={widget}
              data={byId.get(widget.id)}
              range={range}
              onRelabel={(output_label) =>
                session.edit(
                  `change ${nameOf(widget)}`,
                  widgets.map((one) => (one.id === widget.id ? { ...one, output_label } : one)),
                )
              }
              actions={
                <>
                  {HANDLES.map(({ gesture: kind, className, ...shown }) => (
                    <IconButton
                      key={kind}
                      {...shown}
                      size="sm"
                      hasTooltip={false}
                      className={cn("touch-none @max-3xl:hidden", className)}
                      {...gesture.control(widget.id, kind)}
                    />
                  ))}
                  {menu(
                    widget,
                    <>
                      <MenuItem icon={<SlidersHorizontal />} onSelect={() => setChanging(widget)}>
                        Change
                      </MenuItem>
                      <MenuItem icon={<Copy />} disabled={isFull} onSelect={() => duplicate(widget)}>
                        Duplicate
                      </MenuItem>
                      <MenuItem icon={<Trash2 />} tone="danger" onSelect={() => remove(widget)}>
                        Delete
                      </MenuItem>
                    </>,
                  )}
                </>
              }
            />
          </div>
        )}
      </CanvasGrid>
      {adding && <AddWidgetDialog isEmpty={widgets.length === 0} source={adding.source} onClose={() => setAdding(null)} onAdd={add} />}
      {changing && (
        <ChangeWidgetDialog
          widget={changing}
          onClose={() => setChanging(null)}
          onChange={(widget) => {
            // Its place may have changed meanwhile.
            session.edit(
              `change ${nameOf(widget)}`,
              widgets.map((one) => (one.id === widget.id ? { ...widget, layout: one.layout } : one)),
            );
            setChanging(null);
          }}
        />
      )}
    </div>
  );
}

const stepLabel = (what: string, name: string | undefined) => (name === undefined ? what : `${what}: ${name}`);
