"use client";

import { ChevronsUpDown, Plus } from "lucide-react";
import { useState } from "react";
import { openProject } from "#components/shell/project-cookie.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from "#components/ui/menu.tsx";

const CreateProjectDialog = loadedOnUse(() =>
  import("#components/navigation/create-project-dialog.tsx").then((module) => module.CreateProjectDialog),
);

/** Two letters that stand for a project. */
const initials = (name: string) => {
  const words = name.trim().split(/\s+/);
  return ((words[0]?.[0] ?? "") + (words[1]?.[0] ?? words[0]?.[1] ?? "")).toUpperCase();
};

export function ProjectSwitcher() {
  const { project, projects } = useStudio();
  const [isCreating, setIsCreating] = useState(false);
  return (
    <>
      <Menu
        align="start"
        className="w-56"
        trigger={
          <button
            type="button"
            aria-label={`Project ${project.name}, switch project`}
            className="flex h-9 w-full items-center gap-2 rounded-md border border-line-strong bg-surface px-1.5 text-left text-14 shadow-sm transition-colors hover:border-line-control data-[state=open]:border-line-control max-md:h-11 rail:border-transparent rail:bg-transparent rail:px-1 rail:shadow-none"
          >
            <span aria-hidden className="grid size-6 shrink-0 place-items-center rounded-sm bg-thread font-semibold text-12 text-on-thread">
              {initials(project.name)}
            </span>
            <span className="min-w-0 flex-1 truncate font-semibold text-ink rail:hidden">{project.name}</span>
            <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-ink-faint rail:hidden" />
          </button>
        }
      >
        <MenuLabel>Projects</MenuLabel>
        <MenuChoice
          label="Projects"
          value={project.id}
          onValueChange={(id) => id !== project.id && openProject(id)}
          options={projects.map(({ id, name }) => ({ value: id, label: name }))}
        />
        <MenuSeparator />
        <MenuItem icon={<Plus />} onSelect={() => setIsCreating(true)}>
          New project
        </MenuItem>
      </Menu>
      {isCreating && <CreateProjectDialog onClose={() => setIsCreating(false)} />}
    </>
  );
}
