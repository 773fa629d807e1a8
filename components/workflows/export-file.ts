"use client";

import { useMutation } from "@tanstack/react-query";
import { toast } from "sonner";
import { errorBodyOf, useTRPCClient } from "#components/trpc.tsx";
import type { WorkflowFile } from "#server/schemas/workflow-file.ts";

const MOST_CHARACTERS = 60;

/** Name of the file that a workflow is saved as: letters and digits of any script, and dashes. */
export function fileNameOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, MOST_CHARACTERS)
    .replace(/^-+|-+$/g, "");
  return `${slug || "workflow"}.treadle.json`;
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
      toast.success(`“${file.name}” exported`, { description: "The file holds no secrets: agents travel without their keys." });
    },
    onError: (error) => toast.error("Nothing was exported", { description: errorBodyOf(error).detail }),
  });
  return { exportFile: mutation.mutate, isPending: mutation.isPending };
}
