"use client";

import { useMutation } from "@tanstack/react-query";
import { errorBodyOf, useTRPCClient } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { MaskedValue, WorkflowFile } from "#server/features/workflow-files/schema.ts";

const MAX_CHARACTERS = 60;

/** Name of the file that a workflow is saved as: letters and digits of any script, and dashes. */
export function fileNameOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, MAX_CHARACTERS)
    .replace(/^-|-$/g, "");
  return `${slug || "workflow"}.treadle.json`;
}

/** Time to read what was masked, in milliseconds. */
const LONG_MS = 20_000;
const MAX_TOLD = 5;

const plainField = (field: string) => field.replaceAll("_", " ");

/** Where one value was taken out: “Draft”, input. */
export const maskedValueLabel = ({ of, name, field }: MaskedValue): string =>
  of === "connection" ? "a connection" : `${of === "node" ? "" : `${of} `}“${name}”, ${plainField(field)}`;

/** Everything that was taken out, in one sentence. */
function maskedWords(masked: readonly MaskedValue[]): string {
  const told = masked.slice(0, MAX_TOLD).map((one) => `${one.what} in ${maskedValueLabel(one)}`);
  const rest = masked.length - told.length;
  return [...told, ...(rest > 0 ? [`${rest} more`] : [])].join("; ");
}

function download(file: WorkflowFile): void {
  const url = URL.createObjectURL(new Blob([`${JSON.stringify(file, null, 2)}\n`], { type: "application/json" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: fileNameOf(file.name) });
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Saves a workflow as a file on the visitor's machine. */
export function useExport(): { exportFile: (workflow: { workflow_id: string; draft?: boolean }) => void; isPending: boolean } {
  const client = useTRPCClient();
  const mutation = useMutation({
    mutationFn: (workflow: { workflow_id: string; draft?: boolean }) => client.workflowFiles.export.query(workflow),
    onSuccess: (file) => {
      download(file);
      const masked = file.masked ?? [];
      if (masked.length === 0)
        toast.success(`“${file.name}” exported`, { description: "The file holds no secrets: agents travel without their keys." });
      else
        toast.warning(`“${file.name}” exported, with •••• for what looks like a secret`, {
          description: `${maskedWords(masked)}. Nothing changed here; put it into a credential, and it is asked for by its name.`,
          duration: LONG_MS,
        });
    },
    onError: (error) => toast.error("Nothing was exported", { description: errorBodyOf(error).detail }),
  });
  return { exportFile: mutation.mutate, isPending: mutation.isPending };
}
