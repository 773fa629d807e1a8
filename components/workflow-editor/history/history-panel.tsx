"use client";

import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { isComposing } from "#components/is-composing.ts";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { cn } from "#components/ui/cn.ts";
import { isFocusLost } from "#components/ui/focus.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { Spinner } from "#components/ui/spinner.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { useCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-context.tsx";
import { type HistoryState, useComparison, useHistory, useHistoryStore } from "#components/workflow-editor/history/history-context.tsx";
import { ComparedSides, VersionChanges } from "#components/workflow-editor/history/version-changes.tsx";
import { formatDiffCounts } from "#components/workflow-editor/history/version-format.ts";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";
import type { WorkflowVersionSummary } from "#server/features/workflows/schema.ts";

const PER_PAGE = 25;

/** The versions, and what differs from the one that is chosen. */
export function HistoryPanel({ isReadOnly }: { isReadOnly: boolean }) {
  const history = useHistoryStore();
  const compared = useHistory((state) => state.compared);
  const comparison = useComparison();
  const isConflict = compared?.kind === "conflict";
  return (
    <ComparisonAside
      title={isConflict ? "What differs" : "History"}
      onClose={() => (isConflict ? history.getState().compare(null) : history.getState().close())}
    >
      {/* On a phone the list makes room for what differs, and comes back with Close. */}
      <div className="flex min-h-0 flex-1 flex-col">
        {!isConflict && <VersionList isReadOnly={isReadOnly} compared={compared} />}
        {comparison?.kind === "shown" && (
          <section
            aria-label="Changes"
            className={cn("min-h-0 overflow-y-auto max-md:flex-1", isConflict ? "flex-1" : "md:max-h-[55%] md:basis-[55%] md:border-t")}
          >
            <h3 className="px-3 pt-2 font-semibold text-12 text-ink-soft">
              <ComparedSides comparison={comparison} />
            </h3>
            <VersionChanges comparison={comparison} />
          </section>
        )}
      </div>
    </ComparisonAside>
  );
}

export interface ComparisonAsideProps {
  title: string;
  /** Whether the keyboard follows into it. */
  takesFocus?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** What stands beside a comparison, in the place of the panel of the selected node; a sheet on a phone. */
export function ComparisonAside({ title, takesFocus = true, onClose, children }: ComparisonAsideProps) {
  const history = useHistoryStore();
  const compared = useHistory((state) => state.compared);
  const panel = useRef<HTMLElement>(null);
  const ui = useCanvasUiStore();
  // Whoever asks for a node's panel, e.g. to fix a problem, gets it.
  useEffect(
    () =>
      ui.subscribe((state, before) => {
        if (state.focusField !== before.focusField || (state.isOutlineAsked && !before.isOutlineAsked)) history.getState().close();
      }),
    [ui, history],
  );
  // The keyboard follows into the panel, and back to what opened it.
  useEffect(() => {
    if (!takesFocus) return;
    const opener = document.activeElement instanceof HTMLElement ? document.activeElement : null;
    panel.current?.focus({ preventScroll: true });
    return () => {
      if (isFocusLost()) opener?.focus({ preventScroll: true });
    };
  }, [takesFocus]);
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented || isComposing(event)) return;
        event.stopPropagation();
        if (compared) history.getState().compare(null);
        else history.getState().close();
      }}
      className="flex min-h-0 shrink-0 flex-col border-l bg-surface focus:outline-none max-md:fixed max-md:inset-x-0 max-md:bottom-0 max-md:z-30 max-md:h-[46dvh] max-md:animate-rise max-md:rounded-t-lg max-md:border-t max-md:border-l-0 max-md:shadow-lg md:w-[min(max(var(--layout-side-panel,320px),320px),40vw)]"
    >
      <div className="flex h-9 shrink-0 items-center justify-between gap-2 border-b pr-2 pl-3">
        <h2 className="font-semibold text-16">{title}</h2>
        <IconButton label={`Close ${title.toLowerCase()}`} icon={<X />} onClick={onClose} />
      </div>
      {children}
    </aside>
  );
}

