"use client";

import { useQuery } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { useState } from "react";
import { changedFields, type Field, fieldTitle, formValues, type Values } from "#components/agents/agent-values.ts";
import { useTRPC } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { ChangedField } from "#components/ui/changed-field.tsx";
import { cn } from "#components/ui/cn.ts";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { Time } from "#components/ui/time.tsx";
import type { AgentVersion, AgentVersionSummary } from "#server/features/agents/schema.ts";
import { providerKind } from "#server/llm/kinds.ts";

const PER_PAGE = 20;

export interface AgentHistoryProps {
  agentId: string;
  /** The version that is published. */
  current: number;
  /** What stands in the form. */
  draft: Values;
  /** Whether that is another than what is published. */
  isChanged: boolean;
  /** The version to show first; left out, the current one. */
  first?: number;
  /** Puts a version into the form; left out for who may not change the agent. */
  onRestore: ((version: number, config: AgentVersion["config"]) => void) | undefined;
  onClose: () => void;
}

type Against = "previous" | "draft";

/** The versions of an agent: who made each and when, and what it changed, field by field. */
export function AgentHistory({ agentId, current, draft, isChanged, first = current, onRestore, onClose }: AgentHistoryProps) {
  const trpc = useTRPC();
  const [page, setPage] = useState(1);
  const [chosen, setChosen] = useState(first);
  const [against, setAgainst] = useState<Against>("previous");
  const versions = useQuery(
    trpc.agents.versions.queryOptions(
      { agent_id: agentId, page, per_page: PER_PAGE },
      { placeholderData: (before) => before, refetchOnMount: "always" },
    ),
  );
  const screen = isChanged ? "Draft" : "On the screen";
  return (
    <Dialog onClose={onClose} size="lg" title="History">
      <div className="grid min-w-0 gap-4 md:grid-cols-[15rem_minmax(0,1fr)]">
        <div className="flex min-w-0 flex-col gap-2 max-md:max-h-[30dvh] max-md:overflow-y-auto md:max-h-[60dvh] md:overflow-y-auto">
          <LoadFailure query={versions} />
          {versions.isPending && <Skeleton className="h-40" />}
          <ul aria-label="Versions" className="flex flex-col gap-1">
            {versions.data?.items.map((item) => (
              <li key={item.version}>
                <VersionButton item={item} isChosen={item.version === chosen} onClick={() => setChosen(item.version)} />
              </li>
            ))}
          </ul>
          {versions.data && <Pager page={page} perPage={PER_PAGE} total={versions.data.total} onPageChange={setPage} />}
        </div>
        <Changes
          key={`${chosen} ${against}`}
          agentId={agentId}
          version={chosen}
          against={chosen === 1 ? "draft" : against}
          onAgainstChange={setAgainst}
          draft={draft}
          screen={screen}
          onRestore={onRestore}
        />
      </div>
    </Dialog>
  );
}

function VersionButton({ item, isChosen, onClick }: { item: AgentVersionSummary; isChosen: boolean; onClick: () => void }) {
  const fields = item.changed.map(fieldTitle).join(", ");
  const done = item.restored_from === null ? fields : `Restored from version ${item.restored_from}`;
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      onClick={onClick}
      className={cn(
        "flex w-full flex-col gap-0.5 rounded-md border px-2 py-1.5 text-left pointer-coarse:min-h-11",
        isChosen ? "border-thread bg-thread-soft/60" : "border-transparent hover:bg-hover",
      )}
    >
      <span className="flex items-center gap-1.5">
        <span className="font-semibold text-14 text-ink">Version {item.version}</span>
        {item.is_current && <Badge tone="complete">Published</Badge>}
      </span>
      <span className="text-12 text-ink-soft">
        {item.saved_by?.name ?? "Former member"} · <Time value={item.created_at} />
      </span>
      <span className="text-12 text-ink-faint">{done || (item.version === 1 ? "The first one" : "Nothing changed")}</span>
    </button>
  );
}

interface ChangesProps {
  agentId: string;
  version: number;
  against: Against;
  onAgainstChange: (against: Against) => void;
  draft: Values;
  /** What the draft is called. */
  screen: string;
  onRestore: AgentHistoryProps["onRestore"];
}

