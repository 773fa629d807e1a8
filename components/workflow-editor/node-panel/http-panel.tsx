"use client";

import { useStudio } from "#components/shell/studio-context.tsx";
import { CodeBlock } from "#components/ui/code-block.tsx";
import { CopyField } from "#components/ui/copy-field.tsx";
import { SaveFirst } from "#components/workflow-editor/node-panel/save-first.tsx";
import { useSession, useSessionState } from "#components/workflow-editor/session/session-context.tsx";

/** A call of the HTTP trigger; a method without a body sends none. */
function callOf(url: string, method: string, slug: string): string {
  const head = `curl -X ${method} '${url}' \\\n  -H "Authorization: Bearer $TREADLE_API_KEY" \\\n  -H 'X-Project-Slug: ${slug}'`;
  if (method === "GET" || method === "DELETE") return head;
  return `${head} \\\n  -H 'Content-Type: application/json' \\\n  --data-raw '{"hello": "world"}'`;
}

/** The address of an HTTP trigger, and a call to try. */
export function HttpPanel({ methods, isReadOnly }: { methods: readonly string[]; isReadOnly: boolean }) {
  const { workflowId } = useSession();
  const { project } = useStudio();
  const savedTrigger = useSessionState((state) => state.savedTrigger);
  const url = `${location.origin}/api/v1/http/${workflowId}`;
  return (
    <section aria-label="HTTP trigger" className="flex flex-col gap-4 border-t pt-4">
      <CopyField label="Address" hint="Called with an API key of a project member" value={url} what="address" isCompact />
      {savedTrigger !== "http" && <SaveFirst what="HTTP trigger" isReadOnly={isReadOnly} />}
      <CodeBlock title="Try it" label="command" code={callOf(url, methods[0] ?? "POST", project.slug)} />
    </section>
  );
}
