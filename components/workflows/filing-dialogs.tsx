"use client";

import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { plural } from "#components/format.ts";
import { errorBodyOf, useApi, useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Combobox } from "#components/ui/combobox.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { BulkChange } from "#components/workflows/use-bulk.ts";
import type { ListedWorkflow } from "#server/features/workflows/schema.ts";

interface SmallFormProps {
  title: string;
  submitLabel: string;
  isReady?: boolean;
  /** Closes the dialog when it resolves; what it was refused with is shown at the field otherwise. */
  onSubmit: () => Promise<unknown>;
  onClose: () => void;
  actions?: ReactNode;
  children: (error: string | undefined) => ReactNode;
}

/** A dialog with one field. */
function SmallForm({ title, submitLabel, isReady = true, onSubmit, onClose, actions, children }: SmallFormProps) {
  const [error, setError] = useState<string>();
  const [isPending, setIsPending] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setIsPending(true);
    setError(undefined);
    try {
      await onSubmit();
      onClose();
    } catch (failure) {
      const { errors, detail } = errorBodyOf(failure);
      setError(errors?.[0]?.message ?? detail);
    } finally {
      setIsPending(false);
    }
  };
  return (
    <Dialog onClose={onClose} title={title} size="sm">
      <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {children(error)}
        <DialogFooter>
          {actions}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={isPending} disabled={!isReady}>
            {submitLabel}
          </Button>
        </DialogFooter>
      </form>
    </Dialog>
  );
}

const SLASHES = "A slash makes a folder within another, as in Marketing/Weekly. A folder that is not there yet is made.";

interface FilingProps {
  /** What is chosen, as far as it is loaded. */
  workflows: readonly ListedWorkflow[];
  /** How many are chosen. */
  count: number;
  bulk: (change: BulkChange) => Promise<unknown>;
  onClose: () => void;
}

/** Asks which folder workflows are to be in. */
export function MoveDialog({ workflows, count, bulk, onClose }: FilingProps) {
  const facets = useQuery(useTRPC().workflows.facets.queryOptions({}));
  const common = workflows.every(({ folder }) => folder === workflows[0]?.folder) ? (workflows[0]?.folder ?? "") : "";
  const [folder, setFolder] = useState(common);
  const what = count === 1 ? `“${workflows[0]?.name}”` : plural(count, "workflow");
  return (
    <SmallForm
      title={`Move ${what}`}
      submitLabel={folder.trim() === "" ? "Take out of its folder" : "Move"}
      isReady={folder.trim() !== "" || workflows.some((workflow) => workflow.folder !== null)}
      onSubmit={() => bulk({ action: "move", folder: folder.trim() || null })}
      onClose={onClose}
    >
      {(error) => (
        <Field label="Folder" hint={SLASHES} error={error}>
          <Combobox
            value={folder}
            onValueChange={setFolder}
            isLoading={facets.isPending}
            placeholder="None"
            options={facets.data?.folders.map(({ folder: value, count: inIt }) => ({ value, label: plural(inIt, "workflow") })) ?? []}
          />
        </Field>
      )}
    </SmallForm>
  );
}

