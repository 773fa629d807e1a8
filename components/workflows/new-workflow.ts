"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { toast } from "#components/ui/toaster.tsx";

/** Creates "Untitled workflow", which starts with a manual trigger, and opens it in the editor. @param folder where it is put */
export function useNewWorkflow(folder?: string): { create: () => void; isPending: boolean } {
  const { trpc, cache } = useApi();
  const router = useRouter();
  const mutation = useMutation(
    trpc.workflows.create.mutationOptions({
      onSuccess: (workflow) => {
        router.push(`/workflows/${workflow.id}`);
        void cache.invalidateQueries(trpc.workflows.list.pathFilter());
      },
      onError: (error) => toast.error("No workflow was created", { description: errorBodyOf(error).detail }),
    }),
  );
  // Stays busy while the editor is loading.
  return {
    create: () => mutation.mutate({ name: "Untitled workflow", ...(folder && { folder }) }),
    isPending: mutation.isPending || mutation.isSuccess,
  };
}
