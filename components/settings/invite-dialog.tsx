"use client";

import { useState } from "react";
import type { z } from "zod";
import { Form, FormFooter } from "#components/forms/form.tsx";
import { FormField } from "#components/forms/form-field.tsx";
import { useForm } from "#components/forms/use-form.ts";
import { roleLabel, roleOptions } from "#components/settings/member-words.ts";
import { useStudio } from "#components/shell/studio-context.tsx";
import { useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Select } from "#components/ui/select.tsx";
import { toast } from "#components/ui/toaster.tsx";
import { SetMemberInput, type SetMemberResult } from "#server/features/projects/schema.ts";

const Invite = SetMemberInput.omit({ project_id: true });

/** @param sent an invitation that was sent again, whose link is shown at once */
export function InviteDialog({ sent = null, onClose }: { sent?: z.infer<typeof SetMemberResult> | null; onClose: () => void }) {
  const { project } = useStudio();
  const [result, setResult] = useState(sent);
  return (
    <Dialog onClose={onClose} title={result ? "Hand over this link" : `Invite to ${project.name}`} size="sm">
      {result?.invite_url ? (
        <>
          <Explanation {...result} />
          <CopyField label="Invitation link" value={result.invite_url} what="invitation link" />
          <DialogFooter>
            <Button onClick={() => setResult(null)}>Invite another</Button>
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </DialogFooter>
        </>
      ) : (
        <InviteForm
          onDone={(done) => {
            if (done.status === "invited" && done.invite_url) return setResult(done);
            toast.success(done.status === "invited" ? `${done.email} is invited` : `${done.email} is a member now`);
            onClose();
          }}
        />
      )}
    </Dialog>
  );
}

function Explanation({ email, role }: z.infer<typeof SetMemberResult>) {
  return (
    <p className="break-words text-14 text-ink-soft">
      Send this link to {email}. They join as {roleLabel(role).toLowerCase()} with a new account, or after signing in to the one they have.
      The link works once and expires in 7 days.
    </p>
  );
}

function InviteForm({ onDone }: { onDone: (result: z.infer<typeof SetMemberResult>) => void }) {
  const { trpc, client, cache } = useApi();
  const { project } = useStudio();
  const form = useForm({
    schema: Invite,
    initial: { email: "", role: "editor" },
    submit: async (value) => {
      const result = await client.projects.setMember.mutate({ project_id: project.id, ...value });
      await cache.invalidateQueries(trpc.projects.pathFilter());
      onDone(result);
    },
  });
  return (
    <Form form={form}>
      <FormField form={form} name="email" type="email" hint="You get a link to send to this address." autoFocus autoComplete="off" />
      <FormField form={form} name="role" label="Role" hint={null}>
        <Select value={form.values.role} onValueChange={(role) => form.set("role", role)} options={roleOptions} />
      </FormField>
      <FormFooter form={form}>Invite</FormFooter>
    </Form>
  );
}
