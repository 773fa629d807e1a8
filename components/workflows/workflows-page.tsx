"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { FileUp, LayoutTemplate, Plus } from "lucide-react";
import { useState } from "react";
import { useCommands } from "#components/shell/commands.ts";
import { Page } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useSearchText } from "#components/shell/use-search-text.ts";
import { useUrlQuery } from "#components/shell/use-url-query.ts";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { MenuItem } from "#components/ui/menu.tsx";
import { MoreMenu } from "#components/ui/more-menu.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager, PER_PAGE } from "#components/ui/pager.tsx";
import { Select } from "#components/ui/select.tsx";
import { selectColumn, Table, TableBody, TableHead, TableHeader, TableLoading } from "#components/ui/table.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { BulkOutcomeDialog } from "#components/workflows/bulk-outcome.tsx";
import { FolderList } from "#components/workflows/folder-list.tsx";
import { useNewWorkflow } from "#components/workflows/new-workflow.ts";
import { SelectionBar } from "#components/workflows/selection-bar.tsx";
import { type BulkChange, type BulkTargets, useBulk } from "#components/workflows/use-bulk.ts";
import { WorkflowRow } from "#components/workflows/workflow-row.tsx";
import type { ListedWorkflow, WorkflowSort } from "#server/features/workflows/schema.ts";

const ImportDialog = loadedOnUse(() => import("#components/workflows/import-dialog.tsx").then((module) => module.ImportDialog));

const RenameWorkflowDialog = loadedOnUse(() =>
  import("#components/workflows/rename-workflow-dialog.tsx").then((module) => module.RenameWorkflowDialog),
);
const MoveDialog = loadedOnUse(() => import("#components/workflows/filing-dialogs.tsx").then((module) => module.MoveDialog));
const TagDialog = loadedOnUse(() => import("#components/workflows/filing-dialogs.tsx").then((module) => module.TagDialog));

const PAUSE_MS = 150;
const ANY = "any";

const sorts: readonly { value: WorkflowSort; label: string }[] = [
  { value: "-created", label: "Newest first" },
  { value: "-updated", label: "Last changed" },
  { value: "-last_run", label: "Last run" },
  { value: "name", label: "Name" },
  { value: "created", label: "Oldest first" },
];

/** The filters that stand in the address. */
function useFilter() {
  const { query, setQuery, page, setPage } = useUrlQuery();
  const { text, setText: setOwnText, q } = useSearchText(PAUSE_MS);
  const on = query.get("on");
  const filter = {
    ...(q && { q }),
    ...(query.has("folder") && { folder: query.get("folder") ?? "" }),
    ...(query.get("tag") && { tag: query.get("tag") ?? "" }),
    ...((on === "yes" || on === "no") && { enabled: on === "yes" }),
  };
  const sort = sorts.find(({ value }) => value === query.get("sort"))?.value ?? "-created";
  const change = (changes: Record<string, string | undefined>) => setQuery({ ...changes, page: undefined });
  const setText = (next: string) => {
    setOwnText(next);
    if (page > 1) setPage(1);
  };
  return { filter, sort, change, text, setText, q, page, setPage, isFiltered: Object.keys(filter).length > 0 };
}

/** Which workflows are chosen: by id on any page, or all that the filter gives. What the filter does not give any more is let go. */
function useSelection(shown: readonly ListedWorkflow[], total: number, filter: object) {
  const key = JSON.stringify(filter);
  const [chosen, setChosen] = useState<{ key: string; ids: readonly string[]; isAll: boolean }>({ key, ids: [], isAll: false });
  const current = chosen.key === key ? chosen : { key, ids: [], isAll: false };
  const has = (id: string) => current.isAll || current.ids.includes(id);
  return {
    has,
    count: current.isAll ? total : current.ids.length,
    isAll: current.isAll,
    ids: current.ids,
    isPageChosen: shown.length > 0 && shown.every(({ id }) => has(id)),
    set: (ids: readonly string[], isChosen: boolean) => {
      const before = current.isAll ? shown.map(({ id }) => id) : current.ids;
      const others = before.filter((id) => !ids.includes(id));
      setChosen({ key, ids: isChosen ? [...others, ...ids] : others, isAll: false });
    },
    all: () => setChosen({ key, ids: [], isAll: true }),
    clear: () => setChosen({ key, ids: [], isAll: false }),
  };
}

