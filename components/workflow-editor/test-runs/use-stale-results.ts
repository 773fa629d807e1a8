"use client";

import { useEffect } from "react";
import { useRunStore } from "#components/runs/store/run-context.tsx";
import { labelOf } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { useAgentNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { dictionary } from "#server/shared/json-text.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import type { GraphNode } from "#server/workflow/schema.ts";
import type { StaleReason } from "#server/workflow/stale.ts";

// Loaded for the first run on the screen.
const loadStale = () => import("#server/workflow/stale.ts");

const PAUSE_MS = 200;

/** Keeps up which results of the run on the screen no longer hold, a moment after the last change of the canvas. Renders nothing. */
export function useStaleResults(): void {
  const editor = useEditorStore();
  const run = useRunStore();
  const { agents } = useAgentNames();

  useEffect(() => {
    const changes = new Map(agents.map((agent) => [agent.id, agent.updated_at]));
    let timer: ReturnType<typeof setTimeout> | undefined;
    let told = "";
    let isOver = false;
    const look = async () => {
      // Where it cannot be loaded now, the next change asks for it again.
      const loaded = run.getState().view && (await loadStale().catch(() => null));
      const { view, snapshot } = run.getState();
      if (isOver || !loaded || !view || !snapshot) return;
      const { data, nodes } = editor.getState();
      const graph = editor.getState().graph();
      const isAgentChanged = ({ id, data: { agent_id } }: GraphNode) => {
        const ranAt = snapshot.nodes[id]?.started_at;
        const changedAt = typeof agent_id === "string" ? changes.get(agent_id) : undefined;
        return ranAt !== null && ranAt !== undefined && changedAt !== undefined && Date.parse(changedAt) > Date.parse(ranAt);
      };
      const outputOf = (id: string) => snapshot.nodes[id]?.output ?? null;
      const found = loaded.staleNodes(view.graph, graph, outputOf, view.execution.version === null, isAgentChanged);
      const words = (reason: StaleReason): string => {
        const name =
          "node_id" in reason ? `“${labelOf(data[reason.node_id], nodes.find((node) => node.id === reason.node_id)?.type)}”` : "";
        switch (reason.kind) {
          case "new":
            return "It was added after this run.";
          case "edited":
            return "Its settings changed after this run.";
          case "agent":
            return "Its agent was changed after this run.";
          case "rewired":
            return "Its connections changed after this run.";
          case "pinned":
            return "Its pinned output is not what this run left here.";
          case "before":
            return `${name} before it changed after this run.`;
          case "body":
            return `${name} in its body changed after this run.`;
        }
      };
      const hasResult = (id: string) => snapshot.nodes[id]?.status === "complete" || snapshot.nodes[id]?.status === "failed";
      const stale = dictionary(Object.fromEntries([...found].flatMap(([id, reason]) => (hasResult(id) ? [[id, words(reason)]] : []))));
      const isActive = (node: { type: string }) => definitionOf(node.type)?.isInert !== true;
      const isGone = view.graph.nodes.some((node) => isActive(node) && data[node.id] === undefined);
      // Pins are no part of what a run did, and what follows a change is no change of its own.
      const isOther = (id: string) => ["new", "edited", "rewired"].includes(found.get(id)?.kind ?? "");
      const isOtherGraph = isGone || graph.nodes.some((node) => isActive(node) && isOther(node.id));
      const next = JSON.stringify([view.execution.id, stale, isOtherGraph]);
      if (next === told) return;
      told = next;
      run.setState({ stale, isOtherGraph });
    };
    const plan = () => {
      clearTimeout(timer);
      timer = setTimeout(look, PAUSE_MS);
    };
    const stopEditor = editor.subscribe((state, before) => {
      if (state.revision !== before.revision && run.getState().view) plan();
    });
    const stopRun = run.subscribe((state, before) => {
      if (state.executionId !== before.executionId) told = "";
      // While it runs, what has come out so far is compared too.
      if (state.view !== before.view || state.snapshot?.status !== before.snapshot?.status) plan();
    });
    plan();
    return () => {
      isOver = true;
      clearTimeout(timer);
      stopEditor();
      stopRun();
    };
  }, [editor, run, agents]);
}
