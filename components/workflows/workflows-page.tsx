"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { FileUp, LayoutTemplate, Plus } from "lucide-react";
import { useState } from "react";
import { RenameDialog } from "#components/forms/rename-dialog.tsx";
import { useCommands } from "#components/shell/commands.ts";
import { Page } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { Link } from "#components/ui/link.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager, PER_PAGE, Table, TableBody, TableHead, TableHeader, TableLoading } from "#components/ui/table.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { ImportDialog } from "#components/workflows/import-dialog.tsx";
import { useNewWorkflow } from "#components/workflows/new-workflow.ts";
import { WorkflowRow } from "#components/workflows/workflow-row.tsx";
import { CreateWorkflowInput, type WorkflowSummary } from "#server/features/workflows/schema.ts";
import type { ExecutionSummary } from "#server/runs/schema.ts";

/** The newest run of each workflow among the latest runs of the project. */
function lastRuns(executions: readonly ExecutionSummary[]): Map<string, ExecutionSummary> {
  return new Map(executions.toReversed().map((execution) => [execution.workflow_id, execution]));
}

export function WorkflowsPage() {
  const { trpc, cache } = useApi();
  const { canEdit } = useStudio();
  const [page, setPage] = useState(1);
  const [search, setSearch] = useState("");
  const [renamed, setRenamed] = useState<WorkflowSummary | null>(null);
  const [deleting, setDeleting] = useState<WorkflowSummary | null>(null);
  const workflows = useQuery(trpc.workflows.list.queryOptions({ page, per_page: PER_PAGE }, { placeholderData: keepPreviousData }));
  const recent = useQuery(trpc.executions.list.queryOptions({ per_page: 100 }));
  const remove = useMutation(trpc.workflows.delete.mutationOptions());
  const { create, isPending } = useNewWorkflow();
  const [isImporting, setIsImporting] = useState(false);

  useCommands([canEdit && { label: "Import a workflow", icon: FileUp, run: () => setIsImporting(true) }]);
  const runs = lastRuns(recent.data?.items ?? []);
  const wanted = search.trim().toLowerCase();
  const shown = workflows.data?.items.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted)) ?? [];
  const newWorkflow = canEdit && (
    <Button variant="primary" icon={<Plus />} isPending={isPending} onClick={create}>
      New workflow
    </Button>
  );
  const templates = (
    <Button asChild icon={<LayoutTemplate />}>
      <Link href="/workflows/templates">Templates</Link>
    </Button>
  );
  const importFile = canEdit && (
    <Button icon={<FileUp />} onClick={() => setIsImporting(true)}>
      Import
    </Button>
  );
  const actions = (
    <>
      {importFile}
      {templates}
      {newWorkflow}
    </>
  );
  return (
    <Page>
      <PageHeader title="Workflows" actions={workflows.data && workflows.data.total > 0 && actions} />
      <TableLoading query={workflows} label="Loading workflows" />
      {workflows.data?.total === 0 && (
        <EmptyState
          title="Draw what should happen, then run it"
          actions={
            <>
              {newWorkflow}
              <Button asChild icon={<LayoutTemplate />}>
                <Link href="/workflows/templates">Start from a template</Link>
              </Button>
              {importFile}
              <Link href="/docs" className="text-13 text-thread-text underline underline-offset-2">
                First steps
              </Link>
            </>
          }
        >
          A workflow starts with a trigger, hands its text to one agent after another, and keeps the result in an output. Every run is
          recorded, node by node.
        </EmptyState>
      )}
      {workflows.data && workflows.data.total > 0 && (
        <>
          <SearchField label="Search workflows" value={search} onValueChange={setSearch} className="-mb-2 max-w-72" />
          {shown.length === 0 ? (
            <p className="py-6 text-13 text-ink-soft">No workflow on this page matches “{search}”.</p>
          ) : (
            <Table label="Workflows" className="md:min-w-190">
              <TableHead>
                <TableHeader className="w-full">Name</TableHeader>
                <TableHeader className="max-md:hidden">Trigger</TableHeader>
                <TableHeader>Last run</TableHeader>
                <TableHeader className="max-md:hidden">Updated</TableHeader>
                <TableHeader className="max-md:hidden">Version</TableHeader>
                <TableHeader>Enabled</TableHeader>
              </TableHead>
              <TableBody>
                {shown.map((workflow) => (
                  <WorkflowRow
                    key={workflow.id}
                    workflow={workflow}
                    lastRun={runs.get(workflow.id)}
                    onRename={() => setRenamed(workflow)}
                    onDelete={() => setDeleting(workflow)}
                  />
                ))}
              </TableBody>
            </Table>
          )}
          <Pager page={page} total={workflows.data.total} onPageChange={setPage} />
        </>
      )}
      {isImporting && <ImportDialog onClose={() => setIsImporting(false)} />}
      {renamed && <RenameWorkflowDialog workflow={renamed} onClose={() => setRenamed(null)} />}
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete workflow “${deleting.name}”?`}
          confirmLabel="Delete workflow"
          onConfirm={async () => {
            await remove.mutateAsync({ workflow_id: deleting.id });
            toast.success(`Workflow “${deleting.name}” deleted`);
            if (workflows.data?.items.length === 1 && page > 1) setPage(page - 1);
            await cache.invalidateQueries(trpc.workflows.pathFilter());
          }}
        >
          Its graph and versions are lost for good; past runs stay. Whatever calls it over the API gets “not found”.
        </ConfirmDialog>
      )}
    </Page>
  );
}

const NameAndDescription = CreateWorkflowInput.pick({ name: true, description: true }).required();

function RenameWorkflowDialog({ workflow, onClose }: { workflow: WorkflowSummary; onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const { id: workflow_id, name, description } = workflow;
  const save = async (value: { name: string; description: string }) => {
    await client.workflows.update.mutate({ workflow_id, ...value });
    await cache.invalidateQueries(trpc.workflows.pathFilter());
  };
  return <RenameDialog what="workflow" schema={NameAndDescription} initial={{ name, description }} save={save} onClose={onClose} />;
}
