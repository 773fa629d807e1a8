"use client";

import {
  type ReactFlowInstance,
  type ReactFlowState,
  useNodesInitialized,
  useReactFlow,
  useStore,
  useStoreApi,
  type Viewport,
} from "@xyflow/react";
import { useSearchParams } from "next/navigation";
import { useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { useRunStore } from "#components/runs/store/run-context.tsx";
import { useAssistant } from "#components/shell/assistant.tsx";
import { motionMs } from "#components/ui/use-reduced-motion.ts";
import { type Box, beginningOf } from "#components/workflow-editor/canvas/geometry/first-view.ts";
import { useCanvasUiStore, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { canvasItemId } from "#components/workflow-editor/canvas/use-canvas-focus.ts";
import { visibleIdOf } from "#server/workflow/layout/loop-frames.ts";
import { boxOnScreen, sizeOf } from "#server/workflow/layout/node-size.ts";

/** How the whole workflow is brought into view: with room around it, and never larger than life. */
export const FIT = { padding: 0.15, maxZoom: 1, minZoom: 0.1 } as const;

/** The smallest zoom at which the whole is shown beside an open sheet: below it not even names could be read. */
const LEAST_ON_PHONE = 0.4;

const MARGIN = 48;
/** What the canvas keeps free at its lower edge, for the bar over it. */
const BAR = MARGIN * 1.5;
const PHONE_WIDTH = 768;
/** Below this zoom what stands on a card cannot be read. */
const MIN_TO_READ = 0.7;

/** How far a span must move to lie between two limits; none when it does, and its beginning first when it is too long. */
export function shiftInto(from: number, to: number, low: number, high: number): number {
  if (from < low || to - from > high - low) return low - from;
  return to > high ? high - to : 0;
}

/** Where something on the canvas is shown: by the view as it is now, which what is drawn follows a moment later. */
function boxOf(target: Element, { domNode, nodeLookup, transform: [x, y, zoom] }: ReactFlowState): Box {
  const box = target.getBoundingClientRect();
  const card = target.closest(".react-flow__node");
  const node = nodeLookup.get(canvasItemId(target, "node") ?? "");
  const drawn = card?.getBoundingClientRect() ?? domNode?.getBoundingClientRect();
  const place = node && { x: node.internals.positionAbsolute.x * zoom + x, y: node.internals.positionAbsolute.y * zoom + y };
  const left = box.left - (drawn?.left ?? 0) + (place?.x ?? 0);
  const top = box.top - (drawn?.top ?? 0) + (place?.y ?? 0);
  return { left, top, right: left + box.width, bottom: top + box.height };
}

/** How far the view must move to show something with a margin around it. */
const shiftTo = ({ left, top, right, bottom }: Box, { width, height }: ReactFlowState) => ({
  x: shiftInto(left, right, MARGIN, width - MARGIN),
  // The bar of the canvas lies over its lower edge.
  y: shiftInto(top, bottom, MARGIN, height - BAR),
});

/**
 * True for what need not be moved to be seen: it is shown wholly, or it is a line or a frame of which a part is. A line has
 * no place where one looks for it, and of a frame the head is what one reads.
 */
function isInSight(target: Element, box: Box, { width, height }: ReactFlowState): boolean {
  const isEdge = target.matches(".react-flow__edge");
  const head = target.querySelector(".loop-head");
  const { left, top, right } = box;
  const bottom = head ? top + head.getBoundingClientRect().height : box.bottom;
  if (isEdge) return right > MARGIN && left < width - MARGIN && bottom > MARGIN && top < height - BAR;
  return left >= 0 && top >= 0 && (right <= width || (head !== null && right - left > width)) && bottom <= height - BAR;
}

/**
 * Brings a node that was just added, that one asked to see, or that the keyboard comes to (or a control in it) into view;
 * what is in view stays where it is.
 */
export function useReveal(): void {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const flow = useReactFlow();
  const view = useStoreApi();

  useEffect(() => {
    const reveal = (id: string) => {
      const state = editor.getState();
      const shown = visibleIdOf(state, id);
      const node = state.nodes.find((candidate) => candidate.id === shown);
      if (node) moveTo(boxOnScreen(node, node.position, view.getState().transform));
    };
    const moveTo = (box: Box) => {
      const now = view.getState();
      const [x, y, zoom] = now.transform;
      const by = shiftTo(box, now);
      if (now.width > 0 && (by.x !== 0 || by.y !== 0))
        void flow.setViewport({ x: x + by.x, y: y + by.y, zoom }, { duration: motionMs(200) });
    };
    /** Comes as near as it takes to read a card; one that can be read already only has to be in view. */
    const read = (id: string) => {
      const node = editor.getState().nodes.find((candidate) => candidate.id === visibleIdOf(editor.getState(), id));
      const { transform, width, height } = view.getState();
      if (!node || width === 0 || transform[2] >= MIN_TO_READ) return reveal(id);
      const size = sizeOf(node);
      const zoom = Math.min(MIN_TO_READ, (width - MARGIN) / size.width);
      const [x, y] = [(width - size.width * zoom) / 2 - node.position.x * zoom, height / 4 - node.position.y * zoom];
      void flow.setViewport({ x, y, zoom }, { duration: motionMs(200) });
    };
    /** A note that is written is seen as large as life, its head in the upper part: a phone's keyboard takes the lower one. */
    const readToWrite = (id: string) => {
      const node = editor.getState().nodes.find((candidate) => candidate.id === id);
      const { transform, width, height } = view.getState();
      if (!node || width === 0 || transform[2] >= MIN_TO_READ) return;
      const size = sizeOf(node);
      const zoom = Math.min(1, (width - MARGIN) / size.width);
      const [x, y] = [(width - size.width * zoom) / 2 - node.position.x * zoom, height / 4 - node.position.y * zoom];
      void flow.setViewport({ x, y, zoom }, { duration: motionMs(200) });
    };
    const onFocusIn = ({ target }: FocusEvent) => {
      const now = view.getState();
      if (!(target instanceof Element) || !now.domNode?.contains(target) || !target.matches(":focus-visible")) return;
      // Only what moves with the view: nodes, connections, and what is on them.
      if (!target.closest(".react-flow__viewport")) return;
      const box = boxOf(target, now);
      if (!isInSight(target, box, now)) moveTo(box);
    };
    document.addEventListener("focusin", onFocusIn);
    const stopEditor = editor.subscribe((state, before) => {
      if (state.nodes.length <= before.nodes.length) return;
      const known = new Set(before.nodes.map((node) => node.id));
      const added = state.nodes.filter((node) => !known.has(node.id));
      if (added.length === 1 && added[0]) reveal(added[0].id);
    });
    const stopUi = ui.subscribe((state, before) => {
      if (state.focusField && state.focusField !== before.focusField) reveal(state.focusField.nodeId);
      if (state.writing !== null && state.writing !== before.writing) readToWrite(state.writing);
      if (!state.revealed || state.revealed === before.revealed) return;
      const { nodeId, isToRead } = state.revealed;
      if (nodeId === null) void flow.fitView({ ...FIT, duration: motionMs(160) });
      else (isToRead ? read : reveal)(nodeId);
    });
    /** What is selected and was seen stays so when a panel takes room beside or below the canvas. */
    const keepSelected = (before: ReactFlowState, now: ReactFlowState) => {
      const [only, ...others] = editor.getState().nodes.filter(({ selected }) => selected);
      if (!only || others.length > 0) return;
      const { left, top, right, bottom } = boxOnScreen(only, only.position, now.transform);
      const wasSeen = right > 0 && left < before.width && bottom > 0 && top < before.height;
      const isSeen = left >= 0 && top >= 0 && right <= now.width && bottom <= now.height - BAR;
      if (wasSeen && !isSeen) reveal(only.id);
    };
    let seen = `${innerWidth} ${innerHeight}`;
    const stopView = view.subscribe((state, before) => {
      if (state.width === 0 || before.width === 0 || before.height === 0) return;
      if (state.width === before.width && state.height === before.height) return;
      // A window that changes is useKeepFit's: to move the view here would look as if somebody had.
      const size = `${innerWidth} ${innerHeight}`;
      const isWindow = size !== seen;
      seen = size;
      const isPhone = state.width < PHONE_WIDTH;
      const isSheet = state.height !== before.height && state.width === before.width;
      // On a phone the run's sheet takes half of the canvas; what is left shows the workflow again, as much as can be made out.
      if (isPhone && isSheet && !editor.getState().nodes.some(({ selected }) => selected)) showBeginning(flow, view, LEAST_ON_PHONE);
      else if (!isWindow && (state.width < before.width || state.height < before.height)) keepSelected(before, state);
    });
    return () => {
      document.removeEventListener("focusin", onFocusIn);
      stopEditor();
      stopUi();
      stopView();
    };
  }, [editor, ui, flow, view]);
}

type View = Pick<ReturnType<typeof useStoreApi>, "getState">;

/** Everything on the canvas, as it lies there. */
const boxesOf = ({ nodeLookup }: ReactFlowState) =>
  [...nodeLookup.values()].map((node) => ({ type: node.type ?? "", ...boxOnScreen(node, node.internals.positionAbsolute, [0, 0, 1]) }));

/** Shows the whole workflow where it can be read, and else its beginning. */
function showBeginning(flow: Pick<ReactFlowInstance, "fitView" | "setViewport">, view: View, least?: number): void {
  const state = view.getState();
  const beginning = beginningOf(boxesOf(state), state, least);
  void (beginning ? flow.setViewport(beginning) : flow.fitView(FIT));
}

/** A workflow that is too large to be read as a whole is first seen from its trigger on. @param isOn false where the whole matters more */
export function useFirstView(isOn: boolean): void {
  const flow = useReactFlow();
  const view = useStoreApi();
  const isDrawn = useNodesInitialized();
  const isShown = useStore(({ width }) => width > 0);
  const isDone = useRef(!isOn);
  useLayoutEffect(() => {
    if (!isDrawn || !isShown || isDone.current) return;
    isDone.current = true;
    const state = view.getState();
    const beginning = beginningOf(boxesOf(state), state);
    // What fits has been fitted.
    if (beginning) void flow.setViewport(beginning);
  }, [isDrawn, isShown, flow, view]);
}

/** Selects and shows the node that the address names by `?node=`, as links to a very place do. It is said once: the same link works again. */
export function useNodeInAddress(): void {
  const editor = useEditorStore();
  const ui = useCanvasUiStore();
  const { makeWay } = useAssistant();
  const isDrawn = useNodesInitialized();
  const nodeId = useSearchParams().get("node");
  useEffect(() => {
    if (!isDrawn || nodeId === null) return;
    const url = new URL(location.href);
    url.searchParams.delete("node");
    // Through the router, to which the same link would lead nowhere else.
    history.replaceState(null, "", url);
    const { nodes, selectOnly } = editor.getState();
    if (!nodes.some(({ id }) => id === nodeId)) return;
    makeWay();
    selectOnly(nodeId);
    ui.getState().reveal(nodeId, true);
  }, [isDrawn, nodeId, editor, ui, makeWay]);
}

/** When a run waits for a decision, its panel takes room from the canvas: the node that waits comes into what is left. */
export function useRevealWaiting(): void {
  const ui = useCanvasUiStore();
  const editor = useEditorStore();
  const run = useRunStore();
  const view = useStoreApi();
  useEffect(
    () =>
      view.subscribe((state, before) => {
        if (before.height === 0 || state.height >= before.height) return;
        const [waiting] = Object.keys(run.getState().snapshot?.waiting ?? {});
        // What somebody has selected is kept in view before it.
        if (waiting !== undefined && !editor.getState().nodes.some(({ selected }) => selected)) ui.getState().reveal(waiting);
      }),
    [ui, run, view, editor],
  );
}

/** By how much of its width the page must change for the whole workflow to be fitted anew. */
const LARGE = 0.2;
/** How long the canvas must have kept its size, in milliseconds: a window that is dragged wider passes many. */
const SETTLED_MS = 150;
/**
 * How wide the page is, in pixels: what the window has beside the navigation and the assistant. Not the canvas alone: its own panel
 * comes with a click on a node, which is not to move under the pointer.
 */
const pageWidth = () => document.getElementById("main")?.clientWidth ?? innerWidth;

/**
 * A view that shows the whole workflow goes on showing it when the page becomes much wider or narrower, with the window or with the
 * assistant beside it, as long as nobody has moved the view since it was fitted.
 * @returns to be called when a move of the view has ended, with the event of the person who made it
 */
export function useKeepFit(): (event: MouseEvent | TouchEvent | null, view: Viewport) => void {
  const flow = useReactFlow();
  const store = useStoreApi();
  /** The view as it was fitted last, and the width of the page for which it was. */
  const fitted = useRef<{ view: Viewport; width: number } | null>(null);
  /** The width of the page for which the canvas was measured last; for a moment after a change the page has another. */
  const measured = useRef<number | null>(null);
  /** The same when a fit began whose move has not ended. */
  const begun = useRef<number | null>(null);

  const refit = useCallback(() => {
    const [x, y, zoom] = store.getState().transform;
    const known = fitted.current;
    const width = pageWidth();
    if (!known || width !== measured.current || Math.abs(width - known.width) < known.width * LARGE) return;
    const isUntouched = x === known.view.x && y === known.view.y && zoom === known.view.zoom;
    if (isUntouched) void flow.fitView(FIT);
  }, [flow, store]);

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    if (store.getState().width > 0) measured.current = pageWidth();
    const stop = store.subscribe((state, before) => {
      if (state.width !== before.width) measured.current = pageWidth();
      // Every fit, whoever asks for it, waits here until the nodes are measured.
      if (before.fitViewQueued && !state.fitViewQueued) begun.current = measured.current;
      if (state.width === before.width || state.width === 0 || before.width === 0) return;
      clearTimeout(timer);
      timer = setTimeout(refit, SETTLED_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [store, refit]);

  return useCallback(
    (event, view) => {
      const width = begun.current;
      begun.current = null;
      if (event || width === null) return;
      fitted.current = { view, width };
      // The page may have changed on while the view was on its way.
      refit();
    },
    [refit],
  );
}