/** Puts tags to workflows and takes them off. */
export function TagDialog({ workflows, count, bulk, onClose }: FilingProps) {
  const facets = useQuery(useTRPC().workflows.facets.queryOptions({}));
  const [text, setText] = useState("");
  const [added, setAdded] = useState<readonly string[]>([]);
  const [removed, setRemoved] = useState<readonly string[]>([]);
  const having = new Map<string, number>();
  for (const tag of workflows.flatMap(({ tags }) => tags)) having.set(tag, (having.get(tag) ?? 0) + 1);
  const kept = [...having].filter(([tag]) => !removed.includes(tag) && !added.includes(tag));
  const typed = text
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);
  const add = (tags: readonly string[]) => {
    setRemoved(removed.filter((tag) => !tags.includes(tag)));
    setAdded([...added, ...tags.filter((tag) => !added.includes(tag) && having.get(tag) !== workflows.length)]);
    setText("");
  };
  const toAdd = [...new Set([...added, ...typed])];
  const save = async () => {
    if (removed.length > 0) await bulk({ action: "untag", tags: [...removed] });
    if (toAdd.length > 0) await bulk({ action: "tag", tags: toAdd });
  };
  const chip = (tag: string, more: string, onRemove: () => void) => (
    <span key={tag} className="inline-flex h-7 items-center gap-1 rounded-md bg-sunken pl-2 text-12 text-ink">
      {tag}
      {more && <span className="text-ink-faint">{more}</span>}
      <button
        type="button"
        aria-label={`Take off ${tag}`}
        onClick={onRemove}
        className="grid size-7 place-items-center rounded-md text-ink-soft hover:bg-hover hover:text-ink"
      >
        <X aria-hidden className="size-3" />
      </button>
    </span>
  );
  return (
    <SmallForm
      title={`Tags of ${count === 1 ? `“${workflows[0]?.name}”` : plural(count, "workflow")}`}
      submitLabel="Save"
      isReady={toAdd.length + removed.length > 0}
      onSubmit={save}
      onClose={onClose}
    >
      {(error) => (
        <>
          {kept.length + added.length > 0 && (
            <div className="flex flex-wrap gap-1.5">
              {kept.map(([tag, n]) => chip(tag, n < count ? `${n} of ${count}` : "", () => setRemoved([...removed, tag])))}
              {added.map((tag) => chip(tag, count > 1 ? "all" : "", () => setAdded(added.filter((other) => other !== tag))))}
            </div>
          )}
          <Field label="Add a tag" hint="Several with commas between them." error={error}>
            <Combobox
              value={text}
              onValueChange={(next) => (facets.data?.tags.some(({ tag }) => tag === next) ? add([next]) : setText(next))}
              isLoading={facets.isPending}
              options={
                facets.data?.tags.flatMap(({ tag, count: n }) =>
                  added.includes(tag) ? [] : [{ value: tag, label: plural(n, "workflow") }],
                ) ?? []
              }
            />
          </Field>
        </>
      )}
    </SmallForm>
  );
}

interface FolderDialogProps {
  folder: string;
  known: readonly string[];
  onMoved: (to: string) => void;
  onClose: () => void;
}

/** Asks for another path of a folder. */
export function FolderDialog({ folder, known, onMoved, onClose }: FolderDialogProps) {
  const { trpc, client, cache } = useApi();
  const [to, setTo] = useState(folder);
  const others = known.filter((path) => path !== folder && !path.startsWith(`${folder}/`));
  return (
    <SmallForm
      title={`Rename or move “${folder}”`}
      submitLabel="Save"
      isReady={to.trim() !== "" && to.trim() !== folder}
      onSubmit={async () => {
        const { count } = await client.workflows.moveFolder.mutate({ folder, to: to.trim() });
        await cache.invalidateQueries(trpc.workflows.pathFilter());
        toast.success(`${plural(count, "workflow")} moved to “${to.trim()}”`);
        onMoved(to.trim());
      }}
      onClose={onClose}
    >
      {(error) => (
        <Field
          label="Path"
          hint="What is in it, and the folders within it, go along. A folder that is there already takes them in."
          error={error}
        >
          <Combobox value={to} onValueChange={setTo} options={others.map((value) => ({ value }))} />
        </Field>
      )}
    </SmallForm>
  );
}

/** Asks before the workflows of a folder are taken out of it. */
export function EmptyFolderDialog({ folder, onDone, onClose }: { folder: string; onDone: () => void; onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const parent = folder.includes("/") ? folder.slice(0, folder.lastIndexOf("/")) : null;
  return (
    <ConfirmDialog
      title={`Dissolve folder “${folder}”?`}
      confirmLabel="Dissolve"
      tone="normal"
      onClose={onClose}
      onConfirm={async () => {
        const { count } = await client.workflows.moveFolder.mutate({ folder, to: parent });
        await cache.invalidateQueries(trpc.workflows.pathFilter());
        toast.success(`${plural(count, "workflow")} taken out of “${folder}”`);
        onDone();
      }}
    >
      No workflow is deleted: what is in it is {parent === null ? "in no folder" : `in “${parent}”`} then; folders within it stay folders.
    </ConfirmDialog>
  );
}