export function WorkflowsPage() {
  const { trpc } = useApi();
  const { canEdit } = useStudio();
  const { filter, sort, change, text, setText, q, page, setPage, isFiltered } = useFilter();
  const [opened, setOpened] = useState<{ as: "rename" | "tags" | "move" | "delete"; workflow: ListedWorkflow } | null>(null);
  const [isImporting, setIsImporting] = useState(false);
  const openImport = () => setIsImporting(true);
  const workflows = useQuery(
    trpc.workflows.list.queryOptions({ ...filter, sort, page, per_page: PER_PAGE }, { placeholderData: keepPreviousData }),
  );
  const facets = useQuery(trpc.workflows.facets.queryOptions({}));
  const { create, isPending } = useNewWorkflow(filter.folder);
  const { run, tryRun, isPending: isChanging, outcome, closeOutcome } = useBulk();
  const shown = workflows.data?.items ?? [];
  const total = workflows.data?.total ?? 0;
  const selection = useSelection(shown, total, filter);
  useCommands([canEdit && { label: "Import a workflow", icon: FileUp, run: openImport }]);

  const isFirst = workflows.data?.total === 0 && !isFiltered && text === "";
  const targets: BulkTargets = selection.isAll ? { filter } : { ids: [...selection.ids] };
  const one = (workflow: ListedWorkflow) => (change: BulkChange) => run({ ids: [workflow.id] }, change);
  const close = () => setOpened(null);
  const back = () => {
    if (shown.length <= 1 && page > 1) setPage(page - 1);
  };
  const newWorkflow = canEdit && (
    <Button variant="primary" icon={<Plus />} isPending={isPending} onClick={create}>
      New workflow
    </Button>
  );
  const actions = (
    <>
      {canEdit && (
        <Button icon={<FileUp />} onClick={openImport} className="max-sm:hidden">
          Import
        </Button>
      )}
      <Button asChild icon={<LayoutTemplate />} className="max-sm:hidden">
        <Link href="/workflows/templates">Templates</Link>
      </Button>
      {newWorkflow}
      <MoreMenu className="sm:hidden">
        {canEdit && (
          <MenuItem icon={<FileUp />} onSelect={openImport}>
            Import
          </MenuItem>
        )}
        <MenuItem asChild>
          <Link href="/workflows/templates">
            <LayoutTemplate />
            Templates
          </Link>
        </MenuItem>
      </MoreMenu>
    </>
  );
  return (
    <Page>
      <PageHeader title="Workflows" actions={workflows.data && !isFirst && actions} />
      {!isFirst && workflows.data && (
        <div className="-mb-2 flex flex-wrap items-center gap-2 max-sm:[&>div]:w-auto max-sm:[&>div]:min-w-[30%] max-sm:[&>div]:flex-1">
          <SearchField label="Search workflows" value={text} onValueChange={setText} className="w-72 max-sm:min-w-full!" />
          {(facets.data?.tags.length ?? 0) > 0 && (
            <div className="w-40">
              <Select
                aria-label="Tag"
                value={filter.tag === undefined ? ANY : `#${filter.tag}`}
                options={[
                  { value: ANY, label: "Any tag" },
                  ...(facets.data?.tags ?? []).map(({ tag, count }) => ({ value: `#${tag}`, label: `${tag} (${count})` })),
                ]}
                onValueChange={(tag) => change({ tag: tag === ANY ? undefined : tag.slice(1) })}
              />
            </div>
          )}
          <div className="w-32">
            <Select
              aria-label="On or off"
              value={filter.enabled === undefined ? ANY : filter.enabled ? "yes" : "no"}
              options={[
                { value: ANY, label: "On and off" },
                { value: "yes", label: "On" },
                { value: "no", label: "Off" },
              ]}
              onValueChange={(on) => change({ on: on === ANY ? undefined : on })}
            />
          </div>
          <div className="w-36">
            <Select
              aria-label="Sort"
              value={sort}
              options={sorts}
              onValueChange={(next) => change({ sort: next === "-created" ? undefined : next })}
            />
          </div>
          {isFiltered && (
            <Button
              variant="ghost"
              onClick={() => {
                change({ folder: undefined, tag: undefined, on: undefined, q: undefined });
              }}
            >
              Clear filters
            </Button>
          )}
        </div>
      )}
      <TableLoading query={workflows} label="Loading workflows" />
      {isFirst && (
        <EmptyState
          title="Draw what should happen, then run it"
          actions={
            <>
              {newWorkflow}
              <Button asChild icon={<LayoutTemplate />}>
                <Link href="/workflows/templates">Start from a template</Link>
              </Button>
              {canEdit && (
                <Button icon={<FileUp />} onClick={openImport}>
                  Import
                </Button>
              )}
              <Link href="/docs" className="text-14 text-thread-text underline underline-offset-2">
                First steps
              </Link>
            </>
          }
        >
          A workflow starts with a trigger, hands its text to one agent after another, and keeps the result in an output. Every run is
          recorded, node by node.
        </EmptyState>
      )}
      {workflows.data && !isFirst && (
        <div className="flex min-w-0 gap-6 max-lg:flex-col max-lg:gap-4">
          {facets.data && <FolderList facets={facets.data} value={filter.folder} onValueChange={(folder) => change({ folder })} />}
          <div className="flex min-w-0 flex-1 flex-col gap-4">
            {selection.count > 0 && (
              <SelectionBar
                workflows={shown.filter(({ id }) => selection.has(id))}
                count={selection.count}
                total={selection.isPageChosen && !selection.isAll && total > selection.count ? total : undefined}
                onSelectAll={selection.all}
                onClear={selection.clear}
                isPending={isChanging}
                tryBulk={(change) => tryRun(targets, change)}
                bulk={(change) => run(targets, change)}
              />
            )}
            {shown.length === 0 ? (
              <p role="status" className="py-6 text-14 text-ink-soft">
                {q
                  ? `No workflow matches “${q}”${Object.keys(filter).length > 1 ? " with these filters" : ""}.`
                  : "No workflow matches these filters."}
              </p>
            ) : (
              <Table label="Workflows">
                <TableHead>
                  {canEdit && (
                    <TableHeader className={selectColumn}>
                      <Checkbox
                        label={<span className="sr-only">Select all on this page</span>}
                        checked={selection.isPageChosen}
                        disabled={workflows.isPlaceholderData}
                        onCheckedChange={(isChosen) =>
                          selection.set(
                            shown.map(({ id }) => id),
                            isChosen,
                          )
                        }
                      />
                    </TableHeader>
                  )}
                  <TableHeader className="w-full">Name</TableHeader>
                  <TableHeader className="max-md:hidden">Trigger</TableHeader>
                  <TableHeader className="max-sm:hidden">Last run</TableHeader>
                  <TableHeader className="max-xl:hidden">Updated</TableHeader>
                  <TableHeader className="max-xl:hidden">Version</TableHeader>
                  <TableHeader>On</TableHeader>
                </TableHead>
                <TableBody>
                  {shown.map((workflow) => (
                    <WorkflowRow
                      key={workflow.id}
                      workflow={workflow}
                      q={q}
                      folder={filter.folder}
                      isSelected={selection.has(workflow.id)}
                      onSelectedChange={(isChosen) => selection.set([workflow.id], isChosen)}
                      onTag={(tag) => change({ tag })}
                      onDialog={(as) => setOpened({ as, workflow })}
                    />
                  ))}
                </TableBody>
              </Table>
            )}
            <Pager page={page} total={total} onPageChange={setPage} />
          </div>
        </div>
      )}
      {isImporting && <ImportDialog onClose={() => setIsImporting(false)} />}
      {opened?.as === "rename" && <RenameWorkflowDialog workflow={opened.workflow} onClose={close} />}
      {opened?.as === "tags" && <TagDialog workflows={[opened.workflow]} count={1} bulk={one(opened.workflow)} onClose={close} />}
      {opened?.as === "move" && <MoveDialog workflows={[opened.workflow]} count={1} bulk={one(opened.workflow)} onClose={close} />}
      {opened?.as === "delete" && <DeleteWorkflowDialog workflow={opened.workflow} onDeleted={back} onClose={close} />}
      {outcome && <BulkOutcomeDialog outcome={outcome} onClose={closeOutcome} />}
    </Page>
  );
}

interface WorkflowDialogProps {
  workflow: ListedWorkflow;
  onClose: () => void;
}

function DeleteWorkflowDialog({ workflow: { id, name }, onDeleted, onClose }: WorkflowDialogProps & { onDeleted: () => void }) {
  const { trpc, client, cache } = useApi();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete workflow “${name}”?`}
      confirmLabel="Delete workflow"
      onConfirm={async () => {
        await client.workflows.delete.mutate({ workflow_id: id });
        toast.success(`Workflow “${name}” deleted`);
        onDeleted();
        await cache.invalidateQueries(trpc.workflows.pathFilter());
      }}
    >
      Its graph and versions are lost for good; past runs stay. Whatever calls it over the API gets “not found”.
    </ConfirmDialog>
  );
}