function Changes({ agentId, version, against, onAgainstChange, draft, screen, onRestore }: ChangesProps) {
  const trpc = useTRPC();
  // A version never changes.
  const read = (number: number) =>
    trpc.agents.version.queryOptions(
      { agent_id: agentId, version: Math.max(1, number) },
      { enabled: number > 0, staleTime: Number.POSITIVE_INFINITY, retry: false },
    );
  const own = useQuery(read(version));
  const previous = useQuery(read(against === "previous" ? version - 1 : 0));
  const failed = [own, ...(against === "previous" ? [previous] : [])].find(({ isError }) => isError);
  const shown = own.data && { title: `Version ${version}`, values: formValues(own.data.config) };
  const other =
    against === "draft"
      ? { title: screen, values: draft }
      : previous.data && { title: `Version ${version - 1}`, values: formValues(previous.data.config) };
  const [before, after] = against === "draft" ? [shown, other] : [other, shown];
  const isSame = own.data !== undefined && changedFields(draft, { ...formValues(own.data.config), name: draft.name }).length === 0;
  return (
    <section aria-label={`Changes of version ${version}`} className="flex min-w-0 flex-col gap-3">
      {version > 1 && (
        <Select
          aria-label="Compare with"
          size="sm"
          className="w-52 self-start"
          value={against}
          onValueChange={onAgainstChange}
          options={[
            { value: "previous", label: "With the version before" },
            { value: "draft", label: "With what is on the screen" },
          ]}
        />
      )}
      {failed && <LoadFailure query={failed} />}
      {!failed && !(before && after) && <Skeleton className="h-40" />}
      {before && after && <FieldList before={before} after={after} />}
      {onRestore && own.data && (
        <DialogFooter>
          <span className="mr-auto min-w-0 text-12 text-ink-soft">
            {isSame ? "This is what is on the screen." : "Goes into the draft, all but the name; runs ask it once it is published."}
          </span>
          <Button
            variant="primary"
            className="max-md:h-11"
            icon={<RotateCcw />}
            disabled={isSame}
            onClick={() => own.data && onRestore(version, own.data.config)}
          >
            Restore
          </Button>
        </DialogFooter>
      )}
    </section>
  );
}

interface Side {
  title: string;
  values: Values;
}

function FieldList({ before, after }: { before: Side; after: Side }) {
  const words = useWords();
  const fields = changedFields(before.values, after.values);
  if (fields.length === 0)
    return (
      <p className="text-14 text-ink-soft">
        {before.title} and {after.title.toLowerCase()} say the same.
      </p>
    );
  return (
    <dl className="flex flex-col gap-3 md:max-h-[50dvh] md:overflow-y-auto">
      {fields.map((field) => (
        <ChangedField
          key={field}
          title={fieldTitle(field)}
          before={{ title: before.title, text: words(field, before.values) }}
          after={{ title: after.title, text: words(field, after.values) }}
        />
      ))}
    </dl>
  );
}

/** Values as people read them: names in place of ids, as far as they are known. */
function useWords(): (field: Field, values: Values) => string {
  const trpc = useTRPC();
  const all = { page: 1, per_page: 200 };
  const keys = useQuery(trpc.llmKeys.list.queryOptions({ per_page: 200 }));
  const servers = useQuery(trpc.mcp.list.queryOptions(all));
  const rags = useQuery(trpc.rags.list.queryOptions(all));
  const skills = useQuery(trpc.skills.list.queryOptions(all));
  const lists = { llm_key_id: keys, mcp_server_ids: servers, rag_ids: rags, skill_ids: skills } as const;
  const nameOf = (field: Field, id: string): string => {
    const items: readonly { id: string; name: string; provider?: Parameters<typeof providerKind>[0] }[] =
      (field in lists ? lists[field as keyof typeof lists].data?.items : undefined) ?? [];
    const found = items.find((item) => item.id === id);
    if (!found) return id;
    return found.provider ? `${found.name} (${providerKind(found.provider).label})` : found.name;
  };
  return (field, values) => {
    const value = values[field];
    if (value === null) return "(left to the model)";
    if (Array.isArray(value)) return value.map((id) => nameOf(field, id)).join("\n") || "(none)";
    return field === "llm_key_id" ? nameOf(field, String(value)) : String(value) || "(empty)";
  };
}
