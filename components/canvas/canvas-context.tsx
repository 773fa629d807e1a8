"use client";

import { createContext, type ReactNode, useContext } from "react";
import { useStore } from "zustand";
import { useShallow } from "zustand/react/shallow";
import type { EditorState, EditorStore } from "#components/canvas/editor-store.ts";

const EditorContext = createContext<EditorStore | null>(null);

export function EditorProvider({ store, children }: { store: EditorStore; children: ReactNode }) {
  return <EditorContext value={store}>{children}</EditorContext>;
}

/** The store itself, for handlers: reading it renders nothing. */
export function useEditorStore(): EditorStore {
  const store = useContext(EditorContext);
  if (!store) throw new Error("This part of the canvas needs an EditorProvider around it.");
  return store;
}

/** A part of the working copy; the component renders when that part changes. */
export const useEditor = <Part,>(select: (state: EditorState) => Part): Part => useStore(useEditorStore(), select);

/** The same for parts that are built anew at each call: compared one level deep. */
export const useEditorShallow = <Part,>(select: (state: EditorState) => Part): Part => useStore(useEditorStore(), useShallow(select));
