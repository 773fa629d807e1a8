"use client";

import { createContext, type ReactNode, useContext, useDeferredValue, useMemo } from "react";
import { useEditor, useEditorShallow, useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { type ExpressionOption, expressionOptions } from "#components/workflow-editor/fields/expression-options.ts";
import { useLastRun } from "#components/workflow-editor/fields/last-run.tsx";
import type { LastRun } from "#components/workflow-editor/fields/last-values.ts";
import { type Readable, readableAt } from "#components/workflow-editor/fields/readable.ts";
import { useAgentNames } from "#components/workflow-editor/nodes/agent-names.tsx";
import { useCredentialNames } from "#components/workflow-editor/nodes/use-credential-names.ts";

export interface PanelReads {
  readable: Readable;
  run: LastRun | null;
  /** Everything that an expression can read here; worked out at the first call. */
  options(): readonly ExpressionOption[];
}

const ReadsContext = createContext<PanelReads | null>(null);

/** Works out once, for all fields of a node, what can be read there; typing in a field of the node itself changes nothing of it. */
export function PanelReadsProvider({ nodeId, children }: { nodeId: string; children: ReactNode }) {
  const editor = useEditorStore();
  const { agents, agentName } = useAgentNames();
  const credentialNames = useCredentialNames();
  const edges = useEditor((state) => state.edges);
  const others = useEditorShallow((state) => Object.keys(state.data).flatMap((id) => (id === nodeId ? [] : [id, state.data[id]])));
  const run = useDeferredValue(useLastRun());

  // biome-ignore lint/correctness/useExhaustiveDependencies: edges and the other nodes' data are what is read of the graph
  const readable = useMemo(() => {
    const schemas = new Map(agents.map((agent) => [agent.id, agent.output_schema]));
    return readableAt(editor.getState().graph(), nodeId, {
      agentName: (id) => agentName(id) ?? undefined,
      credentialNames,
      outputSchema: (id) => schemas.get(id) ?? null,
    });
  }, [editor, nodeId, edges, others, agents, agentName, credentialNames]);
  const reads = useMemo<PanelReads>(() => {
    let known: ExpressionOption[] | undefined;
    return {
      readable,
      run,
      options: () => {
        known ??= expressionOptions(readable, run);
        return known;
      },
    };
  }, [readable, run]);
  return <ReadsContext value={reads}>{children}</ReadsContext>;
}

export function usePanelReads(): PanelReads {
  const reads = useContext(ReadsContext);
  if (!reads) throw new Error("This field needs a PanelReadsProvider around it.");
  return reads;
}
