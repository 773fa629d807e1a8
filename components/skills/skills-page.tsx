"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useId, useState } from "react";
import { Page } from "#components/shell/page.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useListSearch } from "#components/shell/use-list-search.ts";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { EmptyState } from "#components/ui/empty-state.tsx";
import { SearchField } from "#components/ui/input.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { NothingMatches, TableLoading } from "#components/ui/table.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Skill } from "#server/features/skills/schema.ts";

const SkillForm = loadedOnUse(() => import("#components/skills/skill-dialogs.tsx").then((module) => module.SkillForm));
const SkillView = loadedOnUse(() => import("#components/skills/skill-dialogs.tsx").then((module) => module.SkillView));

const PER_PAGE = 60;

/** What stands over the list. */
type Opened = { as: "view" | "edit" | "copy"; skill: Skill } | { as: "new" } | null;

export function SkillsPage() {
  const { trpc, cache } = useApi();
  const { canEdit } = useStudio();
  const { input, page, setPage, search } = useListSearch(PER_PAGE);
  const [opened, setOpened] = useState<Opened>(null);
  const [deleting, setDeleting] = useState<Skill | null>(null);
  const skills = useQuery(trpc.skills.list.queryOptions(input, { placeholderData: keepPreviousData }));
  const remove = useMutation(trpc.skills.delete.mutationOptions());
  const own = skills.data?.items.filter(({ source }) => source === "project") ?? [];
  const builtin = skills.data?.items.filter(({ source }) => source === "builtin") ?? [];
  const isFirst = page === 1 && own.length === 0 && search.q === "";
  const close = () => setOpened(null);
  const create = canEdit && (
    <Button variant="primary" icon={<Plus />} onClick={() => setOpened({ as: "new" })}>
      New skill
    </Button>
  );
  return (
    <Page>
      <PageHeader
        title="Skills"
        description="Prompts for one kind of work each. Take a built-in one, or write down how your team does it."
        actions={skills.data && !isFirst && create}
      />
      <SearchField label="Search skills" value={search.text} onValueChange={search.setText} className="-mb-2 sm:max-w-72" />
      <TableLoading query={skills} label="Loading skills" />
      {skills.data?.total === 0 && <NothingMatches q={search.q} />}
      {skills.data && isFirst && (
        <EmptyState size="panel" title="No skill of your own yet" actions={create}>
          {canEdit
            ? "Put house style, checklists and the form of your reports here once, instead of into every agent."
            : "Editors and admins of the project can write some."}
        </EmptyState>
      )}
      <SkillCards title="This project" skills={own} onOpen={(skill) => setOpened({ as: "view", skill })} />
      <SkillCards title="Built-in" skills={builtin} onOpen={(skill) => setOpened({ as: "view", skill })} />
      {skills.data && <Pager page={page} perPage={PER_PAGE} total={skills.data.total} onPageChange={setPage} />}
      {opened?.as === "view" && (
        <SkillView
          skill={opened.skill}
          canEdit={canEdit}
          onEdit={() => setOpened({ as: "edit", skill: opened.skill })}
          onCopy={() => setOpened({ as: "copy", skill: opened.skill })}
          onDelete={() => {
            setDeleting(opened.skill);
            close();
          }}
          onClose={close}
        />
      )}
      {opened?.as === "edit" && <SkillForm skill={opened.skill} onClose={close} />}
      {opened?.as === "copy" && <SkillForm like={opened.skill} onClose={close} />}
      {opened?.as === "new" && <SkillForm onClose={close} />}
      {deleting && (
        <ConfirmDialog
          onClose={() => setDeleting(null)}
          title={`Delete skill “${deleting.name}”?`}
          confirmLabel="Delete skill"
          onConfirm={async () => {
            await remove.mutateAsync({ skill_id: deleting.id });
            await cache.invalidateQueries(trpc.skills.pathFilter());
            toast.success(`Skill “${deleting.name}” deleted`);
          }}
        >
          Its prompt cannot be brought back.
        </ConfirmDialog>
      )}
    </Page>
  );
}

function SkillCards({ title, skills, onOpen }: { title: string; skills: readonly Skill[]; onOpen: (skill: Skill) => void }) {
  const id = useId();
  if (skills.length === 0) return null;
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3">
      <h2 id={id} className="font-semibold text-16">
        {title}
      </h2>
      <ul className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {skills.map((skill) => (
          <li
            key={skill.id}
            className="relative flex min-w-0 flex-col gap-1 rounded-lg border bg-surface p-4 transition-colors focus-within:border-thread hover:bg-hover"
          >
            <h3 className="min-w-0">
              <button
                type="button"
                onClick={() => onOpen(skill)}
                className="block max-w-full truncate rounded-sm text-left font-semibold text-14 after:absolute after:inset-0 after:rounded-lg"
              >
                {skill.name}
              </button>
            </h3>
            {skill.description && <p className="line-clamp-2 text-12 text-ink-soft">{skill.description}</p>}
            {skill.model && <p className="truncate font-mono text-12 text-ink-faint">{skill.model}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
