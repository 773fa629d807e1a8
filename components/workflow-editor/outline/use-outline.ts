"use client";

import { useDeferredValue, useMemo } from "react";
import { useEditor, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import type { EditorState } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { type OutlineItem, outlineOf } from "#components/workflow-editor/outline/outline-tree.ts";
import { definitionOf } from "#server/workflow/graph.ts";

const shapes = new WeakMap<object, { nodes: object; shape: string }>();

/** All that the outline depends on, as a text: moving and selecting leave it as it is. */
function shapeOf({ nodes, edges }: EditorState): string {
  const known = shapes.get(edges);
  if (known?.nodes === nodes) return known.shape;
  const shape = JSON.stringify([
    nodes.map(({ id, type }) => [id, type]),
    edges.map(({ id, source, target, sourceHandle }) => [id, source, target, sourceHandle]),
  ]);
  shapes.set(edges, { nodes, shape });
  return shape;
}

/** The outline of what is on the canvas. */
export function useOutline(): OutlineItem[] {
  const editor = useEditorStore();
  const shape = useEditor(shapeOf);
  // What reads a loop's output stands after the loop, so there what is typed counts too; it may come a moment later.
  const data = useDeferredValue(useEditor((state) => (state.nodes.some(({ type }) => definitionOf(type ?? "")?.body) ? state.data : null)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: both stand for the graph
  return useMemo(() => outlineOf(editor.getState().graph()), [editor, shape, data]);
}
