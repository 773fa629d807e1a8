"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useEditorStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { AgentDialog } from "#components/workflow-editor/fields/agent-picker.tsx";
import { useAgentNames } from "#components/workflow-editor/nodes/project-lookups.tsx";
import { type ImportedAgent, importedAgentOf } from "#server/features/workflow-files/schema.ts";

export interface ImportedAgentHintProps {
  id: string;
  data: Readonly<Record<string, unknown>>;
  isReadOnly: boolean;
}

/** What the import of a file left open of a node's agent, and the buttons that settle it. Nothing where nothing is open. */
export function ImportedAgentHint({ id, data, isReadOnly }: ImportedAgentHintProps) {
  const imported = importedAgentOf(data);
  if (!imported || isReadOnly) return null;
  return imported.agent_id === "" ? <Unmade id={id} imported={imported} /> : <Unlinked id={id} imported={imported} />;
}

const forget = (editor: ReturnType<typeof useEditorStore>, id: string) => editor.getState().setField(id, "imported_agent", undefined);

/** An agent that was not made yet: its form opens filled in as the file says. */
function Unmade({ id, imported }: { id: string; imported: ImportedAgent }) {
  const trpc = useTRPC();
  const editor = useEditorStore();
  const [isOpen, setIsOpen] = useState(false);
  const every = { page: 1, per_page: 200 };
  const servers = useQuery(trpc.mcp.list.queryOptions(every, { enabled: imported.mcp_servers.length > 0 }));
  const sources = useQuery(trpc.rags.list.queryOptions(every, { enabled: imported.rag_sources.length > 0 }));
  const skills = useQuery(trpc.skills.list.queryOptions(every, { enabled: imported.skills.length > 0 }));
  const idsOf = (names: readonly string[], items: readonly { id: string; name: string }[] = []) =>
    items.filter((item) => names.includes(item.name)).map((item) => item.id);
  const { agent_id: _, key, provider: __, mcp_servers, rag_sources, skills: wanted, ...fields } = imported;
  const suggestion = {
    ...fields,
    mcp_server_ids: idsOf(mcp_servers, servers.data?.items),
    rag_ids: idsOf(rag_sources, sources.data?.items),
    skill_ids: idsOf(wanted, skills.data?.items),
  };
  /** For every node that waits for the same agent. */
  const choose = (agentId: string) => {
    for (const [node, other] of Object.entries(editor.getState().data)) {
      const waits = other ? importedAgentOf(other) : undefined;
      if (waits?.agent_id === "" && waits.key === key && waits.name === imported.name)
        editor.getState().setField(node, "agent_id", agentId);
    }
  };
  return (
    <Notice
      title={`“${imported.name}” came with the file`}
      actions={
        <>
          <Button size="sm" disabled={servers.isFetching || sources.isFetching || skills.isFetching} onClick={() => setIsOpen(true)}>
            Create “{imported.name}”…
          </Button>
          <Button size="sm" variant="ghost" onClick={() => forget(editor, id)}>
            Forget it
          </Button>
        </>
      }
    >
      Its prompt and settings are kept here until you create it, or choose another agent.
      {isOpen && <AgentDialog suggestion={suggestion} onSaved={(agent) => choose(agent.id)} onClose={() => setIsOpen(false)} />}
    </Notice>
  );
}

/** An agent that was made without something that it is to have. */
function Unlinked({ id, imported }: { id: string; imported: ImportedAgent }) {
  const editor = useEditorStore();
  const { agents } = useAgentNames();
  const [isOpen, setIsOpen] = useState(false);
  const agent = agents.find((one) => one.id === imported.agent_id);
  const names = [...imported.mcp_servers, ...imported.rag_sources, ...imported.skills].join(", ");
  return (
    <Notice
      title={`To link: ${names}`}
      actions={
        <>
          <Button size="sm" disabled={!agent} onClick={() => setIsOpen(true)}>
            Edit agent…
          </Button>
          <Button size="sm" variant="ghost" onClick={() => forget(editor, id)}>
            Done
          </Button>
        </>
      }
    >
      The file had this for “{imported.name}”. Add it to the agent, or run without it: then press Done.
      {agent && isOpen && <AgentDialog onClose={() => setIsOpen(false)} agent={agent} />}
    </Notice>
  );
}
