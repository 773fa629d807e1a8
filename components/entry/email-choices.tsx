"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { EntryHeading } from "#components/entry/entry-heading.tsx";
import { errorBodyOf, useTRPCClient } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { EmailChoice, LinkedEmails } from "#server/features/emails/schema.ts";
import { visibleName } from "#server/shared/visible-text.ts";

const LABELS: Record<EmailChoice, string> = { confirm: "Confirm", stop: "Stop these emails", resume: "Resume these emails" };

const OFFERED: Record<LinkedEmails["state"], EmailChoice[]> = {
  unconfirmed: ["confirm", "stop"],
  open: ["stop"],
  stopped: ["resume"],
};

/** Sentence for the state of the emails. */
function sentence({ state, held }: LinkedEmails, address: string): string {
  if (state === "stopped") return `${address} gets no emails of this project.`;
  if (state === "open") return `${address} gets emails about reviews and notifications of this project.`;
  const kept = held > 0 ? ` ${held === 1 ? "One email was" : `${held} emails were`} held back; you get one summary of them.` : "";
  return `Confirm that ${address} may get further emails of this project.${kept}`;
}

/** Confirms, stops or resumes the emails of a project, with the link in one of them. */
export function EmailChoices({ token, initial }: { token: string; initial: LinkedEmails }) {
  const client = useTRPCClient();
  const [emails, setEmails] = useState(initial);
  const change = useMutation({
    mutationFn: (choice: EmailChoice) => client.emails.changeByLink.mutate({ token, choice }),
    onSuccess: setEmails,
  });
  return (
    <>
      <EntryHeading title={`Emails of ${visibleName(emails.project_name)}`}>{sentence(emails, visibleName(emails.address))}</EntryHeading>
      {change.isError && (
        <Notice tone="failed" title="This was not saved">
          {errorBodyOf(change.error).detail}
        </Notice>
      )}
      <div className="flex flex-col gap-2">
        {OFFERED[emails.state].map((choice, index) => (
          <Button
            key={choice}
            variant={index === 0 ? "primary" : "secondary"}
            size="lg"
            className="w-full"
            disabled={change.isPending}
            onClick={() => change.mutate(choice)}
          >
            {LABELS[choice]}
          </Button>
        ))}
      </div>
    </>
  );
}
