"use client";

import { type ReactNode, useMemo } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { createStrictContext } from "#components/ui/strict-context.ts";
import type { CanvasUiState, CanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import type { EditorState, EditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";

const [CanvasContext, useStores] = createStrictContext<{ editor: EditorStore; ui: CanvasUiStore }>("CanvasProvider");

/** The workflow on the canvas, for everything around it. */
export function CanvasProvider({ editor, ui, children }: { editor: EditorStore; ui: CanvasUiStore; children: ReactNode }) {
  const stores = useMemo(() => ({ editor, ui }), [editor, ui]);
  return <CanvasContext value={stores}>{children}</CanvasContext>;
}

/** The store itself, for handlers: reading it renders nothing. */
export const useEditorStore = (): EditorStore => useStores().editor;

/** A part of the working copy; the component renders when that part changes. */
export const useEditor = <Part,>(select: (state: EditorState) => Part): Part => useStore(useEditorStore(), select);

/** The same for parts that are built anew at each call: compared one level deep. */
export const useEditorShallow = <Part,>(select: (state: EditorState) => Part): Part => useStore(useEditorStore(), useShallow(select));

export const useCanvasUiStore = (): CanvasUiStore => useStores().ui;

export const useCanvasUi = <Part,>(select: (state: CanvasUiState) => Part): Part => useStore(useCanvasUiStore(), select);
