"use client";

import { SquareTerminal } from "lucide-react";
import { type RefObject, useEffect, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

// Loaded with the first command.
const CurlImportDialog = loadedOnUse(() =>
  import("#components/workflow-editor/curl/curl-import-dialog.tsx").then((module) => module.CurlImportDialog),
);

/** A command of curl, as terminals and browsers copy it. */
const CURL = /^\s*(?:\$\s+)?curl(?:\.exe)?\s/i;

/**
 * Takes a command of curl into an HTTP node: by a button, or where one is pasted as the address. That it never stands in a
 * field matters: drafts and steps of undo would keep what secrets are in it.
 */
export function CurlImport({ nodeId, panel }: { nodeId: string; panel: RefObject<HTMLElement | null> }) {
  const [command, setCommand] = useState<string | null>(null);
  useEffect(() => {
    const area = panel.current;
    const onPaste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (!CURL.test(text) || !(event.target as Element).closest('[data-field="url"]')) return;
      event.preventDefault();
      event.stopPropagation();
      setCommand(text);
    };
    area?.addEventListener("paste", onPaste, true);
    return () => area?.removeEventListener("paste", onPaste, true);
  }, [panel]);
  return (
    <>
      <Button size="sm" icon={<SquareTerminal />} className="self-start" onClick={() => setCommand("")}>
        Import curl
      </Button>
      {command !== null && <CurlImportDialog nodeId={nodeId} initial={command} onClose={() => setCommand(null)} />}
    </>
  );
}
