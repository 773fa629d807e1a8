"use client";

import { Plus } from "lucide-react";
import { useState } from "react";
import { useStudio } from "#components/shell/studio-context.tsx";
import { Button } from "#components/ui/button.tsx";
import { Combobox } from "#components/ui/combobox.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";
import { useCredentialNames } from "#components/workflow-editor/nodes/project-lookups.tsx";

// Loaded when a credential is added.
const AddCredentialDialog = loadedOnUse(() =>
  import("#components/settings/credential-dialog.tsx").then((module) => module.AddCredentialDialog),
);

export interface CredentialPickerProps {
  value: string;
  isReadOnly: boolean;
  onChange: (name: string) => void;
}

/** One of the project's credentials by its name; one that is not there yet may be named, and added without leaving the workflow. */
export function CredentialPicker({ value, isReadOnly, onChange }: CredentialPickerProps) {
  const names = useCredentialNames();
  const { canAdminister } = useStudio();
  const [isAdding, setIsAdding] = useState(false);
  const isMissing = value !== "" && names !== undefined && !names.includes(value);
  return (
    <div className="flex flex-col items-start gap-1">
      <Combobox
        value={value}
        options={(names ?? []).map((name) => ({ value: name }))}
        disabled={isReadOnly}
        isLoading={names === undefined}
        placeholder="Choose a credential"
        className="w-full"
        onValueChange={onChange}
      />
      {!isReadOnly && canAdminister && (
        <Button size="sm" variant="ghost" icon={<Plus />} className="-ml-2.5" onClick={() => setIsAdding(true)}>
          {isMissing ? `Add credential ${value}…` : "New credential…"}
        </Button>
      )}
      {isAdding && (
        <AddCredentialDialog
          {...(isMissing && { name: value })}
          onClose={() => setIsAdding(false)}
          onAdded={({ name }) => onChange(name)}
        />
      )}
    </div>
  );
}
