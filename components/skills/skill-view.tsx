"use client";

import { CopyPlus, Pencil, Trash2 } from "lucide-react";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import type { Skill } from "#server/features/skills/schema.ts";

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
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={skill.name}
      {...(skill.description && { description: skill.description })}
      size="lg"
    >
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
        className="max-h-[55vh] overflow-y-auto whitespace-pre-wrap break-words rounded-lg border bg-sunken p-4 text-13"
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
