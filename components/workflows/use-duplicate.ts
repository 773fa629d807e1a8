"use client";

import { useMutation } from "@tanstack/react-query";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";

const MAX_CHARACTERS = 120;
const SUFFIX = " (copy)";

/** Makes a copy of a workflow, which is off. Of what is on its canvas when `draft` is true, else of the saved version. */
export function useDuplicate({ onCreated }: { onCreated?: (copy: { id: string; name: string }) => void } = {}) {
  const { trpc, client, cache } = useApi();
  return useMutation({
    mutationFn: async ({ workflow_id, draft = false }: { workflow_id: string; draft?: boolean }) => {
      const { workflow, draft: ahead } = await client.workflows.editor.query({ workflow_id });
      const { nodes, edges } = draft ? ahead : workflow;
      const name = `${workflow.name.slice(0, MAX_CHARACTERS - SUFFIX.length)}${SUFFIX}`;
      const { description, tags, folder } = workflow;
      return client.workflows.create.mutate({ name, description, tags, folder, nodes, edges, enabled: false });
    },
    onSuccess: (copy) => {
      toast.success(`“${copy.name}” created`, { description: "The copy is off until you switch it on." });
      onCreated?.(copy);
    },
    onError: (error) => toast.error("Nothing was duplicated", { description: errorBodyOf(error).detail }),
    onSettled: () => cache.invalidateQueries(trpc.workflows.pathFilter()),
  });
}
