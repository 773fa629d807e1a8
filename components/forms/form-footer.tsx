"use client";

import type { ReactNode } from "react";
import { FormFailure } from "#components/forms/form-failure.tsx";
import { Button } from "#components/ui/button.tsx";
import { DialogFooter } from "#components/ui/dialog.tsx";
import type { ErrorBody } from "#server/schemas/error.ts";

/** The end of a dialog's form: what the server said, and the button that sends it. */
export function FormFooter({ form, children }: { form: { failure: ErrorBody | null; isPending: boolean }; children: ReactNode }) {
  return (
    <>
      <FormFailure failure={form.failure} />
      <DialogFooter>
        <Button type="submit" variant="primary" isPending={form.isPending}>
          {children}
        </Button>
      </DialogFooter>
    </>
  );
}
