"use client";

import { RenameDialog } from "#components/forms/rename-dialog.tsx";
import { useApi } from "#components/trpc.tsx";
import { RenameThreadInput, type ThreadSummary } from "#server/features/assistant/schema.ts";

const Title = RenameThreadInput.pick({ title: true });

export function RenameThreadDialog({ thread, onClose }: { thread: ThreadSummary; onClose: () => void }) {
  const { trpc, client, cache } = useApi();
  const save = async ({ title }: { title: string }) => {
    await client.assistant.renameThread.mutate({ thread_id: thread.id, title });
    await cache.invalidateQueries(trpc.assistant.pathFilter());
  };
  return <RenameDialog what="thread" schema={Title} initial={{ title: thread.title }} save={save} onClose={onClose} />;
}
