"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { MendKeyDialog } from "#components/keys/mend-key.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Combobox } from "#components/ui/combobox.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import type { ModelList } from "#server/features/llm-keys/schema.ts";
import { providerKind } from "#server/llm/kinds.ts";

const AddKeyDialog = loadedOnUse(() => import("#components/keys/key-dialogs.tsx").then((module) => module.AddKeyDialog));

export interface KeyPickerProps {
  value: string;
  onValueChange: (keyId: string) => void;
  disabled?: boolean;
  /** Told the key when there is nothing to choose: the project has this one, and none is picked yet. */
  onOnlyKey?: ((keyId: string) => void) | undefined;
}

/** One of the project's LLM keys. Where there is none yet, an admin adds the first one without leaving the form. */
export function KeyPicker({ value, onValueChange, disabled = false, onOnlyKey }: KeyPickerProps) {
  const trpc = useTRPC();
  const { canAdminister } = useStudio();
  const [isAdding, setIsAdding] = useState(false);
  // A key may have been added elsewhere since the list was read last.
  const keys = useQuery(trpc.llmKeys.list.queryOptions({ per_page: 200 }, { refetchOnMount: "always" }));
  const onlyKey = keys.data?.items.length === 1 && value === "" && !disabled ? keys.data.items[0]?.id : undefined;
  useEffect(() => {
    if (onlyKey !== undefined) onOnlyKey?.(onlyKey);
  }, [onlyKey, onOnlyKey]);
  const dialog = isAdding && <AddKeyDialog onClose={() => setIsAdding(false)} onAdded={(key) => onValueChange(key.id)} />;

  if (keys.isPending) return <Skeleton className="h-8 w-full" />;
  if (keys.data?.items.length === 0) {
    return (
      <>
        <Notice
          tone="waiting"
          actions={
            canAdminister && (
              <Button size="sm" icon={<Plus />} onClick={() => setIsAdding(true)}>
                Add key
              </Button>
            )
          }
        >
          This project has no LLM key yet.{" "}
          {canAdminister ? "Add the first one; what you typed here stays." : "Ask an admin of the project to add one."}
        </Notice>
        {dialog}
      </>
    );
  }
  return (
    <div className="flex gap-2">
      <Select
        value={value}
        onValueChange={onValueChange}
        placeholder={keys.isError ? "Keys could not be loaded" : "Choose a key"}
        disabled={disabled}
        options={(keys.data?.items ?? []).map((key) => ({
          value: key.id,
          label: key.name,
          description: `${providerKind(key.provider).label} · ${key.masked_key}`,
        }))}
      />
      {canAdminister && !disabled && (
        <Button icon={<Plus />} onClick={() => setIsAdding(true)}>
          Add key
        </Button>
      )}
      {dialog}
    </div>
  );
}

const SOURCES = {
  live: "Listed by the provider with this key. Any other model can be typed.",
  curated: "Common models. You can type any model ID.",
} as const;

export interface ModelPickerProps {
  /** Empty until a key is chosen. */
  keyId: string;
  value: string;
  onValueChange: (model: string) => void;
  disabled?: boolean;
}

/** A model id: suggested from what the key can call, or typed. */
export function ModelPicker({ keyId, value, onValueChange, disabled = false }: ModelPickerProps) {
  const trpc = useTRPC();
  const models = useQuery(trpc.llmKeys.models.queryOptions({ key_id: keyId }, { enabled: keyId !== "", staleTime: 300_000, retry: false }));
  const problem = models.data?.problem ?? null;
  const footer = models.data
    ? models.data.models.length > 0
      ? SOURCES[models.data.source]
      : "The provider lists no models for this key. Type the model's id."
    : models.isError
      ? "The list of models could not be loaded. Type the model's id."
      : undefined;
  return (
    <>
      <Combobox
        value={value}
        onValueChange={onValueChange}
        options={(models.data?.models ?? []).map(({ id, label }) => ({ value: id, ...(label !== undefined && { label }) }))}
        placeholder={keyId === "" ? "Choose a key first, or type a model" : "Choose or type a model"}
        disabled={disabled}
        isLoading={models.isFetching}
        footer={footer}
      />
      {problem && <ListProblem keyId={keyId} problem={problem} />}
    </>
  );
}

/** Why there is no list of the provider's; where the key is the reason, the way to mend it without leaving the form. */
function ListProblem({ keyId, problem }: { keyId: string; problem: NonNullable<ModelList["problem"]> }) {
  const { canAdminister } = useStudio();
  const [isMending, setIsMending] = useState(false);
  return (
    <>
      <p role="status" className={problem.is_key_refused ? "text-12 text-failed" : "text-12 text-ink-faint"}>
        {problem.is_key_refused ? problem.detail : `No list of models: ${problem.detail} Any model can be typed.`}{" "}
        {problem.is_key_refused &&
          (canAdminister ? (
            <button type="button" className="font-semibold text-thread-text hover:underline" onClick={() => setIsMending(true)}>
              Replace the key…
            </button>
          ) : (
            "Ask an admin of the project to replace it."
          ))}
      </p>
      {isMending && <MendKeyDialog keyId={keyId} onClose={() => setIsMending(false)} />}
    </>
  );
}
