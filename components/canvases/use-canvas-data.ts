"use client";

import { keepPreviousData, type QueryKey, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { followLine, type LineState } from "#components/event-line.ts";
import { useApi } from "#components/trpc.tsx";
import { type CanvasData, type CanvasDataEvent, CanvasEvent, type WidgetRange } from "#server/features/canvases/schema.ts";

const isVisible = () => !document.hidden;

function onVisibility(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}

/** What the server has drawn the page with is there before anything is asked. */
export function useInitial(queryKey: QueryKey, data: unknown): void {
  const cache = useQueryClient();
  useState(() => data && cache.getQueryData(queryKey) === undefined && cache.setQueryData(queryKey, data));
}

/** The data with what has changed in the place of what it was. Widgets that nobody knows are of a canvas as it was saved since. */
export function withChanges(data: CanvasData, changed: CanvasDataEvent["widgets"]): CanvasData {
  const byId = new Map(changed.map((widget) => [widget.widget_id, widget]));
  return { ...data, widgets: data.widgets.map((widget) => byId.get(widget.widget_id) ?? widget) };
}

/**
 * What the widgets of a canvas show, kept new by its stream while somebody looks.
 * @param range in place of every widget's own
 * @param initial what the server has drawn the page with
 */
export function useCanvasData(canvas_id: string, range: WidgetRange | undefined, initial: CanvasData | undefined) {
  const { trpc, cache } = useApi();
  const [line, setLine] = useState<LineState>("connecting");
  const wasHidden = useRef(false);
  const isSeen = useSyncExternalStore(onVisibility, isVisible, () => true);
  const options = trpc.canvases.data.queryOptions(
    { canvas_id, ...(range && { range }) },
    { placeholderData: keepPreviousData, refetchOnWindowFocus: false, staleTime: Number.POSITIVE_INFINITY },
  );
  useInitial(options.queryKey, initial && (initial.range ?? undefined) === range ? initial : undefined);
  const query = useQuery(options);
  const key = JSON.stringify(options.queryKey);
  const canvasKey = JSON.stringify(trpc.canvases.get.queryOptions({ canvas_id }).queryKey);

  // A browser holds few lines to one server, for all of its tabs together: a page that nobody sees needs none.
  useEffect(() => {
    if (!isSeen) {
      wasHidden.current = true;
      return;
    }
    const queryKey = JSON.parse(key) as QueryKey;
    // A page that was hidden, or a line that was down, has missed something.
    let hasMissed = wasHidden.current;
    // What was missed meanwhile is read at once, not piece by piece.
    const catchUp = () => void cache.invalidateQueries({ queryKey });
    const hangUp = followLine({
      path: `/api/v1/bridge/canvases/${canvas_id}/stream${range ? `?range=${range}` : ""}`,
      types: ["canvas_data", "canvas_changed"],
      after: 0,
      parse: (read) => CanvasEvent.safeParse(read).data,
      onEvent: (_, event) => {
        if (event.type === "canvas_changed") {
          // Somebody saved it: it may have other widgets now.
          void cache.invalidateQueries({ queryKey: JSON.parse(canvasKey) as QueryKey });
          return catchUp();
        }
        cache.setQueryData<CanvasData>(queryKey, (data) => data && withChanges(data, event.widgets));
      },
      onLine: (state) => {
        setLine(state);
        if (state === "open" && hasMissed) catchUp();
        hasMissed = state === "reconnecting";
      },
    });
    return hangUp;
  }, [canvas_id, range, key, canvasKey, isSeen, cache]);

  return { ...query, line };
}
