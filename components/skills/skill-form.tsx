"use client";

import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { useTRPC, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Textarea } from "#components/ui/textarea.tsx";
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
  const trpc = useTRPC();
  const client = useTRPCClient();
  const cache = useQueryClient();
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
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={skill ? `Edit ${skill.name}` : "New skill"}
      size="lg"
      isDismissable={!form.isDirty && !form.isPending}
    >
      <form onSubmit={form.onSubmit} noValidate className="flex flex-col gap-4">
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
      </form>
    </Dialog>
  );
}
