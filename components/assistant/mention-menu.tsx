"use client";

import { useQuery } from "@tanstack/react-query";
import { Bot, CircleDot, FileText, type LucideIcon, Play, Workflow } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Mention } from "#components/assistant/draft.ts";
import { formatClock } from "#components/format.ts";
import { useTRPCClient } from "#components/trpc.tsx";
import { cn } from "#components/ui/cn.ts";
import { itemStyle, surfaceStyle } from "#components/ui/styles.ts";

export const mentionKinds: Record<Mention["kind"], { title: string; icon: LucideIcon }> = {
  workflow: { title: "Workflows", icon: Workflow },
  agent: { title: "Agents", icon: Bot },
  run: { title: "Runs", icon: Play },
  node: { title: "Nodes", icon: CircleDot },
  document: { title: "Documents", icon: FileText },
};

const ALL = 200;
const LATEST_RUNS = 30;
/** Sources whose documents are offered, and how many of each. */
const MOST_SOURCES = 10;
const MOST_DOCUMENTS = 50;
const FRESH_MS = 30_000;

/** Everything that can be named: nodes of the workflow that is open, and of the project the rest. */
export function useMentions(isWanted: boolean, workflow_id: string | undefined): { mentions: readonly Mention[]; isPending: boolean } {
  const client = useTRPCClient();
  const { data, isPending } = useQuery({
    queryKey: ["assistant-mentions", workflow_id ?? null],
    enabled: isWanted,
    staleTime: FRESH_MS,
    queryFn: async (): Promise<Mention[]> => {
      const [workflows, agents, runs, rags, open] = await Promise.all([
        client.workflows.list.query({ per_page: ALL }),
        client.agents.list.query({ per_page: ALL }),
        client.executions.list.query({ per_page: LATEST_RUNS }),
        client.rags.list.query({ per_page: ALL }),
        workflow_id === undefined ? null : client.workflows.editor.query({ workflow_id }),
      ]);
      const kept = rags.items.filter(({ documents }) => documents !== null).slice(0, MOST_SOURCES);
      const documents = await Promise.all(kept.map(({ id }) => client.rags.documents.query({ rag_id: id, per_page: MOST_DOCUMENTS })));
      const nodes = open?.draft.nodes ?? [];
      // What names a node knows every type of them, which nobody needs who writes of nothing.
      const { labelOf } = await import("#components/workflow-editor/canvas/document/flow-document.ts");
      return [
        ...nodes.map((node) => ({ kind: "node" as const, id: `${workflow_id}/${node.id}`, name: labelOf(node.data, node.type) })),
        ...workflows.items.map(({ id, name }) => ({ kind: "workflow" as const, id, name })),
        ...agents.items.map(({ id, name }) => ({ kind: "agent" as const, id, name })),
        ...runs.items.map((run) => ({
          kind: "run" as const,
          id: run.id,
          name: `Run of ${run.workflow_name}, ${formatClock(run.created_at)}, ${run.status}`,
        })),
        ...documents.flatMap(({ items }) =>
          items.map(({ id, rag_id, title }) => ({ kind: "document" as const, id: `${rag_id}/${id}`, name: title })),
        ),
      ];
    },
  });
  return { mentions: data ?? [], isPending };
}

export interface MentionMenuProps {
  id: string;
  mentions: readonly Mention[];
  active: number;
  isPending: boolean;
  onActive: (index: number) => void;
  onChoose: (mention: Mention) => void;
}

export const mentionOptionId = (listId: string, index: number): string => `${listId}-${index}`;

/** What can be named, above the text field, which keeps the focus and handles the keys. */
export function MentionMenu({ id, mentions, active, isPending, onActive, onChoose }: MentionMenuProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector(`#${CSS.escape(mentionOptionId(id, active))}`)?.scrollIntoView({ block: "nearest" });
  }, [id, active]);
  return (
    <div
      className={cn(
        surfaceStyle,
        "absolute inset-x-0 bottom-full mb-1.5 max-h-72 overflow-y-auto p-1",
        mentions.length === 0 && "px-3 py-2",
      )}
    >
      {mentions.length === 0 && <p className="text-12 text-ink-faint">{isPending ? "Loading…" : "Nothing of that name."}</p>}
      <div ref={list} id={id} role="listbox" aria-label="Name something">
        {mentions.map((mention, index) => {
          const { kind, name } = mention;
          const { title, icon: Icon } = mentionKinds[kind];
          return (
            <div key={`${kind} ${mention.id}`} role="presentation">
              {mentions[index - 1]?.kind !== kind && (
                <p aria-hidden className="px-2 pt-1.5 pb-1 text-12 text-ink-faint">
                  {title}
                </p>
              )}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys, as the combobox pattern asks */}
              {/* biome-ignore lint/a11y/useFocusableInteractive: focus stays in the text field */}
              <div
                id={mentionOptionId(id, index)}
                role="option"
                aria-selected={index === active}
                aria-label={`${name}, ${title}`}
                // The field keeps the focus, and with it the caret.
                onPointerDown={(event) => event.preventDefault()}
                onClick={() => onChoose(mention)}
                onPointerMove={() => onActive(index)}
                className={cn(itemStyle, "cursor-pointer", index === active && "bg-hover")}
              >
                <Icon aria-hidden />
                <span className="min-w-0 truncate">{name}</span>
              </div>
            </div>
          );
        })}
      </div>
    </div>
  );
}