function VersionList({ isReadOnly, compared }: { isReadOnly: boolean; compared: HistoryState["compared"] }) {
  const { trpc, client, cache } = useApi();
  const history = useHistoryStore();
  const { workflowId: workflow_id } = useSession();
  const saved = useSessionState((state) => state.version);
  const isAhead = useSessionState((state) => state.isAhead);
  const [page, setPage] = useState(1);
  const { data, error, refetch } = useQuery(
    trpc.workflowVersions.list.queryOptions(
      { workflow_id, page, per_page: PER_PAGE },
      { placeholderData: (before) => before, refetchOnMount: "always" },
    ),
  );
  const listed = useRef(saved);
  useEffect(() => {
    if (listed.current === saved) return;
    listed.current = saved;
    void cache.invalidateQueries(trpc.workflowVersions.list.pathFilter());
  }, [saved, cache, trpc]);
  const name = async (version: number, wanted: string | null) => {
    await client.workflowVersions.name.mutate({ workflow_id, version, name: wanted });
    await cache.invalidateQueries(trpc.workflowVersions.list.pathFilter());
  };
  const chosen = compared?.kind === "version" ? compared.version : null;
  const against = compared?.kind === "version" ? compared.against : "draft";
  return (
    <div className={cn("flex min-h-0 flex-1 flex-col gap-1 overflow-y-auto p-2", compared && "max-md:hidden")}>
      <ul aria-label="Versions" className="flex flex-col gap-1">
        <Row isChosen={compared === null}>
          <button type="button" aria-pressed={compared === null} className={BUTTON} onClick={() => history.getState().compare(null)}>
            <span className="font-semibold text-14 text-ink">{isAhead ? "Draft (unpublished changes)" : "Draft"}</span>
            <span className="text-12 text-ink-soft">{isAhead ? `Ahead of version ${saved}` : `The same as version ${saved}`}</span>
          </button>
        </Row>
        {data?.items.map((item) => (
          <Row key={item.version} isChosen={item.version === chosen}>
            <VersionButton
              item={item}
              isChosen={item.version === chosen}
              onClick={() =>
                history.getState().compare({ kind: "version", version: item.version, against: item.version === 1 ? "draft" : against })
              }
            />
            <VersionName
              version={item.version}
              name={item.name}
              isReadOnly={isReadOnly}
              onCommit={(wanted) => name(item.version, wanted)}
            />
          </Row>
        ))}
      </ul>
      <LoadFailure query={{ error, refetch }} />
      {!data && !error && (
        <p role="status" className="flex items-center gap-2 px-2 py-3 text-14 text-ink-soft">
          <Spinner /> Reading the versions…
        </p>
      )}
      {data && <Pager page={page} perPage={PER_PAGE} total={data.total} onPageChange={setPage} />}
    </div>
  );
}

const BUTTON = "flex w-full flex-col gap-0.5 rounded-md px-2 py-1.5 text-left hover:bg-hover";

function Row({ isChosen, children }: { isChosen: boolean; children: ReactNode }) {
  return <li className={cn("rounded-md border", isChosen ? "border-thread bg-thread-soft/60" : "border-transparent")}>{children}</li>;
}

function VersionButton({ item, isChosen, onClick }: { item: WorkflowVersionSummary; isChosen: boolean; onClick: () => void }) {
  const words = item.changes && (formatDiffCounts(item.changes) ?? "Canvas unchanged");
  return (
    <button type="button" aria-pressed={isChosen} className={BUTTON} onClick={onClick}>
      <span className="flex items-center gap-1.5">
        <span className="font-semibold text-14 text-ink">Version {item.version}</span>
        {item.is_current && <Badge tone="complete">Current</Badge>}
      </span>
      <span className="text-12 text-ink-soft">
        {item.saved_by?.name ?? "Former member"}
        {item.by === "assistant" && ", with the assistant"}
        {item.by === "rename" && ", by renaming an agent"} · <Time value={item.created_at} />
      </span>
      {words && <span className="text-12 text-ink-faint">{words}</span>}
      {item.note && <span className="whitespace-pre-wrap break-words text-12 text-ink">{item.note}</span>}
    </button>
  );
}

export interface VersionNameProps {
  version: number;
  name: string | null;
  isReadOnly: boolean;
  /** Takes the new name, null for none. */
  onCommit: (name: string | null) => Promise<void>;
}

/** A version's name, edited where it stands. Enter or leaving the field takes it, Esc brings the old one back; empty takes it away. */
export function VersionName({ version, name, isReadOnly, onCommit }: VersionNameProps) {
  const [draft, setDraft] = useState<string | null>(null);
  if (isReadOnly) return name ? <p className="px-2 pb-1.5 font-semibold text-12 text-ink">{name}</p> : null;
  const commit = async () => {
    const wanted = draft?.trim() ?? null;
    if (wanted === null || wanted === (name ?? "")) return setDraft(null);
    try {
      await onCommit(wanted || null);
      setDraft(null);
    } catch (error) {
      // What was typed stays in the field.
      toast.error(errorBodyOf(error).detail);
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (isComposing(event)) return event.stopPropagation();
    if (event.key === "Enter") event.currentTarget.blur();
    if (event.key !== "Escape" || draft === null) return;
    event.stopPropagation();
    setDraft(null);
  };
  return (
    <input
      aria-label={`Name of version ${version}`}
      placeholder="Name this version"
      value={draft ?? name ?? ""}
      maxLength={120}
      spellCheck={false}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => void commit()}
      onKeyDown={onKeyDown}
      className="mx-1 mb-1 h-7 w-[calc(100%-0.5rem)] truncate rounded-md border border-transparent bg-transparent px-1 font-semibold text-12 text-ink placeholder:font-normal placeholder:text-ink-faint hover:border-line-strong focus:border-thread focus:bg-raised focus:outline-none pointer-coarse:h-11 pointer-coarse:text-16"
    />
  );
}
