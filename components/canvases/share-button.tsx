"use client";

import { useMutation } from "@tanstack/react-query";
import { Link2, Link2Off } from "lucide-react";
import { useState } from "react";
import { FormFailure } from "#components/forms/form.tsx";
import { errorBodyOf, useApi } from "#components/trpc.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyField } from "#components/ui/copy.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { IconButton } from "#components/ui/icon-button.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Select } from "#components/ui/select.tsx";
import { Time } from "#components/ui/time.tsx";
import { toast } from "#components/ui/toaster.tsx";
import type { Canvas } from "#server/features/canvases/schema.ts";

type Shared = Pick<Canvas, "id" | "share">;

/** How long a link may last, in days. */
const LIVES = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "1 year" },
] as const;

/** Makes and ends the link of a canvas; for editors. */
export function ShareButton({ canvas }: { canvas: Shared }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <IconButton label="Share" icon={<Link2 />} size="lg" isPressed={canvas.share !== null} onClick={() => setIsOpen(true)} />
      {isOpen && <ShareDialog canvas={canvas} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function ShareDialog({ canvas: { id: canvas_id, share }, onClose }: { canvas: Shared; onClose: () => void }) {
  const { trpc, cache } = useApi();
  const [days, setDays] = useState<(typeof LIVES)[number]["value"]>("30");
  const onSuccess = () => cache.invalidateQueries(trpc.canvases.pathFilter());
  const make = useMutation(trpc.canvases.share.mutationOptions({ onSuccess }));
  const end = useMutation(
    trpc.canvases.unshare.mutationOptions({
      onSuccess: async () => {
        toast.success("The link has ended");
        onClose();
        await onSuccess();
      },
    }),
  );
  const failure = make.error ?? end.error;
  const isPending = make.isPending || end.isPending;
  if (make.data)
    return (
      <Dialog onClose={onClose} title="Copy the link now" description="It is shown this once." isDismissable={false}>
        <CopyField label="Link" value={make.data.url} what="link" />
        <p className="text-14 text-ink-soft">
          It ends <Time value={make.data.expires_at} />, or when you end it here.
        </p>
        <DialogFooter>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </DialogFooter>
      </Dialog>
    );
  return (
    <Dialog
      onClose={onClose}
      title="Share this canvas"
      description="Anyone with the link can view this dashboard without signing in, and nothing else of the project."
    >
      {share && (
        <Notice
          title="There is a link"
          actions={
            <Button size="sm" icon={<Link2Off />} disabled={isPending} onClick={() => end.mutate({ canvas_id })}>
              End the link
            </Button>
          }
        >
          Made <Time value={share.created_at} />, it ends <Time value={share.expires_at} />. A new one takes its place.
        </Notice>
      )}
      <Field label="Ends after">
        <Select value={days} options={LIVES} onValueChange={setDays} />
      </Field>
      <FormFailure failure={failure && errorBodyOf(failure)} />
      <DialogFooter>
        <Button
          variant="primary"
          icon={<Link2 />}
          isPending={make.isPending}
          disabled={isPending}
          onClick={() => make.mutate({ canvas_id, expires_in_days: Number(days) })}
        >
          {share ? "Replace the link" : "Make a link"}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
