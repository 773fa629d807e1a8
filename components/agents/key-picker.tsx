"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useEffect, useState } from "react";
import { AddKeyDialog } from "#components/keys/add-key-dialog.tsx";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useTRPC } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Select } from "#components/ui/select.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { providerKind } from "#server/llm/kinds.ts";

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
  const dialog = <AddKeyDialog open={isAdding} onOpenChange={setIsAdding} onAdded={(key) => onValueChange(key.id)} />;

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
