"use client";

import { CopyPlus, Pencil, Trash2 } from "lucide-react";
import { Form, FormFailure } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useApi } from "#components/trpc.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Textarea } from "#components/ui/input.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { CreateSkillInput, type Skill } from "#server/features/skills/schema.ts";

export interface SkillFormProps {
  /** The skill to change; left out, a new one is made. */
  skill?: Skill;
  /** What a new one begins with. */
  like?: Skill;
  onClose: () => void;
}

/** Makes or changes a skill of the project. With something typed, only its own buttons close it. */
export function SkillForm({ skill, like, onClose }: SkillFormProps) {
  const { trpc, client, cache } = useApi();
  const source = skill ?? like;
  const form = useForm({
    schema: CreateSkillInput,
    initial: {
      name: like ? `${like.name} (ours)` : (skill?.name ?? ""),
      description: source?.description ?? "",
      prompt: source?.prompt ?? "",
      model: source?.model ?? "",
    },
    submit: async (value) => {
      const saved = skill ? await client.skills.update.mutate({ skill_id: skill.id, ...value }) : await client.skills.create.mutate(value);
      await cache.invalidateQueries(trpc.skills.pathFilter());
      toast.success(`Skill “${saved.name}” ${skill ? "saved" : "created"}`);
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title={skill ? `Edit ${skill.name}` : "New skill"} size="lg" isDismissable={!form.isDirty && !form.isPending}>
      <Form form={form}>
        <FormField form={form} name="name" hint={null} placeholder="House style" autoFocus={!skill} autoComplete="off" />
        <FormField
          form={form}
          name="description"
          rows={2}
          isOptional
          hint="What it is good for, so that others find it."
          autoComplete="off"
        />
        <FormField form={form} name="prompt" hint="Instructions for the model: the job, the form of the answer, what to avoid.">
          {/* Low enough that the buttons stay in sight on a laptop. */}
          <Textarea
            name="prompt"
            rows={8}
            value={form.values.prompt}
            onChange={(event) => form.set("prompt", event.target.value)}
            placeholder="Write as we do: short sentences, no jargon, British spelling…"
            className="max-h-[38vh]"
          />
        </FormField>
        <FormField
          form={form}
          name="model"
          isOptional
          isCode
          hint="Plain model id, only if the prompt was written for one model."
          autoComplete="off"
        />
        <FormFailure failure={form.failure} title="Not saved" />
        <DialogFooter>
          <Button onClick={onClose} disabled={form.isPending}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" isPending={form.isPending}>
            {skill ? "Save skill" : "Create skill"}
          </Button>
        </DialogFooter>
      </Form>
    </Dialog>
  );
}

export interface SkillViewProps {
  skill: Skill;
  canEdit: boolean;
  onEdit: () => void;
  onCopy: () => void;
  onDelete: () => void;
  onClose: () => void;
}

/** A skill with its whole prompt, as the model gets it. */
export function SkillView({ skill, canEdit, onEdit, onCopy, onDelete, onClose }: SkillViewProps) {
  const isOwn = skill.source === "project";
  return (
    <Dialog onClose={onClose} title={skill.name} {...(skill.description && { description: skill.description })} size="lg">
      <div className="flex min-h-6 items-center gap-2">
        <Badge tone={isOwn ? "thread" : "neutral"}>{isOwn ? "This project" : "Built-in"}</Badge>
        {skill.model && <span className="min-w-0 truncate font-mono text-12 text-ink-soft">{skill.model}</span>}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is no box for text */}
      <div
        role="group"
        aria-label="Prompt"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-[55vh] overflow-y-auto whitespace-pre-wrap break-words rounded-lg border bg-sunken p-4 text-14"
      >
        {skill.prompt}
      </div>
      <DialogFooter>
        {canEdit && isOwn && (
          <Button variant="ghost" icon={<Trash2 />} onClick={onDelete} className="mr-auto">
            Delete
          </Button>
        )}
        <CopyButton value={skill.prompt} what="prompt" isWide />
        {canEdit && !isOwn && (
          <Button icon={<CopyPlus />} onClick={onCopy}>
            Make own version
          </Button>
        )}
        {canEdit && isOwn && (
          <Button variant="primary" icon={<Pencil />} onClick={onEdit}>
            Edit
          </Button>
        )}
      </DialogFooter>
    </Dialog>
  );
}
