"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "#components/trpc.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

const ReplaceKeyDialog = loadedOnUse(() => import("#components/keys/key-dialogs.tsx").then((module) => module.ReplaceKeyDialog));

/** A new value for a key, in front of whatever showed that the old one does not work. */
export function MendKeyDialog({ keyId, onClose }: { keyId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const keys = useQuery(trpc.llmKeys.list.queryOptions({ per_page: 200 }));
  const llmKey = keys.data?.items.find(({ id }) => id === keyId);
  return llmKey && <ReplaceKeyDialog llmKey={llmKey} onClose={onClose} />;
}
