"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "#components/trpc.tsx";
import { Combobox } from "#components/ui/combobox.tsx";

const SOURCES = {
  live: "Listed by the provider with this key. Any other model can be typed.",
  curated: "A short list of ours: the provider's own could not be had with this key. Any other model can be typed.",
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
  const footer = models.data
    ? models.data.models.length > 0
      ? SOURCES[models.data.source]
      : "This key's provider gives no list of models. Type the model's id."
    : models.isError
      ? "The list of models could not be loaded. Type the model's id."
      : undefined;
  return (
    <Combobox
      value={value}
      onValueChange={onValueChange}
      options={(models.data?.models ?? []).map(({ id, label }) => ({ value: id, ...(label !== undefined && { label }) }))}
      placeholder={keyId === "" ? "Choose a key first, or type a model" : "Choose or type a model"}
      disabled={disabled}
      isLoading={models.isFetching}
      footer={footer}
    />
  );
}
