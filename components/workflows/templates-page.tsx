"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { BackLink } from "#components/shell/back-link.tsx";
import { Page } from "#components/shell/page.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Checkbox } from "#components/ui/checkbox.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { LoadFailure } from "#components/ui/load-failure.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { TemplateNeeds } from "#components/workflows/template-needs.tsx";
import type { WorkflowTemplate } from "#server/features/workflow-files/schema.ts";
import { containsWords } from "#server/shared/fold-text.ts";

const TemplateDialog = loadedOnUse(() => import("#components/workflows/template-dialog.tsx").then((module) => module.TemplateDialog));

/** Everything of a template that a search may hit. */
const wordsOf = ({ summary, file }: WorkflowTemplate): string =>
  [file.name, summary, ...file.requires.agents.map(({ name }) => name), ...file.nodes.map(({ data }) => String(data.label ?? ""))].join(
    " ",
  );

/**
 * The gallery: workflows to start from.
 * @param pictures of their graphs, by the template's id
 */
export function TemplatesPage({ pictures }: { pictures: Record<string, ReactNode> }) {
  const trpc = useTRPC();
  const templates = useQuery(trpc.workflowFiles.templates.queryOptions({}, { staleTime: Number.POSITIVE_INFINITY }));
  const [search, setSearch] = useState("");
  const [isKeyless, setIsKeyless] = useState(false);
  const [opened, setOpened] = useState<WorkflowTemplate | null>(null);
  const shown = templates.data?.items.filter(
    (template) => containsWords(wordsOf(template), search) && !(isKeyless && template.needs_model),
  );
  return (
    <Page>
      <PageHeader
        title="Templates"
        back={<BackLink href="/workflows">Workflows</BackLink>}
        description="Whole workflows with real prompts. Each becomes a workflow of your own, to change as you like."
      />
      <div className="-mb-2 flex flex-wrap items-center gap-x-6 gap-y-3">
        <SearchField label="Search templates" value={search} onValueChange={setSearch} className="w-full sm:w-72" />
        <Checkbox label="No model key needed" checked={isKeyless} onCheckedChange={setIsKeyless} />
      </div>
      <LoadFailure query={templates} />
      {templates.isPending && <Skeleton className="h-96" />}
      {shown?.length === 0 && (
        <p role="status" className="py-6 text-14 text-ink-soft">
          No template matches{search.trim() === "" ? "" : ` “${search.trim()}”`}.
        </p>
      )}
      {shown && shown.length > 0 && (
        <ul aria-label="Templates" className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,18rem),1fr))] gap-4">
          {shown.map((template) => (
            <TemplateCard key={template.id} template={template} picture={pictures[template.id]} onOpen={() => setOpened(template)} />
          ))}
        </ul>
      )}
      {opened && <TemplateDialog template={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

interface TemplateCardProps {
  template: WorkflowTemplate;
  picture: ReactNode;
  onOpen: () => void;
}

function TemplateCard({ template, picture, onOpen }: TemplateCardProps) {
  return (
    <li className="relative flex flex-col overflow-hidden rounded-lg border bg-raised transition-colors focus-within:border-line-control hover:border-line-control">
      {picture}
      <div className="flex flex-1 flex-col gap-1.5 p-4">
        <h2 className="font-semibold text-16">
          <button type="button" onClick={onOpen} className="text-left after:absolute after:inset-0 after:rounded-lg">
            {template.file.name}
          </button>
        </h2>
        <p className="flex-1 text-14 text-ink-soft">{template.summary}</p>
        <div className="mt-1">
          <TemplateNeeds template={template} />
        </div>
      </div>
    </li>
  );
}
