"use client";

import { ScanText } from "lucide-react";
import { useState } from "react";
import type { z } from "zod";
import type { AgentForm } from "#components/agents/agent-form-schema.ts";
import { Button } from "#components/ui/button.tsx";
import { loadedOnUse } from "#components/ui/loaded-on-use.tsx";

const PromptPreviewDialog = loadedOnUse(() => import("#components/agents/prompt-preview.tsx").then((module) => module.PromptPreviewDialog));

/** Opens what the model would be sent, as the form stands now, saved or not. */
export function PromptPreviewButton({ values }: { values: z.input<typeof AgentForm> }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <Button variant="ghost" icon={<ScanText />} onClick={() => setIsOpen(true)}>
        Prompt preview
      </Button>
      {isOpen && <PromptPreviewDialog values={values} onClose={() => setIsOpen(false)} />}
    </>
  );
}
