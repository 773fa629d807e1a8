"use client";

import { plural } from "#components/format.ts";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogFooter } from "#components/ui/dialog.tsx";
import { Link } from "#components/ui/link.tsx";
import type { BulkOutcome } from "#components/workflows/use-bulk.ts";

/** With which workflows something could not be done, and why. */
export function BulkOutcomeDialog({ outcome: { done, count, failed }, onClose }: { outcome: BulkOutcome; onClose: () => void }) {
  const said = count === 0 ? "None of them was" : `${plural(count, "workflow")} ${count === 1 ? "was" : "were"}`;
  return (
    <Dialog onClose={onClose} title={`${plural(failed.length, "workflow")} not ${done}`} description={`${said} ${done}.`}>
      <ul className="flex max-h-80 flex-col divide-y overflow-y-auto rounded-md border text-14">
        {failed.map(({ id, name, message }) => (
          <li key={id} className="flex flex-col gap-0.5 px-3 py-2">
            <Link href={`/workflows/${id}`} className="font-semibold hover:underline">
              {name ?? id}
            </Link>
            <span className="text-ink-soft">{message}</span>
          </li>
        ))}
      </ul>
      <DialogFooter>
        <Button variant="primary" onClick={onClose}>
          Close
        </Button>
      </DialogFooter>
    </Dialog>
  );
}
